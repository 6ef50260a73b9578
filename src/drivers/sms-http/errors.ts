/** What the broker answered, in the words of the closed list, by the rules and codes of the settings. */
import type { OutboundResponse } from '../../lib/outbound/index.ts'
import type { DriverError, DriverErrorKind } from '../errors.ts'
import { readBareStatus, retryAfterMs } from '../http.ts'
import { textAt } from './paths.ts'
import { listOf } from './settings.ts'
import type { SmsHttpSettings } from './settings.ts'

export type Answer = { ok: true; id: string | undefined } | { ok: false; error: DriverError }

type Meaning = { kind: DriverErrorKind; isRecipientOnly?: boolean }

export function createAnswerReader(
  settings: SmsHttpSettings,
): (response: OutboundResponse, now: Date) => Answer {
  const successes = new Set(listOf(settings.successValues))
  const meanings = meaningsOf(settings)
  const needsBody = Boolean(settings.successPath || settings.idPath)

  return (response, now) => {
    const { status } = response
    const body = parse(response.body)
    const isInRange = status >= settings.successFrom && status <= settings.successTo
    if (isInRange && body === undefined && needsBody) return unreadable('the answer is not JSON')
    const told = textAt(body, settings.successPath)
    const isSuccess = isInRange && (!settings.successPath || (told !== undefined && successes.has(told)))
    if (isSuccess) {
      const id = textAt(body, settings.idPath)
      return settings.idPath && id === undefined
        ? unreadable('the answer holds no message id')
        : { ok: true, id }
    }
    const code = textAt(body, settings.errorCodePath)
    const message = (textAt(body, settings.errorTextPath) ?? '').slice(0, 500)
    const waitMs = retryAfterMs(response.headers, now)
    const meaning = code === undefined ? undefined : meanings.get(code)
    if (code !== undefined && meaning !== undefined) return refusal(meaning, code, message, waitMs)
    if (!isInRange) {
      const bare = readBareStatus(status, waitMs)
      return { ok: false, error: { ...bare, code: code ?? bare.code, message: message || bare.message } }
    }
    // The broker said no in words that no list knows. Without a code it did not even say that.
    if (code !== undefined) return refusal({ kind: 'rejected' }, code, message, undefined)
    return unreadable('the answer is neither a success nor an error that can be read')
  }
}

/** An earlier list wins: an account that is refused is worth more than a code listed twice. */
function meaningsOf(settings: SmsHttpSettings): Map<string, Meaning> {
  const lists: [string | undefined, Meaning][] = [
    [settings.permanentCodes, { kind: 'rejected' }],
    [settings.invalidCodes, { kind: 'invalid_message' }],
    [settings.temporaryCodes, { kind: 'throttled', isRecipientOnly: true }],
    [settings.unavailableCodes, { kind: 'unreachable' }],
    [settings.throttledCodes, { kind: 'throttled' }],
    [settings.optOutCodes, { kind: 'opted_out' }],
    [settings.accountCodes, { kind: 'misconfigured' }],
  ]
  return new Map(lists.flatMap(([codes, meaning]) => listOf(codes).map((code) => [code, meaning] as const)))
}

const refusal = (
  { kind, isRecipientOnly }: Meaning,
  code: string,
  message: string,
  waitMs: number | undefined,
): Answer => ({
  ok: false,
  error: {
    kind,
    code,
    message: message || `the broker answered ${code}`,
    ...(waitMs !== undefined && (kind === 'throttled' || kind === 'unreachable')
      ? { retryAfterMs: waitMs }
      : {}),
    ...(isRecipientOnly ? { isRecipientOnly: true } : {}),
  },
})

const unreadable = (message: string): Answer => ({
  ok: false,
  error: { kind: 'unreadable_reply', code: 'unreadable_reply', message },
})

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch {
    return undefined
  }
}
