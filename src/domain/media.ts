import type { FileRef } from './message.ts'

/**
 * The address of a media item, `{public}/media/{32 hexadecimal digits}.png`. The path alone says which item it is,
 * so that stored addresses keep working when the installation moves to another host or port.
 */
const path = /^\/media\/([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})\.([a-z0-9]{1,8})$/i

export type MediaReference = { id: string; extension: string }

export const mediaPath = (item: MediaReference): string =>
  `/media/${item.id.replaceAll('-', '')}.${item.extension}`

/** The item that an address names, or undefined when it is no address of a media library. */
export function readMediaUrl(url: string): MediaReference | undefined {
  if (!URL.canParse(url)) return undefined
  const match = path.exec(new URL(url).pathname)
  if (match === null) return undefined
  return { id: match.slice(1, 6).join('-').toLowerCase(), extension: match[6]!.toLowerCase() }
}

export type MediaFile = MediaReference & {
  name: string
  mimeType: string
  /** Hexadecimal. */
  hash: string
  size: number
}

export const mediaFileRef = (item: MediaFile): FileRef => ({
  name: item.name,
  mimeType: item.mimeType,
  source: { kind: 'stored', hash: item.hash, size: item.size },
})
