import { describe, expect, test } from 'vitest'
import { request } from '../../harness/http.ts'
import {
  expectAccepted,
  expectErrorBody,
  expectInvalid,
  freshEmail,
  freshPhone,
  shownText,
  useUnified,
  type Body,
} from './support.ts'

const u = useUnified()
const c = () => u.company

const noString: unknown[] = [7, true, ['x'], { x: 1 }]
const noInteger: unknown[] = ['3', 'x', true, 1.5, [3], { x: 1 }]
const noBoolean: unknown[] = ['false', 'true', 0, 1, 'x', [true], {}]
const noObject: unknown[] = ['x', 7, true, ['x']]
const noArray: unknown[] = ['x', 7, true, { 0: 'x' }]

const fields: { path: string; wrong: unknown[]; build: (value: unknown) => Body }[] = [
  { path: 'text', wrong: noString, build: (value) => c().sms({ text: value }) },
  { path: 'emailSubject', wrong: noString, build: (value) => c().email({ emailSubject: value }) },
  { path: 'channel', wrong: noInteger, build: (value) => c().sms({ channel: value }) },
  { path: 'attendantUserName', wrong: noString, build: (value) => c().sms({ attendantUserName: value }) },
  { path: 'templateName', wrong: noString, build: (value) => c().sms({ templateName: value }) },
  { path: 'templateParameters', wrong: noArray, build: (value) => c().sms({ templateParameters: value }) },
  {
    path: 'templateParameters[0]',
    wrong: ['x', 7, true, ['x']],
    build: (value) => c().whatsapp({ templateParameters: [value] }),
  },
  {
    path: 'templateParameters[0].parameterName',
    wrong: noString,
    build: (value) => c().whatsapp({ templateParameters: [{ parameterName: value, parameterValue: 'x' }] }),
  },
  {
    path: 'templateParameters[1].parameterValue',
    wrong: noString,
    build: (value) =>
      c().whatsapp({ templateParameters: [{}, { parameterName: 'Order', parameterValue: value }] }),
  },
  { path: 'source', wrong: noObject, build: (value) => c().sms({ source: value }) },
  {
    path: 'source.countryCode',
    wrong: noInteger,
    build: (value) => c().sms({ source: { countryCode: value } }),
  },
  {
    path: 'source.phoneNumber',
    wrong: noInteger,
    build: (value) => c().sms({ source: { phoneNumber: value } }),
  },
  { path: 'source.prospect', wrong: noBoolean, build: (value) => c().sms({ source: { prospect: value } }) },
  { path: 'destination', wrong: noObject, build: (value) => c().sms({ destination: value }) },
  {
    path: 'destination.countryCode',
    wrong: noInteger,
    build: (value) => c().sms({ destination: { ...freshPhone(), countryCode: value } }),
  },
  {
    path: 'destination.phoneNumber',
    wrong: noInteger,
    build: (value) => c().sms({ destination: { ...freshPhone(), phoneNumber: value } }),
  },
  {
    path: 'destination.email',
    wrong: noString,
    build: (value) => c().email({ destination: { email: value } }),
  },
  {
    path: 'destination.prospect',
    wrong: noBoolean,
    build: (value) => c().sms({ destination: { ...freshPhone(), prospect: value } }),
  },
  { path: 'discardSettings', wrong: noObject, build: (value) => c().sms({ discardSettings: value }) },
  {
    path: 'discardSettings.recentContactLastHours',
    wrong: noInteger,
    build: (value) => c().sms({ discardSettings: { recentContactLastHours: value } }),
  },
  {
    path: 'discardSettings.InAttendance',
    wrong: noBoolean,
    build: (value) => c().sms({ discardSettings: { InAttendance: value } }),
  },
  { path: 'contact', wrong: noObject, build: (value) => c().sms({ contact: value }) },
  ...['name', 'customCode', 'id', 'tag', 'walletClientCode'].map((name) => ({
    path: `contact.${name}`,
    wrong: noString,
    build: (value: unknown) => c().sms({ contact: { [name]: value } }),
  })),
  { path: 'contact.jokers', wrong: noArray, build: (value) => c().sms({ contact: { jokers: value } }) },
  ...[0, 1, 2, 3, 4].map((index) => ({
    path: `contact.jokers[${index}]`,
    wrong: noString,
    build: (value: unknown) =>
      c().sms({
        contact: { jokers: Array.from({ length: index + 1 }, (_, at) => (at === index ? value : 'x')) },
      }),
  })),
  {
    path: 'contact.updateIfExists',
    wrong: noBoolean,
    build: (value) => c().sms({ contact: { updateIfExists: value } }),
  },
  { path: 'voiceSettings', wrong: noObject, build: (value) => c().sms({ voiceSettings: value }) },
  {
    path: 'voiceSettings.callId',
    wrong: noString,
    build: (value) => c().sms({ voiceSettings: { callId: value } }),
  },
  { path: 'files', wrong: noArray, build: (value) => c().email({ files: value }) },
  { path: 'files[0]', wrong: ['x', 7, true, ['x']], build: (value) => c().email({ files: [value] }) },
  ...['address', 'base64', 'name'].map((name) => ({
    path: `files[1].${name}`,
    wrong: noString,
    build: (value: unknown) =>
      c().email({ files: [{}, { name: 'a.txt', base64: 'YQ==', address: '', [name]: value }] }),
  })),
]

