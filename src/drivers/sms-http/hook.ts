/** Reports and received messages of a broker, read by the paths of the settings. */
import { createHash } from 'node:crypto'
import type { DriverLine, HookRequest, HookResult, LineReport, Receipt } from '../driver.ts'
import { readSettings } from '../settings.ts'
import { textAt, valueAt } from './paths.ts'
import { listOf, SmsHttpSettings } from './settings.ts'
import { isProven } from './verify.ts'

/** More than any broker sends at once. */
const maxReports = 1000
const ownIdForm = /^msg_[0-9a-f]{32}$/

export function readHook(line: DriverLine, request: HookRequest): HookResult {
  const settings = readSettings(SmsHttpSettings, line.settings)
  if (settings.hookFormat === 'none') return { ok: false, status: 404, reason: 'this line takes no reports' }
  if (settings.hookFormat !== 'query' && request.method !== 'POST')
    return { ok: false, status: 404, reason: 'reports come by POST' }
  if (!isProven(request, settings)) return { ok: false, status: 401, reason: 'the proof is missing or wrong' }
  const body = readBody(request, settings.hookFormat)
  if (body === undefined) return { ok: false, status: 400, reason: 'the body cannot be read' }
  const listed = settings.hookListPath ? valueAt(body, settings.hookListPath) : body
  // A call of another kind (a test, an empty list) is no fault.
  const items: unknown[] = Array.isArray(listed) ? listed : listed === undefined ? [] : [listed]
  if (items.length > maxReports) return { ok: false, status: 413, reason: 'too many reports at once' }
  return { ok: true, reports: items.flatMap((item) => readItem(item, settings)) }
}

function readBody(request: HookRequest, format: 'json' | 'form' | 'query'): unknown {
  switch (format) {
    case 'json':
      try {
        const value: unknown = JSON.parse(request.rawBody.toString('utf8'))
        return typeof value === 'object' && value !== null ? value : undefined
      } catch {
        return undefined
      }
    case 'form':
      return fieldsOf(new URLSearchParams(request.rawBody.toString('utf8')))
    case 'query':
      return fieldsOf(URL.parse(request.url, 'http://hook.invalid')?.searchParams ?? new URLSearchParams())
  }
}

/** The first of each name; without a prototype, so that no name has a meaning of its own. */
function fieldsOf(parameters: URLSearchParams): Record<string, string> {
  const fields: Record<string, string> = Object.create(null)
  for (const [name, value] of parameters) fields[name] ??= value
  return fields
}

function readItem(item: unknown, settings: SmsHttpSettings): LineReport[] {
  const status = textAt(item, settings.hookStatusPath)
  if (status !== undefined) return readReceipt(item, settings, status)
  return settings.inboundFromPath ? readInbound(item, settings) : []
}

function stateOf(status: string, settings: SmsHttpSettings): Receipt['state'] | undefined {
  const lists = [
    ['delivered', settings.deliveredStatuses],
    ['read', settings.readStatuses],
    ['failed', settings.failedStatuses],
    ['expired', settings.expiredStatuses],
    ['sent', settings.sentStatuses],
  ] as const
  const wanted = status.toLowerCase()
  return lists.find(([, given]) => listOf(given).some((each) => each.toLowerCase() === wanted))?.[0]
}

function readReceipt(item: unknown, settings: SmsHttpSettings, status: string): LineReport[] {
  const state = stateOf(status, settings)
  const providerId = textAt(item, settings.hookIdPath)
  const echoed = textAt(item, settings.hookOwnIdPath)
  const messageId = echoed !== undefined && ownIdForm.test(echoed) ? echoed : undefined
  if (state === undefined || (providerId === undefined && messageId === undefined)) return []
  const code = textAt(item, settings.hookErrorCodePath) ?? status
  const hasFailed = state === 'failed' || state === 'expired'
  return [
    {
      kind: 'receipt',
      receipt: {
        ...(providerId === undefined ? {} : { providerId }),
        ...(messageId === undefined ? {} : { messageId }),
        state,
        at: readTime(textAt(item, settings.hookTimePath)),
        ...(hasFailed
          ? { error: { code, message: textAt(item, settings.hookErrorTextPath) ?? status } }
          : {}),
        ...(hasFailed && listOf(settings.optOutCodes).includes(code) ? { isOptOut: true } : {}),
      },
    },
  ]
}

function readInbound(item: unknown, settings: SmsHttpSettings): LineReport[] {
  const given = textAt(item, settings.inboundFromPath)
  if (given === undefined) return []
  const digits = given.replaceAll(/\D/g, '')
  const isNational = settings.numberFormat === 'national' && !given.trim().startsWith('+')
  const text = textAt(item, settings.inboundTextPath) ?? ''
  const providerId =
    textAt(item, settings.inboundIdPath) ?? createHash('sha256').update(JSON.stringify(item)).digest('hex')
  return [
    {
      kind: 'inbound',
      message: {
        providerId,
        ...(digits === '' ? {} : { from: isNational ? settings.homeCountryCode + digits : digits }),
        text,
        at: readTime(textAt(item, settings.hookTimePath)),
        media: [],
        kind: 'text',
      },
    },
  ]
}

/** A date without a zone could be of any place; the moment it arrives is nearer. */
function readTime(given: string | undefined): Date {
  if (given === undefined) return new Date()
  if (/^\d{9,13}(?:\.\d+)?$/.test(given)) {
    const number = Number(given)
    return new Date(number < 1e11 ? number * 1000 : number)
  }
  const at = /(?:Z|[+-]\d{2}:?\d{2})$/i.test(given) ? new Date(given) : new Date()
  return Number.isNaN(at.getTime()) ? new Date() : at
}
