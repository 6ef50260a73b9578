/** Optional parameters. Unknown ones are kept as they are. */
export type Tlv = { tag: number; value: Uint8Array }

export const tags = {
  destAddrSubunit: 0x0005,
  receiptedMessageId: 0x001e,
  userMessageReference: 0x0204,
  sarMsgRefNum: 0x020c,
  sarTotalSegments: 0x020e,
  sarSegmentSeqnum: 0x020f,
  scInterfaceVersion: 0x0210,
  networkErrorCode: 0x0423,
  messagePayload: 0x0424,
  moreMessagesToSend: 0x0426,
  messageState: 0x0427,
} as const

export const uint8Tlv = (tag: number, value: number): Tlv => ({ tag, value: Uint8Array.of(value) })
export const uint16Tlv = (tag: number, value: number): Tlv => ({
  tag,
  value: Uint8Array.of((value >> 8) & 0xff, value & 0xff),
})
/** With the closing zero octet, as the C-octet strings among the parameters have it. */
export const textTlv = (tag: number, text: string): Tlv => ({
  tag,
  value: Buffer.from(`${text}\0`, 'latin1'),
})

export const findTlv = (tlvs: readonly Tlv[], tag: number): Uint8Array | undefined =>
  tlvs.find((tlv) => tlv.tag === tag)?.value

/** The text up to a zero octet; some peers leave it out. */
export function tlvText(tlvs: readonly Tlv[], tag: number): string | undefined {
  const value = findTlv(tlvs, tag)
  if (value === undefined) return undefined
  const end = value.indexOf(0)
  return Buffer.from(value.buffer, value.byteOffset, end === -1 ? value.length : end).toString('latin1')
}

/** An unsigned number of one to four octets, big-endian; undefined when absent or of another size. */
export function tlvNumber(tlvs: readonly Tlv[], tag: number): number | undefined {
  const value = findTlv(tlvs, tag)
  if (value === undefined || value.length < 1 || value.length > 4) return undefined
  return value.reduce((number, octet) => number * 256 + octet, 0)
}

/** The octets of the message, wherever they travel. */
export const messageOctets = (pdu: { shortMessage?: Uint8Array; tlvs: readonly Tlv[] }): Uint8Array =>
  pdu.shortMessage !== undefined && pdu.shortMessage.length > 0
    ? pdu.shortMessage
    : (findTlv(pdu.tlvs, tags.messagePayload) ?? new Uint8Array(0))
