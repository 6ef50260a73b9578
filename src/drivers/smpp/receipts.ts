/** What comes in over the session: delivery receipts and messages of people. */
import { createHash } from 'node:crypto'
import { decodeGsm7, decodeUcs2 } from '../../domain/sms-text.ts'
import { messageOctets, readUserData, tags, tlvNumber, tlvText } from '../../lib/smpp/index.ts'
import type { InboundRequest, Tlv } from '../../lib/smpp/index.ts'
import { findTlv } from '../../lib/smpp/index.ts'
import type { InboundMessage, LineReport, Receipt } from '../driver.ts'
import { canonicalId } from './ids.ts'
import type { IdFormat } from './ids.ts'

export type Delivery = Extract<InboundRequest, { command: 'deliver_sm' | 'data_sm' }>

/** Appendix B of SMPP 3.4 by its first letters, since providers write the rest in their own way. */
const states: readonly (readonly [prefix: string, state: Receipt['state']])[] = [
  ['DELIV', 'delivered'],
  ['EXPIR', 'expired'],
  ['DELET', 'failed'],
  ['UNDEL', 'failed'],
  ['REJEC', 'failed'],
  ['FAIL', 'failed'],
  ['UNKNOWN', 'failed'],
  ['SKIP', 'failed'],
  ['ACCEP', 'sent'],
  ['ENROU', 'sent'],
  ['BUFF', 'sent'],
  ['SCHED', 'sent'],
]
const tlvStates: ReadonlyMap<number, readonly [state: Receipt['state'], name: string]> = new Map([
  [0, ['sent', 'SCHEDULED']],
  [1, ['sent', 'ENROUTE']],
  [2, ['delivered', 'DELIVERED']],
  [3, ['expired', 'EXPIRED']],
  [4, ['failed', 'DELETED']],
  [5, ['failed', 'UNDELIVERABLE']],
  [6, ['sent', 'ACCEPTED']],
  [7, ['failed', 'UNKNOWN']],
  [8, ['failed', 'REJECTED']],
  [9, ['failed', 'SKIPPED']],
])

const receiptBit = 0x04
const intermediateBit = 0x20
const typeMask = 0x3c
const maxReceiptOctets = 1024

/** Only the class or a parameter makes a receipt: a person could write its text. */
const isReceipt = ({ esmClass, tlvs }: Delivery): boolean =>
  (esmClass & typeMask & (receiptBit | intermediateBit)) !== 0 ||
  findTlv(tlvs, tags.receiptedMessageId) !== undefined

export type DeliveryReading = { ok: true; report: LineReport } | { ok: false; reason: string }

export function readDelivery(pdu: Delivery, dlrIdFormat: IdFormat, at: Date): DeliveryReading {
  if (isReceipt(pdu)) return readReceipt(pdu, dlrIdFormat, at)
  return { ok: true, report: { kind: 'inbound', message: readInbound(pdu, at) } }
}

function readReceipt(pdu: Delivery, format: IdFormat, at: Date): DeliveryReading {
  const fields = readReceiptText(pdu)
  const tlvState = tlvStates.get(tlvNumber(pdu.tlvs, tags.messageState) ?? -1)
  const id = tlvText(pdu.tlvs, tags.receiptedMessageId)?.trim() || fields.id
  const stat = fields.stat?.toUpperCase()
  const state = tlvState?.[0] ?? states.find(([prefix]) => stat?.startsWith(prefix))?.[1]
  if (id === undefined) return { ok: false, reason: 'a receipt without message id' }
  if (state === undefined)
    return { ok: false, reason: `a receipt with the unknown state ${stat ?? '(none)'}` }
  const receipt: Receipt = { providerId: canonicalId(id, format), state, at }
  if (state === 'failed' || state === 'expired') {
    receipt.error = { code: networkError(pdu.tlvs) ?? fields.err ?? '', message: stat ?? tlvState![1] }
  }
  return { ok: true, report: { kind: 'receipt', receipt } }
}

