/**
 * Everything that reads what others wrote, on texts that nobody would write: it says no, or gives something within its
 * bounds; it never throws, never hangs. SMPP units, streams and sessions, addresses, CSV and variables have theirs
 * beside the code.
 */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readDigits, readEmail } from '../../src/domain/address.ts'
import { readMediaUrl } from '../../src/domain/media.ts'
import { readRestrictionValue, restrictionFields } from '../../src/domain/restriction.ts'
import { readStopWord, stopWordsOf } from '../../src/domain/stop-words.ts'
import { compileText, fillText } from '../../src/domain/variables.ts'
import { readDelivery, type Delivery } from '../../src/drivers/smpp/receipts.ts'
import { htmlToText } from '../../src/drivers/smtp/html-to-text.ts'
import { readCompanyFile } from '../../src/flows/company-file.ts'
import { cleanReport } from '../../src/flows/clean-report.ts'
import { readUnsubscribeToken } from '../../src/flows/unsubscribe.ts'
import { decodeCursor } from '../../src/http/admin/wire.ts'
import { isJsonType } from '../../src/http/read-body.ts'
import { parseJson } from '../../src/http/parse-json.ts'
import { readSendBody } from '../../src/http/unified/read-send-body.ts'
import { decodeBase64 } from '../../src/http/unified/decode-base64.ts'
import { judgeUrl } from '../../src/lib/outbound/judge-url.ts'
import { testSealer } from '../harness/factories.ts'
import { hostileTexts } from '../harness/hostile-texts.ts'

const hostile = fc.constantFrom(...Object.values(hostileTexts))
const anyText = fc.oneof(
  fc.string({ maxLength: 200 }),
  fc.string({ unit: 'binary', maxLength: 200 }),
  hostile,
  fc.tuple(hostile, fc.string({ maxLength: 20 }), hostile).map((parts) => parts.join('')),
)
const runs = { numRuns: 300, seed: 42 }

describe('base64', () => {
  test('whatever is encoded is decoded, with line breaks, without padding, behind a data URL', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 300 }), fc.nat(3), (bytes, how) => {
        const text = Buffer.from(bytes).toString('base64')
        const written = [
          text,
          text.replace(/=+$/, ''),
          text.replace(/.{20}/g, '$&\r\n'),
          `data:image/png;base64,${text}`,
        ][how]!
        expect(decodeBase64(written)).toEqual(bytes)
      }),
      runs,
    )
  })

  test('anything else is refused in words, and nothing decodes to more than it was', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const decoded = decodeBase64(text)
        if (typeof decoded === 'string') expect(decoded).toMatch(/^must /)
        else expect(decoded.length).toBeLessThanOrEqual(text.length)
      }),
      runs,
    )
  })
})

test('a receipt of an SMSC: read or refused, and what a person wrote forges none', () => {
  const octets = fc.oneof(
    fc.uint8Array({ maxLength: 254 }),
    anyText.map((text) => Buffer.from(text).subarray(0, 254)),
    fc
      .record({ id: anyText, stat: fc.oneof(anyText, fc.constant('DELIVRD')), text: anyText })
      .map(({ id, stat, text }) =>
        Buffer.from(`id:${id} stat:${stat} err:000 text:${text}`).subarray(0, 254),
      ),
  )
  const pdu = fc.record({
    shortMessage: octets,
    esmClass: fc.nat(255),
    dataCoding: fc.nat(255),
    source: anyText,
    destination: anyText,
    tlvs: fc.array(
      fc.record({
        tag: fc.constantFrom(0x001e, 0x0427, 0x0423, 0x0424, 0x020c),
        value: fc.uint8Array({ maxLength: 40 }),
      }),
      { maxLength: 4 },
    ),
  })
  fc.assert(
    fc.property(pdu, fc.constantFrom('as-is', 'dec', 'hex'), (given, format) => {
      const unit = {
        command: 'deliver_sm',
        status: 0,
        sequence: 1,
        serviceType: '',
        sourceTon: 0,
        sourceNpi: 0,
        destTon: 0,
        destNpi: 0,
        ...given,
        shortMessage: Buffer.from(given.shortMessage),
        tlvs: given.tlvs.map(({ tag, value }) => ({ tag, value: Buffer.from(value) })),
      } as unknown as Delivery
      const reading = readDelivery(unit, format, new Date(0))
      if (!reading.ok) {
        expect(reading.reason).toMatch(/\S/)
        return
      }
      // A receipt is told by its class or a parameter, never by the words alone.
      const isMarked = (given.esmClass & 0x24) !== 0 || given.tlvs.some(({ tag }) => tag === 0x001e)
      expect(reading.report.kind).toBe(isMarked ? 'receipt' : 'inbound')
      const cleaned = JSON.stringify(cleanReport(reading.report, new Date(0)))
      expect(cleaned).not.toContain('\\u0000')
    }),
    { ...runs, numRuns: 600 },
  )
})

