/**
 * Trouble on purpose. Each message's fate is drawn at once from (seed, channel, recipient, how many this recipient
 * had before), so a run repeats even when messages to different people overtake each other.
 */
import { Type } from 'typebox'
import type { Static } from 'typebox'
import { Value } from 'typebox/value'
import { drawNormal, seededRandom } from './random.ts'
import type { Random } from './random.ts'
import { channels } from './types.ts'
import type { Channel } from './types.ts'

const maxDelayMs = 60_000
const Rate = Type.Number({ minimum: 0, maximum: 1 })
const Milliseconds = Type.Number({ minimum: 0, maximum: maxDelayMs })
const ErrorRate = Type.Object(
  { code: Type.Integer({ minimum: 0 }), rate: Rate },
  { additionalProperties: false },
)

export const LatencySchema = Type.Union([
  Type.Object({ kind: Type.Literal('none') }, { additionalProperties: false }),
  Type.Object({ kind: Type.Literal('fixed'), ms: Milliseconds }, { additionalProperties: false }),
  Type.Object(
    { kind: Type.Literal('uniform'), minMs: Milliseconds, maxMs: Milliseconds },
    { additionalProperties: false },
  ),
  Type.Object(
    { kind: Type.Literal('normal'), meanMs: Milliseconds, deviationMs: Milliseconds },
    { additionalProperties: false },
  ),
  // Real networks have a long tail: half are faster than the median, a few very much slower.
  Type.Object(
    {
      kind: Type.Literal('lognormal'),
      medianMs: Milliseconds,
      sigma: Type.Number({ minimum: 0, maximum: 3 }),
    },
    { additionalProperties: false },
  ),
])

export const DialsSchema = Type.Object(
  {
    latency: LatencySchema,
    /** Refused at once with the provider's own code: error code, command status or SMTP reply code. */
    errors: Type.Array(ErrorRate, { maxItems: 20 }),
    /** Accepted, then told as failed by receipt. E-mail has no receipts; there it does nothing. */
    lateErrors: Type.Array(ErrorRate, { maxItems: 20 }),
    /** More than this many a second get the provider's throttling answer; 0 is no limit. */
    throttlePerSecond: Type.Integer({ minimum: 0, maximum: 1_000_000 }),
    /** The connection breaks and the message was not taken. */
    dropBeforeRate: Rate,
    /** The connection breaks, but the message was taken: the sender cannot know. */
    dropAfterRate: Rate,
    receipts: Type.Object(
      {
        isNever: Type.Boolean(),
        delayMs: Milliseconds,
        lostRate: Rate,
        lateRate: Rate,
        lateByMs: Milliseconds,
        repeatedRate: Rate,
        outOfOrderRate: Rate,
      },
      { additionalProperties: false },
    ),
  },
  { additionalProperties: false },
)

export type Dials = Static<typeof DialsSchema>
export type Latency = Static<typeof LatencySchema>
export type ChaosSettings = { seed: number } & Record<Channel, Dials>

export const calmDials = (): Dials => ({
  latency: { kind: 'none' },
  errors: [],
  lateErrors: [],
  throttlePerSecond: 0,
  dropBeforeRate: 0,
  dropAfterRate: 0,
  receipts: {
    isNever: false,
    delayMs: 20,
    lostRate: 0,
    lateRate: 0,
    lateByMs: 2_000,
    repeatedRate: 0,
    outOfOrderRate: 0,
  },
})

export type ReceiptStep = { receipt: number; afterMs: number }

export type Fate = {
  latencyMs: number
  errorCode?: number
  lateErrorCode?: number
  isDroppedBefore: boolean
  isDroppedAfter: boolean
  /** The second receipt overtakes the first; an SMS receipt overtakes the answer to its submit. */
  isOutOfOrder: boolean
  /** When to send the first (0) and second (1) receipt; lost ones are missing, repeated ones stand twice. */
  receipts: ReceiptStep[]
}

const bounded = (ms: number) => Math.round(Math.min(maxDelayMs, Math.max(0, ms)))

function drawLatency(latency: Latency, random: Random): number {
  // Always three draws, so that turning one dial does not change what the others draw.
  const flat = random()
  const normal = drawNormal(random)
  switch (latency.kind) {
    case 'none':
      return 0
    case 'fixed':
      return latency.ms
    case 'uniform':
      return bounded(latency.minMs + flat * Math.max(0, latency.maxMs - latency.minMs))
    case 'normal':
      return bounded(latency.meanMs + normal * latency.deviationMs)
    case 'lognormal':
      return bounded(latency.medianMs * Math.exp(normal * latency.sigma))
  }
}

