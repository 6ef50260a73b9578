import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  decodeGsm7,
  decodeUcs2,
  encodeGsm7,
  encodeUcs2,
  isGsm7,
  measureSms,
  outsideGsm7,
  splitSms,
  transliterate,
} from './sms-text.ts'

const basic = '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?¡AZÄÖÑÜ§¿azäöñüà'
const extension = '\f^{}\\[~]|€'
const gsmText = fc.string({ unit: fc.constantFrom(...(basic + extension).split('')), maxLength: 700 })
const anyText = fc.oneof(
  gsmText,
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.string({ unit: fc.constantFrom('a', 'ã', '😀', '€', '\ud83d', '\ude00'), maxLength: 300 }),
)

describe('measureSms', () => {
  test.each([
    ['', 'gsm7', 1, 0, 160],
    ['a'.repeat(160), 'gsm7', 1, 160, 0],
    ['a'.repeat(161), 'gsm7', 2, 161, 145],
    ['a'.repeat(306), 'gsm7', 2, 306, 0],
    ['a'.repeat(307), 'gsm7', 3, 307, 152],
    ['€'.repeat(80), 'gsm7', 1, 160, 0],
    // 152 septets, then a pair that does not fit in the last one of the part.
    ['a'.repeat(152) + '€' + 'a'.repeat(152), 'gsm7', 3, 306, 152],
    ['ã'.repeat(70), 'ucs2', 1, 70, 0],
    ['ã'.repeat(71), 'ucs2', 2, 71, 63],
    ['ã'.repeat(66) + '😀'.repeat(34), 'ucs2', 3, 134, 65],
    ['\u001b', 'ucs2', 1, 1, 69],
  ] as const)('%j', (text, encoding, segments, units, unitsLeft) => {
    expect(measureSms(text)).toMatchObject({ encoding, segments, units, unitsLeft })
  })

  test('a long text has shorter segments', () => {
    expect(measureSms('a').perSegment).toBe(160)
    expect(measureSms('a'.repeat(161)).perSegment).toBe(153)
    expect(measureSms('ã').perSegment).toBe(70)
    expect(measureSms('ã'.repeat(71)).perSegment).toBe(67)
  })

  test('of the Portuguese letters only these are in the alphabet', () => {
    const letters = 'áâãàçéêíóôõúüªºÁÀÂÃÇÉÊÍÓÔÕÚÜñÑ'.split('')
    expect(letters.filter((letter) => measureSms(letter).encoding === 'gsm7').join('')).toBe('àéüÇÉÜñÑ')
  })
})

describe('splitSms', () => {
  test('never parts an escape from its character', () => {
    expect(splitSms('a'.repeat(152) + '€' + 'b'.repeat(10)).parts).toEqual([
      'a'.repeat(152),
      '€' + 'b'.repeat(10),
    ])
  })

  test('never parts a surrogate pair', () => {
    expect(splitSms('ã'.repeat(66) + '😀' + 'b'.repeat(10)).parts).toEqual([
      'ã'.repeat(66),
      '😀' + 'b'.repeat(10),
    ])
  })

  test('parts joined are the text, none is over its limit, and there are as many as measured', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const measured = measureSms(text)
        const { encoding, parts } = splitSms(text)
        expect(parts.join('')).toBe(text)
        expect(encoding).toBe(measured.encoding)
        expect(parts).toHaveLength(measured.segments)
        const octets = parts.map((part) =>
          encoding === 'gsm7' ? encodeGsm7(part).length : encodeUcs2(part).length / 2,
        )
        const single = encoding === 'gsm7' ? 160 : 70
        expect(Math.max(...octets)).toBeLessThanOrEqual(
          parts.length === 1 ? single : encoding === 'gsm7' ? 153 : 67,
        )
        expect(octets.reduce((sum, count) => sum + count, 0)).toBe(measured.units)
        expect(measured.perSegment - octets.at(-1)!).toBe(measured.unitsLeft)
        let end = 0
        for (const part of parts.slice(0, -1)) {
          end += part.length
          expect(/^[\ud800-\udbff][\udc00-\udfff]/.test(text.slice(end - 1, end + 1))).toBe(false)
        }
      }),
    )
  })
})

describe('alphabets', () => {
  test('septets of known characters', () => {
    expect([...encodeGsm7('@£ÇΞÉ Aaà')]).toEqual([0, 1, 9, 0x1a, 0x1f, 0x20, 0x41, 0x61, 0x7f])
    expect([...encodeGsm7('€[^')]).toEqual([0x1b, 0x65, 0x1b, 0x3c, 0x1b, 0x14])
    expect([...encodeUcs2('Aã😀')]).toEqual([0, 0x41, 0, 0xe3, 0xd8, 0x3d, 0xde, 0])
  })

  test('decoding undoes encoding', () => {
    fc.assert(fc.property(gsmText, (text) => decodeGsm7(encodeGsm7(text)) === text))
    fc.assert(fc.property(anyText, (text) => decodeUcs2(encodeUcs2(text)) === text))
  })

  test('encoding refuses what the alphabet lacks', () => {
    expect(() => encodeGsm7('ã')).toThrow(RangeError)
  })

  test('decoding reads anything', () => {
    expect(decodeGsm7(Uint8Array.of(0x1b, 0x41, 0x1b, 0x1b, 0x80, 0x1b))).toBe('A \ufffd ')
    expect(decodeUcs2(Uint8Array.of(0, 0x41, 7))).toBe('A\ufffd')
    fc.assert(
      fc.property(fc.uint8Array(), (octets) => typeof (decodeGsm7(octets) + decodeUcs2(octets)) === 'string'),
    )
  })
})

describe('transliterate', () => {
  test.each([
    ['Olá, João! Promoção só até amanhã…', 'Ola, Joao! Promocao so até amanha...'],
    ['“aspas” e ‘plicas’ – 1º e 2ª', '"aspas" e \'plicas\' - 1o e 2a'],
    ['a\u0303 c\u0327', 'a c'],
    ['R$ 10,00\u00a0já', 'R$ 10,00 ja'],
    ['Øre, Łódź, œuvre', 'Øre, Lodz, oeuvre'],
    ['Olá 😀 мир', 'Ola 😀 мир'],
  ])('%j', (text, plain) => {
    expect(transliterate(text)).toBe(plain)
  })

  test('leaves what fits alone and has nothing more to do the second time', () => {
    fc.assert(fc.property(gsmText, (text) => transliterate(text) === text))
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary' }),
        (text) => transliterate(transliterate(text)) === transliterate(text),
      ),
    )
  })

  test('every accented Latin letter of Portuguese fits afterwards', () => {
    expect(isGsm7(transliterate('áâãàçéêíóôõúüªºÁÀÂÃÇÉÊÍÓÔÕÚÜñÑ'))).toBe(true)
  })
})

test('names what forces the larger alphabet, each once, letters with their marks', () => {
  expect(outsideGsm7('Olá José, €5 [ok]')).toEqual(['á'])
  expect(outsideGsm7('ação e ação 😀 ç \u2019')).toEqual(['ç', 'ã', '😀', '’'])
  expect(outsideGsm7('c\u0327a')).toEqual(['c\u0327'])
  expect(outsideGsm7('plain')).toEqual([])
})
