/**
 * Configured limits on requests per second, over all processes and nodes. Each process counts in memory and
 * exchanges what it counted with the others through the database a few times a second, so that no request costs a
 * query; the price is that within one exchange interval every process may admit up to the limit by itself.
 */
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { Db } from '../store/db.ts'
import { addToWindow, removeWindowsBefore } from '../store/rate-limits.ts'
import type { Sender } from './submission.ts'

export type RateLimits = {
  readonly hasAddressLimit: boolean
  admitAddress(address: string): boolean
  admitSender(sender: Sender): boolean
  close(): Promise<void>
}

export type RateLimitSettings = { perCompany: number; perToken: number; perAddress: number }

const exchangeEveryMs = 100
/** An attacker with many addresses must not grow the map without end; past it new keys go uncounted. */
const maxKeys = 100_000

/** `others`: what the other processes had admitted at the last exchange; `unsent`: ours since then. */
type Counter = { own: number; others: number; unsent: number }

export const noRateLimits: RateLimits = {
  hasAddressLimit: false,
  admitAddress: () => true,
  admitSender: () => true,
  close: async () => {},
}

export function createRateLimits(
  deps: { db: Db; clock: Clock; log: Log },
  settings: RateLimitSettings,
): RateLimits {
  if (settings.perCompany + settings.perToken + settings.perAddress === 0) return noRateLimits
  const { db, clock, log } = deps
  let windowStart = 0
  let counters = new Map<string, Counter>()
  let exchanging: Promise<void> | undefined

  const admit = (key: string, limit: number): boolean => {
    if (limit === 0) return true
    const second = Math.floor(clock.now().getTime() / 1000) * 1000
    if (second !== windowStart) {
      windowStart = second
      counters = new Map()
    }
    let counter = counters.get(key)
    if (counter === undefined) {
      if (counters.size >= maxKeys) return true
      counter = { own: 0, others: 0, unsent: 0 }
      counters.set(key, counter)
    }
    if (counter.own + counter.others >= limit) return false
    counter.own++
    counter.unsent++
    return true
  }

  const exchange = async () => {
    const exchanged = counters
    const sent = [...exchanged].flatMap(([key, counter]) =>
      counter.unsent > 0 ? [{ key, count: counter.unsent }] : [],
    )
    if (sent.length === 0) return
    const ownWhenSent = new Map<string, number>()
    for (const { key } of sent) {
      const counter = exchanged.get(key)!
      ownWhenSent.set(key, counter.own)
      counter.unsent = 0
    }
    try {
      for (const { key, count } of await addToWindow(db, new Date(windowStart), sent))
        exchanged.get(key)!.others = Math.max(0, count - ownWhenSent.get(key)!)
    } catch (error) {
      // Limits go on per process until the database is back; refusing everybody would be worse.
      log.warn({ err: error }, 'request limits could not be exchanged')
    }
  }

  const timer = setInterval(() => {
    exchanging ??= exchange().finally(() => (exchanging = undefined))
  }, exchangeEveryMs)
  const cleaner = setInterval(() => {
    removeWindowsBefore(db, new Date(clock.now().getTime() - 60_000)).catch((error: unknown) =>
      log.warn({ err: error }, 'old request counters could not be removed'),
    )
  }, 30_000)
  timer.unref()
  cleaner.unref()

  return {
    hasAddressLimit: settings.perAddress > 0,
    admitAddress: (address) => admit(`address ${address}`, settings.perAddress),
    admitSender: (sender) =>
      admit(`token ${sender.id}`, settings.perToken) &&
      admit(`company ${sender.companyId}`, settings.perCompany),
    async close() {
      clearInterval(timer)
      clearInterval(cleaner)
      await exchanging
    },
  }
}
