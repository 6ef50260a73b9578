/** What Meta tells by webhook, believed only when it is signed. */
import { createHmac } from 'node:crypto'
import { equalBytes } from '../../lib/secrets.ts'
import type { DriverLine, HookRequest, HookResult, InboundMessage, LineReport, Receipt } from '../driver.ts'
import { readSettings } from '../settings.ts'
import { wordsOf } from './errors.ts'
import { readInboundMessage } from './inbound.ts'
import { asList, asObject, asText, parseObject } from '../json.ts'
import type { JsonObject } from '../json.ts'
import { WhatsAppCloudSettings } from './settings.ts'
import { readTemplateUpdate } from './templates.ts'

export function readHook(line: DriverLine, request: HookRequest): HookResult {
  const settings = readSettings(WhatsAppCloudSettings, line.settings)
  if (request.method === 'GET') return answerChallenge(request, settings.verifyToken)
  if (request.method !== 'POST') return { ok: false, status: 404, reason: 'neither GET nor POST' }
  if (!isSigned(request, settings.appSecret))
    return { ok: false, status: 401, reason: 'the signature is missing or wrong' }
  const body = parseObject(request.rawBody)
  if (body === undefined) return { ok: false, status: 400, reason: 'the body is not a JSON object' }
  const own: LineReport[] = []
  const others = new Map<string, LineReport[]>()
  for (const entry of asList(body.entry)) {
    for (const change of asList(entry.changes)) {
      const value = asObject(change.value)
      const number = asText(asObject(value.metadata).phone_number_id) ?? settings.phoneNumberId
      const reports = readChange(asText(change.field) ?? '', value)
      if (number === settings.phoneNumberId) own.push(...reports)
      else others.set(number, [...(others.get(number) ?? []), ...reports])
    }
  }
  return {
    ok: true,
    reports: own,
    ...(others.size === 0
      ? {}
      : {
          elsewhere: [...others].map(([key, reports]) => ({ setting: 'phoneNumberId', value: key, reports })),
        }),
  }
}

function answerChallenge(request: HookRequest, verifyToken: string): HookResult {
  const query = URL.parse(request.url, 'http://hook.invalid')?.searchParams
  const given = Buffer.from(query?.get('hub.verify_token') ?? '')
  const challenge = query?.get('hub.challenge') ?? ''
  const isRight = query?.get('hub.mode') === 'subscribe' && equalBytes(given, Buffer.from(verifyToken))
  if (!isRight) return { ok: false, status: 403, reason: 'the verify token is wrong' }
  return {
    ok: true,
    reports: [],
    answer: { status: 200, body: challenge.slice(0, 200), contentType: 'text/plain; charset=utf-8' },
  }
}

/** Over the bytes as they came: Meta escapes non-ASCII, so JSON written again would differ. */
function isSigned(request: HookRequest, appSecret: string): boolean {
  const [, hex] = /^sha256=([0-9a-f]{64})$/i.exec(request.headers['x-hub-signature-256'] ?? '') ?? []
  if (hex === undefined) return false
  return equalBytes(Buffer.from(hex, 'hex'), createHmac('sha256', appSecret).update(request.rawBody).digest())
}

function readChange(field: string, value: JsonObject): LineReport[] {
  switch (field) {
    case 'messages':
      return [...asList(value.statuses).flatMap(readStatus), ...readMessages(value)]
    case 'message_template_status_update': {
      const report = readTemplateUpdate(value)
      return report ? [{ kind: 'template', report }] : []
    }
    case 'user_preferences':
      return asList(value.user_preferences).flatMap(readPreference)
    default:
      return []
  }
}

const states: Record<string, Receipt['state']> = {
  sent: 'sent',
  delivered: 'delivered',
  read: 'read',
  played: 'read',
  failed: 'failed',
}
const ownIdForm = /^msg_[0-9a-f]{32}$/
/** The person stopped marketing of this business; anything else may still be sent. */
const marketingOptOutCode = '131050'

export const readTime = (timestamp: unknown): Date => {
  const seconds = Number(asText(timestamp))
  return Number.isFinite(seconds) && seconds > 0 && seconds < 1e11 ? new Date(seconds * 1000) : new Date()
}

function readStatus(status: JsonObject): LineReport[] {
  const told = asText(status.status) ?? ''
  const state = Object.hasOwn(states, told) ? states[told] : undefined
  const providerId = asText(status.id)
  const echoed = asText(status.biz_opaque_callback_data)
  const messageId = echoed !== undefined && ownIdForm.test(echoed) ? echoed : undefined
  if (state === undefined || (providerId === undefined && messageId === undefined)) return []
  const [error] = asList(status.errors)
  const code = asText(error?.code) ?? ''
  return [
    {
      kind: 'receipt',
      receipt: {
        ...(providerId === undefined ? {} : { providerId }),
        ...(messageId === undefined ? {} : { messageId }),
        state,
        at: readTime(status.timestamp),
        ...(state === 'failed' && error ? { error: { code, message: wordsOf(error) } } : {}),
        ...(code === marketingOptOutCode ? { isMarketingOptOut: true } : {}),
      },
    },
  ]
}

/** The number may be withheld (business-scoped ids): then only the user id tells who it is. */
function readMessages(value: JsonObject): LineReport[] {
  const contacts = asList(value.contacts)
  return asList(value.messages).flatMap((message): LineReport[] => {
    const contact =
      contacts.find(
        (each) =>
          (each.wa_id !== undefined && each.wa_id === message.from) ||
          (each.user_id !== undefined && each.user_id === message.from_user_id),
      ) ?? (contacts.length === 1 ? contacts[0] : undefined)
    const read: InboundMessage | undefined = readInboundMessage(
      message,
      contact ?? {},
      readTime(message.timestamp),
    )
    return read ? [{ kind: 'inbound', message: read }] : []
  })
}

function readPreference(preference: JsonObject): LineReport[] {
  const choice = asText(preference.value)
  const [from, userId] = [asText(preference.wa_id), asText(preference.user_id)]
  if ((choice !== 'stop' && choice !== 'resume') || (from === undefined && userId === undefined)) return []
  return [
    {
      kind: 'marketing_opt_out',
      ...(from === undefined ? {} : { from }),
      ...(userId === undefined ? {} : { userId }),
      isStop: choice === 'stop',
    },
  ]
}
