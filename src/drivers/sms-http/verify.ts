/** Is a report from the broker? By a signature over its raw bytes, a secret in its address, or user and secret. */
import { createHmac } from 'node:crypto'
import { equalBytes, hashToken } from '../../lib/secrets.ts'
import type { HookRequest } from '../driver.ts'
import type { SmsHttpSettings } from './settings.ts'

export function isProven(request: HookRequest, settings: SmsHttpSettings): boolean {
  const { hookVerification, hookSecret = '' } = settings
  if (hookVerification === 'none') return true
  if (hookSecret === '') return false
  switch (hookVerification) {
    case 'hmac':
      return isSigned(request, settings, hookSecret)
    case 'url': {
      const given = URL.parse(request.url, 'http://hook.invalid')?.searchParams.get('secret') ?? ''
      return isSame(given, hookSecret)
    }
    case 'basic': {
      const [, encoded = ''] =
        /^basic ([A-Za-z0-9+/=]{1,4096})$/i.exec(request.headers.authorization ?? '') ?? []
      return isSame(
        Buffer.from(encoded, 'base64').toString('utf8'),
        `${settings.hookUser ?? ''}:${hookSecret}`,
      )
    }
  }
}

/** Compared as hashes, so that not even the length shows in the time it takes. */
const isSame = (given: string, expected: string): boolean => equalBytes(hashToken(given), hashToken(expected))

function isSigned(request: HookRequest, settings: SmsHttpSettings, key: string): boolean {
  const { hookHmacAlgorithm: algorithm, hookHmacEncoding: encoding, hookHmacHeader = '' } = settings
  const header = request.headers[hookHmacHeader.toLowerCase()]?.trim() ?? ''
  // Some write `sha256=` before it.
  const given = header.startsWith(`${algorithm}=`) ? header.slice(algorithm.length + 1) : header
  const expected = createHmac(algorithm, key).update(request.rawBody).digest()
  return given !== '' && equalBytes(Buffer.from(given, encoding), expected)
}
