/** Hands one claimed message to its line's driver and says what came of it. */
import { showId } from '../lib/ids.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { OutboundError, type Outbound } from '../lib/outbound/index.ts'
import { latencyBucket } from '../domain/latency.ts'
import type { FileRef, MessageContent } from '../domain/message.ts'
import type { FileBytes, LineSession, SendResult } from '../drivers/driver.ts'
import { driverErrorPolicies, type DriverError } from '../drivers/errors.ts'
import { fileKey } from '../drivers/files.ts'
import { backoffMs, retryBackoff } from '../lanes/backoff.ts'
import { markEmailBounced, setMarketingOptedOut } from '../store/contacts.ts'
import type { Queryable } from '../store/db.ts'
import { readFile } from '../store/files.ts'
import { putBack, type ClaimedMessage, type Settlement } from '../store/outbox.ts'
import { cleanResult } from './clean-result.ts'

export type DispatchContext = {
  db: Queryable
  clock: Clock
  log: Log
  outbound: Outbound
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

export type Dispatched = { settlement: Settlement; effect: LineEffect }

const maxFileBytes = 100 * 1024 * 1024
const fetchTimeoutMs = 30_000
/** How long an unknown outcome waits for a receipt. */
export const reconcileMs = 10 * 60_000
/** The last try comes so long before the expiry, however long the pauses have grown. */
const lastTryMs = 5_000
/** When the database cannot give a file: nothing was handed over, and the line is well. */
const storeAwayMs = 1_000

/** `mayHandOver` is asked last thing before the driver: fetching files takes time. */
export async function dispatchMessage(
  context: DispatchContext,
  message: ClaimedMessage,
  session: LineSession,
  mayHandOver: () => boolean,
): Promise<Dispatched> {
  const { clock, log } = context
  const startedAt = clock.now()
  if (message.expiresAt <= startedAt)
    return { settlement: expired(message, startedAt), effect: { kind: 'nothing' } }
  let files: Files
  try {
    files = await collectFiles(context, message)
  } catch (error) {
    log.warn({ err: error, messageId: message.messageId }, 'the files of a message could not be read')
    const now = clock.now()
    const settlement = { ...putBack(message, now), due_at: new Date(now.getTime() + storeAwayMs) }
    return { settlement, effect: { kind: 'nothing' } }
  }
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
      return { settlement: { ...failure, state: 'failed' }, effect }
    case 'unknown':
      return {
        settlement: { ...failure, state: 'unknown', resolve_at: new Date(now.getTime() + reconcileMs) },
        effect,
      }
    case 'retry': {
      const dueAt = retryAt(message, error, now)
      if (dueAt >= message.expiresAt) return { settlement: { ...failure, state: 'expired' }, effect }
      return { settlement: { ...failure, state: 'queued', due_at: dueAt }, effect }
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

type Files = { ok: true; bytes: Map<string, FileBytes> } | { ok: false; error: DriverError }

async function collectFiles({ db, outbound }: DispatchContext, message: ClaimedMessage): Promise<Files> {
  const bytes = new Map<string, FileBytes>()
  for (const file of filesOf(message.content)) {
    const key = fileKey(file)
    if (bytes.has(key)) continue
    const { name, mimeType, source } = file
    if (source.kind === 'stored') {
      const stored = await readFile(db, message.companyId, source.hash)
      if (stored === undefined) return lost(name)
      bytes.set(key, { bytes: stored, name, mimeType })
      continue
    }
    const fetched = await fetchFile(outbound, source.url, name)
    if (!fetched.ok) return fetched
    bytes.set(key, { bytes: fetched.body, name, mimeType })
  }
  return { ok: true, bytes }
}

const lost = (name: string): Files => ({
  ok: false,
  error: {
    kind: 'invalid_message',
    code: 'file_missing',
    message: `the content of ${name} is no longer stored`,
  },
})

type Fetched = { ok: true; body: Buffer } | { ok: false; error: DriverError }

/** Server trouble may pass and is tried again; an address that answers "no", or that may not be called, will not. */
async function fetchFile(outbound: Outbound, url: string, name: string): Promise<Fetched> {
  try {
    const response = await outbound.fetch('files', url, {
      method: 'GET',
      timeoutMs: fetchTimeoutMs,
      maxBytes: maxFileBytes,
      redirects: 3,
    })
    if (response.status >= 200 && response.status < 300) return { ok: true, body: response.body }
    return fetchFault(response.status >= 500 || response.status === 429, `HTTP ${response.status}`, name)
  } catch (error) {
    const mayPass = error instanceof OutboundError && /^(unreachable|cut|timed_out)$/.test(error.kind)
    return fetchFault(mayPass, error instanceof Error ? error.message : String(error), name)
  }
}

const fetchFault = (mayPass: boolean, words: string, name: string): Fetched => ({
  ok: false,
  error: {
    // Throttled by the file's host, not by the line: the line goes on.
    kind: mayPass ? 'throttled' : 'invalid_message',
    code: 'file_fetch_failed',
    message: `${name} could not be fetched: ${words}`,
    isRecipientOnly: true,
  },
})

function filesOf(content: MessageContent): FileRef[] {
  if (content.kind === 'text') return content.files
  const header = content.header?.kind === 'media' ? [content.header.file] : []
  return [...header, ...(content.cards ?? []).map((card) => card.file)]
}
