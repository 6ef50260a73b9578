/** What every driver over HTTP has in common: an answer without words of its own, a wait asked for, no answer at all. */
import { OutboundError } from '../lib/outbound/index.ts'
import type { DriverError, DriverErrorKind } from './errors.ts'

const maxWaitMs = 24 * 3_600_000

/** Retry-After, in seconds or as a date. */
export function retryAfterMs(headers: Record<string, string>, now: Date): number | undefined {
  const after = headers['retry-after']
  if (after === undefined) return undefined
  const ms = /^\d+$/.test(after) ? Number(after) * 1000 : Date.parse(after) - now.getTime()
  return Number.isFinite(ms) ? Math.min(maxWaitMs, Math.max(0, ms)) : undefined
}

/**
 * A status whose body says nothing that the driver knows. Something between us and the provider may have answered: a
 * gateway that gave up may have passed the message on.
 */
export function readBareStatus(status: number, askedMs: number | undefined): DriverError {
  const wait = askedMs === undefined ? {} : { retryAfterMs: askedMs }
  const answer = (kind: DriverErrorKind, message: string, more = {}): DriverError => ({
    kind,
    code: `http_${status}`,
    message,
    ...more,
  })
  if (status === 429 || status === 503) return answer('throttled', 'the provider asks to wait', wait)
  if (status >= 500) return answer('no_answer', 'a server between here and the provider gave up')
  if (status === 401 || status === 403) return answer('misconfigured', 'access is refused')
  if (status === 404 || (status >= 300 && status < 400))
    return answer('misconfigured', 'the API is not at this address')
  if (status >= 400) return answer('rejected', 'refused without a reason')
  return answer('unreadable_reply', 'the answer is not what the API gives')
}

/** `isHandOver` false: nothing that a person receives was in the request, so it may simply be made again. */
export function readOutboundFault(error: unknown, isHandOver: boolean): DriverError {
  if (!(error instanceof OutboundError)) throw error
  const { kind, message } = error
  if (kind === 'refused' || kind === 'untrusted') return { kind: 'misconfigured', code: kind, message }
  if (kind === 'too_large')
    return { kind: isHandOver ? 'unreadable_reply' : 'unreachable', code: kind, message }
  return { kind: error.wasSent && isHandOver ? 'no_answer' : 'unreachable', code: kind, message }
}

/** Faults that are about the line; a refused message says nothing about it. */
export const isLineFault = ({ kind }: DriverError): boolean =>
  kind === 'misconfigured' || kind === 'unreachable' || kind === 'no_answer'
