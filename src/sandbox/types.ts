/** What the sandbox keeps of a message, in the words of the person who holds the phone. */
export type Channel = 'email' | 'sms' | 'whatsapp'
export const channels: readonly Channel[] = ['email', 'sms', 'whatsapp']

/** `accepted` is the hand-over itself; the later ones are what the sandbox told the sender by receipt. */
export type MessageStatus = 'accepted' | 'sent' | 'delivered' | 'read' | 'failed'

export type StatusChange = { status: MessageStatus; at: string; error?: { code: number; title: string } }

export type EmailFacts = {
  messageId?: string
  envelopeFrom: string
  fromName?: string
  hasHtml: boolean
  isSecure: boolean
  attachments: { filename: string; mimeType: string; size: number }[]
  unsubscribe?: { url: string; isOneClick: boolean }
}

export type SmsFacts = {
  dataCoding: number
  encoding: 'gsm7' | 'ascii' | 'latin1' | 'ucs2' | 'binary'
  isFlash: boolean
  parts: number
  /** Fewer than `parts` when a segment never came. */
  partsReceived: number
  how: 'single' | 'udh' | 'sar' | 'payload'
  wantsReceipt: boolean
}

export type MediaFacts = {
  kind: 'image' | 'video' | 'audio' | 'document' | 'sticker'
  id?: string
  link?: string
  mimeType?: string
  filename?: string
}

export type ButtonFacts = {
  kind: 'quick_reply' | 'url' | 'phone_number' | 'copy_code' | 'other'
  text: string
  payload?: string
  url?: string
  code?: string
}

export type CardFacts = { media?: MediaFacts; text: string; buttons: ButtonFacts[] }

export type WhatsAppFacts = {
  phoneNumberId: string
  type: string
  template?: { name: string; language: string; category: string }
  header?: string
  media?: MediaFacts
  footer?: string
  buttons: ButtonFacts[]
  cards: CardFacts[]
  /** The message this one quotes. */
  contextId?: string
  callbackData?: string
  userId?: string
}

export type SandboxMessage = {
  id: string
  /** Grows with every message: `after=<sequence>` means "newer than this one". */
  sequence: number
  channel: Channel
  direction: 'toPerson' | 'fromPerson'
  receivedAt: string
  /** Whose door it came through: SMTP user, SMPP system id or phone number id. */
  line: string
  from: string
  to: string
  subject?: string
  text: string
  status: MessageStatus
  history: StatusChange[]
  /** The ids under which the sender knows it; an SMS has one per part. */
  providerIds: string[]
  email?: EmailFacts
  sms?: SmsFacts
  whatsapp?: WhatsAppFacts
}

export type MessageDraft = Omit<SandboxMessage, 'sequence' | 'receivedAt' | 'status' | 'history' | 'id'>

/** The three levels of the house log that the sandbox uses, so that any logger fits. */
export type SandboxLog = {
  info(facts: object, sentence: string): void
  warn(facts: object, sentence: string): void
  error(facts: object, sentence: string): void
}

/** One person, however the address was spelled: digits of a number, lower case of an e-mail address. */
export function personKey(channel: Channel, address: string): string {
  if (channel === 'email') return address.trim().toLowerCase()
  const digits = address.replaceAll(/\D/g, '')
  return digits === '' ? address.trim().toLowerCase() : digits
}

export const personOf = (message: {
  direction: SandboxMessage['direction']
  from: string
  to: string
}): string => (message.direction === 'toPerson' ? message.to : message.from)
