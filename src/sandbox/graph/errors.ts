/** Errors in the provider's shape, for HTTP answers and for status webhooks. */
import { randomBytes } from 'node:crypto'
import { whatsappCode } from '../provider-codes.ts'
import { whatsappRefusals } from '../refusals.ts'
import type { Refusal, WhatsAppRefusalKey } from '../refusals.ts'

/** A refusal with the words of this case; they default to the table's. */
export type GraphRefusal = { kind: 'refused'; refusal: Refusal; details: string }

export const refuse = (key: WhatsAppRefusalKey, details?: string): GraphRefusal => ({
  kind: 'refused',
  refusal: whatsappRefusals[key],
  details: details ?? whatsappRefusals[key].words,
})

export const refuseByCode = (code: number): GraphRefusal => ({
  kind: 'refused',
  refusal: { code, when: '', words: '' },
  details: whatsappCode(code).title,
})

export function errorAnswer({ refusal, details }: GraphRefusal): { status: number; body: object } {
  const { http, title, type } = whatsappCode(refusal.code)
  const isPlain = refusal.code === 190 || refusal.subcode !== undefined
  return {
    status: http,
    body: {
      error: {
        message: isPlain ? details : `(#${refusal.code}) ${refusal.code === 100 ? details : title}`,
        type: type ?? (refusal.subcode === undefined ? 'OAuthException' : 'GraphMethodException'),
        code: refusal.code,
        ...(refusal.subcode === undefined ? {} : { error_subcode: refusal.subcode }),
        ...(isPlain ? {} : { error_data: { messaging_product: 'whatsapp', details } }),
        ...(http >= 500 ? { is_transient: true } : {}),
        fbtrace_id: randomBytes(9).toString('base64url'),
      },
    },
  }
}

export const webhookError = ({ refusal, details }: GraphRefusal): object => {
  const { title } = whatsappCode(refusal.code)
  return {
    code: refusal.code,
    title,
    message: title,
    error_data: { details },
    href: 'https://developers.facebook.com/docs/whatsapp/cloud-api/support/error-codes/',
  }
}
