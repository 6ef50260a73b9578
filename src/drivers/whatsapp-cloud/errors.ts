/** The Cloud API's error codes in the words of the closed list. Codes decide; HTTP statuses and titles vary. */
import type { OutboundResponse } from '../../lib/outbound/index.ts'
import type { DriverError, DriverErrorKind } from '../errors.ts'
import { readBareStatus, retryAfterMs as retryAfterOf } from '../http.ts'
import { asObject, asText, parseObject } from '../json.ts'
import type { JsonObject } from '../json.ts'

type Meaning = {
  kind: DriverErrorKind
  isRecipientOnly?: boolean
  isMarketingOnly?: boolean
  /** When the provider says nothing about it. */
  retryAfterMs?: number
  /** From this attempt on it is refused for good. */
  maxAttempts?: number
}

const minute = 60_000
const hour = 60 * minute

const passing: Meaning = { kind: 'throttled', isRecipientOnly: true, maxAttempts: 5 }
const down: Meaning = { kind: 'unreachable' }
const throttled: Meaning = { kind: 'throttled' }
const rejected: Meaning = { kind: 'rejected' }
const invalid: Meaning = { kind: 'invalid_message' }
const stopped: Meaning = { kind: 'misconfigured' }

const rows: readonly (readonly [codes: number[], meaning: Meaning])[] = [
  // Passes by itself; 1 may also be a bad request, so tries are counted.
  [[1, 131000], passing],
  [[2, 131016], down],
  [[131057, 133004], { ...down, retryAfterMs: minute }],
  // Too fast.
  [[4, 80007, 80008, 133016], { ...throttled, retryAfterMs: minute }],
  [[130429], { ...throttled, retryAfterMs: 1000 }],
  [[131056], { kind: 'throttled', isRecipientOnly: true }],
  // The number's quality: the line waits, since every further message makes it worse.
  [[131048, 131064], { ...throttled, retryAfterMs: hour }],
  [[132015], { kind: 'throttled', isRecipientOnly: true, retryAfterMs: hour }],
  // This person, for good.
  [[130403, 130472, 130497, 131021, 131026, 131049, 131062], rejected],
  [[131050], { kind: 'opted_out', isMarketingOnly: true }],
  // This message or template.
  [[100, 131008, 131009, 131047, 131051, 131052, 131053, 131063, 135000], invalid],
  [[132000, 132001, 132005, 132007, 132012, 132016, 132018, 132068, 132069], invalid],
  // The line.
  [[0, 3, 10, 33, 190, 368, 131005, 131031, 131037, 131042, 131045, 133010, 134011], stopped],
]
const meanings: ReadonlyMap<number, Meaning> = new Map(
  rows.flatMap(([codes, meaning]) => codes.map((code) => [code, meaning] as const)),
)

const isPermission = (code: number): boolean => code >= 200 && code <= 299
const maxPairWaitMs = 1024_000

/** Meta suggests 4^n seconds for the pair limit. */
const pairWaitMs = (attempt: number): number => Math.min(maxPairWaitMs, 1000 * 4 ** Math.min(attempt - 1, 10))

function meaningOf(code: number, subcode: number, status: number, isTransient: boolean): Meaning {
  // "Object does not exist": of the number itself when it is the path's, which is how a deleted number looks.
  if (code === 100 && subcode === 33) return stopped
  const known = meanings.get(code)
  if (known) return known
  if (isPermission(code)) return stopped
  return isTransient || status >= 500 ? passing : rejected
}

/** What an answer that is not a success means for the message. */
export function readRefusal(response: OutboundResponse, attempt: number, now: Date): DriverError {
  const error = asObject(parseObject(response.body)?.error)
  const code = typeof error.code === 'number' ? error.code : undefined
  const askedMs = askedWaitMs(response.headers, now)
  if (code === undefined) return readBareStatus(response.status, askedMs)
  const meaning = meaningOf(
    code,
    Number(error.error_subcode ?? 0),
    response.status,
    error.is_transient === true,
  )
  const isGivenUp = meaning.maxAttempts !== undefined && attempt >= meaning.maxAttempts
  const retryAfterMs = askedMs ?? (code === 131056 ? pairWaitMs(attempt) : meaning.retryAfterMs)
  const mayRetry = !isGivenUp && (meaning.kind === 'throttled' || meaning.kind === 'unreachable')
  return {
    kind: isGivenUp ? 'rejected' : meaning.kind,
    code: String(code),
    message: wordsOf(error),
    ...(mayRetry && retryAfterMs !== undefined ? { retryAfterMs } : {}),
    ...(meaning.isRecipientOnly && !isGivenUp ? { isRecipientOnly: true } : {}),
    ...(meaning.isMarketingOnly ? { isMarketingOnly: true } : {}),
  }
}

export function wordsOf(error: JsonObject): string {
  const title = asText(error.message) ?? asText(error.title) ?? 'no words'
  const details = asText(asObject(error.error_data).details) ?? asText(error.error_user_msg)
  return (details && !title.includes(details) ? `${title}: ${details}` : title).slice(0, 500)
}

/** Retry-After, or the account's usage header, which counts minutes. */
function askedWaitMs(headers: Record<string, string>, now: Date): number | undefined {
  const after = retryAfterOf(headers, now)
  if (after !== undefined) return after
  const usage = parseObject(Buffer.from(headers['x-business-use-case-usage'] ?? ''))
  const minutes = Object.values(usage ?? {})
    .flatMap((entries) => (Array.isArray(entries) ? entries.map(asObject) : []))
    .map((entry) => Number(entry.estimated_time_to_regain_access ?? 0))
    .filter((value) => Number.isFinite(value) && value > 0)
  return minutes.length === 0 ? undefined : Math.min(24 * hour, Math.max(...minutes) * minute)
}
