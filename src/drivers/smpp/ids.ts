/** Message ids in one form, whichever way the provider writes them where. */
export type IdFormat = 'as-is' | 'dec' | 'hex'

const decimal = /^\d+$/
const hexadecimal = /^(?:0x)?([0-9a-f]+)$/i

/**
 * Some SMSCs answer `1A2B` and report `6699`, or pad one of them with zeros. Ids may be longer than 2^53. One that is
 * not a number, although it should be, is kept as it is.
 */
export function canonicalId(given: string, format: IdFormat): string {
  if (format === 'as-is') return given
  if (format === 'dec') return decimal.test(given) ? BigInt(given).toString() : given
  const digits = hexadecimal.exec(given)?.[1]
  return digits === undefined ? given : BigInt(`0x${digits}`).toString()
}
