/** Delivery in one process: owns lanes, drives them, and keeps what waits moving. */
import type { Registry } from 'prom-client'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { Outbound } from '../lib/outbound/index.ts'
import type { Sealer } from '../lib/secrets.ts'
import type { LineReport } from '../drivers/driver.ts'
import { dispatchMessage, type DispatchContext, type LineEffect } from '../flows/dispatch-message.ts'
import { createFileBudget } from '../flows/collect-files.ts'
import { createUnsubscribeUrls } from '../flows/unsubscribe.ts'
import { Dispatcher } from '../lanes/dispatcher.ts'
import type { Lane } from '../lanes/lane.ts'
import { createOwnership } from '../lanes/ownership.ts'
import { listenForWakes } from '../lanes/wake.ts'
import type { Db, Queryable } from '../store/db.ts'
import { failOver, laneDepths, type FailoverCursor } from '../store/lanes.ts'
import {
  doubtAbandoned,
  expireMessages,
  putBack,
  type ClaimedMessage,
  type Settlement,
} from '../store/outbox.ts'
import { createDeliveryMetrics } from './delivery-metrics.ts'
import { DrivenLines } from './driven-lines.ts'
import { createHealthReporter } from './line-health.ts'
import { runJobs } from './jobs.ts'

export type DeliveryOptions = {
  db: Db
  /**
   * Where the heartbeat goes, if not the same way: files, expiry and depths of lanes share `db`, and a heartbeat that
   * waits behind them for eight seconds stops every line.
   */
  beats?: Queryable
  clock: Clock
  log: Log
  sealer: Sealer
  outbound: Outbound
  publicUrl: string
  nodeName: string
  /** What the process has for its end: half of it is for answers, the rest to write them down and hand lanes back. */
  drainMs?: number
  registry: Registry
  report(line: { id: string; companyId: string }, reports: LineReport[]): Promise<void>
}

export type Delivery = {
  /** Lanes of this process that have new work. */
  wake(lineIds: Iterable<string> | '*'): void
  /** Sessions of the lines driven here. */
  lines: DrivenLines
  close(): Promise<void>
}

/** How long a worker that ends waits for answers, at most. */
const maxDrainMs = 15_000

export async function startDelivery(options: DeliveryOptions): Promise<Delivery> {
  const { db, clock, log } = options
  const metrics = createDeliveryMetrics(options.registry)
  const lines = new DrivenLines(options)
  const health = createHealthReporter(db, clock, lines)

  const unsubscribeUrl = createUnsubscribeUrls(options)
  const dispatching: DispatchContext = {
    ...options,
    fileBudget: createFileBudget(),
    unsubscribeUrlOf(message) {
      const line = lines.get(message.lineId)?.line
      return line?.channel === 'email' && line.settings.hasUnsubscribe === true
        ? unsubscribeUrl(message)
        : undefined
    },
  }

  async function handOver(message: ClaimedMessage, lane: Lane): Promise<Settlement> {
    const session = lines.get(message.lineId)?.session
    if (session === undefined) return putBack(message, clock.now())
    const startedAtMs = performance.now()
    const mayHandOver = () => ownership.mayDrive() && lane.isOpen(performance.now())
    const { settlement, effect, error } = await dispatchMessage(dispatching, message, session, mayHandOver)
    if (error) health.note(message.lineId, error)
    apply(effect, lane, startedAtMs)
    if (effect.kind === 'works') metrics.handedOver(message, settlement.at)
    return settlement
  }

  function apply(effect: LineEffect, lane: Lane, startedAtMs: number): void {
    const nowMs = performance.now()
    switch (effect.kind) {
      case 'works':
        return lane.succeeded(startedAtMs)
      case 'nothing':
        return
      case 'doubts':
        return lane.doubted(nowMs)
      case 'backs_off':
        return lane.backOff(nowMs, effect)
      case 'pauses':
        // Closed here at once; the database follows, and is where other nodes read it.
        lines
          .pause(lane.lineId, effect.reason)
          .catch((error: unknown) => log.error({ err: error }, 'a line could not be paused; trying again'))
    }
  }

  const ownership = createOwnership({
    db: options.beats ?? db,
    log,
    nodeName: options.nodeName,
    async onOwned(owned, surplus) {
      const leaving = new Set(surplus.map(({ lineId }) => lineId))
      // One that is not driven yet is not begun only to be given back.
      const kept = owned.filter(({ lineId }) => !leaving.has(lineId) || lines.get(lineId) !== undefined)
      for (const lineId of leaving) void handBack(lineId)
      await lines.align(kept)
    },
    onLapsed: () => lines.suspend(),
  })

  /** Each on its own: a line that waits for a slow provider keeps no other. */
  async function handBack(lineId: string, withinMs?: number): Promise<void> {
    if (lines.get(lineId)?.isLeaving) return
    try {
      await lines.stop(lineId, withinMs)
      await ownership.release([lineId])
    } catch (error) {
      log.warn({ err: error }, 'a lane could not be handed back; its lease will end')
    }
  }

  const dispatcher = new Dispatcher({
    db,
    clock,
    log,
    workerId: ownership.workerId,
    handOver,
    mayDrive: ownership.mayDrive,
    onSettled: (settlement) => metrics.settled(settlement),
  })
  lines.attach(dispatcher, ownership.mayDrive)
  await ownership.refresh()
  const wakes = await listenForWakes(db.url, log, (lineIds) => dispatcher.wake(lineIds))
  const failOverAll = createFailOver(db, clock, lines, dispatcher)
  const jobs = runJobs(
    [
      { name: 'expire messages', everyMs: 5_000, run: (stopping) => expireAll(db, clock, stopping) },
      { name: 'fail over', everyMs: 5_000, run: failOverAll },
      { name: 'line health', everyMs: 1_000, run: () => health.save() },
      {
        name: 'lane depths',
        everyMs: 10_000,
        run: async () =>
          metrics.depths(await laneDepths(db, [...dispatcher.lanes.keys()], clock.now()), clock.now()),
      },
    ],
    log,
  )

  return {
    wake: (lineIds) => dispatcher.wake(lineIds),
    lines,
    async close() {
      ownership.drain()
      const withinMs = Math.min(maxDrainMs, (options.drainMs ?? Infinity) / 2)
      await Promise.all([...lines.values()].map(({ line }) => handBack(line.id, withinMs)))
      await jobs.close()
      await wakes.close()
      await dispatcher.close()
      await ownership.close()
    },
  }
}

async function expireAll(db: Db, clock: Clock, stopping: AbortSignal): Promise<void> {
  while ((await expireMessages(db, clock.now())).length === 1000) if (stopping.aborted) return
  await doubtAbandoned(db, clock.now())
}

const failOverPage = 1_000
const failOverPagesPerTurn = 20

/** What waits on a line that cannot send goes to the first line of its list that can. */
function createFailOver(db: Db, clock: Clock, lines: DrivenLines, dispatcher: Dispatcher) {
  const cursors = new Map<string, FailoverCursor>()
  return async () => {
    for (const { line, lane } of lines.values()) {
      if (line.failoverLineIds.length === 0 || !lane.isDown(performance.now())) continue
      for (let page = 0; page < failOverPagesPerTurn; page++) {
        const { seen, toLineIds, last } = await failOver(
          db,
          line,
          cursors.get(line.id),
          failOverPage,
          clock.now(),
        )
        dispatcher.wake(toLineIds)
        if (last !== null) cursors.set(line.id, last)
        if (seen < failOverPage) cursors.delete(line.id)
        if (seen < failOverPage) break
      }
    }
  }
}