describe('documented types are strict, nothing is coerced', () => {
  test.for(fields)('$path', async ({ path, wrong, build }) => {
    const before = await c().traces()
    for (const value of wrong) expectInvalid(await c().send(build(value)), path)
    expect(await c().traces()).toEqual(before)
  })

  test('every offending field is named, whatever its depth', async () => {
    const answer = await c().send(
      c().sms({
        channel: '2',
        contact: { name: 1, jokers: ['a', 'b', 'c', 'd', 5], updateIfExists: 'false' },
        discardSettings: { InAttendance: 'true' },
        templateParameters: [{ parameterName: 1 }],
      }),
    )
    expectInvalid(
      answer,
      'channel',
      'contact.name',
      'contact.jokers[4]',
      'contact.updateIfExists',
      'discardSettings.InAttendance',
      'templateParameters[0].parameterName',
    )
  })

  test('wrong types and wrong values are named together', async () => {
    const answer = await c().send(
      c().email({
        destination: { email: 'nonsense' },
        emailSubject: 'a\nb',
        contact: { jokers: [1, 'x'.repeat(301)] },
        discardSettings: { recentContactLastHours: 9000 },
        files: [{ name: 'a.txt', base64: '!' }],
      }),
    )
    expectInvalid(
      answer,
      'destination.email',
      'emailSubject',
      'contact.jokers[0]',
      'contact.jokers[1]',
      'discardSettings.recentContactLastHours',
      'files[0].base64',
    )
  })

  test.for(['9007199254740993', '11960000001.5', '1e400', '-0.5', '1e20'])(
    'the number %s is no phone number',
    async (number) => {
      const body = JSON.stringify(c().sms({ destination: { countryCode: 55, phoneNumber: 0 } }))
      const answer = await c().send(body.replace('"phoneNumber":0', `"phoneNumber":${number}`))
      expectInvalid(answer, 'destination.phoneNumber')
    },
  )

  test('a number past 2^53 is none in source either', async () => {
    const body = JSON.stringify(c().sms({ source: { countryCode: 55, phoneNumber: 0 } }))
    const answer = await c().send(body.replace('"phoneNumber":0', '"phoneNumber":9007199254740993'))
    expectInvalid(answer, 'source.phoneNumber')
  })
})

