/** Fetches what a person sent: first where it is, then the bytes. */
import type { DriverContext, FileBytes } from '../driver.ts'
import type { GraphApi } from './api.ts'
import { asText } from '../json.ts'
import type { WhatsAppCloudSettings } from './settings.ts'

const maxMediaBytes = 100 * 1024 * 1024
const downloadTimeoutMs = 120_000
/** The address lives five minutes; an old one is asked for again once. */
const tries = 2

export async function fetchMedia(
  api: GraphApi,
  { phoneNumberId, baseUrl }: WhatsAppCloudSettings,
  context: DriverContext,
  providerMediaId: string,
): Promise<FileBytes> {
  let problem = ''
  for (let count = 0; count < tries; count++) {
    const path = `/${encodeURIComponent(providerMediaId)}?phone_number_id=${phoneNumberId}`
    const found = await api.call({ method: 'GET', path })
    if (!found.ok) throw new Error(`The file could not be found: ${found.error.message}`)
    const url = URL.parse(asText(found.body.url) ?? '')
    // The token goes along, so nothing but TLS will do, save for a stand-in that is reached without it itself.
    if (url === null || (url.protocol !== 'https:' && url.origin !== new URL(baseUrl).origin)) {
      throw new Error('The provider gave no usable address for the file.')
    }
    const response = await context.fetch(url.href, {
      method: 'GET',
      headers: { authorization: api.authorization },
      timeoutMs: downloadTimeoutMs,
      maxBytes: maxMediaBytes,
    })
    if (response.status === 200) {
      const mimeType =
        asText(found.body.mime_type) ?? response.headers['content-type'] ?? 'application/octet-stream'
      return { bytes: response.body, name: asText(found.body.filename) ?? providerMediaId, mimeType }
    }
    problem = `HTTP ${response.status}`
    if (response.status !== 404) break
  }
  throw new Error(`The file could not be fetched: ${problem}`)
}
