/** What can be said of an address before anything is resolved: used when a request comes, and before connecting. */
import { addressFault, literalAddress } from './addresses.ts'

export type UrlJudgement = { ok: true; url: URL } | { ok: false; reason: string }

const maxUrlLength = 2048

/** Syntax, scheme, credentials, a literal address in any spelling, `localhost`. Never asks DNS. */
export function judgeUrl(text: string): UrlJudgement {
  const reading = readUrl(text)
  if (!reading.ok) return reading
  const fault = hostFault(reading.url.hostname)
  return fault === undefined ? reading : { ok: false, reason: fault }
}

/** All of it but the host, for hosts that an exception allows. */
export function readUrl(text: string): UrlJudgement {
  if (text.length > maxUrlLength) return { ok: false, reason: `is longer than ${maxUrlLength} characters` }
  const url = URL.parse(text)
  if (url === null) return { ok: false, reason: 'is not a URL' }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    return { ok: false, reason: 'must start with http:// or https://' }
  }
  if (url.username !== '' || url.password !== '')
    return { ok: false, reason: 'must not hold a user name or password' }
  if (url.hostname === '') return { ok: false, reason: 'has no host' }
  return { ok: true, url }
}

/** `hostname` as WHATWG URL gives it: decimal, octal, hexadecimal and full-width spellings are one form by now. */
export function hostFault(hostname: string): string | undefined {
  const literal = literalAddress(hostname)
  if (literal !== undefined) {
    const fault = addressFault(literal)
    return fault === undefined ? undefined : `points to ${literal}, which ${fault}`
  }
  const name = bareName(hostname)
  if (name === 'localhost' || name.endsWith('.localhost')) return 'points to this machine'
  return undefined
}

/** Lower case, without the root's dot: `LOCALHOST.` and `localhost` are one name. */
export const bareName = (hostname: string): string => hostname.toLowerCase().replace(/(?<!\.)\.+$/, '')
