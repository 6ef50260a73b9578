/** From a text to the submit_sm units that carry it. */
import { encodeGsm7, encodeUcs2, splitSms } from '../../domain/sms-text.ts'
import type { SmsEncoding } from '../../domain/sms-text.ts'
import { concatenationHeader, tags, udhiBit, uint16Tlv, uint8Tlv } from '../../lib/smpp/index.ts'
import type { PduInput, Tlv } from '../../lib/smpp/index.ts'
import type { SmppSettings } from './settings.ts'

export type SubmitInput = PduInput<'submit_sm'>

const maxParts = 255
/** destination_addr holds 20 octets; short codes are fine. */
const recipientForm = /^\d{3,20}$/
const maxPayloadOctets = 65_535
const registered = { all: 1, failures: 2, none: 0 } as const
const displaySubunit = 1

/** How flash is written in data_coding. UCS-2 has no older form. */
const flashCodings = {
  class: { gsm7: 0x10, ucs2: 0x18 },
  older_class: { gsm7: 0xf0, ucs2: 0x18 },
} as const
const plainCodings = { gsm7: 0x00, ucs2: 0x08 } as const

const octetsOf = (text: string, encoding: SmsEncoding): Uint8Array =>
  encoding === 'gsm7' ? encodeGsm7(text) : encodeUcs2(text)

/** All that is the same for every message of a line, filled in once. */
export function unitsFor(
  settings: SmppSettings,
  lineAddress: string,
): Pick<SubmitInput, 'command'> & Partial<SubmitInput> {
  const source = (settings.sender ?? lineAddress).replace(/^\+/, '')
  const [ton, npi] = addressType(source)
  return {
    command: 'submit_sm',
    serviceType: settings.serviceType,
    sourceTon: settings.sourceTon ?? ton,
    sourceNpi: settings.sourceNpi ?? npi,
    source,
    destinationTon: settings.destinationTon,
    destinationNpi: settings.destinationNpi,
    registeredDelivery: registered[settings.receipts],
  }
}

/** International number, short code (network-specific) or name. */
function addressType(source: string): [ton: number, npi: number] {
  if (!/^\d+$/.test(source)) return [5, 0]
  return source.length <= 6 ? [3, 0] : [1, 1]
}

export type PartsReading = { ok: true; units: SubmitInput[] } | { ok: false; reason: string }

/** `reference` ties the parts together: the same for every attempt, so that a later one can bring what is missing. */
export function submitUnits(
  common: ReturnType<typeof unitsFor>,
  settings: SmppSettings,
  message: { recipient: string; text: string; isFlash: boolean; reference: number; validityPeriod: string },
): PartsReading {
  if (!recipientForm.test(message.recipient))
    return { ok: false, reason: 'The recipient is not a phone number.' }
  const { encoding, parts } = splitSms(message.text)
  const isSubunit = message.isFlash && settings.flash === 'subunit'
  const dataCoding =
    message.isFlash && settings.flash !== 'subunit'
      ? flashCodings[settings.flash][encoding]
      : plainCodings[encoding]
  const unit = (shortMessage: Uint8Array, tlvs: Tlv[], esmClass = 0): SubmitInput => ({
    ...common,
    command: 'submit_sm',
    destination: message.recipient,
    esmClass,
    validityPeriod: message.validityPeriod,
    dataCoding,
    shortMessage,
    tlvs: isSubunit ? [...tlvs, uint8Tlv(tags.destAddrSubunit, displaySubunit)] : tlvs,
  })
  if (parts.length === 1) return { ok: true, units: [unit(octetsOf(parts[0]!, encoding), noTlvs)] }
  if (settings.longTexts === 'payload') {
    const value = octetsOf(message.text, encoding)
    if (value.length > maxPayloadOctets) return { ok: false, reason: 'The text is too long for one message.' }
    return { ok: true, units: [unit(noOctets, [{ tag: tags.messagePayload, value }])] }
  }
  const total = parts.length
  if (total > maxParts)
    return { ok: false, reason: `The text needs ${total} parts; ${maxParts} are possible.` }
  return {
    ok: true,
    units: parts.map((text, index) => {
      const octets = octetsOf(text, encoding)
      if (settings.longTexts === 'sar') {
        return unit(octets, [
          uint16Tlv(tags.sarMsgRefNum, message.reference & 0xffff),
          uint8Tlv(tags.sarTotalSegments, total),
          uint8Tlv(tags.sarSegmentSeqnum, index + 1),
        ])
      }
      const header = concatenationHeader({ reference: message.reference, total, part: index + 1 })
      const withHeader = new Uint8Array(header.length + octets.length)
      withHeader.set(header)
      withHeader.set(octets, header.length)
      return unit(withHeader, noTlvs, udhiBit)
    }),
  }
}

const noOctets = new Uint8Array(0)
const noTlvs: Tlv[] = []

const twoDigits = (number: number): string => (number < 10 ? `0${number}` : String(number))

/** Relative (`…R`), so that the two clocks need not agree. At most 63 days, which every SMSC understands. */
export function validityPeriod(leftMs: number): string {
  const seconds = Math.min(63 * 86_400, Math.max(1, Math.ceil(leftMs / 1000)))
  const days = Math.floor(seconds / 86_400)
  const month = Math.floor(days / 30)
  const clock =
    twoDigits(Math.floor((seconds % 86_400) / 3600)) + twoDigits(Math.floor((seconds % 3600) / 60))
  return `00${twoDigits(month)}${twoDigits(days - month * 30)}${clock}${twoDigits(seconds % 60)}000R`
}