/** Network type and code; GSM is type 3. */
function networkError(tlvs: readonly Tlv[]): string | undefined {
  const value = findTlv(tlvs, tags.networkErrorCode)
  if (value?.length !== 3) return undefined
  const code = (value[1]! << 8) | value[2]!
  return code === 0 ? undefined : `${value[0]}-${code}`
}

type ReceiptFields = { id?: string; stat?: string; err?: string }

function readReceiptText(pdu: Delivery): ReceiptFields {
  const octets = messageOctets(pdu).subarray(0, maxReceiptOctets)
  // The text is ASCII whatever data_coding says, but for SMSCs that really write it in UCS-2.
  const text = octets[0] === 0 ? decodeUcs2(octets) : Buffer.from(octets).toString('latin1')
  // Behind `text:` stands what the sender wrote: it must not forge an id or a state.
  const textAt = text.search(/\btext:/i)
  const head = textAt < 0 ? text : text.slice(0, textAt)
  return {
    id: /\bid:\s*(\S+)/i.exec(head)?.[1],
    stat: /\bstat:\s*(\S+)/i.exec(head)?.[1],
    err: /\berr:\s*(\S+)/i.exec(head)?.[1],
  }
}

function readInbound(pdu: Delivery, at: Date): InboundMessage {
  const { concatenation, content } = readUserData(messageOctets(pdu), pdu.esmClass)
  const text = decodeText(content, pdu.dataCoding)
  const from = pdu.source.replace(/^\+/, '')
  const part = concatenation
    ? { reference: concatenation.reference, total: concatenation.total, number: concatenation.part }
    : sarPart(pdu.tlvs)
  return {
    providerId: inboundId(pdu, at),
    ...(/^\d+$/.test(from) ? { from } : {}),
    text: text ?? '',
    at,
    media: [],
    ...(part && part.total > 1 ? { part } : {}),
    kind: text === undefined ? 'other' : 'text',
  }
}

/**
 * deliver_sm carries no id, and one that we did not acknowledge comes again. The same words from the same person
 * within a minute are taken for such a repeat.
 */
function inboundId(pdu: Delivery, at: Date): string {
  const hash = createHash('sha256')
  hash.update(`${pdu.source}\0${pdu.destination}\0${pdu.esmClass}\0${pdu.dataCoding}\0`)
  hash.update(messageOctets(pdu))
  hash.update(
    String(
      tlvNumber(pdu.tlvs, tags.userMessageReference) ?? tlvNumber(pdu.tlvs, tags.sarSegmentSeqnum) ?? '',
    ),
  )
  return `mo-${Math.floor(at.getTime() / 60_000).toString(36)}-${hash.digest('hex').slice(0, 32)}`
}

function sarPart(tlvs: readonly Tlv[]): InboundMessage['part'] {
  const reference = tlvNumber(tlvs, tags.sarMsgRefNum)
  const total = tlvNumber(tlvs, tags.sarTotalSegments)
  const number = tlvNumber(tlvs, tags.sarSegmentSeqnum)
  if (reference === undefined || total === undefined || number === undefined) return undefined
  return { reference, total, number }
}

/** Undefined for binary content. */
function decodeText(octets: Uint8Array, dataCoding: number): string | undefined {
  return decoders[alphabetOf(dataCoding)]?.(octets)
}

const decoders = {
  gsm7: decodeGsm7,
  latin1: (octets: Uint8Array) => Buffer.from(octets).toString('latin1'),
  ucs2: decodeUcs2,
  binary: undefined,
}

function alphabetOf(dataCoding: number): keyof typeof decoders {
  if (dataCoding === 1 || dataCoding === 3) return 'latin1'
  if (dataCoding === 0) return 'gsm7'
  if (dataCoding === 8) return 'ucs2'
  // GSM 03.38 groups 00xx (general) and 1111 (message class): the alphabet stands in bits 2 and 3.
  if ((dataCoding & 0xf0) === 0xf0) return (dataCoding & 0x04) === 0 ? 'gsm7' : 'binary'
  if (dataCoding >= 0x10 && dataCoding < 0x40) {
    const alphabet = (dataCoding >> 2) & 3
    return alphabet === 0 ? 'gsm7' : alphabet === 2 ? 'ucs2' : 'binary'
  }
  return 'binary'
}
