/** One request to send one message, in our own words, whatever API it came through. */
import type { Email, Phone } from './address.ts'
import type { Api, Channel } from './channel.ts'
import type { ContactData } from './contact.ts'
import type { LineChoice } from './line.ts'

export type Recipient = { kind: 'phone'; phone: Phone } | { kind: 'email'; email: Email }

export type GivenVariable = { name: string; value: string }

export type SendFile = {
  name: string
  mimeType: string
  /** Already stored under its hash (hexadecimal), or to be fetched, or a media-library URL. */
  content: { kind: 'stored'; hash: string; size: number } | { kind: 'address'; url: string }
}

export type WhatToSend =
  | {
      kind: 'template'
      by: 'name' | 'code'
      name: string
      variables: GivenVariable[]
      /** Direct WhatsApp: the header's variable, or the media of a media header. */
      header?: { key?: string; value?: string }
      files: SendFile[]
    }
  | { kind: 'text'; text: string; files: SendFile[] }

export type SendRequest = {
  api: Api
  channel: Channel
  recipient: Recipient
  what: WhatToSend
  subject?: string
  line: LineChoice
  recentContactLastHours: number
  isDiscardedInAttendance: boolean
  attendantName?: string
  contact: ContactData
  /** Direct API: a segment by its name. */
  segmentName?: string
  contractCode?: string
  documentNumber?: string
  callId?: string
  isFlash: boolean
  callback?: { url: string; customFields: Record<string, string> }
}
