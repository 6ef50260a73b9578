/** The work nobody waits for: makes partitions ahead, folds counters, removes what is old. In bounded bites. */
import { maxDuplicateMinutes } from '../domain/rule-check.ts'
import type { Clock } from '../lib/clock.ts'
import { closeIdleAttendances } from '../store/attendances.ts'
import { removeOldDuplicateMarks } from '../store/counters.ts'
import type { Db } from '../store/db.ts'
import {
  foldReportDeltas,
  removeIdempotencyBefore,
  removeLoginFailuresBefore,
  removeUnusedFiles,
  tryHousekeepingLock,
} from '../store/housekeeping.ts'
import { removeOldImports } from '../store/imports.ts'
import { removeExpiredSessions } from '../store/sessions.ts'
import {
  analyzeNewlyFilled,
  dropPartitionsBefore,
  ensurePartitions,
  forgetMessagesBefore,
} from '../store/partitions.ts'
import { removeExpiredEntries } from '../store/restrictions.ts'

export type HousekeepingJob = { name: string; everyMs: number; run(): Promise<void> }

const minutes = 60_000
const hours = 60 * minutes

/** Rows per statement; a job with a large backlog ends its turn after `bitesPerTurn` of them. */
const bites = {
  idempotency: 5_000,
  loginFailures: 5_000,
  deltas: 20_000,
  files: 200,
  attendances: 1_000,
  restrictions: 10_000,
  contents: 10_000,
  traces: 10_000,
}
const bitesPerTurn = 20

export function housekeepingJobs({
  db,
  clock,
  retentionMonths,
}: {
  db: Db
  clock: Clock
  retentionMonths: number
}): HousekeepingJob[] {
  const keptSince = () => {
    const now = clock.now()
    return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - retentionMonths, 1))
  }
  const before = (ageMs: number) => new Date(clock.now().getTime() - ageMs)
  const inBites = (
    name: string,
    everyMs: number,
    size: number,
    take: (size: number) => Promise<number>,
  ): HousekeepingJob => ({
    name,
    everyMs,
    async run() {
      for (let turn = 0; turn < bitesPerTurn; turn++) if ((await take(size)) < size) return
    },
  })
  return [
    { name: 'partitions', everyMs: 6 * hours, run: () => makePartitions(db, clock) },
    { name: 'retention', everyMs: 6 * hours, run: () => dropOldMonths(db, keptSince()) },
    { name: 'statistics of new months', everyMs: minutes, run: () => analyzeNewlyFilled(db) },
    inBites('traces of old messages', hours, bites.traces, (size) =>
      forgetMessagesBefore(db, keptSince(), size),
    ),
    inBites('idempotency records', 5 * minutes, bites.idempotency, (size) =>
      removeIdempotencyBefore(db, before(24 * hours), size),
    ),
    inBites('login failures', 5 * minutes, bites.loginFailures, (size) =>
      removeLoginFailuresBefore(db, before(15 * minutes), size),
    ),
    inBites('report counters', 10_000, bites.deltas, (size) => foldReportDeltas(db, size)),
    inBites('ended sessions', hours, bites.loginFailures, (size) =>
      removeExpiredSessions(db, clock.now(), size),
    ),
    inBites('old imports', hours, bites.files, (size) => removeOldImports(db, before(90 * 24 * hours), size)),
    inBites('unused files', hours, bites.files, (size) => removeUnusedFiles(db, before(48 * hours), size)),
    inBites('expired restrictions', hours, bites.restrictions, (size) =>
      removeExpiredEntries(db, clock.now(), size),
    ),
    inBites('old marks of contents', 10 * minutes, bites.contents, (size) =>
      removeOldDuplicateMarks(db, before(maxDuplicateMinutes * minutes), size),
    ),
    inBites('idle attendances', minutes, bites.attendances, (size) =>
      closeIdleAttendances(db, clock.now(), size),
    ),
  ]
}

/** A new partition locks its table for a moment; behind a long transaction it would hold up every accept. */
async function makePartitions(db: Db, clock: Clock): Promise<void> {
  await db.transaction(async (transaction) => {
    if (!(await tryHousekeepingLock(transaction, 1))) return
    await transaction.query("set local lock_timeout = '2s'")
    await ensurePartitions(transaction, clock.now())
  })
}

async function dropOldMonths(db: Db, before: Date): Promise<void> {
  await db.transaction(async (transaction) => {
    if (!(await tryHousekeepingLock(transaction, 2))) return
    await transaction.query("set local lock_timeout = '2s'")
    await dropPartitionsBefore(transaction, before)
  })
}
