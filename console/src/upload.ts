/** Sends a file and tells how far it is, which `fetch` cannot. */
import { ApiError, urlOf, type AnswerOf, type FieldErrors } from './api.ts'

export type Upload = { done: Promise<AnswerOf<'POST /media'>>; abort(): void }

export function uploadMedia(file: File, onProgress: (share: number) => void): Upload {
  const request = new XMLHttpRequest()
  const done = new Promise<AnswerOf<'POST /media'>>((resolve, reject) => {
    request.open('POST', urlOf('POST /media', { query: { name: file.name } }))
    request.setRequestHeader('X-Pombo-Console', '1')
    request.setRequestHeader('Content-Type', file.type || 'application/octet-stream')
    request.responseType = 'json'
    request.upload.addEventListener('progress', ({ loaded, total }) =>
      onProgress(total > 0 ? loaded / total : 0),
    )
    request.addEventListener('load', () => {
      const body = (request.response ?? {}) as { message?: string; errors?: FieldErrors; requestId?: string }
      if (request.status === 201) resolve(request.response as AnswerOf<'POST /media'>)
      else reject(new ApiError(body.message ?? '', { ...body, status: request.status }))
    })
    request.addEventListener('error', () => reject(new ApiError('', { status: 0 })))
    request.addEventListener('abort', () => reject(new ApiError('', { status: 0 })))
    request.send(file)
  })
  return { done, abort: () => request.abort() }
}
