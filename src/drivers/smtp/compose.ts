/** From our message to nodemailer's: who, what and which headers. */
import type { MailDefaults } from 'nodemailer/lib/mailer'
import { readEmail } from '../../domain/address.ts'
import type { DriverLine, OutgoingMessage } from '../driver.ts'
import { fileOf } from '../files.ts'
import { htmlToText } from './html-to-text.ts'
import type { SmtpSettings } from './settings.ts'

export type Mail = MailDefaults & { messageId: string }
export type Composed = { ok: true; mail: Mail } | { ok: false; reason: string }

// oxlint-disable-next-line no-control-regex -- keeping control characters out is what it is for
const controlCharacters = /[\u0000-\u001f\u007f\u0085\u2028\u2029]+/g
/** Header values never hold a line break, whatever nodemailer would do about it. */
const oneLine = (text: string): string => text.replaceAll(controlCharacters, ' ').trim()

/** The same for every attempt, so that a receiver who got it twice can tell. */
export const messageIdOf = (line: DriverLine, message: OutgoingMessage): string =>
  `<${message.id}@${line.address.slice(line.address.lastIndexOf('@') + 1)}>`

export function compose(line: DriverLine, settings: SmtpSettings, message: OutgoingMessage): Composed {
  const { content } = message
  if (content.kind === 'template')
    return { ok: false, reason: 'A template of a provider cannot go by e-mail.' }
  const recipient = readEmail(message.recipient)
  if (!recipient.ok) return { ok: false, reason: `The recipient ${recipient.reason}.` }
  const { text } = content
  return {
    ok: true,
    mail: {
      messageId: messageIdOf(line, message),
      from: { name: oneLine(settings.fromName ?? ''), address: line.address },
      to: { name: '', address: recipient.email.address },
      envelope: { from: settings.bounceAddress || line.address, to: [recipient.email.address] },
      subject: oneLine(content.subject ?? ''),
      ...(settings.replyTo ? { replyTo: { name: '', address: settings.replyTo } } : {}),
      ...(content.isHtml ? { html: text, text: htmlToText(text) } : { text }),
      attachments: content.files.map((file) => {
        const { bytes, name, mimeType } = fileOf(message, file)
        return { filename: oneLine(name), content: bytes, contentType: oneLine(mimeType) }
      }),
      headers: unsubscribeHeaders(message.unsubscribeUrl),
      disableFileAccess: true,
      disableUrlAccess: true,
    },
  }
}

/** `prepared` keeps a long address on one line: relays that fold it again would break the signature. */
function unsubscribeHeaders(url: string | undefined): NonNullable<Mail['headers']> {
  if (url === undefined) return {}
  return {
    'List-Unsubscribe': {
      prepared: true,
      value: `<${oneLine(url).replaceAll(/[<> ]/g, encodeURIComponent)}>`,
    },
    'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
  }
}

/** nodemailer's own list lacks List-Unsubscribe-Post, which RFC 8058 wants signed. */
export const signedHeaders = [
  'From',
  'Sender',
  'Reply-To',
  'Subject',
  'Date',
  'Message-ID',
  'To',
  'Cc',
  'MIME-Version',
  'Content-Type',
  'Content-Transfer-Encoding',
  'In-Reply-To',
  'References',
  'List-Id',
  'List-Help',
  'List-Unsubscribe',
  'List-Unsubscribe-Post',
].join(':')
