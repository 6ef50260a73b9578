/** The work nobody waits for: makes partitions ahead, folds counters, removes what is old. In bounded bites. */
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { closeIdleAttendances } from '../store/attendances.ts'
import type { Db } from '../store/db.ts'
import {
  foldReportDeltas,
  removeIdempotencyBefore,
  removeLoginFailuresBefore,
  removeUnusedFiles,
  tryHousekeepingLock,
} from '../store/housekeeping.ts'
import { ensurePartitions } from '../store/partitions.ts'

export type HousekeepingTask = {
  name: string
  everyMs: number
  /** One bounded bite; true when there may be more to do at once. */
  run(): Promise<boolean>
}

const minutes = 60_000
const hours = 60 * minutes

const bites = { idempotency: 5_000, loginFailures: 5_000, deltas: 20_000, files: 200, attendances: 1_000 }

export function housekeepingTasks({ db, clock }: { db: Db; clock: Clock; log: Log }): HousekeepingTask[] {
  const before = (ageMs: number) => new Date(clock.now().getTime() - ageMs)
  const bite = (
    name: string,
    everyMs: number,
    size: number,
    take: () => Promise<number>,
  ): HousekeepingTask => ({
    name,
    everyMs,
    run: async () => (await take()) === size,
  })
  return [
    { name: 'partitions', everyMs: 24 * hours, run: () => makePartitions(db, clock) },
    bite('idempotency', 5 * minutes, bites.idempotency, () =>
      removeIdempotencyBefore(db, before(24 * hours), bites.idempotency),
    ),
    bite('login failures', 5 * minutes, bites.loginFailures, () =>
      removeLoginFailuresBefore(db, before(15 * minutes), bites.loginFailures),
    ),
    bite('report counters', 10_000, bites.deltas, () => foldReportDeltas(db, bites.deltas)),
    bite('files', hours, bites.files, () => removeUnusedFiles(db, before(48 * hours), bites.files)),
    bite('idle attendances', minutes, bites.attendances, () =>
      closeIdleAttendances(db, clock.now(), bites.attendances),
    ),
  ]
}

/** A new partition locks its table for a moment; behind a long transaction it would hold up every accept. */
async function makePartitions(db: Db, clock: Clock): Promise<boolean> {
  await db.transaction(async (transaction) => {
    if (!(await tryHousekeepingLock(transaction, 1))) return
    await transaction.query("set local lock_timeout = '2s'")
    await ensurePartitions(transaction, clock.now())
  })
  return false
}
