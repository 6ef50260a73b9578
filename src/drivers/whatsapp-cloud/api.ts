/** Calls of the Graph API. */
import type { DriverContext } from '../driver.ts'
import type { DriverError } from '../errors.ts'
import { readOutboundFault } from '../http.ts'
import { readRefusal } from './errors.ts'
import { parseObject } from '../json.ts'
import type { JsonObject } from '../json.ts'
import type { WhatsAppCloudSettings } from './settings.ts'

export type CallResult =
  | { ok: true; body: JsonObject; text: string }
  | { ok: false; error: DriverError; text: string }

export type Call = {
  method: 'GET' | 'POST'
  /** Below the version: `/1234/messages`. */
  path: string
  json?: JsonObject
  form?: FormData
  /** The request is a message: without an answer nobody knows whether it was taken. */
  isHandOver?: boolean
  attempt?: number
  timeoutMs?: number
}

export type GraphApi = {
  call(call: Call): Promise<CallResult>
  authorization: string
  answerTimeoutMs: number
}

const maxAnswerBytes = 4 * 1024 * 1024

export function createGraphApi(settings: WhatsAppCloudSettings, context: DriverContext): GraphApi {
  const base = settings.baseUrl.replace(/(?<!\/)\/+$/, '')
  // An address copied with its version keeps it.
  const root = /\/v\d+\.\d+$/.test(base) ? base : `${base}/${settings.version}`
  const authorization = `Bearer ${settings.accessToken}`
  const answerTimeoutMs = settings.answerTimeoutSeconds * 1000

  return {
    authorization,
    answerTimeoutMs,
    async call({ method, path, json, form, isHandOver = false, attempt = 1, timeoutMs = answerTimeoutMs }) {
      const body = form ?? (json === undefined ? undefined : JSON.stringify(json))
      try {
        const response = await context.fetch(root + path, {
          method,
          headers: { authorization, ...(json === undefined ? {} : { 'content-type': 'application/json' }) },
          ...(body === undefined ? {} : { body }),
          timeoutMs,
          maxBytes: maxAnswerBytes,
        })
        const text = `HTTP ${response.status} ${response.body.toString('utf8')}`
        const answered = parseObject(response.body)
        const isSuccess = response.status >= 200 && response.status < 300
        if (isSuccess && answered !== undefined && answered.error === undefined)
          return { ok: true, body: answered, text }
        return { ok: false, error: readRefusal(response, attempt, context.clock.now()), text }
      } catch (error) {
        const fault = readOutboundFault(error, isHandOver)
        return { ok: false, error: fault, text: fault.message }
      }
    },
  }
}
