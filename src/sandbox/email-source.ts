/** From a message's raw source to what a mailbox shows. The source is kept; this is done again when asked. */
import PostalMime from 'postal-mime'
import type { Address, Attachment, Email } from 'postal-mime'
import type { EmailFacts } from './types.ts'

export const parseEmail = (raw: Buffer): Promise<Email> => PostalMime.parse(raw, { maxNestingDepth: 50 })

export function attachmentBytes(attachment: Attachment): Buffer {
  return typeof attachment.content === 'string'
    ? Buffer.from(attachment.content)
    : attachment.content instanceof ArrayBuffer
      ? Buffer.from(attachment.content)
      : Buffer.from(attachment.content.buffer, attachment.content.byteOffset, attachment.content.byteLength)
}

export const attachmentName = (attachment: Attachment, index: number): string =>
  attachment.filename ?? `attachment-${index + 1}`

export const showAddress = (address: Address | undefined): string => address?.address ?? address?.name ?? ''

const headerOf = (email: Email, key: string): string | undefined =>
  email.headers.find((header) => header.key === key)?.value

/** RFC 2369 and 8058: the first web address of List-Unsubscribe, and whether one POST does it. */
function unsubscribeOf(email: Email): EmailFacts['unsubscribe'] {
  const url = /<\s*(https?:\/\/[^>\s]+)\s*>/i.exec(headerOf(email, 'list-unsubscribe') ?? '')?.[1]
  if (!url) return undefined
  const post = headerOf(email, 'list-unsubscribe-post') ?? ''
  return { url, isOneClick: /^\s*List-Unsubscribe=One-Click\s*$/i.test(post) }
}

/** What stands in for the text of a message that has only HTML: lists and search need words. */
const wordsOfHtml = (html: string): string =>
  html
    .replaceAll(/<(style|script|head)\b[\s\S]*?<\/\1\s*>/gi, ' ')
    .replaceAll(/<[^<>]*>/g, ' ')
    .replaceAll(/&nbsp;/gi, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim()

export function emailFacts(
  email: Email,
  session: { envelopeFrom: string; isSecure: boolean },
): { facts: EmailFacts; from: string; subject: string; text: string; providerIds: string[] } {
  const text = email.text?.trim() ? email.text : wordsOfHtml(email.html ?? '')
  return {
    from: showAddress(email.from) || session.envelopeFrom,
    subject: email.subject ?? '',
    text: text.slice(0, 20_000),
    providerIds: email.messageId ? [email.messageId] : [],
    facts: {
      messageId: email.messageId,
      envelopeFrom: session.envelopeFrom,
      fromName: email.from?.name || undefined,
      hasHtml: Boolean(email.html),
      isSecure: session.isSecure,
      attachments: email.attachments.map((attachment, index) => ({
        filename: attachmentName(attachment, index),
        mimeType: attachment.mimeType,
        size: attachmentBytes(attachment).length,
      })),
      unsubscribe: unsubscribeOf(email),
    },
  }
}

const pictureTypes = /^image\/(png|jpeg|gif|webp)$/

/** The frame's document. Inline pictures travel inside it, so that the frame needs to load nothing at all. */
export function htmlForFrame(email: Email): string {
  const html = (email.html ?? '').replaceAll(
    /(["'(]\s*)cid:([^"')\s]+)/gi,
    (whole, before: string, contentId: string) => {
      const picture = attachmentByContentId(email, contentId)
      if (!picture || !pictureTypes.test(picture.mimeType)) return whole
      return `${before}data:${picture.mimeType};base64,${attachmentBytes(picture).toString('base64')}`
    },
  )
  return `<!doctype html><meta charset="utf-8"><base target="_blank">${html}`
}

const attachmentByContentId = (email: Email, contentId: string): Attachment | undefined =>
  email.attachments.find((attachment) =>
    [contentId, decodePart(contentId)].includes(attachment.contentId?.replaceAll(/^<|>$/g, '') ?? ''),
  )

/** RFC 2392 writes content ids percent-encoded; many senders do not. */
function decodePart(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
