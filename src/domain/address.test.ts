import * as fc from 'fast-check'
import { parsePhoneNumberFromString } from 'libphonenumber-js/max'
import { describe, expect, test } from 'vitest'
import { phoneKey, readDigits, readEmail, readPhone } from './address.ts'

const keyOf = (digits: string): string | undefined => {
  const reading = readDigits(digits)
  return reading.ok ? reading.phone.key : undefined
}

const isMobileTwin = (short: string, long: string): boolean =>
  /^[6-9]\d{7}$/.test(short) && long === `9${short}`

// No area code of Brazil has a zero, and libphonenumber reads 90 as a trunk prefix.
const areaCode = fc.stringMatching(/^[1-9]{2}$/)

describe('phones', () => {
  test('country code and number together', () => {
    expect(readPhone(55, 31996883193)).toEqual({
      ok: true,
      phone: { e164: '+5531996883193', digits: '5531996883193', key: '5531996883193' },
    })
    expect(readPhone(1, 2025550123)).toMatchObject({
      ok: true,
      phone: { e164: '+12025550123', key: '12025550123' },
    })
    // Saint Helena has seven digits in all; the lower bound of eight is the direct API's own.
    expect(readPhone(290, 2123)).toMatchObject({ ok: true, phone: { digits: '2902123' } })
    expect(readDigits('2902123')).toMatchObject({ ok: false })
  })

  test.each([
    [55, 551234],
    [55, 5531996883193],
    [999, 31996883193],
    [52, 15512345678],
    [0, 31996883193],
    [55, 0],
    [-55, 31996883193],
    [55.5, 31996883193],
    [55, 2 ** 60],
    [Number.NaN, 1],
  ])('%d %d is refused', (countryCode, national) => {
    expect(readPhone(countryCode, national)).toMatchObject({
      ok: false,
      reason: expect.stringMatching(/^is not/),
    })
  })

  test('digits in one string', () => {
    expect(readDigits('5531996883193')).toEqual(readPhone(55, 31996883193))
    expect(readDigits('+5531996883193')).toEqual(readPhone(55, 31996883193))
    for (const text of [
      '',
      '+',
      '++5531996883193',
      '55 31996883193',
      '5531996883193\n',
      '1234567',
      '0031996883193',
    ]) {
      expect(readDigits(text), text).toMatchObject({ ok: false })
    }
    expect(readDigits('1'.repeat(16))).toMatchObject({ ok: false })
    expect(readDigits('٥٥٣١٩٩٦٨٨٣١٩٣')).toMatchObject({ ok: false })
  })

  test('a trunk prefix is dropped, as libphonenumber does', () => {
    expect(readDigits('55031996883193')).toEqual(readPhone(55, 31996883193))
  })

  test('Brazilian mobiles are the same person with and without the ninth digit', () => {
    fc.assert(
      fc.property(areaCode, fc.integer({ min: 6_000_0000, max: 9_999_9999 }), (area, local) => {
        const key = keyOf(`55${area}${local}`)
        expect(key).toBeDefined()
        expect(keyOf(`55${area}9${local}`)).toBe(key)
      }),
    )
  })

  test('two different numbers never share a key otherwise', () => {
    const brazilian = fc.tuple(areaCode, fc.stringMatching(/^[1-9]\d{7,8}$/))
    fc.assert(
      fc.property(brazilian, brazilian, ([area, local], [otherArea, otherLocal]) => {
        const same =
          area === otherArea &&
          (local === otherLocal || isMobileTwin(local, otherLocal) || isMobileTwin(otherLocal, local))
        expect(phoneKey(`55${area}${local}`) === phoneKey(`55${otherArea}${otherLocal}`)).toBe(same)
      }),
    )
    expect(keyOf('553132345678')).toBe('553132345678')
    expect(keyOf('5531932345678')).toBe('5531932345678')
    expect(keyOf('351962345678')).toBe('351962345678')
  })

  test('the key of a key is the key', () => {
    fc.assert(
      fc.property(
        fc.stringMatching(/^(55)?\d{8,13}$/),
        (digits) => phoneKey(phoneKey(digits)) === phoneKey(digits),
      ),
    )
  })

  test('the short way for Brazil says what libphonenumber says', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^55[0-9]{9,12}$/), (digits) => {
        const parsed = parsePhoneNumberFromString(`+${digits}`)
        const expected = parsed?.isPossible() === true ? parsed.number : undefined
        const reading = readDigits(digits)
        expect(reading.ok ? reading.phone.e164 : undefined).toBe(expected)
      }),
      { numRuns: 1000 },
    )
  })
})

