/**
 * Which lanes this worker drives. One heartbeat keeps its lease; past the lease, counted from the moment the last
 * good heartbeat was sent, it claims and hands over nothing more, because another worker may have taken over by then.
 * Nothing that takes long happens between two heartbeats: what to do about lanes is told, not waited for.
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
const lapseCheckMs = 250

export type Ownership = {
  readonly workerId: string
  mayDrive(): boolean
  /** Beats now, takes a fair share, and tells what is owned; resolves when that has been acted upon. */
  refresh(): Promise<void>
  /** Gives lanes back; nothing of theirs may be in flight. */
  release(lineIds: readonly string[]): Promise<void>
  /** No new lanes from now on; the heartbeat goes on until `close`. */
  drain(): void
  close(): Promise<void>
}

export type OwnershipOptions = {
  db: Queryable
  log: Log
  /** Stable for a node: what it held before a restart is free at once. */
  nodeName: string
  /** Lanes owned now, and those of them that are more than the share: to be given back when nothing is in flight. */
  onOwned(lanes: OwnedLane[], surplus: OwnedLane[]): Promise<void>
  /** The lease may have run out: others may begin soon. */
  onLapsed(): void
}

export function createOwnership(options: OwnershipOptions): Ownership {
  const { db, log } = options
  const worker = { id: newId(), name: options.nodeName }
  let provenAtMs = -Infinity
  let isFirst = true
  let isDraining = false
  let isClosed = false
  let hasLapsed = true
  let beating: Promise<() => Promise<void>> | undefined
  let acting: Promise<void> | undefined
  let nextAct: (() => Promise<void>) | undefined

  const mayDrive = () => performance.now() - provenAtMs < leaseMs - safetyMs

  async function turn(): Promise<() => Promise<void>> {
    const sentAtMs = performance.now()
    await beat(db, worker, isFirst)
    isFirst = false
    const { share, taken } = isDraining ? { share: 0, taken: [] } : await acquireLanes(db, worker.id)
    const owned = await ownedLanes(db, worker.id)
    provenAtMs = sentAtMs
    hasLapsed = false
    if (taken.length > 0) log.info({ lanes: taken.length }, 'lanes taken')
    // While draining everything is on its way back already.
    return () => options.onOwned(owned, isDraining ? [] : owned.slice(share))
  }

  /** One at a time; of those that come meanwhile only the newest matters. */
  function act(work: () => Promise<void>): Promise<void> {
    nextAct = work
    acting ??= actAll().finally(() => (acting = undefined))
    return acting
  }

  async function actAll(): Promise<void> {
    while (nextAct !== undefined) {
      const next: () => Promise<void> = nextAct
      nextAct = undefined
      await next().catch((error: unknown) => log.warn({ err: error }, 'lanes could not be brought in line'))
    }
  }

  async function refresh(): Promise<void> {
    if (isClosed) return
    beating ??= turn().finally(() => (beating = undefined))
    try {
      const work = await beating
      if (!isClosed) await act(work)
    } catch (error) {
      log.warn({ err: error }, 'the heartbeat failed')
    }
  }

  const beats = setInterval(() => void refresh(), beatEveryMs)
  const lapses = setInterval(() => {
    if (hasLapsed || mayDrive()) return
    hasLapsed = true
    log.warn('no heartbeat for too long: nothing leaves until there is one again')
    options.onLapsed()
  }, lapseCheckMs)

  return {
    workerId: worker.id,
    mayDrive,
    refresh,
    release: (lineIds) => releaseLanes(db, worker.id, lineIds),
    drain: () => (isDraining = true),
    async close() {
      isClosed = true
      clearInterval(beats)
      clearInterval(lapses)
      await beating?.catch(() => {})
      await acting
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
