/** One attempt to deliver a callback: signed, bounded, through the outbound guard; and what becomes of it. */
import type { Clock } from '../lib/clock.ts'
import { showId } from '../lib/ids.ts'
import { OutboundError, type Outbound } from '../lib/outbound/index.ts'
import type { Sealer } from '../lib/secrets.ts'
import { signWebhook } from '../lib/standard-webhooks.ts'
import type { CallbackResult, ClaimedCallback } from '../store/callback-delivery.ts'

export type CallbackContext = {
  clock: Clock
  sealer: Sealer
  outbound: Outbound
  /** For tests; 15 s. */
  timeoutMs?: number
  random?: () => number
}

const seconds = 1_000
const minutes = 60 * seconds
const hours = 60 * minutes

/** After the first attempt; when the last of these has failed, it is given up. */
export const retrySchedule: readonly number[] = [
  5 * seconds,
  5 * minutes,
  30 * minutes,
  2 * hours,
  5 * hours,
  10 * hours,
  14 * hours,
  20 * hours,
  24 * hours,
]

const jitter = 0.1
const retryAfterMs = { min: seconds, max: 24 * hours }
/** Retries that a receiver asks for before their time are no step of the schedule, but there are so many only. */
const maxEarly = 10
const defaultTimeoutMs = 15 * seconds
const maxAnswerBytes = 16 * 1024
const maxAnswerChars = 1_000

/** The same for every attempt and replay of an event. */
export const webhookId = ({ event, subjectId }: Pick<ClaimedCallback, 'event' | 'subjectId'>): string =>
  `${showId('evt', subjectId)}_${event}`

/** Never throws. */
export async function deliverCallback(
  context: CallbackContext,
  callback: ClaimedCallback,
  lease: string,
): Promise<CallbackResult> {
  const startedAt = context.clock.now()
  const startedMs = performance.now()
  const told = await tell(context, callback, startedAt)
  const now = context.clock.now()
  const { id, companyId, endpoint, attempts, step, early } = callback
  return {
    id,
    lease,
    company_id: companyId,
    endpoint,
    number: attempts,
    started_at: startedAt,
    at: now,
    duration_ms: Math.round(performance.now() - startedMs),
    status: told.status,
    error: told.error === null ? null : clean(told.error),
    answer: told.answer,
    step,
    early,
    due_at: null,
    ...outcomeOf(told, callback, now, context.random ?? Math.random),
  }
}

type Told = {
  status: number | null
  error: string | null
  answer: string | null
  /** As the receiver wrote it. */
  retryAfter: string | undefined
  /** There is nothing to call any more. */
  isHopeless: boolean
}

const noAnswer = (error: string, isHopeless = false): Told => ({
  status: null,
  error,
  answer: null,
  retryAfter: undefined,
  isHopeless,
})

async function tell(context: CallbackContext, callback: ClaimedCallback, at: Date): Promise<Told> {
  const { url, secretSealed } = callback
  if (url === null) return noAnswer('the webhook is no longer set or is switched off', true)
  if (secretSealed === null) return noAnswer('the company is gone', true)
  try {
    const secrets = secretsOf(callback, secretSealed, context.sealer, at)
    const body = bodyOf(callback)
    const signed = signWebhook(secrets, webhookId(callback), at, body)
    const {
      status,
      headers,
      body: answer,
    } = await context.outbound.fetch('callbacks', url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'user-agent': 'Pombo-Callbacks/1', ...signed },
      body,
      timeoutMs: context.timeoutMs ?? defaultTimeoutMs,
      maxBytes: maxAnswerBytes,
      canClip: true,
      redirects: 0,
    })
    const secretTexts = [...secrets, ...signed['webhook-signature'].split(' ')]
    return {
      status,
      error: null,
      answer: redact(answer, secretTexts),
      retryAfter: headers['retry-after'],
      isHopeless: false,
    }
  } catch (error) {
    if (error instanceof OutboundError) return noAnswer(`${error.kind}: ${error.message}`)
    return noAnswer(error instanceof Error ? error.message : String(error))
  }
}

function secretsOf(callback: ClaimedCallback, current: Buffer, sealer: Sealer, now: Date): string[] {
  const { previousSecretSealed, previousSecretUntil } = callback
  const isOverlap = previousSecretSealed !== null && previousSecretUntil !== null && now < previousSecretUntil
  return [sealer.open(current), ...(isOverlap ? [sealer.open(previousSecretSealed)] : [])]
}

/** The same bytes in every attempt: fields in a fixed order, facts as they were when it happened. */
export function bodyOf({
  event,
  at,
  subjectId,
  data,
}: Pick<ClaimedCallback, 'event' | 'at' | 'subjectId' | 'data'>): string {
  const told = event === 'received' ? receivedData(subjectId, data) : messageData(event, subjectId, data)
  return JSON.stringify({ type: `message.${event}`, timestamp: at.toISOString(), data: told })
}

