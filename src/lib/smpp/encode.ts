import { OctetWriter } from './octets.ts'
import { commandIds, maxPduBytes } from './pdu.ts'
import type { DataBody, PduInput, ShortMessageBody } from './pdu.ts'
import type { Tlv } from './tlv.ts'

// The documents allow less (system_id 15, password 8, addresses 20, message_id 64 octets), but peers that take
// more are common, so the limits of a peer are its own business and these only keep lengths sane.
const maxStringOctets = 255
const maxShortMessageOctets = 254
const noOctets = new Uint8Array(0)

export function encodePdu(pdu: PduInput): Buffer {
  const writer = new OctetWriter(512)
  writePdu(writer, pdu)
  return writer.take()
}

/** Throws a RangeError, with nothing written, when a value does not fit in its field. */
export function writePdu(writer: OctetWriter, pdu: PduInput, sequence: number = pdu.sequence ?? 0): void {
  const from = writer.length
  try {
    writer.uint32(0)
    writer.uint32(commandIds[pdu.command])
    writer.uint32(pdu.status ?? 0)
    writer.uint32(sequence)
    writeBody(writer, pdu)
    const length = writer.length - from
    if (length > maxPduBytes) throw new RangeError(`the unit is longer than ${maxPduBytes} octets`)
    writer.uint32At(from, length)
  } catch (error) {
    writer.truncate(from)
    throw error
  }
}

function writeBody(writer: OctetWriter, pdu: PduInput): void {
  switch (pdu.command) {
    case 'bind_receiver':
    case 'bind_transmitter':
    case 'bind_transceiver':
      writer.cString('system_id', pdu.systemId ?? '', maxStringOctets)
      writer.cString('password', pdu.password ?? '', maxStringOctets)
      writer.cString('system_type', pdu.systemType ?? '', maxStringOctets)
      writer.uint8(pdu.interfaceVersion ?? 0x34)
      writer.uint8(pdu.addrTon ?? 0)
      writer.uint8(pdu.addrNpi ?? 0)
      writer.cString('address_range', pdu.addressRange ?? '', maxStringOctets)
      return
    case 'bind_receiver_resp':
    case 'bind_transmitter_resp':
    case 'bind_transceiver_resp':
      return writeAnswerBody(writer, 'system_id', pdu.systemId ?? '', pdu.status ?? 0, pdu.tlvs)
    case 'submit_sm':
    case 'deliver_sm':
      return writeShortMessage(writer, pdu)
    case 'data_sm':
      writeAddresses(writer, pdu)
      writer.uint8(pdu.esmClass ?? 0)
      writer.uint8(pdu.registeredDelivery ?? 0)
      writer.uint8(pdu.dataCoding ?? 0)
      return writeTlvs(writer, pdu.tlvs)
    case 'submit_sm_resp':
    case 'deliver_sm_resp':
    case 'data_sm_resp':
      return writeAnswerBody(writer, 'message_id', pdu.messageId ?? '', pdu.status ?? 0, pdu.tlvs)
    case 'unbind':
    case 'unbind_resp':
    case 'enquire_link':
    case 'enquire_link_resp':
    case 'generic_nack':
      return
  }
}

function writeShortMessage(writer: OctetWriter, body: Partial<ShortMessageBody>): void {
  const message = body.shortMessage ?? noOctets
  if (message.length > maxShortMessageOctets) {
    throw new RangeError(`short_message is longer than ${maxShortMessageOctets} octets`)
  }
  writeAddresses(writer, body)
  writer.uint8(body.esmClass ?? 0)
  writer.uint8(body.protocolId ?? 0)
  writer.uint8(body.priorityFlag ?? 0)
  writer.cString('schedule_delivery_time', body.scheduleDeliveryTime ?? '', maxStringOctets)
  writer.cString('validity_period', body.validityPeriod ?? '', maxStringOctets)
  writer.uint8(body.registeredDelivery ?? 0)
  writer.uint8(body.replaceIfPresent ?? 0)
  writer.uint8(body.dataCoding ?? 0)
  writer.uint8(body.defaultMessageId ?? 0)
  writer.uint8(message.length)
  writer.bytes(message)
  writeTlvs(writer, body.tlvs)
}

function writeAddresses(writer: OctetWriter, body: Partial<DataBody>): void {
  writer.cString('service_type', body.serviceType ?? '', maxStringOctets)
  writer.uint8(body.sourceTon ?? 0)
  writer.uint8(body.sourceNpi ?? 0)
  writer.cString('source_addr', body.source ?? '', maxStringOctets)
  writer.uint8(body.destinationTon ?? 0)
  writer.uint8(body.destinationNpi ?? 0)
  writer.cString('destination_addr', body.destination ?? '', maxStringOctets)
}

/** An error answer with nothing to say has no body at all, as the documents ask. */
function writeAnswerBody(writer: OctetWriter, field: string, id: string, code: number, tlvs?: Tlv[]): void {
  if (code !== 0 && id === '' && (tlvs === undefined || tlvs.length === 0)) return
  writer.cString(field, id, maxStringOctets)
  writeTlvs(writer, tlvs)
}

function writeTlvs(writer: OctetWriter, tlvs: readonly Tlv[] = []): void {
  for (const { tag, value } of tlvs) {
    writer.uint16(tag)
    writer.uint16(value.length)
    writer.bytes(value)
  }
}
