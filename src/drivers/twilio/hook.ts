/** What Twilio tells: states of messages, and messages of people. Believed only when it is signed. */
import type { DriverLine, HookRequest, HookResult, InboundMessage, LineReport, Receipt } from '../driver.ts'
import { readSettings } from '../settings.ts'
import { optOutCode } from './errors.ts'
import { TwilioSettings } from './settings.ts'
import { isSigned } from './signature.ts'

/** The others (accepted, queued, sending, …) tell nothing that is not known. */
const states: Record<string, Receipt['state']> = {
  sent: 'sent',
  delivered: 'delivered',
  read: 'read',
  undelivered: 'failed',
  failed: 'failed',
  canceled: 'failed',
}
const ownIdForm = /^msg_[0-9a-f]{32}$/
const maxMedia = 10
/** An empty answer in TwiML: nothing is sent back. */
const nothing = { status: 200, body: '<Response/>', contentType: 'text/xml; charset=utf-8' }

export function readHook(line: DriverLine, request: HookRequest): HookResult {
  const settings = readSettings(TwilioSettings, line.settings)
  if (request.method !== 'POST') return { ok: false, status: 404, reason: 'reports come by POST' }
  if (!isSigned(request, settings.authToken))
    return { ok: false, status: 401, reason: 'the signature is missing or wrong' }
  const fields = new URLSearchParams(request.rawBody.toString('utf8'))
  const status = fields.get('MessageStatus') ?? fields.get('SmsStatus') ?? ''
  const reports =
    status === 'received' || status === 'receiving'
      ? readInbound(fields)
      : readStatus(fields, status, request)
  return { ok: true, reports, answer: nothing }
}

function readStatus(fields: URLSearchParams, status: string, request: HookRequest): LineReport[] {
  const state = Object.hasOwn(states, status) ? states[status] : undefined
  const providerId = fields.get('MessageSid') || fields.get('SmsSid') || undefined
  const own = URL.parse(request.url, 'http://hook.invalid')?.searchParams.get('id') ?? ''
  const messageId = ownIdForm.test(own) ? own : undefined
  if (state === undefined || (providerId === undefined && messageId === undefined)) return []
  const code = fields.get('ErrorCode') || status
  return [
    {
      kind: 'receipt',
      receipt: {
        ...(providerId === undefined ? {} : { providerId }),
        ...(messageId === undefined ? {} : { messageId }),
        state,
        at: new Date(),
        ...(state === 'failed' ? { error: { code, message: fields.get('ErrorMessage') || status } } : {}),
        ...(code === optOutCode ? { isOptOut: true } : {}),
      },
    },
  ]
}

function readInbound(fields: URLSearchParams): LineReport[] {
  const providerId = fields.get('MessageSid') || fields.get('SmsSid')
  if (!providerId) return []
  const from = (fields.get('From') ?? '').replaceAll(/\D/g, '')
  const count = Math.min(maxMedia, Number(fields.get('NumMedia')) || 0)
  const media: InboundMessage['media'] = Array.from({ length: count }, (_, at) => ({
    providerMediaId: fields.get(`MediaUrl${at}`) ?? '',
    mimeType: fields.get(`MediaContentType${at}`) ?? 'application/octet-stream',
  })).filter(({ providerMediaId }) => providerMediaId !== '')
  return [
    {
      kind: 'inbound',
      message: {
        providerId,
        ...(from === '' ? {} : { from }),
        text: fields.get('Body') ?? '',
        at: new Date(),
        media,
        kind: media.length > 0 ? 'media' : 'text',
      },
    },
  ]
}
