/** Delivery receipts: Appendix B's text, the TLVs, or both. */
import { tags, textTlv, uint8Tlv } from '../../lib/smpp/index.ts'
import { smppReceiptStates } from '../provider-codes.ts'
import type { DeliverSm } from './outbound.ts'

export type ReceiptForm = 'both' | 'tlv' | 'text'
export type IdFormat = 'decimal' | 'hex'

export const formatId = (id: bigint, format: IdFormat): string =>
  format === 'hex' ? id.toString(16) : id.toString(10)

const stamp = (at: Date) => at.toISOString().replaceAll(/[-:T]/g, '').slice(2, 12)

export type ReceiptFacts = {
  id: bigint
  source: string
  sourceTon: number
  sourceNpi: number
  destination: string
  destinationTon: number
  destinationNpi: number
  state: number
  submittedAt: Date
  doneAt: Date
  text: string
}

export function buildReceipt(facts: ReceiptFacts, form: ReceiptForm, idFormat: IdFormat): DeliverSm {
  const id = formatId(facts.id, idFormat)
  const isDelivered = facts.state === 2
  const isFinal = facts.state !== 1 && facts.state !== 6
  const words = [
    `id:${id} sub:001 dlvrd:${isDelivered ? '001' : '000'}`,
    `submit date:${stamp(facts.submittedAt)} done date:${stamp(facts.doneAt)}`,
    `stat:${smppReceiptStates[facts.state] ?? 'UNKNOWN'} err:${isDelivered || !isFinal ? '000' : '001'}`,
    `text:${facts.text.replaceAll(/[^\u0020-\u007e]/g, '?').slice(0, 20)}`,
  ].join(' ')
  return {
    // From the person's number to the sender's: addresses are swapped in a receipt.
    source: facts.destination,
    sourceTon: facts.destinationTon,
    sourceNpi: facts.destinationNpi,
    destination: facts.source,
    destinationTon: facts.sourceTon,
    destinationNpi: facts.sourceNpi,
    esmClass: isFinal ? 0x04 : 0x20,
    dataCoding: 0,
    shortMessage: form === 'tlv' ? new Uint8Array(0) : Buffer.from(words, 'latin1'),
    tlvs:
      form === 'text' ? [] : [textTlv(tags.receiptedMessageId, id), uint8Tlv(tags.messageState, facts.state)],
  }
}
