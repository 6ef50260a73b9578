import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { request, type Answer } from '../../harness/http.ts'
import { expectErrorBody, useUnified, type Body } from './support.ts'

const u = useUnified()
const c = () => u.company

let before: object
let linesBefore = 0
beforeEach(async () => {
  before = await c().traces()
  linesBefore = u.app.logLines.length
})
// Whatever was sent: nothing is stored, and nothing went wrong inside.
afterEach(async () => {
  expect(await c().traces()).toEqual(before)
  const faults = u.app.logLines
    .slice(linesBefore)
    .filter((line) => Number(/"level":(\d+)/.exec(line)?.[1]) >= 50)
  expect(faults).toEqual([])
})

const expectBad = (answer: Answer, named?: string) => {
  expect(answer.status, answer.text).toBe(400)
  expectErrorBody(answer)
  if (named !== undefined) expect(Object.keys(answer.body['errors'] as object)).toContain(named)
}

/** The body as text, with something in it that JSON.stringify would not write. */
const raw = (body: Body, mark: string, text: string) =>
  JSON.stringify(body).replace(JSON.stringify(mark), text)

describe('malformed JSON', () => {
  test.for([
    '',
    ' ',
    '{',
    '}',
    '{"text": "x"',
    '{"text": "x",}',
    "{'text': 'x'}",
    '{"text": undefined}',
    '{"text": "x"} {"text": "y"}',
    '{"text": "\n"}',
    '{"text": "\\x"}',
    '{"text": NaN}',
    '{"text": 01}',
    '\u0000',
    '<xml/>',
    'text=x&channel=2',
  ])('%j', async (body) => {
    expectBad(await c().send(body))
  })

  test('an object cut off in the middle of a character', async () => {
    const bytes = Buffer.from(JSON.stringify(c().sms({ text: 'ação' })))
    expectBad(await c().send(bytes.subarray(0, bytes.indexOf(0xa7))))
  })
})

describe('deeply nested JSON', () => {
  test.for([1000, 100_000, 1_000_000])('%i arrays', async (depth) => {
    const nested = '['.repeat(depth) + ']'.repeat(depth)
    expectBad(await c().send(raw(c().sms({ text: '?' }), '?', nested)))
    expectBad(await c().send(nested))
  })

  test('objects in objects', async () => {
    const nested = '{"contact":'.repeat(50_000) + '1' + '}'.repeat(50_000)
    expectBad(await c().send(raw(c().sms({ contact: '?' }), '?', nested)))
  })

  test('in a field that nobody knows', async () => {
    const nested = '['.repeat(5_000) + ']'.repeat(5_000)
    for (const body of [c().sms({ unknown: '?' }), c().sms({ destination: { unknown: '?' } })])
      expectBad(await c().send(raw(body, '?', nested)))
  })

  test('brackets without end', async () => {
    expectBad(await c().send('['.repeat(500_000)))
    expectBad(await c().send('{"a":'.repeat(200_000)))
  })
})

describe('wrong types everywhere', () => {
  const junk: unknown[] = [[], {}, [[]], [{}], 0, -1, 1.5, true, 'x', ['x'], { x: { x: 1 } }, 1e308]
  test.for(junk)('%j in every field', async (value) => {
    const body: Body = { text: 'x', platformPrivateToken: c().privateToken }
    for (const field of [
      'emailSubject',
      'channel',
      'attendantUserName',
      'templateName',
      'templateParameters',
      'source',
      'destination',
      'discardSettings',
      'contact',
      'voiceSettings',
      'files',
    ])
      body[field] = value
    expectBad(await c().send(body))
  })
})

describe('numbers past 2^53', () => {
  test.for(['9007199254740993', '1e30', '123456789012345678901234567890', '1e999', '-9007199254740993'])(
    '%s',
    async (number) => {
      for (const field of ['countryCode', 'phoneNumber']) {
        const destination = { countryCode: 55, phoneNumber: 11960000001, [field]: '?' }
        expectBad(await c().send(raw(c().sms({ destination }), '?', number)), `destination.${field}`)
        const source = { countryCode: 55, phoneNumber: 1130000006, [field]: '?' }
        expectBad(await c().send(raw(c().sms({ source }), '?', number)), `source.${field}`)
      }
      expectBad(await c().send(raw(c().sms({ channel: '?' }), '?', number)), 'channel')
      const discardSettings = { recentContactLastHours: '?' }
      expectBad(
        await c().send(raw(c().sms({ discardSettings }), '?', number)),
        'discardSettings.recentContactLastHours',
      )
    },
  )
})

