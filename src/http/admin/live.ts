/**
 * Live pages by server-sent events. One look at the database per second and process, however many pages are open; none
 * while nobody listens. What is told: new messages both ways, what was counted, states of watched messages, lanes, alerts.
 */
import type { ServerResponse } from 'node:http'
import type { Clock } from '../../lib/clock.ts'
import { showId } from '../../lib/ids.ts'
import type { Log } from '../../lib/log.ts'
import type { Db } from '../../store/db.ts'
import {
  lastDeltaId,
  listLanes,
  listNewMessages,
  listNewReceived,
  readOutcomes,
  readStates,
  type LaneView,
} from '../../store/overviews.ts'

export type LiveFeed = {
  /** False: too many listen already. */
  join(listener: Listener): boolean
  close(): void
}

export type Listener = { companyId: string; watchedIds: readonly string[]; response: ServerResponse }

const everyMs = 1_000
const maxListeners = 500
/** Ids are times of several nodes, and what was committed late has an older one: this far back is asked again. */
const overlapMs = 10_000
const newPerCompany = 100
/** A page that does not read this much is closed; it will come back. */
const maxBacklogBytes = 1024 * 1024
const pingEveryTurns = 15
/** Then the page comes back by itself, and who it is is asked again. */
const maxAgeMs = 5 * 60_000

export function createLiveFeed({ db, clock, log }: { db: Db; clock: Clock; log: Log }): LiveFeed {
  const listeners = new Set<Listener>()
  const joinedAt = new WeakMap<Listener, number>()
  let timer: NodeJS.Timeout | undefined
  let isLooking = false
  let turn = 0
  let deltaId: number | undefined
  let told = new Map<string, number>()
  const states = new Map<string, string>()
  const lanes = new Map<string, string>()

  const leave = (listener: Listener) => {
    listeners.delete(listener)
    listener.response.end()
    if (listeners.size > 0) return
    clearInterval(timer)
    timer = undefined
    deltaId = undefined
    told = new Map()
    states.clear()
    lanes.clear()
  }

  const tell = (
    companyId: string,
    event: string,
    data: unknown,
    isFor: (listener: Listener) => boolean = () => true,
  ) => {
    const text = `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`
    for (const listener of listeners) {
      if (listener.companyId !== companyId || !isFor(listener)) continue
      listener.response.write(text)
      if (listener.response.writableLength > maxBacklogBytes) leave(listener)
    }
  }

  const look = async () => {
    for (const listener of listeners)
      if (performance.now() - joinedAt.get(listener)! > maxAgeMs) leave(listener)
    const companyIds = [...new Set([...listeners].map(({ companyId }) => companyId))]
    const now = clock.now()
    const since = new Date(now.getTime() - overlapMs)
    const isFirst = deltaId === undefined
    deltaId ??= await lastDeltaId(db)
    const messages = await listNewMessages(db, companyIds, since, newPerCompany)
    for (const message of messages.toReversed()) {
      if (told.has(message.id)) continue
      told.set(message.id, now.getTime())
      const { companyId, ...rest } = message
      if (!isFirst)
        tell(companyId, 'message', {
          ...rest,
          id: showId('msg', message.id),
          lineId: message.lineId && showId('lin', message.lineId),
        })
    }
    const received = await listNewReceived(db, companyIds, since, newPerCompany)
    for (const message of received.toReversed()) {
      if (told.has(message.id)) continue
      told.set(message.id, now.getTime())
      const { companyId, ...rest } = message
      if (!isFirst)
        tell(companyId, 'received', {
          ...rest,
          id: showId('inb', message.id),
          contactId: message.contactId && showId('con', message.contactId),
          lineId: showId('lin', message.lineId),
        })
    }
    for (const [id, at] of told) if (at < now.getTime() - 2 * overlapMs) told.delete(id)
    const counted = await readOutcomes(db, companyIds, deltaId)
    deltaId = counted.lastId
    for (const { companyId, lineId, ...outcome } of counted.outcomes)
      tell(companyId, 'outcome', { ...outcome, lineId: lineId && showId('lin', lineId) })
    await lookAtWatched()
    await lookAtLanes(companyIds, now)
    if (++turn % pingEveryTurns === 0)
      for (const { response } of listeners) response.write(': still here\n\n')
  }

  const lookAtWatched = async () => {
    const watched = [...listeners].flatMap(({ companyId, watchedIds }) =>
      watchedIds.map((id) => ({ companyId, id })),
    )
    if (watched.length === 0) return
    for (const { id, companyId, state } of await readStates(db, watched)) {
      if (states.get(id) === state) continue
      states.set(id, state)
      tell(companyId, 'state', { id: showId('msg', id), state }, ({ watchedIds }) => watchedIds.includes(id))
    }
  }

  const lookAtLanes = async (companyIds: string[], now: Date) => {
    for (const { companyId, ...lane } of await listLanes(db, companyIds, now)) {
      const shown: LaneView = { ...lane, lineId: showId('lin', lane.lineId) }
      const text = JSON.stringify(shown)
      if (lanes.get(lane.lineId) === text) continue
      lanes.set(lane.lineId, text)
      tell(companyId, 'lane', shown)
    }
  }

  const onTurn = () => {
    if (isLooking) return
    isLooking = true
    look()
      .catch((error: unknown) => log.warn({ err: error }, 'live pages could not be told'))
      .finally(() => (isLooking = false))
  }

  return {
    join(listener) {
      if (listeners.size >= maxListeners) return false
      listeners.add(listener)
      joinedAt.set(listener, performance.now())
      listener.response.once('close', () => leave(listener))
      // Somebody new sees all lanes and states once.
      lanes.clear()
      states.clear()
      timer ??= setInterval(onTurn, everyMs)
      onTurn()
      return true
    },
    close() {
      for (const listener of listeners) leave(listener)
    },
  }
}
