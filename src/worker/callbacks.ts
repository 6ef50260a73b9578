/**
 * Delivers callbacks: every endpoint of a company is a lane of its own, with a window that grows while it answers. What
 * waits is claimed by leases, so that any number of workers share it and a crash repeats at most what was in flight.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Registry } from 'prom-client'
import { createBatcher } from '../lib/batch.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { Outbound } from '../lib/outbound/index.ts'
import type { Sealer } from '../lib/secrets.ts'
import { deliverCallback } from '../flows/deliver-callbacks.ts'
import { reportDeadEndpoints, reportEndpointNews, tidyCallbacks } from '../flows/watch-callback-endpoints.ts'
import {
  claimCallbacks,
  listBusyLanes,
  settleCallbacks,
  type BusyLane,
  type CallbackResult,
  type CallbackWish,
  type ClaimedCallback,
} from '../store/callback-delivery.ts'
import { callbackDepth } from '../store/callbacks.ts'
import type { Queryable } from '../store/db.ts'
import { createCallbackMetrics } from './callback-metrics.ts'
import { runJobs } from './jobs.ts'

export type CallbacksOptions = {
  db: Queryable
  clock: Clock
  log: Log
  sealer: Sealer
  outbound: Outbound
  registry: Registry
  /** For tests. */
  timeoutMs?: number
  pollMs?: number
  maxInFlight?: number
}

export type Callbacks = {
  /** There may be something new. Polling finds it too, half a second later. */
  wake(): void
  /** Lets what is in flight end, and writes it down. */
  close(): Promise<void>
}

const defaultPollMs = 500
const defaultMaxInFlight = 256
const lanesPerRound = 500
/** A look at this many endpoints that have nothing due ends the search for the moment. */
const maxRounds = 40
/** A lane nobody has heard of begins small, so that many hanging ones cannot take all slots. */
const window = { first: 4, max: 32 }
/** Longer than an attempt and its record take. */
const leaseSeconds = 60
const settleTries = 8
const maxLanesKept = 10_000

type Lane = { inFlight: number; window: number }

const keyOf = (companyId: string, endpoint: string): string => `${companyId} ${endpoint}`

