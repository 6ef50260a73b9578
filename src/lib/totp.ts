/** Time-based one-time passwords (RFC 6238: SHA-1, 30 seconds, 6 digits, as every authenticator app has them). */
import { createHmac, randomBytes, randomInt, timingSafeEqual } from 'node:crypto'

const stepSeconds = 30
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** 160 bits in base32, as RFC 4226 recommends. */
export const newTotpSecret = (): string => toBase32(randomBytes(20))

export function toBase32(bytes: Uint8Array): string {
  let bits = ''
  for (const byte of bytes) bits += byte.toString(2).padStart(8, '0')
  return (bits.match(/.{1,5}/g) ?? []).map((group) => alphabet[parseInt(group.padEnd(5, '0'), 2)]).join('')
}

function fromBase32(text: string): Buffer {
  let bits = ''
  for (const letter of text) bits += alphabet.indexOf(letter).toString(2).padStart(5, '0')
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => parseInt(byte, 2)))
}

export const totpStep = (at: Date): number => Math.floor(at.getTime() / 1000 / stepSeconds)

export function totpCode(secret: string, step: number, digits = 6): string {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(step))
  const mac = createHmac('sha1', fromBase32(secret)).update(counter).digest()
  const offset = mac[mac.length - 1]! & 0x0f
  const number = mac.readUInt32BE(offset) & 0x7fffffff
  return String(number % 10 ** digits).padStart(digits, '0')
}

/** The step whose code this is: now, or one step to either side for clocks that differ. */
export function matchTotp(secret: string, code: string, now: Date): number | undefined {
  if (!/^\d{6}$/.test(code)) return undefined
  const current = totpStep(now)
  const given = Buffer.from(code)
  return [current, current - 1, current + 1].find((step) =>
    timingSafeEqual(Buffer.from(totpCode(secret, step)), given),
  )
}

/** For QR codes; names are what the app shows. */
export const totpUrl = (secret: string, issuer: string, account: string): string =>
  `otpauth://totp/${encodeURIComponent(issuer)}:${encodeURIComponent(account)}?secret=${secret}&issuer=${encodeURIComponent(issuer)}`

/** Letters and digits that are not mistaken for one another: 50 bits each. */
const recoveryAlphabet = 'abcdefghjkmnpqrstuvwxyz23456789'

export const newRecoveryCodes = (count = 10): string[] =>
  Array.from({ length: count }, () => {
    const letters = Array.from({ length: 10 }, () => recoveryAlphabet[randomInt(recoveryAlphabet.length)])
    return `${letters.slice(0, 5).join('')}-${letters.slice(5).join('')}`
  })

export const recoveryKey = (code: string): string => code.toLowerCase().replace(/[^a-z0-9]/g, '')