describe('a description of a company', () => {
  const read = (text: string) => readCompanyFile(text, () => undefined)

  test('that multiplies itself, nests without end or calls for code is refused', () => {
    const laughs = ['a: &a [x, x, x, x, x, x, x, x, x]']
    for (let level = 0; level < 9; level++) {
      const [name, before] = ['bcdefghij'[level]!, 'abcdefghi'[level]!]
      laughs.push(`${name}: &${name} [${Array.from({ length: 9 }, () => `*${before}`).join(', ')}]`)
    }
    expect(read(`${laughs.join('\n')}\ncompany: *j\n`).ok).toBe(false)
    for (const text of [
      '['.repeat(3_000),
      '{a: '.repeat(3_000),
      '- '.repeat(3_000),
      '&a [*a]',
      '!!js/function x',
      '\0',
      '? ? ? ?',
      '<<: *x',
    ])
      expect(read(text).ok, text.slice(0, 10)).toBe(false)
  })

  test('is never anything but read or refused with a line', () => {
    const names = fc.constantFrom(
      'company',
      'lines',
      'users',
      'rules',
      'settings',
      '__proto__',
      'templates',
      '<<',
      '*a',
      '&a',
    )
    const yaml = fc
      .array(fc.tuple(names, anyText), { maxLength: 6 })
      .map((pairs) => pairs.map(([name, text]) => `${name}: ${text}`).join('\n'))
    fc.assert(
      fc.property(fc.oneof(yaml, anyText), (text) => {
        const reading = read(text)
        if (!reading.ok) for (const { line } of reading.problems) expect(line).toBeGreaterThan(0)
      }),
      runs,
    )
    expect(({} as { isAdmin?: boolean }).isAdmin).toBeUndefined()
  })
})

test('HTML as text: no longer than it was, whatever it is', () => {
  const tags = fc.constantFrom(
    '<',
    '</',
    '>',
    '<a href=',
    '<!--',
    '-->',
    '<style>',
    '<script',
    '&',
    '&#x',
    ';',
    '&amp',
    '<br',
    '<td>',
    '"',
    "'",
  )
  const html = fc.array(fc.oneof(tags, anyText), { maxLength: 30 }).map((parts) => parts.join(''))
  fc.assert(
    fc.property(html, (text) => {
      // An address that is shown beside its words adds brackets, an item of a list its dash.
      expect(htmlToText(text).length).toBeLessThan(text.length * 3 + 100)
    }),
    runs,
  )
})

test('small readers say yes or no, on anything', () => {
  const words = stopWordsOf({ stop: null, start: null })
  fc.assert(
    fc.property(anyText, (text) => {
      expect(typeof readDigits(text).ok).toBe('boolean')
      const email = readEmail(text)
      if (email.ok) expect(email.email.address).not.toMatch(/[\r\n\0<>]/)
      for (const field of restrictionFields)
        expect(typeof readRestrictionValue(field, text, text.length % 2 === 0).ok).toBe('boolean')
      expect([undefined, 'opted_out', 'opted_in']).toContain(readStopWord(text, words))
      const media = readMediaUrl(text)
      if (media) expect(media.extension).toMatch(/^[a-z0-9]{1,8}$/)
      const cursor = decodeCursor(text, 2)
      if (cursor) expect(cursor).toHaveLength(2)
      expect(readUnsubscribeToken(testSealer, text)).toBeUndefined()
      expect(typeof isJsonType(text)).toBe('boolean')
      expect(typeof judgeUrl(text).ok).toBe('boolean')
    }),
    runs,
  )
})

test('variables: values are only ever values, and the text grows by no more than they are long', () => {
  fc.assert(
    fc.property(anyText, anyText, (text, value) => {
      const { text: filled } = fillText(compileText(text), () => value)
      const places = text.split('@').length - 1
      expect(filled.length).toBeLessThanOrEqual(text.length + places * value.length)
    }),
    runs,
  )
})

test('bodies as bytes: read or refused, never a prototype of anything', () => {
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 200 }).map((given) => Buffer.from(given)),
    fc.json().map((text) => Buffer.from(text)),
    fc
      .jsonValue()
      .map((value) => Buffer.from(JSON.stringify({ text: '', files: [value], __proto__x: value }))),
    anyText.map((text) =>
      Buffer.from(`{"text":"","__proto__":{"polluted":1},"contact":{"constructor":${JSON.stringify(text)}}}`),
    ),
  )
  fc.assert(
    fc.property(bytes, (given) => {
      expect(typeof parseJson(given).ok).toBe('boolean')
      expect(['not_an_object', 'no_text', 'read']).toContain(readSendBody(Uint8Array.from(given), true).kind)
      expect(({} as { polluted?: number }).polluted).toBeUndefined()
    }),
    runs,
  )
})
