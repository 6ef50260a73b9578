/** `GET /media/…`: pictures, videos and documents of the media library. */
import { readMediaUrl } from '../domain/media.ts'
import type { ReadMedia } from '../flows/read-media.ts'
import { sendNotFound } from './errors.ts'
import type { Surface } from './server.ts'

export const createMediaSurface =
  ({ readMedia }: { readMedia: ReadMedia }): Surface =>
  (scope) => {
    scope.get('/media/:item', async (request, reply) => {
      const reference = readMediaUrl(`http://media${request.url}`)
      const media = reference && (await readMedia(reference))
      if (media === undefined) return sendNotFound(request, reply)
      return (
        reply
          .header('content-type', media.mimeType)
          .header('x-content-type-options', 'nosniff')
          .header('content-security-policy', "default-src 'none'; sandbox")
          // An item's content never changes: other content is another item.
          .header('cache-control', 'public, max-age=31536000, immutable')
          .send(media.bytes)
      )
    })
  }