function drawError(errors: Dials['errors'], random: Random): number | undefined {
  let draw = random()
  for (const { code, rate } of errors) {
    if (draw < rate) return code
    draw -= rate
  }
  return undefined
}

function drawReceipts(dials: Dials['receipts'], isTurned: boolean, random: Random): ReceiptStep[] {
  const steps: ReceiptStep[] = []
  for (const receipt of [0, 1]) {
    const [isLost, isLate, isRepeated] = [
      random() < dials.lostRate,
      random() < dials.lateRate,
      random() < dials.repeatedRate,
    ]
    // Out of order: the second overtakes the first by one delay.
    const place = isTurned ? 2 - receipt : receipt + 1
    const afterMs = dials.delayMs * place + (isTurned ? place : 0) + (isLate ? dials.lateByMs : 0)
    if (dials.isNever || isLost) continue
    steps.push({ receipt, afterMs })
    if (isRepeated) steps.push({ receipt, afterMs: afterMs + dials.delayMs + 1 })
  }
  return steps
}

export function drawFate(dials: Dials, random: Random): Fate {
  const latencyMs = drawLatency(dials.latency, random)
  const isDroppedBefore = random() < dials.dropBeforeRate
  const isDroppedAfter = random() < dials.dropAfterRate
  const errorCode = drawError(dials.errors, random)
  const lateErrorCode = drawError(dials.lateErrors, random)
  const isOutOfOrder = random() < dials.receipts.outOfOrderRate
  const receipts = drawReceipts(dials.receipts, isOutOfOrder, random)
  return { latencyMs, isDroppedBefore, isDroppedAfter, errorCode, lateErrorCode, isOutOfOrder, receipts }
}

export type Chaos = {
  settings(): ChaosSettings
  /** Sets one channel's dials (missing ones stay), or the seed; returns what is wrong, if anything. */
  set(change: unknown): { ok: true } | { ok: false; field: string; message: string }
  reset(): void
  fate(channel: Channel, recipient: string): Fate
  /** False when this second's allowance of the channel is used up. */
  mayPass(channel: Channel, nowMs: number): boolean
}

const maxRecipients = 100_000

const isPlainObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export function createChaos(seed: number): Chaos {
  let current: ChaosSettings = { seed, email: calmDials(), sms: calmDials(), whatsapp: calmDials() }
  const seen = new Map<string, number>()
  const windows = new Map<Channel, { second: number; used: number }>()

  return {
    settings: () => structuredClone(current),
    set(change) {
      if (!isPlainObject(change)) return { ok: false, field: 'body', message: 'must be an object' }
      const next = structuredClone(current)
      for (const [key, value] of Object.entries(change)) {
        if (key === 'seed') {
          if (!Number.isSafeInteger(value))
            return { ok: false, field: 'seed', message: 'must be a whole number' }
          next.seed = Number(value)
          continue
        }
        const channel = channels.find((known) => known === key)
        if (!channel)
          return { ok: false, field: key, message: 'is neither seed nor a channel (email, sms, whatsapp)' }
        if (!isPlainObject(value)) return { ok: false, field: key, message: 'must be an object' }
        const receipts = isPlainObject(value.receipts)
          ? { ...next[channel].receipts, ...value.receipts }
          : undefined
        const dials: unknown = { ...next[channel], ...value, ...(receipts ? { receipts } : {}) }
        if (!Value.Check(DialsSchema, dials)) {
          const [first] = Value.Errors(DialsSchema, dials)
          const path = (first?.instancePath ?? '').replaceAll('/', '.')
          return { ok: false, field: `${key}${path}`, message: first?.message ?? 'is not valid' }
        }
        next[channel] = dials
      }
      current = next
      // From here the run starts over: the same dials, seed and messages give the same fates again.
      seen.clear()
      return { ok: true }
    },
    reset() {
      current = { seed: current.seed, email: calmDials(), sms: calmDials(), whatsapp: calmDials() }
      seen.clear()
      windows.clear()
    },
    fate(channel, recipient) {
      const key = `${channel}|${recipient}`
      const count = seen.get(key) ?? 0
      if (count === 0 && seen.size >= maxRecipients) seen.clear()
      seen.set(key, count + 1)
      return drawFate(current[channel], seededRandom(current.seed, `${key}|${count}`))
    },
    mayPass(channel, nowMs) {
      const limit = current[channel].throttlePerSecond
      if (limit === 0) return true
      const second = Math.floor(nowMs / 1000)
      const window = windows.get(channel)
      if (window?.second !== second) {
        windows.set(channel, { second, used: 1 })
        return true
      }
      if (window.used >= limit) return false
      window.used++
      return true
    },
  }
}