describe('lone surrogates and NUL characters', () => {
  const places: [string, (value: string) => Body][] = [
    ['text', (value) => c().sms({ text: value })],
    ['emailSubject', (value) => c().email({ emailSubject: value })],
    ['attendantUserName', (value) => c().sms({ attendantUserName: value })],
    ['templateName', (value) => c().sms({ templateName: value })],
    [
      'templateParameters[0].parameterValue',
      (value) =>
        c().sms({
          templateName: c().templates.sms.name,
          templateParameters: [{ parameterName: 'Order', parameterValue: value }],
        }),
    ],
    [
      'templateParameters[0].parameterName',
      (value) =>
        c().sms({
          templateName: c().templates.sms.name,
          templateParameters: [{ parameterName: value, parameterValue: 'x' }],
        }),
    ],
    ['destination.email', (value) => c().email({ destination: { email: `${value}@example.com` } })],
    ['contact.name', (value) => c().sms({ contact: { name: value } })],
    ['contact.customCode', (value) => c().sms({ contact: { customCode: value } })],
    ['contact.id', (value) => c().sms({ contact: { id: value } })],
    ['contact.tag', (value) => c().sms({ contact: { tag: value } })],
    ['contact.jokers[1]', (value) => c().sms({ contact: { jokers: ['x', value] } })],
    ['contact.walletClientCode', (value) => c().sms({ contact: { walletClientCode: value } })],
    ['voiceSettings.callId', (value) => c().sms({ voiceSettings: { callId: value } })],
    ['files[0].name', (value) => c().email({ files: [{ name: `${value}.txt`, base64: 'YQ==' }] })],
    ['files[0].base64', (value) => c().email({ files: [{ name: 'a.txt', base64: value }] })],
    [
      'files[0].address',
      (value) => c().email({ files: [{ name: 'a.txt', address: `https://example.com/${value}` }] }),
    ],
  ]
  const bad: [string, string][] = [
    ['a high surrogate', '\ud83d'],
    ['a low surrogate', 'x\udc26y'],
    ['surrogates the wrong way round', '\udc26\ud83d'],
    ['NUL', 'x\u0000y'],
  ]
  test.for(places.flatMap(([path, build]) => bad.map(([what, value]) => ({ path, what, value, build }))))(
    '$what in $path',
    async ({ path, value, build }) => {
      expectBad(await c().send(build(value)), path)
    },
  )

  test.for(bad)('%s in login', async ([, value]) => {
    const company = c().credentials()
    for (const field of ['Company', 'Username', 'Password']) {
      const answer = await request(`${u.app.url}/v1/login`, { body: { ...company, [field]: value } })
      expect([400, 401], answer.text).toContain(answer.status)
      expectErrorBody(answer)
    }
  })

  test('NUL in the private token', async () => {
    expectBad(await c().send(c().sms({ platformPrivateToken: 'x\u0000' })), 'platformPrivateToken')
  })
})

test('a body of 33 MiB', async () => {
  const body = Buffer.from(JSON.stringify(c().sms({ text: 'x'.repeat(33 * 1024 * 1024) })))
  expectBad(await c().send(body))
})

test('invalid base64, also at the end of a large file', async () => {
  const good = Buffer.alloc(600_000, 7).toString('base64')
  for (const base64 of ['*', 'YWJj*', `${good}*`, good.slice(0, -3), `*${good}`])
    expectBad(await c().send(c().email({ files: [{ name: 'a.txt', base64 }] })), 'files[0].base64')
})

test('six jokers', async () => {
  const answer = await c().send(c().sms({ contact: { jokers: ['1', '2', '3', '4', '5', '6'] } }))
  expectBad(answer)
  expect(Object.keys(answer.body['errors'] as object).join()).toMatch(/^contact\.jokers/)
})

test.for([
  [0, 301],
  [1, 301],
  [2, 301],
  [3, 301],
  [4, 3001],
] as const)('joker %i with %i characters', async ([index, length]) => {
  for (const letter of ['a', 'é', '🐦']) {
    const jokers = ['', '', '', '', '']
    jokers[index] = letter.repeat(length)
    expectBad(await c().send(c().sms({ contact: { jokers } })), `contact.jokers[${index}]`)
  }
})

