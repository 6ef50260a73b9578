/** Hands one claimed message to its line's driver and says what came of it. */
import { showId } from '../lib/ids.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { Outbound } from '../lib/outbound/index.ts'
import { latencyBucket } from '../domain/latency.ts'
import type { LineSession, SendResult } from '../drivers/driver.ts'
import { driverErrorPolicies, type DriverError } from '../drivers/errors.ts'
import { backoffMs, retryBackoff } from '../lanes/backoff.ts'
import { markEmailBounced, setMarketingOptedOut } from '../store/contacts.ts'
import type { Queryable } from '../store/db.ts'
import { putBack, type ClaimedMessage, type Settlement } from '../store/outbox.ts'
import { cleanResult } from './clean-result.ts'
import { collectFiles, createRoom, type FileBudget, type Files, type Room } from './collect-files.ts'

export type DispatchContext = {
  db: Queryable
  clock: Clock
  log: Log
  outbound: Outbound
  fileBudget: FileBudget
  /** For e-mail of lines that offer it. */
  unsubscribeUrlOf?(message: ClaimedMessage): string | undefined
}

/** What the lane has to know of a hand-over, besides how to settle it. */
export type LineEffect =
  | { kind: 'works' }
  | { kind: 'nothing' }
  /** Handed over, and no answer. */
  | { kind: 'doubts' }
  | { kind: 'backs_off'; askedMs?: number; isAway: boolean }
  | { kind: 'pauses'; reason: string }

export type Dispatched = {
  settlement: Settlement
  effect: LineEffect
  /** Why it was not taken. */
  error?: DriverError
}

/** How long an unknown outcome waits for a receipt. */
export const reconcileMs = 10 * 60_000
/** The last try comes so long before the expiry, however long the pauses have grown. */
const lastTryMs = 5_000
/** When a file cannot be had at the moment: nothing was handed over, and the line is well. */
const withoutFilesMs = 1_000

/** `mayHandOver` is asked last thing before the driver: fetching files takes time. */
export async function dispatchMessage(
  context: DispatchContext,
  message: ClaimedMessage,
  session: LineSession,
  mayHandOver: () => boolean,
): Promise<Dispatched> {
  const room = createRoom(context.fileBudget)
  try {
    return await dispatchIn(context, message, session, mayHandOver, room)
  } finally {
    room.close()
  }
}

async function dispatchIn(
  context: DispatchContext,
  message: ClaimedMessage,
  session: LineSession,
  mayHandOver: () => boolean,
  room: Room,
): Promise<Dispatched> {
  const { clock, log } = context
  const startedAt = clock.now()
  if (message.expiresAt <= startedAt)
    return { settlement: expired(message, startedAt), effect: { kind: 'nothing' } }
  let files: Files
  try {
    files = await collectFiles(context, message, room)
  } catch (error) {
    log.warn({ err: error, messageId: message.messageId }, 'the files of a message could not be read')
    return later(message, clock.now())
  }
  if (files === 'no_room') return later(message, clock.now())
  if (!files.ok) return settle(message, { ok: false, error: files.error }, startedAt, clock.now())
  if (!mayHandOver()) return { settlement: putBack(message, clock.now()), effect: { kind: 'nothing' } }
  let result: SendResult
  try {
    result = await session.send({
      id: showId('msg', message.messageId),
      recipient: message.recipient,
      content: message.content,
      files: files.bytes,
      expiresAt: message.expiresAt,
      attempt: message.attempts,
      takenIds: message.takenIds ?? undefined,
      unsubscribeUrl: context.unsubscribeUrlOf?.(message),
    })
  } catch (error) {
    // A driver answers with values; what it throws is a fault of ours, and nobody knows how far it came.
    log.error({ err: error, messageId: message.messageId }, 'a driver failed')
    result = {
      ok: false,
      error: { kind: 'no_answer', code: 'driver_fault', message: 'the driver failed while handing it over' },
    }
  }
  if (!result.ok) await markContact(context, message, result.error)
  return settle(message, cleanResult(result), startedAt, clock.now())
}

