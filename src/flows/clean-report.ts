/**
 * Providers send what phones send. What PostgreSQL cannot hold (a zero character, half a surrogate pair), what no index
 * can, and what is no time is mended here, so that one odd message is not refused and repeated for days.
 */
import type { InboundMessage, LineReport, Receipt, TemplateReport } from '../drivers/driver.ts'

const maxIdLength = 255
const maxWordsLength = 2_000
/** WhatsApp allows 4,096 characters, an SMS of 255 parts 39,000. */
const maxTextLength = 65_536
const maxMedia = 30

const clean = (text: string, maxLength: number): string => {
  const short = text.length > maxLength ? text.slice(0, maxLength) : text
  return (short.includes('\0') ? short.replaceAll('\0', '') : short).toWellFormed()
}
const id = (text: string): string => clean(text, maxIdLength)
const words = (text: string): string => clean(text, maxWordsLength)
const optional = (text: string | undefined, mend: (text: string) => string): string | undefined =>
  text === undefined ? undefined : mend(text)

/** Milliseconds where seconds were meant are a year of five digits, which PostgreSQL does not read. */
const latestMs = Date.UTC(9999, 0)

const time = (at: Date, receivedAt: Date): Date => {
  const ms = at.getTime()
  return ms >= 0 && ms < latestMs ? at : receivedAt
}

export function cleanReport(report: LineReport, receivedAt: Date): LineReport {
  switch (report.kind) {
    case 'receipt':
      return { kind: 'receipt', receipt: cleanReceipt(report.receipt, receivedAt) }
    case 'inbound':
      return { kind: 'inbound', message: cleanInbound(report.message, receivedAt) }
    case 'template':
      return { kind: 'template', report: cleanTemplate(report.report) }
    case 'marketing_opt_out':
      return { ...report, from: optional(report.from, id), userId: optional(report.userId, id) }
  }
}

const cleanReceipt = (receipt: Receipt, receivedAt: Date): Receipt => ({
  ...receipt,
  providerId: optional(receipt.providerId, id),
  messageId: optional(receipt.messageId, id),
  at: time(receipt.at, receivedAt),
  error: receipt.error && { code: words(receipt.error.code), message: words(receipt.error.message) },
})

const cleanInbound = (message: InboundMessage, receivedAt: Date): InboundMessage => ({
  ...message,
  providerId: id(message.providerId),
  from: optional(message.from, id),
  userId: optional(message.userId, id),
  text: clean(message.text, maxTextLength),
  at: time(message.at, receivedAt),
  repliesTo: optional(message.repliesTo, id),
  profileName: optional(message.profileName, id),
  media: message.media.slice(0, maxMedia).map((file) => ({
    providerMediaId: words(file.providerMediaId),
    mimeType: id(file.mimeType),
    name: optional(file.name, id),
  })),
})

const cleanTemplate = (report: TemplateReport): TemplateReport => ({
  ...report,
  name: words(report.name),
  language: id(report.language),
  reason: optional(report.reason, words),
})