describe('names of things that do not exist', () => {
  test.for<[string, string, () => Body]>([
    ['template', 'templateName', () => c().sms({ templateName: 'x' })],
    ['line', 'source', () => c().sms({ source: { countryCode: 55, phoneNumber: 1139999999 } })],
    ['attendant', 'attendantUserName', () => c().sms({ attendantUserName: 'x' })],
    ['wallet', 'contact.walletClientCode', () => c().sms({ contact: { walletClientCode: 'x' } })],
  ])('%s', async ([, path, build]) => {
    const answer = await c().send(build())
    expectBad(answer)
    expect(Object.keys(answer.body['errors'] as object).join()).toMatch(new RegExp(`^${path}`))
  })

  test.for(['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf'])(
    '%s is the name of nothing',
    async (name) => {
      expectBad(await c().send(c().sms({ templateName: name })), 'templateName')
      expectBad(await c().send(c().sms({ attendantUserName: name })), 'attendantUserName')
      expectBad(await c().send(c().sms({ contact: { walletClientCode: name } })), 'contact.walletClientCode')
    },
  )
})

describe('__proto__ and its like as field names', () => {
  test('bring nothing in that was not given', async () => {
    const inherited = JSON.stringify(c().sms())
    for (const body of [
      `{"__proto__": ${inherited}}`,
      `{"constructor": {"prototype": ${inherited}}}`,
      `{"__proto__": {"text": "x"}, "channel": 2}`,
    ]) {
      const answer = await c().send(body)
      expectBad(answer)
      expect(answer.body['message']).toBe('Object reference not set to an instance of an object.')
    }
    const withText = JSON.stringify({ text: 'x', platformPrivateToken: c().privateToken, channel: 2 })
    const answer = await c().send(
      withText.replace(
        '{',
        '{"__proto__": {"destination": {"countryCode": 55, "phoneNumber": 11960000001}}, ',
      ),
    )
    expectBad(answer, 'destination')
  })

  test('pollute nothing', async () => {
    await c().send(`{"__proto__": {"polluted": true}, "contact": {"__proto__": {"polluted": true}}}`)
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  })

  test('nor inside objects', async () => {
    const body = JSON.stringify(c().sms({ destination: { x: 1 } })).replace(
      '{"x":1}',
      '{"__proto__":{"countryCode":55,"phoneNumber":11960000001}}',
    )
    const answer = await c().send(body)
    expectBad(answer, 'destination.countryCode')
    expectBad(answer, 'destination.phoneNumber')
  })
})

describe('line breaks', () => {
  test.for([
    'a@example.com\r\nBcc: b@example.com',
    'a@example.com\n',
    '\ra@example.com',
    'a\r\n@example.com',
  ])('in the address %j', async (email) => {
    expectBad(await c().send(c().email({ destination: { email } })), 'destination.email')
  })
  test.for(['a\r\nBcc: b@example.com', 'a\nb', 'a\r', '\n'])('in the subject %j', async (emailSubject) => {
    expectBad(await c().send(c().email({ emailSubject })), 'emailSubject')
  })
})

describe('tokens', () => {
  const sendWith = (token: string, company = c()) =>
    request(`${u.app.url}/v1/sendmessage`, {
      body: company.sms(),
      headers: { authorization: `Bearer ${token}` },
    })

  test('expired: 401', async () => {
    const company = await u.newCompany({ tokenTtlSeconds: 60 })
    const login = await request(`${u.app.url}/v1/login`, { body: company.credentials() })
    u.app.clock.advance(61_000)
    const answer = await sendWith(String(login.body['access_token']), company)
    expect(answer.status).toBe(401)
    expectErrorBody(answer)
    expect(await company.traces()).toMatchObject({ messages: 0, contacts: 0 })
  })

  test('replaced: 401', async () => {
    const company = await u.newCompany()
    const first = await request(`${u.app.url}/v1/login`, { body: company.credentials() })
    await request(`${u.app.url}/v1/login`, { body: company.credentials() })
    expect((await sendWith(String(first.body['access_token']), company)).status).toBe(401)
  })

  test.for(['\u00e9'.repeat(40), 'x'.repeat(8000), '%00', '../../etc/passwd', "' or 1=1 --"])(
    'nonsense %#: 401',
    async (token) => {
      expect((await sendWith(token)).status).toBe(401)
    },
  )

  test("another account's private token: 400", async () => {
    const other = await u.newCompany()
    expectBad(await c().send(c().sms({ platformPrivateToken: other.privateToken })), 'platformPrivateToken')
  })
})

test('SQL in every text is text', async () => {
  const company = await u.newCompany()
  const evil = `'); drop table message; --`
  const answer = await company.send(
    company.email({
      text: evil,
      emailSubject: evil,
      contact: { name: evil, customCode: evil, id: evil, tag: evil, jokers: [evil] },
      voiceSettings: { callId: evil },
    }),
  )
  expect(answer.status).toBe(200)
  expect((await company.message(answer)).content).toMatchObject({ text: evil, subject: evil })
})