const later = (message: ClaimedMessage, now: Date): Dispatched => ({
  settlement: { ...putBack(message, now), due_at: new Date(now.getTime() + withoutFilesMs) },
  effect: { kind: 'nothing' },
})

/** What a refusal says about the person, beyond this message. A mark that is lost is made by the next one. */
async function markContact(
  { db, clock, log }: DispatchContext,
  { companyId, contactId, recipient }: ClaimedMessage,
  { isAddressGone, isMarketingOnly }: DriverError,
): Promise<void> {
  try {
    if (isAddressGone) await markEmailBounced(db, companyId, contactId, recipient.toLowerCase(), clock.now())
    if (isMarketingOnly) await setMarketingOptedOut(db, companyId, contactId, clock.now())
  } catch (error) {
    log.warn({ err: error, contactId }, 'a contact could not be marked')
  }
}

export function settle(message: ClaimedMessage, result: SendResult, startedAt: Date, now: Date): Dispatched {
  const attempt = { attempt: message.attempts, lineId: showId('lin', message.lineId), startedAt }
  const base = putBack(message, now)
  if (result.ok) {
    const { providerIds, isDelivered = false } = result
    return {
      // A success keeps the provider's ids only.
      settlement: {
        ...base,
        state: isDelivered ? 'delivered' : 'sent',
        provider_ids: providerIds,
        event: { kind: 'sent', detail: { ...attempt, providerIds, ...(isDelivered && { isDelivered }) } },
        latency_bucket: isDelivered ? latencyBucket(now.getTime() - message.acceptedAt.getTime()) : null,
      },
      effect: { kind: 'works' },
    }
  }

  const { error } = result
  const failure = {
    ...base,
    provider_ids: result.takenIds?.some((id) => id !== null) ? result.takenIds : [],
    error_code: error.code,
    error_message: error.message,
    event: { kind: 'attempt', detail: { ...attempt, error }, exchange: result.exchange },
    is_opt_out: error.kind === 'opted_out' && !error.isMarketingOnly,
  }
  const effect = effectOf(error)
  switch (driverErrorPolicies[error.kind].message) {
    case 'fail':
      return { settlement: { ...failure, state: 'failed' }, effect, error }
    case 'unknown':
      return {
        settlement: { ...failure, state: 'unknown', resolve_at: new Date(now.getTime() + reconcileMs) },
        effect,
        error,
      }
    case 'retry': {
      const dueAt = retryAt(message, error, now)
      if (dueAt >= message.expiresAt) return { settlement: { ...failure, state: 'expired' }, effect, error }
      return { settlement: { ...failure, state: 'queued', due_at: dueAt }, effect, error }
    }
  }
}

function effectOf(error: DriverError): LineEffect {
  switch (driverErrorPolicies[error.kind].line) {
    case 'pauses':
      return { kind: 'pauses', reason: `${error.code}: ${error.message}` }
    case 'backs_off':
      if (error.isRecipientOnly) return { kind: 'works' }
      return { kind: 'backs_off', askedMs: error.retryAfterMs, isAway: error.kind === 'unreachable' }
    case 'goes_on':
      return error.kind === 'no_answer' ? { kind: 'doubts' } : { kind: 'works' }
  }
}

/** A provider's own word on when to come back wins over ours; ours leaves room for a last try. */
function retryAt(message: ClaimedMessage, error: DriverError, now: Date): Date {
  // When the line is resumed, not when this message has waited for long.
  if (error.kind === 'misconfigured') return now
  if (error.retryAfterMs !== undefined) return new Date(now.getTime() + error.retryAfterMs)
  const dueAtMs = now.getTime() + backoffMs(message.attempts, retryBackoff)
  const lastTryAtMs = message.expiresAt.getTime() - lastTryMs
  return new Date(lastTryAtMs > now.getTime() + lastTryMs ? Math.min(dueAtMs, lastTryAtMs) : dueAtMs)
}

const expired = (message: ClaimedMessage, now: Date): Settlement => ({
  ...putBack(message, now),
  state: 'expired',
  error_code: 'expired',
  error_message: 'it could not be handed over in time',
  event: { kind: 'expired', detail: {} },
})
