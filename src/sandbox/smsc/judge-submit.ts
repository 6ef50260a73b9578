/** One submit_sm or data_sm as the SMSC sees it: what it carries, or the command_status it is refused with. */
import { decodeGsm7, decodeUcs2, measureSms } from '../../domain/sms-text.ts'
import { findTlv, messageOctets, readUserData, tags, tlvNumber, udhiBit } from '../../lib/smpp/index.ts'
import type { Pdu } from '../../lib/smpp/index.ts'
import { smppReceiptStates, smppStatusNames } from '../provider-codes.ts'
import { smsRefusals } from '../refusals.ts'
import type { SmsRefusalKey } from '../refusals.ts'
import type { SmsFacts } from '../types.ts'

export type Submit = Pdu<'submit_sm' | 'data_sm'>

export type Segment = {
  kind: 'segment'
  encoding: SmsFacts['encoding']
  isFlash: boolean
  content: Uint8Array
  how: SmsFacts['how']
  joint?: { reference: number; total: number; part: number }
}

const codings: ReadonlyMap<number, { encoding: SmsFacts['encoding']; isFlash: boolean }> = new Map([
  [0x00, { encoding: 'gsm7', isFlash: false }],
  [0x01, { encoding: 'ascii', isFlash: false }],
  [0x03, { encoding: 'latin1', isFlash: false }],
  [0x04, { encoding: 'binary', isFlash: false }],
  [0x08, { encoding: 'ucs2', isFlash: false }],
  [0x10, { encoding: 'gsm7', isFlash: true }],
  [0x18, { encoding: 'ucs2', isFlash: true }],
  [0xf0, { encoding: 'gsm7', isFlash: true }],
  [0xf1, { encoding: 'gsm7', isFlash: false }],
  [0xf2, { encoding: 'gsm7', isFlash: false }],
  [0xf3, { encoding: 'gsm7', isFlash: false }],
])

const alphanumericTon = 5
/** Absolute `YYMMDDhhmmsstnn+` or `-`, relative `…R`; empty is the SMSC's own choice. */
const isTime = (value: string) => value === '' || /^\d{12}\d\d{2}[+-]$/.test(value) || /^\d{15}R$/.test(value)

export function decodeText(octets: Uint8Array, encoding: SmsFacts['encoding']): string {
  switch (encoding) {
    case 'gsm7':
      return decodeGsm7(octets)
    case 'ucs2':
      return decodeUcs2(octets)
    case 'ascii':
    case 'latin1':
      return Buffer.from(octets).toString('latin1')
    case 'binary':
      return Buffer.from(octets).toString('hex')
  }
}

/** How many messages the SMSC would make of a text that came whole in message_payload. */
export function partsOfPayload(content: Uint8Array, encoding: SmsFacts['encoding']): number {
  if (encoding === 'gsm7' || encoding === 'ucs2') return measureSms(decodeText(content, encoding)).segments
  return content.length <= 140 ? 1 : Math.ceil(content.length / 134)
}

/** A phone's message holds 140 octets; GSM-7 packs eight characters into seven of them. */
function isTooLong(encoding: SmsFacts['encoding'], headerOctets: number, contentOctets: number): boolean {
  const isSeptets = encoding === 'gsm7' || encoding === 'ascii'
  return isSeptets
    ? Math.ceil((headerOctets * 8) / 7) + contentOctets > 160
    : headerOctets + contentOctets > 140
}

const refused = (refusal: SmsRefusalKey) => ({ kind: 'refused', refusal }) as const

export function judgeSubmit(pdu: Submit): Segment | { kind: 'refused'; refusal: SmsRefusalKey } {
  if (pdu.sourceTon === alphanumericTon && pdu.source.length > 11) return refused('badSource')
  if (pdu.destinationTon === alphanumericTon) return refused('badDestinationTon')
  if (!/^\+?\d{8,15}$/.test(pdu.destination)) return refused('badDestination')
  if (pdu.command === 'submit_sm') {
    if (!isTime(pdu.scheduleDeliveryTime)) return refused('badSchedule')
    if (!isTime(pdu.validityPeriod)) return refused('badValidity')
  }
  const coding = codings.get(pdu.dataCoding)
  if (!coding) return refused('badDataCoding')

  const octets = messageOctets(pdu)
  const isPayload = findTlv(pdu.tlvs, tags.messagePayload) !== undefined
  const { content, concatenation } = readUserData(octets, pdu.esmClass)
  const hasHeader = (pdu.esmClass & udhiBit) !== 0
  if (hasHeader && content === octets) return refused('badEsmClass')
  const sar = {
    reference: tlvNumber(pdu.tlvs, tags.sarMsgRefNum) ?? 0,
    total: tlvNumber(pdu.tlvs, tags.sarTotalSegments) ?? 0,
    part: tlvNumber(pdu.tlvs, tags.sarSegmentSeqnum) ?? 0,
  }
  const joint = concatenation ?? (sar.total > 0 ? sar : undefined)
  if (joint && (joint.part < 1 || joint.part > joint.total)) return refused('badEsmClass')
  // The SMSC writes the header of SAR segments itself: six octets.
  const headerOctets = hasHeader ? octets.length - content.length : joint ? 6 : 0
  if (!isPayload && isTooLong(coding.encoding, headerOctets, content.length)) return refused('tooLong')
  return {
    kind: 'segment',
    encoding: coding.encoding,
    isFlash: coding.isFlash || tlvNumber(pdu.tlvs, tags.destAddrSubunit) === 1,
    content: Uint8Array.from(content),
    how: concatenation ? 'udh' : joint ? 'sar' : isPayload ? 'payload' : 'single',
    joint: joint && joint.total > 1 ? joint : undefined,
  }
}

/** `…00000` and three decimal digits: refused with that command_status. */
export function statusBySuffix(digits: string): number | undefined {
  const code = Number(/00000(\d{3})$/.exec(digits)?.[1] ?? Number.NaN)
  return code in smppStatusNames ? code : undefined
}

/** `…0000100` and one digit: that message state in the receipt; 0 is no receipt at all. */
export function stateBySuffix(digits: string): number | undefined {
  const state = Number(/0000100(\d)$/.exec(digits)?.[1] ?? Number.NaN)
  return state === 0 || state in smppReceiptStates ? state : undefined
}

export const refusalStatus = (refusal: SmsRefusalKey): number => smsRefusals[refusal].code
