/**
 * SMPP 3.4 protocol data units as plain data (`encode.ts` and `decode.ts` do the octets). Strings of the protocol
 * are octets, read as Latin-1; message texts stay octets, since only the caller knows what the peer means by a
 * data_coding.
 */
import type { Tlv } from './tlv.ts'

export const headerBytes = 16
/** The longest message_payload (65,535 octets) with room for all other fields. */
export const maxPduBytes = 69_632

export type BindBody = {
  systemId: string
  password: string
  systemType: string
  interfaceVersion: number
  addrTon: number
  addrNpi: number
  addressRange: string
}
export type BindAnswerBody = { systemId: string; tlvs: Tlv[] }
export type ShortMessageBody = {
  serviceType: string
  sourceTon: number
  sourceNpi: number
  source: string
  destinationTon: number
  destinationNpi: number
  destination: string
  esmClass: number
  protocolId: number
  priorityFlag: number
  scheduleDeliveryTime: string
  validityPeriod: string
  registeredDelivery: number
  replaceIfPresent: number
  dataCoding: number
  defaultMessageId: number
  /** A view into the octets it was read from: copy it to keep it. */
  shortMessage: Uint8Array
  tlvs: Tlv[]
}
export type DataBody = {
  serviceType: string
  sourceTon: number
  sourceNpi: number
  source: string
  destinationTon: number
  destinationNpi: number
  destination: string
  esmClass: number
  registeredDelivery: number
  dataCoding: number
  tlvs: Tlv[]
}
export type MessageAnswerBody = { messageId: string; tlvs: Tlv[] }
export type NoBody = unknown

export type Bodies = {
  bind_receiver: BindBody
  bind_transmitter: BindBody
  bind_transceiver: BindBody
  bind_receiver_resp: BindAnswerBody
  bind_transmitter_resp: BindAnswerBody
  bind_transceiver_resp: BindAnswerBody
  submit_sm: ShortMessageBody
  submit_sm_resp: MessageAnswerBody
  deliver_sm: ShortMessageBody
  deliver_sm_resp: MessageAnswerBody
  data_sm: DataBody
  data_sm_resp: MessageAnswerBody
  unbind: NoBody
  unbind_resp: NoBody
  enquire_link: NoBody
  enquire_link_resp: NoBody
  generic_nack: NoBody
}

export type Command = keyof Bodies
export type AnswerCommand = Extract<Command, `${string}_resp` | 'generic_nack'>
export type RequestCommand = Exclude<Command, AnswerCommand>

/** A unit as read: every field is there. */
export type Pdu<C extends Command = Command> = {
  [K in C]: { command: K; status: number; sequence: number } & Bodies[K]
}[C]
/** A unit to write: what is not given is 0 or empty. */
export type PduInput<C extends Command = Command> = {
  [K in C]: { command: K; status?: number; sequence?: number } & Partial<Bodies[K]>
}[C]

const answerBit = 0x8000_0000

export const commandIds: Readonly<Record<Command, number>> = {
  bind_receiver: 0x01,
  bind_receiver_resp: 0x8000_0001,
  bind_transmitter: 0x02,
  bind_transmitter_resp: 0x8000_0002,
  submit_sm: 0x04,
  submit_sm_resp: 0x8000_0004,
  deliver_sm: 0x05,
  deliver_sm_resp: 0x8000_0005,
  unbind: 0x06,
  unbind_resp: 0x8000_0006,
  bind_transceiver: 0x09,
  bind_transceiver_resp: 0x8000_0009,
  enquire_link: 0x15,
  enquire_link_resp: 0x8000_0015,
  data_sm: 0x103,
  data_sm_resp: 0x8000_0103,
  generic_nack: answerBit,
}

export const commandsById: ReadonlyMap<number, Command> = new Map(
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the keys are those of the record above
  Object.entries(commandIds).map(([name, id]) => [id, name as Command]),
)

/** Whether a command id belongs to an answer, known to us or not. */
export const isAnswerId = (commandId: number): boolean => commandId >= answerBit

export const isAnswer = (pdu: Pdu): pdu is Pdu<AnswerCommand> => isAnswerId(commandIds[pdu.command])
