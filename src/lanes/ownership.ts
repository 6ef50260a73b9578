/**
 * Which lanes this worker drives. One heartbeat keeps its lease; past the lease, counted from the moment the last
 * good heartbeat was sent, it claims nothing more, because another worker may have taken over by then.
 */
import { newId } from '../lib/ids.ts'
import type { Log } from '../lib/log.ts'
import type { Queryable } from '../store/db.ts'
import {
  acquireLanes,
  beat,
  forgetWorker,
  leaseMs,
  ownedLanes,
  releaseLanes,
  type OwnedLane,
} from '../store/lanes.ts'

const beatEveryMs = 2_000
/** Stop well before others may begin. */
const safetyMs = 2_000

export type Ownership = {
  readonly workerId: string
  mayDrive(): boolean
  /** Beats now, takes a fair share, and brings the lanes driven in line with the lanes owned. */
  refresh(): Promise<void>
  close(): Promise<void>
}

export function createOwnership(options: {
  db: Queryable
  log: Log
  /** Stable for a node: what it held before a restart is free at once. */
  nodeName: string
  /** Lanes owned now. New ones begin, lost ones end; resolves when that has happened. */
  onOwned(lanes: OwnedLane[]): Promise<void>
  /** More lanes than the share: stop these, and resolve when nothing of them is in flight. */
  onSurplus(lineIds: string[]): Promise<void>
}): Ownership {
  const { db, log } = options
  const worker = { id: newId(), name: options.nodeName }
  let provenAtMs = -Infinity
  let isClosed = false
  let running: Promise<void> | undefined

  async function turn(): Promise<void> {
    const sentAtMs = performance.now()
    await beat(db, worker)
    const { share, taken } = await acquireLanes(db, worker.id)
    let owned = await ownedLanes(db, worker.id)
    provenAtMs = sentAtMs
    if (taken.length > 0) log.info({ lanes: taken.length }, 'lanes taken')
    // The newest are the cheapest to give away: they have the shortest memory.
    const surplus = owned.slice(share).map((lane) => lane.lineId)
    if (surplus.length > 0) {
      await options.onSurplus(surplus)
      await releaseLanes(db, worker.id, surplus)
      owned = owned.slice(0, share)
      log.info({ lanes: surplus.length }, 'lanes handed to another worker')
    }
    await options.onOwned(owned)
  }

  const refresh = (): Promise<void> => {
    if (isClosed) return Promise.resolve()
    running ??= turn()
      .catch((error: unknown) => log.warn({ err: error }, 'the heartbeat failed'))
      .finally(() => (running = undefined))
    return running
  }
  const timer = setInterval(() => void refresh(), beatEveryMs)

  return {
    workerId: worker.id,
    mayDrive: () => performance.now() - provenAtMs < leaseMs - safetyMs,
    refresh,
    async close() {
      isClosed = true
      clearInterval(timer)
      await running
      const owned = await ownedLanes(db, worker.id).catch(() => [])
      await releaseLanes(
        db,
        worker.id,
        owned.map((lane) => lane.lineId),
      ).catch(() => {})
      await forgetWorker(db, worker.id).catch(() => {})
    },
  }
}
