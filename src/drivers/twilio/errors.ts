/** Twilio's error codes in the words of the closed list. */
import type { OutboundResponse } from '../../lib/outbound/index.ts'
import type { DriverError, DriverErrorKind } from '../errors.ts'
import { readBareStatus, retryAfterMs } from '../http.ts'
import { asText, parseObject } from '../json.ts'

type Meaning = {
  kind: DriverErrorKind
  isRecipientOnly?: boolean
  /** When Twilio says nothing about it. */
  retryAfterMs?: number
  /** From this attempt on it is refused for good. */
  maxAttempts?: number
}

const minute = 60_000

const rows: readonly (readonly [codes: number[], meaning: Meaning])[] = [
  // Too fast, or a queue that is full.
  [[20429, 21611, 30001, 30022, 30023], { kind: 'throttled' }],
  [[63038], { kind: 'throttled', retryAfterMs: 60 * minute }],
  // Trouble at Twilio, which it admits: nothing was taken.
  [[20500, 20503], { kind: 'unreachable' }],
  // The phone is off, or nobody knows: worth a few tries.
  [[30003], { kind: 'throttled', isRecipientOnly: true, retryAfterMs: 5 * minute, maxAttempts: 4 }],
  [[30008], { kind: 'throttled', isRecipientOnly: true, retryAfterMs: minute, maxAttempts: 2 }],
  // This person, for good.
  [
    [21211, 21214, 21217, 21408, 21612, 21614, 21635, 30004, 30005, 30006, 30007, 30410, 30453],
    { kind: 'rejected' },
  ],
  [[21610], { kind: 'opted_out' }],
  // This message.
  [[21602, 21604, 21605, 21617, 21619, 30019], { kind: 'invalid_message' }],
  // The account, or the sender it does not own.
  [
    [
      20003, 20005, 20006, 20404, 21212, 21603, 21606, 21607, 21608, 21659, 21660, 21701, 21703, 21705, 30002,
      30034,
    ],
    { kind: 'misconfigured' },
  ],
]
const meanings: ReadonlyMap<number, Meaning> = new Map(
  rows.flatMap(([codes, meaning]) => codes.map((code) => [code, meaning] as const)),
)

export const optOutCode = '21610'

/** What an answer that is not a success means for the message. */
export function readRefusal(response: OutboundResponse, attempt: number, now: Date): DriverError {
  const body = parseObject(response.body) ?? {}
  const waitMs = retryAfterMs(response.headers, now)
  const bare = readBareStatus(response.status, waitMs)
  const { code } = body
  if (typeof code !== 'number') return bare
  const message = (asText(body.message) ?? bare.message).slice(0, 500)
  // An unknown code with a 5xx is still Twilio's own word that it failed.
  const fallback: Meaning = { kind: response.status >= 500 ? 'unreachable' : bare.kind }
  const meaning = meanings.get(code) ?? fallback
  const isGivenUp = meaning.maxAttempts !== undefined && attempt >= meaning.maxAttempts
  const kind = isGivenUp ? 'rejected' : meaning.kind
  const mayRetry = kind === 'throttled' || kind === 'unreachable'
  const asked = waitMs ?? meaning.retryAfterMs
  return {
    kind,
    code: String(code),
    message,
    ...(mayRetry && asked !== undefined ? { retryAfterMs: asked } : {}),
    ...(meaning.isRecipientOnly && !isGivenUp ? { isRecipientOnly: true } : {}),
  }
}
