/**
 * X-Twilio-Signature: HMAC-SHA1 with the auth token over the address as Twilio called it, followed by every field of
 * the form, sorted by name, name and value joined; repeated values once, sorted. A body that is no form is signed by
 * its hash in the address.
 */
import { createHash, createHmac } from 'node:crypto'
import { equalBytes } from '../../lib/secrets.ts'
import type { HookRequest } from '../driver.ts'

export function signatureOf(authToken: string, url: string, fields: URLSearchParams): Buffer {
  const names = [...new Set(fields.keys())].toSorted()
  const joined = names
    .flatMap((name) => [...new Set(fields.getAll(name))].toSorted().map((value) => name + value))
    .join('')
  return createHmac('sha1', authToken)
    .update(url + joined, 'utf8')
    .digest()
}

export function isSigned(request: HookRequest, authToken: string): boolean {
  const given = Buffer.from(request.headers['x-twilio-signature'] ?? '', 'base64')
  const bodyHash = /[?&]bodySHA256=([0-9a-f]{64})(?:&|$)/i.exec(request.publicUrl)?.[1]
  const isForm = /^application\/x-www-form-urlencoded/i.test(request.headers['content-type'] ?? '')
  if (!isForm && request.rawBody.length > 0) {
    const hash = createHash('sha256').update(request.rawBody).digest()
    if (bodyHash === undefined || !equalBytes(Buffer.from(bodyHash, 'hex'), hash)) return false
  }
  const fields = new URLSearchParams(isForm ? request.rawBody.toString('utf8') : '')
  return spellings(request.publicUrl).some((url) => equalBytes(given, signatureOf(authToken, url, fields)))
}

/** Twilio signs some calls with the default port in the address and some without. */
function spellings(url: string): string[] {
  const [, scheme = '', host = '', port, rest = ''] = /^(https?):\/\/([^/?#:]+)(:\d+)?(.*)$/i.exec(url) ?? []
  if (scheme === '') return [url]
  const usual = scheme.toLowerCase() === 'https' ? ':443' : ':80'
  if (port === undefined) return [url, `${scheme}://${host}${usual}${rest}`]
  return port === usual ? [url, `${scheme}://${host}${rest}`] : [url]
}
