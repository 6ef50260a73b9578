/** SMPP 3.4 for both sides of the connection. It knows nothing of the product. */
export { connectSmpp } from './client.ts'
export type { SmppTarget } from './client.ts'
export { decodePdu } from './decode.ts'
export type { Decoded } from './decode.ts'
export { encodePdu } from './encode.ts'
export { maxPduBytes } from './pdu.ts'
export type { AnswerCommand, Command, Pdu, PduInput, RequestCommand } from './pdu.ts'
export { listenSmpp } from './server.ts'
export type { SmppListener, SmppServer } from './server.ts'
export { describeOutcome, SmppSession } from './session.ts'
export type {
  Answer,
  BindKind,
  InboundRequest,
  RequestOutcome,
  SessionOptions,
  SmppAnswer,
} from './session.ts'
export { status, statusName } from './status.ts'
export type { StatusName } from './status.ts'
export { findTlv, messageOctets, tags, textTlv, tlvNumber, tlvText, uint16Tlv, uint8Tlv } from './tlv.ts'
export type { Tlv } from './tlv.ts'
export { concatenationHeader, readUserData, udhiBit } from './user-data.ts'
export type { Concatenation, UserData } from './user-data.ts'