const messageData = (event: string, messageId: string, data: Record<string, unknown>): object => ({
  messageId: showId('msg', messageId),
  requestId: data['requestId'],
  channel: data['channel'],
  status: event,
  recipient: data['recipient'],
  template_code: data['template_code'],
  contract_code: data['contract_code'],
  document_number: data['document_number'],
  segment: data['segment'],
  custom_fields: data['custom_fields'],
  ...(data['error'] !== undefined && { error: ordered(data['error'] as ErrorData) }),
})

type ErrorData = { code: string; message: string }

const ordered = ({ code, message }: ErrorData): ErrorData => ({ code, message })

type MediaData = { position: number; mimeType: string; name: string | null }

function receivedData(inboundId: string, data: Record<string, unknown>): object {
  const messageId = showId('inb', inboundId)
  return {
    messageId,
    channel: data['channel'],
    line: { id: showId('lin', String(data['lineId'])), address: data['line'] },
    from: data['from'],
    userId: data['userId'],
    profileName: data['profileName'],
    kind: data['kind'],
    text: data['text'],
    repliesTo: data['repliesTo'],
    media: (data['media'] as MediaData[]).map(({ position, mimeType, name }) => ({
      id: `${messageId}_${position}`,
      mimeType,
      name,
    })),
  }
}

type Outcome = Pick<CallbackResult, 'state' | 'lets_go' | 'health' | 'ends_webhook'> &
  Partial<Pick<CallbackResult, 'due_at' | 'step' | 'early'>>

function outcomeOf(told: Told, callback: ClaimedCallback, now: Date, random: () => number): Outcome {
  const { status } = told
  const over = { lets_go: true, ends_webhook: false }
  if (told.isHopeless) return { ...over, state: 'given_up', health: 'refuses' }
  if (status !== null && status >= 200 && status < 300)
    return { ...over, state: 'delivered', health: 'works' }
  if (status === 410)
    return { ...over, state: 'given_up', health: 'refuses', ends_webhook: callback.target === 'webhook' }
  // Redirects and 4xx come from somebody who is there and will say the same of this very event again.
  const isTroubled = status === null || status >= 500 || status === 408 || status === 429
  const health = isTroubled ? 'troubled' : 'refuses'
  const rest = { health, lets_go: !isTroubled, ends_webhook: false } as const
  const retry = nextRetry(callback, readRetryAfter(told.retryAfter, now), random)
  if (retry === undefined) return { ...rest, state: 'given_up', lets_go: true }
  const { waitMs, step, early } = retry
  return { ...rest, state: 'waiting', due_at: new Date(now.getTime() + waitMs), step, early }
}

/** Undefined: that was the last one. What the receiver asks for wins over the schedule, both ways. */
export function nextRetry(
  { step, early }: Pick<ClaimedCallback, 'step' | 'early'>,
  askedMs: number | undefined,
  random: () => number,
): { waitMs: number; step: number; early: number } | undefined {
  const planned = retrySchedule[step]
  if (planned === undefined) return undefined
  const plannedMs = planned * (1 + random() * jitter)
  if (askedMs === undefined) return { waitMs: plannedMs, step: step + 1, early }
  if (askedMs < planned && early < maxEarly) return { waitMs: askedMs, step, early: early + 1 }
  return { waitMs: Math.max(askedMs, plannedMs), step: step + 1, early }
}

/** Seconds or a date; undefined when it is neither. */
export function readRetryAfter(text: string | undefined, now: Date): number | undefined {
  if (text === undefined) return undefined
  const value = text.trim()
  const ms = /^\d{1,9}$/.test(value) ? Number(value) * seconds : Date.parse(value) - now.getTime()
  if (Number.isNaN(ms)) return undefined
  return Math.min(retryAfterMs.max, Math.max(retryAfterMs.min, ms))
}

const secretLike =
  /((?:bearer\s+|(?:password|passwd|token|secret|authorization|api[-_]?key)["']?\s*[:=]\s*["']?))[^\s"'<>,;&]+/gi

/** What the receiver said, for the console: text only, clipped, without what should not be read there. */
function redact(answer: Buffer, secrets: readonly string[]): string {
  let text = clean(answer.toString('utf8'))
  for (const secret of secrets) text = text.replaceAll(secret, '[redacted]')
  text = text.replaceAll(secretLike, '$1[redacted]')
  return text.length <= maxAnswerChars ? text : `${text.slice(0, maxAnswerChars)}…`
}

/** PostgreSQL stores no NUL and no half of a surrogate pair; other control characters would garble a page. */
const clean = (text: string): string =>
  text
    .slice(0, maxAnswerBytes)
    .toWellFormed()
    .replaceAll(/(?![\t\r\n])\p{Cc}/gu, ' ')
