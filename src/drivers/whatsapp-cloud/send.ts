/** Hands messages to the Cloud API. A 200 with an id means taken, nothing more. */
import type { FileRef } from '../../domain/message.ts'
import type { DriverContext, DriverLine, LineSession, OutgoingMessage, SendResult } from '../driver.ts'
import type { DriverError } from '../errors.ts'
import { clip } from '../exchange.ts'
import { fileOf } from '../files.ts'
import { isLineFault } from '../http.ts'
import { readSettings } from '../settings.ts'
import { createGraphApi } from './api.ts'
import { fetchMedia } from './fetch-media.ts'
import { asList, asText } from '../json.ts'
import type { JsonObject } from '../json.ts'
import { createMediaIds } from './media.ts'
import { partsOf } from './payload.ts'
import type { Part } from './payload.ts'
import { WhatsAppCloudSettings } from './settings.ts'
import { listTemplates, submitTemplate } from './templates.ts'

type PartResult =
  | { ok: true; id: string }
  | { ok: false; error: DriverError; request: string; response: string }

/** Codes with which Meta answers a media id it has forgotten, among other things. */
const mediaCodes = new Set(['100', '131008', '131009', '131053'])

/** `CC.` and letters: a person whose number Meta keeps to itself. */
const userIdForm = /^[A-Z]{2}\.[A-Za-z0-9.]{1,128}$/

export function openWhatsAppLine(line: DriverLine, context: DriverContext): LineSession {
  const settings = readSettings(WhatsAppCloudSettings, line.settings)
  const api = createGraphApi(settings, context)
  const mediaIds = createMediaIds(api, settings.phoneNumberId, context.clock)
  let lastFault: DriverError | undefined

  async function sendPart(message: OutgoingMessage, part: Part, mayGoAgain = true): Promise<PartResult> {
    const ids = new Map<FileRef, string>()
    let hasKeptIds = false
    for (const file of part.files) {
      const uploaded = await mediaIds.upload(file, fileOf(message, file))
      if (!uploaded.ok)
        return {
          ok: false,
          error: uploaded.error,
          request: `upload of ${file.name}`,
          response: uploaded.text,
        }
      ids.set(file, uploaded.id)
      hasKeptIds ||= !uploaded.isFresh
    }
    const result = await post(message, part.body(ids))
    if (result.ok || !hasKeptIds || !mayGoAgain || !mediaCodes.has(result.error.code)) return result
    // It was refused, so it may go again, this time with files that Meta has for certain.
    for (const file of part.files) mediaIds.forget(file, fileOf(message, file))
    return await sendPart(message, part, false)
  }

  async function post(message: OutgoingMessage, content: JsonObject): Promise<PartResult> {
    const recipient = userIdForm.test(message.recipient)
      ? { recipient: message.recipient }
      : // Without the plus sign Meta may put our own country code in front.
        { to: `+${message.recipient.replace(/^\+/, '')}` }
    const json = {
      messaging_product: 'whatsapp',
      recipient_type: 'individual',
      ...recipient,
      biz_opaque_callback_data: message.id,
      ...content,
    }
    const path = `/${settings.phoneNumberId}/messages`
    const result = await api.call({ method: 'POST', path, json, isHandOver: true, attempt: message.attempt })
    const id = result.ok ? asText(asList(result.body.messages)[0]?.id) : undefined
    if (id !== undefined) return { ok: true, id }
    const error: DriverError = result.ok
      ? { kind: 'unreadable_reply', code: 'no_message_id', message: 'the answer holds no message id' }
      : result.error
    return { ok: false, error, request: `POST ${path} ${describe(message, json)}`, response: result.text }
  }

  async function send(message: OutgoingMessage): Promise<SendResult> {
    const parts = partsOf(message.content)
    const taken: (string | null)[] = parts.map((_, index) => message.takenIds?.[index] ?? null)
    for (const [index, part] of parts.entries()) {
      if (taken[index]) continue
      const result = await sendPart(message, part)
      if (result.ok) {
        taken[index] = result.id
        continue
      }
      lastFault = result.error
      const where = parts.length === 1 ? '' : `part ${index + 1} of ${parts.length}: `
      return {
        ok: false,
        error: { ...result.error, message: where + result.error.message },
        ...(taken.some((id) => id !== null) ? { takenIds: taken } : {}),
        exchange: { request: clip(result.request), response: clip(result.response) },
      }
    }
    lastFault = undefined
    return { ok: true, providerIds: taken.filter((id) => id !== null) }
  }

  return {
    window: settings.window,
    send,
    fetchMedia: (providerMediaId) => fetchMedia(api, settings, context, providerMediaId),
    listTemplates: () => listTemplates(api, settings.wabaId),
    templateAccount: settings.wabaId,
    submitTemplate: (template) => submitTemplate(api, settings.wabaId, template),
    health() {
      const isDown = lastFault !== undefined && isLineFault(lastFault)
      return { isUp: !isDown, detail: isDown ? lastFault!.message : 'The provider answers.' }
    },
    async close() {},
  }
}

/** A verification code is a secret while it is fresh: the exchange is seen by people. */
const describe = (message: OutgoingMessage, json: JsonObject): string =>
  message.content.kind === 'template' && message.content.templateKind === 'verification'
    ? JSON.stringify(json).replaceAll(/("(?:text|coupon_code)":)"(?:[^"\\]|\\.)*"/g, '$1"***"')
    : JSON.stringify(json)
