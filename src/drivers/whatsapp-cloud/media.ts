/** Files go to Meta once and are then named by id, for as long as Meta keeps them. */
import { createHash } from 'node:crypto'
import type { FileRef } from '../../domain/message.ts'
import type { Clock } from '../../lib/clock.ts'
import type { FileBytes } from '../driver.ts'
import type { DriverError } from '../errors.ts'
import type { GraphApi } from './api.ts'
import { asText } from '../json.ts'

export type Uploaded =
  | { ok: true; id: string; isFresh: boolean }
  | { ok: false; error: DriverError; text: string }

export type MediaIds = {
  upload(file: FileRef, bytes: FileBytes): Promise<Uploaded>
  /** The provider does not know this id any more. */
  forget(file: FileRef, bytes: FileBytes): void
}

// Meta keeps uploads 30 days; a day less, so that none ends on its way.
const keptMs = 29 * 86_400_000
const maxKept = 10_000
/** 100 MB, the largest document, at a megabit per second would not fit; at eight it does. */
const uploadTimeoutMs = 120_000

const keyOf = (file: FileRef, { bytes, mimeType }: FileBytes): string => {
  const hash =
    file.source.kind === 'stored' ? file.source.hash : createHash('sha256').update(bytes).digest('hex')
  return `${mimeType} ${hash}`
}

export function createMediaIds(api: GraphApi, phoneNumberId: string, clock: Clock): MediaIds {
  const kept = new Map<string, { id: string; expiresAt: number }>()
  const underWay = new Map<string, Promise<Uploaded>>()

  async function uploadNow(key: string, { bytes, name, mimeType }: FileBytes): Promise<Uploaded> {
    const form = new FormData()
    form.set('messaging_product', 'whatsapp')
    form.set('type', mimeType)
    form.set('file', new Blob([Uint8Array.from(bytes)], { type: mimeType }), name)
    const result = await api.call({
      method: 'POST',
      path: `/${phoneNumberId}/media`,
      form,
      timeoutMs: uploadTimeoutMs,
    })
    if (!result.ok) {
      // A gateway that gave up on an upload cost nobody a message.
      const error: DriverError =
        result.error.kind === 'no_answer' ? { ...result.error, kind: 'unreachable' } : result.error
      return {
        ok: false,
        error: { ...error, message: `upload of ${name}: ${error.message}` },
        text: result.text,
      }
    }
    const id = asText(result.body.id)
    if (id === undefined) {
      return {
        ok: false,
        error: {
          kind: 'unreachable',
          code: 'no_media_id',
          message: `upload of ${name}: no id in the answer`,
        },
        text: result.text,
      }
    }
    if (kept.size >= maxKept) kept.delete(kept.keys().next().value!)
    kept.set(key, { id, expiresAt: clock.now().getTime() + keptMs })
    return { ok: true, id, isFresh: true }
  }

  return {
    async upload(file, bytes) {
      const key = keyOf(file, bytes)
      const known = kept.get(key)
      if (known && known.expiresAt > clock.now().getTime()) return { ok: true, id: known.id, isFresh: false }
      const running = underWay.get(key)
      if (running) return await running
      const started = uploadNow(key, bytes)
      underWay.set(key, started)
      try {
        return await started
      } finally {
        underWay.delete(key)
      }
    },
    forget: (file, bytes) => void kept.delete(keyOf(file, bytes)),
  }
}
