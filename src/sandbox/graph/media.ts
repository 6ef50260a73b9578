/** Uploaded files, on disk with a bound: the oldest leave first. */
import { createHash, createHmac, randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { equalBytes } from '../../lib/secrets.ts'
import type { MediaFacts } from '../types.ts'
import { refuse } from './errors.ts'
import type { GraphRefusal } from './errors.ts'
import { newGraphId } from './state.ts'

export type MediaItem = { id: string; mimeType: string; sha256: string; size: number; filename?: string }

const MB = 1024 * 1024
const office = 'application/vnd.openxmlformats-officedocument'

/** Kinds, their largest size and what they may be, as the provider lists them. */
const kinds: Record<MediaFacts['kind'], { maxBytes: number; mimeTypes: string[] }> = {
  image: { maxBytes: 5 * MB, mimeTypes: ['image/jpeg', 'image/png'] },
  video: { maxBytes: 16 * MB, mimeTypes: ['video/mp4', 'video/3gpp'] },
  audio: { maxBytes: 16 * MB, mimeTypes: ['audio/aac', 'audio/amr', 'audio/mpeg', 'audio/mp4', 'audio/ogg'] },
  document: {
    maxBytes: 100 * MB,
    mimeTypes: [
      'text/plain',
      'application/pdf',
      'application/msword',
      'application/vnd.ms-excel',
      'application/vnd.ms-powerpoint',
      `${office}.wordprocessingml.document`,
      `${office}.spreadsheetml.sheet`,
      `${office}.presentationml.presentation`,
      // Not on the provider's list, but sent as documents in practice.
      'application/zip',
      'text/csv',
    ],
  },
  sticker: { maxBytes: 500 * 1024, mimeTypes: ['image/webp'] },
}
export const mediaKinds = Object.keys(kinds) as MediaFacts['kind'][]
export const maxUploadBytes = 100 * MB

const bareType = (mimeType: string) => mimeType.split(';')[0]!.trim().toLowerCase()

export const isMediaOfKind = (kind: MediaFacts['kind'], mimeType: string): boolean =>
  kinds[kind].mimeTypes.includes(bareType(mimeType))

export function judgeUpload(mimeType: string, size: number): GraphRefusal | undefined {
  const kind = mediaKinds.find((candidate) => isMediaOfKind(candidate, mimeType))
  if (!kind) {
    const allowed = Object.values(kinds).flatMap(({ mimeTypes }) => mimeTypes)
    return refuse('mediaWrongType', `File type ${mimeType} is not one of: ${allowed.join(', ')}.`)
  }
  const { maxBytes } = kinds[kind]
  if (size <= maxBytes) return undefined
  return refuse('mediaTooLarge', `Media file is ${size} bytes; ${kind} files may be up to ${maxBytes} bytes.`)
}

export type MediaStore = {
  put(bytes: Buffer, mimeType: string, filename?: string): Promise<MediaItem>
  get(id: string): MediaItem | undefined
  read(id: string): Promise<Buffer | undefined>
  remove(id: string): Promise<boolean>
  /** The provider's download addresses live five minutes. */
  signUrl(path: string, nowMs: number): string
  isUrlValid(path: string, expires: string, signature: string, nowMs: number): boolean
  close(): void
}

export function openMediaStore(options: { dataDir?: string; maxBytes?: number }): MediaStore {
  const { maxBytes = 512 * MB } = options
  const folder = options.dataDir
    ? join(options.dataDir, 'media')
    : mkdtempSync(join(tmpdir(), 'pombo-sandbox-media-'))
  const secret = randomBytes(32)
  const items = new Map<string, MediaItem>()
  let total = 0

  const bytesPath = (id: string) => join(folder, `${id}.bin`)
  const factsPath = (id: string) => join(folder, `${id}.json`)

  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const kept = readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .map((name) => ({ name, atMs: statSync(join(folder, name)).mtimeMs }))
    .toSorted((a, b) => a.atMs - b.atMs)
  for (const { name } of kept) {
    const item = JSON.parse(readFileSync(join(folder, name), 'utf8')) as MediaItem
    if (!existsSync(bytesPath(item.id))) continue
    items.set(item.id, item)
    total += item.size
  }

  async function remove(id: string): Promise<boolean> {
    const item = items.get(id)
    if (!item) return false
    items.delete(id)
    total -= item.size
    await Promise.all([rm(bytesPath(id), { force: true }), rm(factsPath(id), { force: true })])
    return true
  }

  const sign = (path: string, expires: string) =>
    createHmac('sha256', secret).update(`${path}|${expires}`).digest('hex')

  return {
    async put(bytes, mimeType, filename) {
      const sha256 = createHash('sha256').update(bytes).digest('hex')
      const item: MediaItem = { id: newGraphId(), mimeType, sha256, size: bytes.length, filename }
      await writeFile(bytesPath(item.id), bytes, { mode: 0o600 })
      await writeFile(factsPath(item.id), JSON.stringify(item), { mode: 0o600 })
      items.set(item.id, item)
      total += item.size
      for (const id of items.keys()) {
        if (total <= maxBytes || items.size === 1) break
        await remove(id)
      }
      return item
    },
    get: (id) => items.get(id),
    read: async (id) => (items.has(id) ? await readFile(bytesPath(id)) : undefined),
    remove,
    signUrl(path, nowMs) {
      const expires = String(nowMs + 5 * 60_000)
      return `${path}?expires=${expires}&signature=${sign(path, expires)}`
    },
    isUrlValid: (path, expires, signature, nowMs) =>
      Number(expires) >= nowMs && equalBytes(Buffer.from(sign(path, expires)), Buffer.from(signature)),
    close() {
      if (!options.dataDir) rmSync(folder, { recursive: true, force: true })
    },
  }
}
