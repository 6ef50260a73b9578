/** The header inside a message that joins the parts of a long one (3GPP 23.040, concatenation). */
export type Concatenation = { reference: number; total: number; part: number }
export type UserData = { concatenation?: Concatenation; content: Uint8Array }

export const udhiBit = 0x40

/** The usual six octets, reference of eight bits. The esm_class of the unit needs `udhiBit`. */
export const concatenationHeader = ({ reference, total, part }: Concatenation): Uint8Array =>
  Uint8Array.of(5, 0, 3, reference & 0xff, total, part)

/** Takes the header off. A header that does not add up is left in the content, nothing is thrown away. */
export function readUserData(octets: Uint8Array, esmClass: number): UserData {
  const headerLength = octets[0]
  if ((esmClass & udhiBit) === 0 || headerLength === undefined || headerLength >= octets.length) {
    return { content: octets }
  }
  const content = octets.subarray(1 + headerLength)
  for (let at = 1; at + 1 <= headerLength;) {
    const kind = octets[at]!
    const length = octets[at + 1]!
    const body = octets.subarray(at + 2, at + 2 + length)
    if (at + 2 + length > 1 + headerLength) return { content: octets }
    if (kind === 0x00 && length === 3) {
      return { concatenation: { reference: body[0]!, total: body[1]!, part: body[2]! }, content }
    }
    if (kind === 0x08 && length === 4) {
      const reference = (body[0]! << 8) | body[1]!
      return { concatenation: { reference, total: body[2]!, part: body[3]! }, content }
    }
    at += 2 + length
  }
  return { content }
}
