/** From a message and the line's templates to an HTTP request. */
import { isGsm7 } from '../../domain/sms-text.ts'
import type { DriverLine, OutgoingMessage } from '../driver.ts'
import type { SmsHttpSettings } from './settings.ts'
import { fillJson, fillText, headerSafe, isObject, mergeJson, parseTemplate } from './template.ts'
import type { Values } from './template.ts'

export type BrokerRequest = { url: string; headers: Record<string, string>; body?: string }
export type Built = { ok: true; request: BrokerRequest; shown: string } | { ok: false; reason: string }

/** Templates are parsed once per line. */
export function createRequestBuilder(
  line: DriverLine,
  settings: SmsHttpSettings,
): (message: OutgoingMessage, now: Date) => Built {
  const body = parseTemplate(settings.body)
  const unicodeBody = parseTemplate(settings.unicodeBody)
  const flashBody = parseTemplate(settings.flashBody)
  const headers = parseTemplate(settings.headers)
  const from = settings.sender || formatNumber(line.address, settings) || line.address

  return (message, now) => {
    const { content } = message
    if (content.kind === 'template')
      return { ok: false, reason: 'A template of a provider cannot go by SMS.' }
    const to = formatNumber(message.recipient, settings)
    if (to === undefined)
      return { ok: false, reason: `This broker takes numbers of country ${settings.homeCountryCode} only.` }
    const values: Values = {
      to,
      from,
      text: content.text,
      id: message.id,
      hookUrl: hookAddress(line, settings),
      validitySeconds: String(Math.max(60, Math.floor((message.expiresAt.getTime() - now.getTime()) / 1000))),
      user: settings.authUser ?? '',
      secret: settings.authSecret ?? '',
    }
    let fields = body
    if (!isGsm7(content.text)) fields = mergeJson(fields ?? {}, unicodeBody ?? {})
    if (content.isFlash) fields = mergeJson(fields ?? {}, flashBody ?? {})
    // People see the exchange of a failed message: it is written once more without what is secret.
    const shown = write(settings, fields, headers, { ...values, secret: '***', hookUrl: line.hookUrl }, '***')
    return {
      ok: true,
      request: write(settings, fields, headers, values, settings.authSecret ?? ''),
      shown: `${settings.method} ${shown.url} ${shown.body ?? ''}`,
    }
  }
}

/** The address that the broker is told, with its secret when that is how reports are proven. */
export const hookAddress = ({ hookUrl }: DriverLine, settings: SmsHttpSettings): string =>
  settings.hookFormat !== 'none' && settings.hookVerification === 'url'
    ? `${hookUrl}?secret=${encodeURIComponent(settings.hookSecret ?? '')}`
    : hookUrl

/** Undefined: a number of another country has no national form. */
export function formatNumber(digits: string, settings: SmsHttpSettings): string | undefined {
  switch (settings.numberFormat) {
    case 'plus':
      return `+${digits}`
    case 'digits':
      return digits
    case 'national':
      return digits.startsWith(settings.homeCountryCode)
        ? digits.slice(settings.homeCountryCode.length)
        : undefined
  }
}

function write(
  settings: SmsHttpSettings,
  fields: unknown,
  headers: unknown,
  values: Values,
  secret: string,
): BrokerRequest {
  const url = new URL(fillText(settings.url, values, encodeURIComponent))
  const filled = fields === undefined ? undefined : fillJson(fields, values)
  const pairs: [string, string][] = isObject(filled)
    ? Object.entries(filled).map(([name, value]) => [name, String(value)])
    : []
  if (settings.bodyFormat === 'query') for (const [name, value] of pairs) url.searchParams.append(name, value)
  if (settings.auth === 'query') url.searchParams.append(settings.authName ?? '', secret)
  const request: BrokerRequest = {
    url: url.href,
    headers: { ...headersOf(headers, values), ...authHeader(settings, secret) },
  }
  if (filled === undefined || settings.bodyFormat === 'query') return request
  return settings.bodyFormat === 'json'
    ? withBody(request, 'application/json', JSON.stringify(filled))
    : withBody(request, 'application/x-www-form-urlencoded', new URLSearchParams(pairs).toString())
}

const withBody = (request: BrokerRequest, type: string, body: string): BrokerRequest => ({
  ...request,
  headers: { 'content-type': type, ...request.headers },
  body,
})

const headersOf = (headers: unknown, values: Values): Record<string, string> =>
  isObject(headers)
    ? Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [
          name.toLowerCase(),
          headerSafe(fillText(String(value), values)),
        ]),
      )
    : {}

function authHeader(settings: SmsHttpSettings, secret: string): Record<string, string> {
  switch (settings.auth) {
    case 'none':
    case 'query':
      return {}
    case 'basic': {
      const pair = Buffer.from(`${settings.authUser ?? ''}:${secret}`).toString('base64')
      return { authorization: `Basic ${pair}` }
    }
    case 'bearer':
      return { authorization: `Bearer ${headerSafe(secret)}` }
    case 'header':
      return { [(settings.authName ?? '').toLowerCase()]: headerSafe((settings.authPrefix ?? '') + secret) }
  }
}
