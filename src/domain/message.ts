/** A message: its states, the moves between them, and its content as drivers send it. */

export const states = [
  'queued',
  'sending',
  'sent',
  'delivered',
  'read',
  'failed',
  'expired',
  'unknown',
  'blocked',
  'not_sent',
] as const
export type MessageState = (typeof states)[number]

/** Every move that may happen; anything else is a late, repeated or out-of-order report and changes nothing. */
export const moves: Record<MessageState, readonly MessageState[]> = {
  queued: ['sending', 'blocked', 'expired', 'failed'],
  sending: ['sent', 'queued', 'failed', 'unknown'],
  sent: ['delivered', 'read', 'failed', 'expired'],
  delivered: ['read'],
  unknown: ['sent', 'delivered', 'read', 'failed', 'queued', 'expired'],
  // A late receipt tells better.
  failed: ['delivered', 'read'],
  expired: ['delivered', 'read'],
  blocked: [],
  not_sent: [],
  read: [],
}

export const canMove = (from: MessageState, to: MessageState): boolean => moves[from].includes(to)

/** A higher class leaves first: 0 verification codes, 1 single messages, 2 deferred ones. */
export const priorities = { verification: 0, single: 1, deferred: 2 } as const

export type FileRef = {
  name: string
  mimeType: string
  /** Stored content (hash in hexadecimal), or an address that is fetched when the message is dispatched. */
  source: { kind: 'stored'; hash: string; size: number } | { kind: 'address'; url: string }
}

/** A parameter of a provider's template: `name` is the declared variable's bare name. */
export type TemplateParameter = { name: string; value: string }

export type TemplateButtonParameter =
  | { index: number; kind: 'url'; value: string }
  | { index: number; kind: 'code'; value: string }
  | { index: number; kind: 'quick_reply'; value: string }

export type MessageContent =
  /** Free text and files on any channel, and rendered SMS and e-mail templates. */
  | {
      kind: 'text'
      text: string
      subject?: string
      isHtml?: boolean
      isFlash?: boolean
      files: FileRef[]
    }
  /** A template that the provider renders (WhatsApp). `preview` is what the person will read. */
  | {
      kind: 'template'
      templateKind: 'text' | 'carousel' | 'verification'
      name: string
      language: string
      parameterFormat: 'positional' | 'named'
      header?:
        | { kind: 'text'; parameters: TemplateParameter[] }
        | { kind: 'media'; mediaKind: 'image' | 'video' | 'document'; file: FileRef }
      body: TemplateParameter[]
      buttons: TemplateButtonParameter[]
      cards?: {
        file: FileRef
        mediaKind: 'image' | 'video'
        body: TemplateParameter[]
        buttons: TemplateButtonParameter[]
      }[]
      preview: string
    }

/** The text that the person reads, whatever kind of message it is. */
export const textOf = (content: MessageContent): string =>
  content.kind === 'text' ? content.text : content.preview

/** All files of a message, in the order a reader meets them. */
export function filesOf(content: MessageContent): FileRef[] {
  if (content.kind === 'text') return content.files
  const { header, cards = [] } = content
  return [...(header?.kind === 'media' ? [header.file] : []), ...cards.map(({ file }) => file)]
}
