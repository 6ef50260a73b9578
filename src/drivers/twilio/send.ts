/** Hands messages to Twilio's Messages resource. A 201 with a SID means taken, nothing more. */
import type {
  DriverContext,
  DriverLine,
  FileBytes,
  LineSession,
  OutgoingMessage,
  SendResult,
} from '../driver.ts'
import type { DriverError } from '../errors.ts'
import { clip } from '../exchange.ts'
import { isLineFault, readOutboundFault } from '../http.ts'
import { asText, parseObject } from '../json.ts'
import { readSettings } from '../settings.ts'
import { readRefusal } from './errors.ts'
import { TwilioSettings } from './settings.ts'

const maxAnswerBytes = 256 * 1024
const maxMediaBytes = 100 * 1024 * 1024
const downloadTimeoutMs = 60_000
/** What Twilio takes for ValidityPeriod. */
const validity = { min: 1, max: 36_000 }

export function openTwilioLine(line: DriverLine, context: DriverContext): LineSession {
  const settings = readSettings(TwilioSettings, line.settings)
  const root = settings.baseUrl.replace(/(?<!\/)\/+$/, '')
  const path = `/2010-04-01/Accounts/${settings.accountSid}/Messages.json`
  const authorization = basic(settings)
  const timeoutMs = settings.answerTimeoutSeconds * 1000
  let lastFault: DriverError | undefined

  async function send(message: OutgoingMessage): Promise<SendResult> {
    if (message.content.kind === 'template') {
      const reason = 'A template of a provider cannot go by SMS.'
      return { ok: false, error: { kind: 'invalid_message', code: 'invalid_message', message: reason } }
    }
    const leftSeconds = Math.floor((message.expiresAt.getTime() - context.clock.now().getTime()) / 1000)
    const form = new URLSearchParams({
      To: `+${message.recipient}`,
      ...senderOf(line, settings),
      Body: message.content.text,
      // Twilio has no field for our id; the address of its reports carries it, also when its answer is lost.
      StatusCallback: `${line.hookUrl}?id=${message.id}`,
      ValidityPeriod: String(Math.min(validity.max, Math.max(validity.min, leftSeconds))),
    }).toString()
    const request = clip(`POST ${path} ${form}`)
    try {
      const response = await context.fetch(root + path, {
        method: 'POST',
        headers: { authorization, 'content-type': 'application/x-www-form-urlencoded' },
        body: form,
        timeoutMs,
        maxBytes: maxAnswerBytes,
      })
      const isSuccess = response.status >= 200 && response.status < 300
      const sid = isSuccess ? asText(parseObject(response.body)?.sid) : undefined
      if (sid !== undefined) {
        lastFault = undefined
        return { ok: true, providerIds: [sid] }
      }
      lastFault = isSuccess
        ? { kind: 'unreadable_reply', code: 'no_message_id', message: 'the answer holds no message id' }
        : readRefusal(response, message.attempt, context.clock.now())
      const words = `HTTP ${response.status} ${response.body.toString('utf8')}`
      return { ok: false, error: lastFault, exchange: { request, response: clip(words) } }
    } catch (error) {
      lastFault = readOutboundFault(error, true)
      return { ok: false, error: lastFault, exchange: { request, response: lastFault.message } }
    }
  }

  /** The address came with a signed report; the credentials go to no host but the line's own all the same. */
  async function fetchMedia(address: string): Promise<FileBytes> {
    if (URL.parse(address)?.origin !== new URL(root).origin)
      throw new Error('The address of the file is not of the provider.')
    const response = await context.fetch(address, {
      method: 'GET',
      headers: { authorization },
      timeoutMs: downloadTimeoutMs,
      maxBytes: maxMediaBytes,
      // To where the bytes are; the credentials stay behind.
      redirects: 3,
    })
    if (response.status !== 200) throw new Error(`The file could not be fetched: HTTP ${response.status}`)
    const mimeType = response.headers['content-type'] ?? 'application/octet-stream'
    return { bytes: response.body, name: address.slice(address.lastIndexOf('/') + 1), mimeType }
  }

  return {
    window: settings.window,
    send,
    fetchMedia,
    health() {
      const isDown = lastFault !== undefined && isLineFault(lastFault)
      return { isUp: !isDown, detail: isDown ? lastFault!.message : 'Twilio answers.' }
    },
    async close() {},
  }
}

function senderOf(line: DriverLine, settings: TwilioSettings): Record<string, string> {
  if (settings.messagingServiceSid) return { MessagingServiceSid: settings.messagingServiceSid }
  return { From: settings.sender || `+${line.address}` }
}

function basic({ accountSid, authToken, apiKeySid, apiKeySecret }: TwilioSettings): string {
  const pair = apiKeySid && apiKeySecret ? `${apiKeySid}:${apiKeySecret}` : `${accountSid}:${authToken}`
  return `Basic ${Buffer.from(pair).toString('base64')}`
}