describe('e-mail addresses', () => {
  test.each([
    ['Ana.Souza+x@Example.COM', 'Ana.Souza+x@Example.COM', 'ana.souza+x@example.com'],
    ['  ana@example.com ', 'ana@example.com', 'ana@example.com'],
    ['"ana souza"@example.com', '"ana souza"@example.com', '"ana souza"@example.com'],
    ["o'neil/x=y@sub.example.com.br", "o'neil/x=y@sub.example.com.br", "o'neil/x=y@sub.example.com.br"],
    ['ana@pão.com.br', 'ana@xn--po-sia.com.br', 'ana@xn--po-sia.com.br'],
    [`${'a'.repeat(64)}@example.com`, `${'a'.repeat(64)}@example.com`, `${'a'.repeat(64)}@example.com`],
  ])('%j', (text, address, key) => {
    expect(readEmail(text)).toEqual({ ok: true, email: { address, key } })
  })

  test.each([
    '',
    'ana',
    '@example.com',
    'ana@',
    'ana@localhost',
    'ana@example..com',
    'ana@-example.com',
    'ana@example-.com',
    'ana@exa_mple.com',
    'ana@example.com.',
    'ana@127.0.0.1',
    'ana@[127.0.0.1]',
    'ana@@example.com',
    'ana@b@example.com',
    '"ana@evil.com x"@example.com',
    '"a\\"b"@example.com',
    '""@example.com',
    '.ana@example.com',
    'ana.@example.com',
    'a..b@example.com',
    'ana souza@example.com',
    'Ana <ana@example.com>',
    '<ana@example.com>',
    'ana@example.com (Ana)',
    'ana@example.com, bia@example.com',
    'joão@example.com',
    'ana@example.com\r\nBcc: x@example.com',
    'ana@example.com\n',
    'an\u0000a@example.com',
    'ana@exam\u2028ple.com',
    'ana@127。0。0。1',
    `${'a'.repeat(65)}@example.com`,
    `ana@${'a'.repeat(64)}.com`,
    `ana@${'a.'.repeat(125)}com`,
    `ana@${'ã.'.repeat(40)}com`,
  ])('%j is refused with a reason', (text) => {
    expect(readEmail(text)).toMatchObject({ ok: false, reason: expect.stringMatching(/^(is|has) /) })
  })

  const almostEmail = fc.oneof(
    fc.emailAddress(),
    fc.string({ unit: 'binary' }),
    fc
      .tuple(
        fc.emailAddress(),
        fc.nat(40),
        fc.constantFrom('\r', '\n', '\r\n', '\u0000', ' ', '<', '"', '@', ',', 'ã'),
      )
      .map(([email, at, extra]) => email.slice(0, at) + extra + email.slice(at)),
  )

  test('nothing that passes can break out of a header or an SMTP command', () => {
    fc.assert(
      fc.property(almostEmail, (text) => {
        const reading = readEmail(text)
        if (!reading.ok) return
        expect(text).not.toMatch(/[\r\n]/)
        expect(reading.email.address).toMatch(/^[ -~]+$/)
        expect(reading.email.address).not.toMatch(/[<>\\]/)
        expect(reading.email.address.split('@')).toHaveLength(2)
        expect(reading.email.address.length).toBeLessThanOrEqual(254)
      }),
      { numRuns: 1000 },
    )
  })

  test('the key reads as itself', () => {
    fc.assert(
      fc.property(almostEmail, (text) => {
        const reading = readEmail(text)
        if (!reading.ok) return
        const { key } = reading.email
        expect(readEmail(key)).toEqual({ ok: true, email: { address: key, key } })
      }),
    )
  })

  test('ordinary addresses pass', () => {
    fc.assert(fc.property(fc.emailAddress(), (text) => readEmail(text).ok))
  })
})
