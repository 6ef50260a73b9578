/**
 * How a text travels as SMS: the alphabet it needs, how many messages that takes and where it is cut.
 * GSM 03.38 texts hold 160 septets (153 in each part of a long one), all others 70 UTF-16 units (67 in a part);
 * the difference is the six octets of the header that lets the phone join the parts again.
 */
export type SmsEncoding = 'gsm7' | 'ucs2'

export type SmsMeasure = {
  encoding: SmsEncoding
  /** How many messages are sent and paid for. An empty text is one message. */
  segments: number
  /** Septets or UTF-16 units of the whole text. */
  units: number
  /** What one segment of this text holds, in the same units. */
  perSegment: number
  /** Units that still fit without a further segment. */
  unitsLeft: number
}

export type SmsParts = { encoding: SmsEncoding; parts: string[] }

const limits = { gsm7: { single: 160, part: 153 }, ucs2: { single: 70, part: 67 } } as const

const escape = 0x1b
const basicTable =
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞ\u001bÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?' +
  '¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà'
const extensionTable: readonly (readonly [number, string])[] = [
  [0x0a, '\f'],
  [0x14, '^'],
  [0x28, '{'],
  [0x29, '}'],
  [0x2f, '\\'],
  [0x3c, '['],
  [0x3d, '~'],
  [0x3e, ']'],
  [0x40, '|'],
  [0x65, '€'],
]

// Indexed by UTF-16 unit, since every accepted text is looked at: 0 is "not in the alphabet", bit 8 marks
// characters that need the escape. The highest character is the euro sign, U+20AC.
const gsmCodes = new Uint16Array(0x20ad)
const inAlphabet = 0x200
const needsEscape = 0x100
for (let code = 0; code < 128; code++) {
  if (code !== escape) gsmCodes[basicTable.charCodeAt(code)] = inAlphabet | code
}
for (const [code, character] of extensionTable) {
  gsmCodes[character.charCodeAt(0)] = inAlphabet | needsEscape | code
}
const extensionByCode = new Map(extensionTable)

const gsmCode = (unit: number): number => (unit < gsmCodes.length ? gsmCodes[unit]! : 0)

/** Septets of the text in GSM 03.38, or undefined when a character is not in its tables. */
function countSeptets(text: string): number | undefined {
  let septets = text.length
  for (let at = 0; at < text.length; at++) {
    const code = gsmCode(text.charCodeAt(at))
    if (code === 0) return undefined
    if (code & needsEscape) septets++
  }
  return septets
}

export const isGsm7 = (text: string): boolean => countSeptets(text) !== undefined

const letterWithMarks = /\P{M}\p{M}*|\p{M}/gu

/** The characters that keep the text from the smaller alphabet, each once: what to replace to send fewer messages. */
export function outsideGsm7(text: string): string[] {
  const found = new Set<string>()
  for (const [character] of text.matchAll(letterWithMarks)) if (!isGsm7(character)) found.add(character)
  return [...found]
}

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff
const isLowSurrogate = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff

/** Where the part that starts at `from` ends: full, but with no pair torn apart. */
function endOfPart(text: string, from: number, encoding: SmsEncoding): number {
  const limit = limits[encoding].part
  if (encoding === 'ucs2') {
    const end = from + limit
    if (end >= text.length) return text.length
    const tearsPair = isHighSurrogate(text.charCodeAt(end - 1)) && isLowSurrogate(text.charCodeAt(end))
    return tearsPair ? end - 1 : end
  }
  let septets = 0
  for (let at = from; at < text.length; at++) {
    septets += gsmCode(text.charCodeAt(at)) & needsEscape ? 2 : 1
    if (septets > limit) return at
  }
  return text.length
}

export function measureSms(text: string): SmsMeasure {
  const septets = countSeptets(text)
  const encoding = septets === undefined ? 'ucs2' : 'gsm7'
  const units = septets ?? text.length
  const { single, part } = limits[encoding]
  if (units <= single) return { encoding, segments: 1, units, perSegment: single, unitsLeft: single - units }
  let segments = 0
  let from = 0
  let lastFrom = 0
  while (from < text.length) {
    lastFrom = from
    from = endOfPart(text, from, encoding)
    segments++
  }
  const last = text.slice(lastFrom)
  const lastUnits = encoding === 'gsm7' ? countSeptets(last)! : last.length
  return { encoding, segments, units, perSegment: part, unitsLeft: part - lastUnits }
}

