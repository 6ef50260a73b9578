/** Which files each channel carries, by extension, and how large they may be. */
import type { Channel } from './channel.ts'

export type WhatsAppKind = 'image' | 'video' | 'audio' | 'document' | 'sticker'

type FileType = { mimeType: string; whatsapp?: WhatsAppKind }

const mb = 1024 * 1024

/** The provider's own limits; a ZIP goes as a document. */
const whatsappMaxBytes: Record<WhatsAppKind, number> = {
  image: 5 * mb,
  video: 16 * mb,
  audio: 16 * mb,
  document: 100 * mb,
  sticker: 100 * 1024,
}

/** Common mail servers take 25 MiB, of which base64 leaves this much for all files of a message. */
export const emailMaxBytes = 18 * mb

const office = 'application/vnd.openxmlformats-officedocument'

const types: Readonly<Record<string, FileType>> = {
  jpg: { mimeType: 'image/jpeg', whatsapp: 'image' },
  jpeg: { mimeType: 'image/jpeg', whatsapp: 'image' },
  png: { mimeType: 'image/png', whatsapp: 'image' },
  webp: { mimeType: 'image/webp', whatsapp: 'sticker' },
  gif: { mimeType: 'image/gif' },
  mp4: { mimeType: 'video/mp4', whatsapp: 'video' },
  '3gp': { mimeType: 'video/3gpp', whatsapp: 'video' },
  '3gpp': { mimeType: 'video/3gpp', whatsapp: 'video' },
  aac: { mimeType: 'audio/aac', whatsapp: 'audio' },
  amr: { mimeType: 'audio/amr', whatsapp: 'audio' },
  mp3: { mimeType: 'audio/mpeg', whatsapp: 'audio' },
  m4a: { mimeType: 'audio/mp4', whatsapp: 'audio' },
  ogg: { mimeType: 'audio/ogg', whatsapp: 'audio' },
  opus: { mimeType: 'audio/ogg', whatsapp: 'audio' },
  wav: { mimeType: 'audio/wav' },
  txt: { mimeType: 'text/plain', whatsapp: 'document' },
  csv: { mimeType: 'text/csv', whatsapp: 'document' },
  pdf: { mimeType: 'application/pdf', whatsapp: 'document' },
  doc: { mimeType: 'application/msword', whatsapp: 'document' },
  docx: { mimeType: `${office}.wordprocessingml.document`, whatsapp: 'document' },
  xls: { mimeType: 'application/vnd.ms-excel', whatsapp: 'document' },
  xlsx: { mimeType: `${office}.spreadsheetml.sheet`, whatsapp: 'document' },
  ppt: { mimeType: 'application/vnd.ms-powerpoint', whatsapp: 'document' },
  pptx: { mimeType: `${office}.presentationml.presentation`, whatsapp: 'document' },
  zip: { mimeType: 'application/zip', whatsapp: 'document' },
  xml: { mimeType: 'application/xml' },
  json: { mimeType: 'application/json' },
  ics: { mimeType: 'text/calendar' },
  rtf: { mimeType: 'application/rtf' },
  odt: { mimeType: 'application/vnd.oasis.opendocument.text' },
  ods: { mimeType: 'application/vnd.oasis.opendocument.spreadsheet' },
}

function typeOf(name: string): FileType | undefined {
  const extension = /\.([A-Za-z0-9]{1,8})$/.exec(name.trim())?.[1]?.toLowerCase()
  return extension !== undefined && Object.hasOwn(types, extension) ? types[extension] : undefined
}

/** By the name's extension; undefined when it has none that some channel carries. */
export const mimeTypeOf = (name: string): string | undefined => typeOf(name)?.mimeType

export const whatsappKindOf = (name: string): WhatsAppKind | undefined => typeOf(name)?.whatsapp

export const extensionsOf = (channel: Channel): string[] =>
  channel === 'sms'
    ? []
    : Object.keys(types).filter(
        (extension) => channel === 'email' || types[extension]!.whatsapp !== undefined,
      )

/** Why a channel does not carry a file of this name and size (undefined while nobody knows it yet). */
export function fileFault(channel: Channel, name: string, size: number | undefined): string | undefined {
  const type = typeOf(name)
  switch (channel) {
    case 'sms':
      return 'files cannot be sent by SMS'
    case 'email':
      if (type === undefined)
        return `must have a name that ends in one of: ${extensionsOf('email').join(', ')}`
      return size !== undefined && size > emailMaxBytes ? tooLarge(size, emailMaxBytes) : undefined
    case 'whatsapp': {
      const kind = type?.whatsapp
      if (kind === undefined)
        return `must have a name that ends in one of: ${extensionsOf('whatsapp').join(', ')}`
      const max = whatsappMaxBytes[kind]
      return size !== undefined && size > max ? tooLarge(size, max) : undefined
    }
  }
}

const tooLarge = (size: number, max: number) => `has ${size} bytes, at most ${max} are allowed`
