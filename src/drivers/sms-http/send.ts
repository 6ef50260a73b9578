/** Hands messages to a broker that is described by configuration. */
import type { DriverContext, DriverLine, LineSession, OutgoingMessage, SendResult } from '../driver.ts'
import type { DriverError } from '../errors.ts'
import { clip } from '../exchange.ts'
import { isLineFault, readOutboundFault } from '../http.ts'
import { readSettings } from '../settings.ts'
import { createAnswerReader } from './errors.ts'
import { createRequestBuilder } from './payload.ts'
import { SmsHttpSettings } from './settings.ts'

const maxAnswerBytes = 256 * 1024

export function openSmsHttpLine(line: DriverLine, context: DriverContext): LineSession {
  const settings = readSettings(SmsHttpSettings, line.settings)
  const build = createRequestBuilder(line, settings)
  const read = createAnswerReader(settings)
  const timeoutMs = settings.answerTimeoutSeconds * 1000
  let lastFault: DriverError | undefined
  if (settings.hookFormat !== 'none' && settings.hookVerification === 'none')
    context.log.warn('reports of this line are not proven: anybody who knows their address can forge them')

  async function send(message: OutgoingMessage): Promise<SendResult> {
    const built = build(message, context.clock.now())
    if (!built.ok)
      return {
        ok: false,
        error: { kind: 'invalid_message', code: 'invalid_message', message: built.reason },
      }
    const { url, headers, body } = built.request
    const request = clip(built.shown)
    try {
      const response = await context.fetch(url, {
        method: settings.method,
        headers,
        ...(body === undefined ? {} : { body }),
        timeoutMs,
        maxBytes: maxAnswerBytes,
      })
      const answer = read(response, context.clock.now())
      if (answer.ok) {
        lastFault = undefined
        // A broker without ids of its own can only repeat ours.
        return { ok: true, providerIds: [answer.id ?? message.id] }
      }
      lastFault = answer.error
      const words = `HTTP ${response.status} ${response.body.toString('utf8')}`
      return { ok: false, error: answer.error, exchange: { request, response: clip(words) } }
    } catch (error) {
      lastFault = readOutboundFault(error, true)
      return { ok: false, error: lastFault, exchange: { request, response: lastFault.message } }
    }
  }

  return {
    window: settings.window,
    send,
    health() {
      const isDown = lastFault !== undefined && isLineFault(lastFault)
      return { isUp: !isDown, detail: isDown ? lastFault!.message : 'The broker answers.' }
    },
    async close() {},
  }
}