export function startCallbacks(options: CallbacksOptions): Callbacks {
  const { db, clock, log } = options
  const maxInFlight = options.maxInFlight ?? defaultMaxInFlight
  const metrics = createCallbackMetrics(options.registry)
  const lanes = new Map<string, Lane>()
  const companies = new Map<string, number>()
  const running = new Set<Promise<void>>()
  let cursor: BusyLane | undefined
  let isPumping = false
  let isWanted = false
  let isClosed = false
  let restUntilMs = 0

  const settler = createBatcher<CallbackResult, undefined>({
    maxBatch: 200,
    maxWaiting: maxInFlight * 2,
    batchesInFlight: 2,
    async run(results) {
      await settle(results)
      return results.map(() => undefined)
    },
  })

  /** What cannot be recorded in time is delivered again when its lease ends: with the same id, so receivers know it. */
  async function settle(results: CallbackResult[]): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        const news = await settleCallbacks(db, results, clock.now())
        await reportEndpointNews({ db, clock, log }, news)
        return
      } catch (error) {
        if (tries === settleTries) throw error
        log.warn({ err: error, callbacks: results.length }, 'callbacks could not be recorded; trying again')
        await sleep(Math.min(2_000, 100 * 2 ** tries))
      }
    }
  }

  function pump(): void {
    isWanted = true
    if (isPumping || isClosed) return
    isPumping = true
    void run().finally(() => {
      isPumping = false
      if (isWanted && !isClosed) setImmediate(pump)
    })
  }

  async function run(): Promise<void> {
    isWanted = false
    try {
      const wishes = await findWork()
      if (wishes.length === 0) return
      const lease = randomUUID()
      const claim = await claimCallbacks(db, wishes, clock.now(), { id: lease, seconds: leaseSeconds })
      for (const callback of claim.callbacks) take(callback, lease)
      if (claim.callbacks.length + claim.held > 0) isWanted = true
    } catch (error) {
      isWanted = false
      log.warn({ err: error }, 'callbacks could not be fetched; trying again')
    }
  }

  /** Goes round all endpoints that have something waiting, from where it stopped the last time. */
  async function findWork(): Promise<CallbackWish[]> {
    const startedMs = performance.now()
    const from = cursor
    for (let round = 1; round <= maxRounds; round++) {
      const busy = await listBusyLanes(db, clock.now(), cursor, lanesPerRound)
      cursor = busy.length === lanesPerRound ? busy.at(-1) : undefined
      const wishes = wishesOf(busy)
      if (wishes.length > 0) return wishes
      if (cursor === undefined) break
    }
    // The end was reached: those before the point we started from are next.
    if (from !== undefined && cursor === undefined) isWanted = true
    // Tens of thousands of dead endpoints take a while to look at, and are not to take all of it.
    const nowMs = performance.now()
    restUntilMs = nowMs + 4 * (nowMs - startedMs)
    return []
  }

  /** Free slots are dealt one by one, round the lanes; no company takes more than half of all. */
  function wishesOf(busy: readonly BusyLane[]): CallbackWish[] {
    const open = busy.flatMap(({ companyId, endpoint, hasWork, isProbe }) => {
      const lane = lanes.get(keyOf(companyId, endpoint))
      const free = (isProbe ? 1 : (lane?.window ?? window.first)) - (lane?.inFlight ?? 0)
      return hasWork && free > 0 ? [{ wish: { company_id: companyId, endpoint, free: 0 }, free }] : []
    })
    const ofCompany = new Map(companies)
    let slots = maxInFlight - running.size
    for (let round = 1, isDealing = true; isDealing && slots > 0; round++) {
      isDealing = false
      for (const { wish, free } of open) {
        const taken = ofCompany.get(wish.company_id) ?? 0
        if (slots === 0 || free < round || taken >= maxInFlight / 2) continue
        wish.free++
        slots--
        ofCompany.set(wish.company_id, taken + 1)
        isDealing = true
      }
    }
    return open.flatMap(({ wish }) => (wish.free > 0 ? [wish] : []))
  }

  function take(callback: ClaimedCallback, lease: string): void {
    const work = deliver(callback, lease)
      .catch((error: unknown) =>
        log.error({ err: error, callback: callback.id }, 'a callback was not recorded'),
      )
      .finally(() => {
        running.delete(work)
        pump()
      })
    running.add(work)
  }

  async function deliver(callback: ClaimedCallback, lease: string): Promise<void> {
    const { companyId, endpoint } = callback
    const key = keyOf(companyId, endpoint)
    const lane = lanes.get(key) ?? { inFlight: 0, window: window.first }
    lanes.set(key, lane)
    lane.inFlight++
    companies.set(companyId, (companies.get(companyId) ?? 0) + 1)
    try {
      const result = await deliverCallback(options, callback, lease)
      lane.window = result.health === 'troubled' ? window.first : Math.min(window.max, lane.window + 1)
      metrics.attempted(result)
      await settler.ask(result)
    } finally {
      lane.inFlight--
      const left = companies.get(companyId)! - 1
      if (left > 0) companies.set(companyId, left)
      else companies.delete(companyId)
      if (lane.inFlight === 0 && lane.window === window.first) lanes.delete(key)
      if (lanes.size > maxLanesKept) forgetIdle()
    }
  }

  function forgetIdle(): void {
    for (const [key, lane] of lanes) if (lane.inFlight === 0) lanes.delete(key)
  }

  const poll = setInterval(() => {
    if (performance.now() >= restUntilMs) pump()
  }, options.pollMs ?? defaultPollMs)
  const context = { db, clock, log }
  const jobs = runJobs(
    [
      { name: 'report dead callback endpoints', everyMs: 30_000, run: () => reportDeadEndpoints(context) },
      { name: 'remove old callbacks', everyMs: 10 * 60_000, run: () => tidyCallbacks(context) },
      {
        name: 'callback depth',
        everyMs: 10_000,
        run: async () => metrics.depth(await callbackDepth(db), clock.now()),
      },
    ],
    log,
  )
  pump()

  return {
    wake: pump,
    async close() {
      isClosed = true
      clearInterval(poll)
      await jobs.close()
      while (isPumping) await sleep(5)
      while (running.size > 0) await Promise.all(running)
    },
  }
}
