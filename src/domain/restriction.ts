/** Entries of restriction lists: which values are one and the same, and what a lookup finds. */
import { phoneKey, readDigits, readEmail } from './address.ts'

export const restrictionFields = ['phone', 'email', 'document', 'contract'] as const
export type RestrictionField = (typeof restrictionFields)[number]

export type RestrictionHit = {
  listId: string
  field: RestrictionField
  /** The entry's own value, as kept. */
  value: string
  isPrefix: boolean
  expiresAt?: Date
}

/** Every prefix of a value is looked up by itself, so their length has a bound. */
export const maxPrefixLength = 64
const maxValueLength = 255

export type RestrictionValue = { ok: true; value: string } | { ok: false; reason: string }

/** The form in which an entry is kept; lookups use the same (`restrictionKey`). */
export function readRestrictionValue(
  field: RestrictionField,
  text: string,
  isPrefix: boolean,
): RestrictionValue {
  const trimmed = text.trim()
  if (trimmed === '') return refused('value is empty')
  if (controlCharacter.test(trimmed)) return refused('value has a control character')
  const read = isPrefix ? readPrefix(field, trimmed) : readExact(field, trimmed)
  if (read.ok && read.value.length > maxValueLength)
    return refused(`value is longer than ${maxValueLength} characters`)
  return read
}

// oxlint-disable-next-line no-control-regex -- keeping control characters out is what it is for
const controlCharacter = /[\u0000-\u001f\u007f]/
const refused = (reason: string): RestrictionValue => ({ ok: false, reason })

function readExact(field: RestrictionField, text: string): RestrictionValue {
  switch (field) {
    case 'phone': {
      const reading = readDigits(text.replace(phonePunctuation, ''))
      return reading.ok ? { ok: true, value: reading.phone.key } : refused(`phone number ${reading.reason}`)
    }
    case 'email': {
      const reading = readEmail(text)
      return reading.ok ? { ok: true, value: reading.email.key } : refused(`e-mail address ${reading.reason}`)
    }
    case 'document':
    case 'contract': {
      const value = restrictionKey(field, text)
      return value === '' ? refused('value has no letter or digit') : { ok: true, value }
    }
  }
}

function readPrefix(field: RestrictionField, text: string): RestrictionValue {
  const value =
    field === 'phone' ? text.replace(phonePunctuation, '').replace(/^\+/, '') : restrictionKey(field, text)
  if (field === 'phone' && !/^[1-9]\d{0,14}$/.test(value))
    return refused('phone prefix must be 1 to 15 digits, starting with the country code')
  if (value === '') return refused('value has no letter or digit')
  if (value.length > maxPrefixLength) return refused(`prefix is longer than ${maxPrefixLength} characters`)
  return { ok: true, value }
}

const phonePunctuation = /[\s().-]/g

/** How values compare. A document number is the same with and without its dots, dashes, slashes and spaces. */
export function restrictionKey(field: RestrictionField, value: string): string {
  switch (field) {
    case 'phone':
      return phoneKey(value.replace(/^\+/, ''))
    case 'email':
    case 'contract':
      return value.trim().normalize('NFC').toLowerCase()
    case 'document':
      return value
        .replace(/[\s./-]/g, '')
        .normalize('NFC')
        .toLowerCase()
  }
}

const nineDigitMobile = /^(55[1-9]\d)9([6-9]\d{7})$/

/** The spelling of a Brazilian mobile without its ninth digit: a prefix may have been written for that one. */
export function otherSpelling(key: string): string | undefined {
  const match = nineDigitMobile.exec(key)
  return match ? `${match[1]}${match[2]}` : undefined
}
