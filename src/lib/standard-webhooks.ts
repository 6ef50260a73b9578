/** Signs by Standard Webhooks (symmetric, `v1`): HMAC-SHA256 over id, time and the very bytes of the body. */
import { createHmac } from 'node:crypto'

export type WebhookHeaders = {
  'webhook-id': string
  'webhook-timestamp': string
  'webhook-signature': string
}

/** One signature for each secret (`whsec_…`): while a secret is being replaced, a receiver may know either. */
export function signWebhook(secrets: readonly string[], id: string, at: Date, body: string): WebhookHeaders {
  // A dot would let bytes move from the id into the timestamp without changing what is signed.
  if (id.includes('.')) throw new Error('The id of a webhook must not contain a dot.')
  const timestamp = String(Math.floor(at.getTime() / 1000))
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`
  })
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') }
}
