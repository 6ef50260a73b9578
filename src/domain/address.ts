import { domainToASCII } from 'node:url'
import { parsePhoneNumberFromString } from 'libphonenumber-js/max'

export type Phone = {
  /** As the network wants it: `+5531996883193`. */
  e164: string
  /** The same without the plus sign. */
  digits: string
  /** Who it is: equal for two spellings of one person's number. In Brazil this is the nine-digit form. */
  key: string
}
export type PhoneReading = { ok: true; phone: Phone } | { ok: false; reason: string }

export type Email = {
  /** As given, without surrounding spaces and with the domain in ASCII. */
  address: string
  /** Who it is: the address in lower case. */
  key: string
}
export type EmailReading = { ok: true; email: Email } | { ok: false; reason: string }

/** Country code and number as the unified API gives them; together they must be a possible number. */
export function readPhone(countryCode: number, national: number): PhoneReading {
  if (!Number.isSafeInteger(countryCode) || countryCode < 1 || countryCode > 9999) {
    return { ok: false, reason: 'is not a country code' }
  }
  if (!Number.isSafeInteger(national) || national < 1) return { ok: false, reason: 'is not a phone number' }
  return readPossible(`${countryCode}${national}`)
}

const digitsWithCountryCode = /^\+?([1-9]\d{7,14})$/

/** Country code and number in one string of 8 to 15 digits; a leading plus sign is tolerated. */
export function readDigits(text: string): PhoneReading {
  const digits = digitsWithCountryCode.exec(text)?.[1]
  if (digits === undefined) return { ok: false, reason: 'must be 8 to 15 digits with country code' }
  return readPossible(digits)
}

// Parsing costs 12 µs, this way all in all 0.7 µs. Brazil has ten or eleven national digits, and only 0 and 90 are
// read as trunk prefixes, so for these the parser would say "possible" and change nothing.
const possibleInBrazil = /^55(?:[1-8]\d|9[1-9])\d{8,9}$/

function readPossible(digits: string): PhoneReading {
  if (possibleInBrazil.test(digits)) return { ok: true, phone: phoneOf(digits) }
  const parsed = parsePhoneNumberFromString(`+${digits}`)
  if (parsed === undefined || !parsed.isPossible()) {
    return { ok: false, reason: 'is not a possible phone number' }
  }
  return { ok: true, phone: phoneOf(parsed.number.slice(1)) }
}

const phoneOf = (digits: string): Phone => ({ e164: `+${digits}`, digits, key: phoneKey(digits) })

const eightDigitMobile = /^(55[1-9]\d)([6-9]\d{7})$/

/**
 * Brazilian mobiles once had eight digits, starting 6 to 9, and all got a 9 in front; both forms are still in use.
 * Adding the digit, not dropping it, keeps newer numbers (9 1234 5678) apart from fixed lines (starting 2 to 5).
 */
export const phoneKey = (digits: string): string => digits.replace(eightDigitMobile, '$19$2')

const maxAddressOctets = 254
const maxLocalOctets = 64
// oxlint-disable-next-line no-control-regex -- keeping control characters out is what it is for
const controlCharacter = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/
const dotAtom = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/
// Without `< > @ " \`, which RFC 5321 would allow here: mail software has been misled by them to another domain
// (nodemailer CVE-2025-13033), and no real mailbox needs them.
const quotedLocal = /^"[A-Za-z0-9!#$%&'*+/=?^_`{|}~. ():;,[\]-]+"$/
const domainLabel = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i
const notAscii = /[^\u0020-\u007e]/

const refused = (reason: string): EmailReading => ({ ok: false, reason })

/**
 * One mailbox in a form that every relay takes: no display name, no comment, no address literal. A mailbox name
 * outside ASCII is refused, since relays without SMTPUTF8 would bounce it; a domain is turned into punycode.
 */
export function readEmail(text: string): EmailReading {
  if (controlCharacter.test(text)) return refused('has a line break or another control character')
  const trimmed = text.trim()
  const at = trimmed.lastIndexOf('@')
  if (at < 1) return refused('is not an e-mail address')
  const local = trimmed.slice(0, at)
  if (notAscii.test(local)) return refused('has characters outside ASCII before the @')
  if (local.length > maxLocalOctets) return refused(`has more than ${maxLocalOctets} characters before the @`)
  if (!dotAtom.test(local) && !quotedLocal.test(local)) return refused('is not an e-mail address')
  const given = trimmed.slice(at + 1)
  const domain = notAscii.test(given) && given.length <= maxAddressOctets ? domainToASCII(given) : given
  if (!isMailDomain(domain)) return refused('has no valid domain after the @')
  const address = `${local}@${domain}`
  if (address.length > maxAddressOctets) return refused(`is longer than ${maxAddressOctets} characters`)
  return { ok: true, email: { address, key: address.toLowerCase() } }
}

/** Two labels or more, the last not a number, as in an IP address. */
function isMailDomain(domain: string): boolean {
  if (domain.length > maxAddressOctets) return false
  const labels = domain.split('.')
  return (
    labels.length > 1 && labels.every((label) => domainLabel.test(label)) && !/^\d+$/.test(labels.at(-1)!)
  )
}
