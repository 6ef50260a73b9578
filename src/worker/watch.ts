/** Watches what nobody asks about, and tells the operator. */
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { watchDisk, watchLanes, watchPartitions, type DiskWatch } from '../flows/raise-alerts.ts'
import { tellAlerts, type AlertWays } from '../flows/tell-alerts.ts'
import { removeAlertsBefore } from '../store/alerts.ts'
import type { Db } from '../store/db.ts'
import type { Job } from './jobs.ts'

export type WatchOptions = {
  db: Db
  clock: Clock
  log: Log
  maxLaneAgeMs: number
  /** Absent: nobody wants to know. */
  disk?: DiskWatch
  ways: AlertWays
}

const minutes = 60_000
const days = 24 * 60 * minutes
const keepMs = 90 * days

export function watchJobs(options: WatchOptions): Job[] {
  const { db, clock, disk, ways } = options
  return [
    { name: 'watch lanes', everyMs: 30_000, run: () => watchLanes(options, options.maxLaneAgeMs) },
    { name: 'watch partitions', everyMs: 60 * minutes, run: () => watchPartitions(options) },
    ...(disk ? [{ name: 'watch the disk', everyMs: 15_000, run: () => watchDisk(options, disk) }] : []),
    { name: 'tell alerts', everyMs: 5_000, run: () => tellAlerts(options, ways) },
    {
      name: 'forget old alerts',
      everyMs: days,
      run: () => removeAlertsBefore(db, new Date(clock.now().getTime() - keepMs)),
    },
  ]
}