/** The texts of the messages that carry it, as many as `measureSms` counts. */
export function splitSms(text: string): SmsParts {
  const septets = countSeptets(text)
  const encoding = septets === undefined ? 'ucs2' : 'gsm7'
  if ((septets ?? text.length) <= limits[encoding].single) return { encoding, parts: [text] }
  const parts: string[] = []
  for (let from = 0; from < text.length;) {
    const end = endOfPart(text, from, encoding)
    parts.push(text.slice(from, end))
    from = end
  }
  return { encoding, parts }
}

/** One octet per septet, as SMPP carries it (the SMSC packs). Throws on a character outside the alphabet. */
export function encodeGsm7(text: string): Uint8Array {
  const septets = countSeptets(text)
  if (septets === undefined) throw new RangeError('text has characters outside GSM 03.38')
  const octets = new Uint8Array(septets)
  let to = 0
  for (let at = 0; at < text.length; at++) {
    const code = gsmCode(text.charCodeAt(at))
    if (code & needsEscape) octets[to++] = escape
    octets[to++] = code & 0x7f
  }
  return octets
}

/**
 * Never fails, since it reads what phones send: an unknown code after an escape is read from the basic table and
 * an escape without a code is a space (both as GSM 03.38 asks), an octet over 127 is U+FFFD.
 */
export function decodeGsm7(octets: Uint8Array): string {
  let text = ''
  for (let at = 0; at < octets.length; at++) {
    let code = octets[at]!
    if (code === escape) {
      const next = octets[at + 1]
      if (next === undefined || next === escape) {
        text += ' '
        if (next === escape) at++
        continue
      }
      at++
      const extended = extensionByCode.get(next)
      if (extended !== undefined) {
        text += extended
        continue
      }
      code = next
    }
    text += code < 128 ? basicTable[code] : '\ufffd'
  }
  return text
}

/** UTF-16 big-endian, which is what SMSCs and phones understand by UCS-2. */
export function encodeUcs2(text: string): Uint8Array {
  const octets = new Uint8Array(text.length * 2)
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    octets[at * 2] = unit >> 8
    octets[at * 2 + 1] = unit & 0xff
  }
  return octets
}

/** A last odd octet becomes U+FFFD. */
export function decodeUcs2(octets: Uint8Array): string {
  let text = ''
  for (let at = 0; at + 1 < octets.length; at += 2) {
    text += String.fromCharCode((octets[at]! << 8) | octets[at + 1]!)
  }
  return octets.length % 2 === 0 ? text : text + '\ufffd'
}

// Characters that Unicode does not decompose to what a reader would write instead.
const substitutes = new Map(
  [
    ['“”„‟«»″', '"'],
    ['‘’‚‛‹›′´`', "'"],
    ['‐‑‒–—―−•', '-'],
    ['·', '.'],
    ['×', 'x'],
    ['÷⁄', '/'],
    ['\t', ' '],
    ['\u2028\u2029', '\n'],
    ['\u200b\u200c\u200d\u2060\ufeff\u00ad', ''],
    ['đð', 'd'],
    ['ĐÐ', 'D'],
    ['ħ', 'h'],
    ['Ħ', 'H'],
    ['ı', 'i'],
    ['ł', 'l'],
    ['Ł', 'L'],
    ['ŧ', 't'],
    ['Ŧ', 'T'],
    ['œ', 'oe'],
    ['Œ', 'OE'],
    ['þ', 'th'],
    ['Þ', 'Th'],
    ['ẞ', 'SS'],
  ].flatMap(([characters, plain]) => characters!.split('').map((character) => [character, plain!] as const)),
)

const characterWithMarks = /[^][\u0300-\u036f]*/gu
const marks = /[\u0300-\u036f]/g

/**
 * Writes what GSM 03.38 lacks by its base letter (ã becomes a, ç becomes c, “ becomes ") so that Portuguese fits
 * in 160 characters instead of 70. What has no base letter (emoji, other scripts) stays as it is.
 */
export function transliterate(text: string): string {
  if (isGsm7(text)) return text
  return text.normalize('NFC').replace(characterWithMarks, (character) => {
    if (isGsm7(character)) return character
    const base = character.normalize('NFKD').replace(marks, '')
    const plain = substitutes.get(character) ?? substitutes.get(base) ?? base
    return isGsm7(plain) ? plain : character
  })
}
