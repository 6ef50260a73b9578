import { OctetReader } from './octets.ts'
import { commandsById, headerBytes } from './pdu.ts'
import type { Command, Pdu } from './pdu.ts'
import { status } from './status.ts'
import type { Tlv } from './tlv.ts'

export type PduHeader = { commandId: number; status: number; sequence: number }
export type Decoded =
  | { ok: true; pdu: Pdu }
  /** `status` is what to tell the peer; `header` is there when at least that could be read. */
  | { ok: false; reason: string; status: number; header?: PduHeader }

/** Reads one whole unit. Whatever the octets are, the answer is a value. */
export function decodePdu(octets: Buffer): Decoded {
  if (octets.length < headerBytes) {
    return { ok: false, reason: 'shorter than a header', status: status.ESME_RINVCMDLEN }
  }
  const header: PduHeader = {
    commandId: octets.readUInt32BE(4),
    status: octets.readUInt32BE(8),
    sequence: octets.readUInt32BE(12),
  }
  if (octets.readUInt32BE(0) !== octets.length) {
    return { ok: false, reason: 'command_length is not its length', status: status.ESME_RINVCMDLEN, header }
  }
  const command = commandsById.get(header.commandId)
  if (command === undefined) {
    return { ok: false, reason: 'unknown command', status: status.ESME_RINVCMDID, header }
  }
  const reader = new OctetReader(octets, headerBytes)
  const pdu = readUnit(reader, command, header)
  if (reader.fault === undefined) return { ok: true, pdu }
  return { ok: false, reason: reader.fault, status: status.ESME_RINVCMDLEN, header }
}

// oxlint-disable-next-line typescript/consistent-return -- the switch covers every command
function readUnit(reader: OctetReader, command: Command, header: PduHeader): Pdu {
  const { status: code, sequence } = header
  switch (command) {
    case 'bind_receiver':
    case 'bind_transmitter':
    case 'bind_transceiver':
      return {
        command,
        status: code,
        sequence,
        systemId: reader.cString('system_id'),
        password: reader.cString('password'),
        systemType: reader.cString('system_type'),
        interfaceVersion: reader.uint8('interface_version'),
        addrTon: reader.uint8('addr_ton'),
        addrNpi: reader.uint8('addr_npi'),
        addressRange: reader.cString('address_range'),
      }
    case 'bind_receiver_resp':
    case 'bind_transmitter_resp':
    case 'bind_transceiver_resp': {
      const { id: systemId, tlvs } = readAnswerBody(reader, 'system_id', code)
      return { command, status: code, sequence, systemId, tlvs }
    }
    case 'submit_sm_resp':
    case 'deliver_sm_resp':
    case 'data_sm_resp': {
      const { id: messageId, tlvs } = readAnswerBody(reader, 'message_id', code)
      return { command, status: code, sequence, messageId, tlvs }
    }
    case 'submit_sm':
    case 'deliver_sm':
      return {
        command,
        status: code,
        sequence,
        serviceType: reader.cString('service_type'),
        sourceTon: reader.uint8('source_addr_ton'),
        sourceNpi: reader.uint8('source_addr_npi'),
        source: reader.cString('source_addr'),
        destinationTon: reader.uint8('dest_addr_ton'),
        destinationNpi: reader.uint8('dest_addr_npi'),
        destination: reader.cString('destination_addr'),
        esmClass: reader.uint8('esm_class'),
        protocolId: reader.uint8('protocol_id'),
        priorityFlag: reader.uint8('priority_flag'),
        scheduleDeliveryTime: reader.cString('schedule_delivery_time'),
        validityPeriod: reader.cString('validity_period'),
        registeredDelivery: reader.uint8('registered_delivery'),
        replaceIfPresent: reader.uint8('replace_if_present_flag'),
        dataCoding: reader.uint8('data_coding'),
        defaultMessageId: reader.uint8('sm_default_msg_id'),
        shortMessage: reader.bytes('short_message', reader.uint8('sm_length')),
        tlvs: readTlvs(reader),
      }
    case 'data_sm':
      return {
        command,
        status: code,
        sequence,
        serviceType: reader.cString('service_type'),
        sourceTon: reader.uint8('source_addr_ton'),
        sourceNpi: reader.uint8('source_addr_npi'),
        source: reader.cString('source_addr'),
        destinationTon: reader.uint8('dest_addr_ton'),
        destinationNpi: reader.uint8('dest_addr_npi'),
        destination: reader.cString('destination_addr'),
        esmClass: reader.uint8('esm_class'),
        registeredDelivery: reader.uint8('registered_delivery'),
        dataCoding: reader.uint8('data_coding'),
        tlvs: readTlvs(reader),
      }
    case 'unbind':
    case 'unbind_resp':
    case 'enquire_link':
    case 'enquire_link_resp':
    case 'generic_nack':
      return { command, status: code, sequence }
  }
}

/**
 * Lenient where it costs a message: a missing body, an error's body and junk behind the id are all seen in the
 * field, and losing the id of an accepted message over them would be worse.
 */
function readAnswerBody(reader: OctetReader, field: string, code: number): { id: string; tlvs: Tlv[] } {
  if (reader.left === 0) return { id: '', tlvs: [] }
  const id = reader.cString(field)
  if (reader.fault !== undefined) {
    if (code !== 0) reader.fault = undefined
    return { id: '', tlvs: [] }
  }
  const tlvs = readTlvs(reader)
  reader.fault = undefined
  return { id, tlvs }
}

function readTlvs(reader: OctetReader): Tlv[] {
  const tlvs: Tlv[] = []
  while (reader.left > 0) {
    const tag = reader.uint16('a tag')
    const value = reader.bytes('an optional parameter', reader.uint16('a tag'))
    if (reader.fault !== undefined) break
    tlvs.push({ tag, value })
  }
  return tlvs
}
