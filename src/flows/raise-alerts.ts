/** Looks for what an operator should know, raises an alert for it, and clears the alert when the cause is gone. */
import type { Clock } from '../lib/clock.ts'
import { alignAlerts, clearAlert, findOldLanes, findPartitionFaults, raiseAlert } from '../store/alerts.ts'
import type { Queryable } from '../store/db.ts'
import { partitionName } from '../store/partitions.ts'

type Context = { db: Queryable; clock: Clock }

/** Messages that could have left long ago, on lines that are switched on. */
export async function watchLanes({ db, clock }: Context, maxAgeMs: number): Promise<void> {
  const now = clock.now()
  const old = await findOldLanes(db, new Date(now.getTime() - maxAgeMs))
  await alignAlerts(
    db,
    'lane_too_old',
    old.map(({ lineId, companyId, name, oldestDueAt, isPaused }) => ({
      companyId,
      subject: lineId,
      message: `Messages of line ${name} wait since ${oldestDueAt.toISOString()}${isPaused ? '; the line is paused' : ''}`,
    })),
    now,
  )
}

/** This month and the next must have their partitions; nothing must be in the one that catches all others. */
export async function watchPartitions({ db, clock }: Context): Promise<void> {
  const now = clock.now()
  const months = [0, 1].map((ahead) => new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + ahead, 1)))
  const expected = months.flatMap((month) =>
    (['message', 'message_event'] as const).map((table) => partitionName(table, month)),
  )
  const { missing, filled } = await findPartitionFaults(db, expected)
  await alignAlerts(
    db,
    'partition_missing',
    missing.map((name) => ({
      subject: name,
      message: `Partition ${name} does not exist; housekeeping should have made it`,
    })),
    now,
  )
  await alignAlerts(
    db,
    'partition_default',
    filled.map((name) => ({
      subject: name,
      message: `Rows are in ${name}: a clock was wrong, or a partition was missing when they came`,
    })),
    now,
  )
}

const mib = 1024 * 1024

export type DiskWatch = {
  /** Names the disk among those of all nodes. */
  nodeName: string
  measure(): Promise<number>
  /** Below this nothing is accepted any more. */
  minFreeBytes: number
}

/** Told at twice the bound, so that there is time to act before sends are refused. */
export async function watchDisk(
  { db, clock }: Context,
  { nodeName, measure, minFreeBytes }: DiskWatch,
): Promise<void> {
  const free = await measure()
  if (free >= 2 * minFreeBytes) return await clearAlert(db, 'disk_low', nodeName, clock.now())
  const [left, bound] = [free, minFreeBytes].map((bytes) => Math.floor(bytes / mib))
  const message = `The disk of ${nodeName} has ${left} MiB left; below ${bound} MiB nothing is accepted`
  await raiseAlert(db, { kind: 'disk_low', subject: nodeName, message }, clock.now())
}