describe('documented names match whatever their case', () => {
  const changes: [string, (name: string) => string][] = [
    ['lower case', (name) => name.toLowerCase()],
    ['upper case', (name) => name.toUpperCase()],
    [
      'first letter changed',
      (name) =>
        (/^[A-Z]/.test(name) ? name.charAt(0).toLowerCase() : name.charAt(0).toUpperCase()) + name.slice(1),
    ],
  ]
  const rename = (value: unknown, change: (name: string) => string): unknown =>
    Array.isArray(value)
      ? value.map((item) => rename(item, change))
      : typeof value === 'object' && value !== null
        ? Object.fromEntries(
            Object.entries(value).map(([name, inner]) => [change(name), rename(inner, change)]),
          )
        : value

  test.for(changes)('%s: everything is read', async ([, change]) => {
    const to = freshPhone()
    const body = c().whatsapp({
      destination: { ...to, prospect: false },
      source: { countryCode: 55, phoneNumber: c().lines.plain.phoneNumber, prospect: false },
      attendantUserName: c().users.maria.name,
      discardSettings: { recentContactLastHours: 0, InAttendance: false },
      contact: {
        name: 'Ana Lima',
        customCode: 'C1',
        id: '123',
        tag: 'vip',
        jokers: ['j1'],
        walletClientCode: c().segments.gold.clientCode,
        updateIfExists: true,
      },
      voiceSettings: { callId: 'call' },
      files: [],
    })
    const answer = await c().send(rename(body, change))
    expectAccepted(answer)
    const row = await c().message(answer)
    expect(row).toMatchObject({
      line_id: c().lines.plain.id,
      call_id: 'call',
      segment_id: c().segments.gold.id,
    })
    expect(shownText(row)).toContain('order 42')
    expect(await c().contact(to)).toMatchObject({
      name: 'Ana Lima',
      custom_code: 'C1',
      tax_id: '123',
      tag: 'vip',
    })
    expect(await c().openAttendances(row.contact_id!)).toMatchObject([{ user_id: c().users.maria.id }])
  })

  test.for(changes)('%s: faults are found and named as documented', async ([, change]) => {
    const body = c().email({
      destination: { email: 7 },
      contact: { jokers: [1], updateIfExists: 'x' },
      discardSettings: { InAttendance: 1 },
      files: [{ name: 1 }],
    })
    expectInvalid(
      await c().send(rename(body, change)),
      'destination.email',
      'contact.jokers[0]',
      'contact.updateIfExists',
      'discardSettings.InAttendance',
      'files[0].name',
    )
  })

  test('one field in two spellings is no choice that we make: 400', async () => {
    expectInvalid(await c().send(c().sms({ Channel: 2 })), 'channel')
    expectInvalid(await c().send(c().sms({ contact: { name: 'Ana', NAME: 'Bia' } })), 'contact.name')
  })

  test('Text in another case is no absent text', async () => {
    expectAccepted(await c().send(c().sms({ text: undefined, Text: 'Hello' })))
  })
})

describe('JSON in UTF-8', () => {
  const send = (contentType: string | undefined, body: Body | Buffer) =>
    c().send(body, { 'content-type': contentType ?? [] })

  test.for([
    undefined,
    'application/json',
    'application/json; charset=utf-8',
    'Application/JSON;charset=UTF-8',
  ])('is read with the content type %s', async (contentType) => {
    expectAccepted(await send(contentType, c().sms()))
  })

  test('a missing content type is read as JSON by login too', async () => {
    const answer = await request(`${u.app.url}/v1/login`, {
      body: (await u.newCompany()).credentials(),
      headers: { 'content-type': [] },
    })
    expect(answer.status).toBe(200)
  })

  test.for([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/xml',
    'nonsense',
  ])('is not read from %s: 400', async (contentType) => {
    const before = await c().traces()
    const answer = await send(contentType, c().sms())
    expect(answer.status).toBe(400)
    expectErrorBody(answer)
    expect(await c().traces()).toEqual(before)
  })

  test('any character arrives as it was sent', async () => {
    const text = 'Ação às 10h — ñ 漢字 👩‍👩‍👧 \u202e fim'
    const answer = await c().send(c().email({ text, contact: { name: text } }))
    expect((await c().message(answer)).content.text).toBe(text)
  })

  test('bytes that are no UTF-8: 400', async () => {
    const [head, tail] = JSON.stringify(c().sms({ text: '|' })).split('|')
    const answer = await send(
      'application/json',
      Buffer.concat([Buffer.from(head!), Buffer.from([0xff, 0xc3, 0x28]), Buffer.from(tail!)]),
    )
    expect(answer.status).toBe(400)
  })

  test('addresses with letters outside ASCII in the domain are written in punycode', async () => {
    const answer = await c().send(
      c().email({ destination: { email: `x${freshEmail().split('@')[0]}@bücher.example` } }),
    )
    expectAccepted(answer)
    expect((await c().message(answer)).recipient).toMatch(/@xn--bcher-kva\.example$/)
  })
})
