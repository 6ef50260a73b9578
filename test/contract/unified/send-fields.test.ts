import { describe, expect, test } from 'vitest'
import {
  expectAccepted,
  expectErrorBody,
  expectInvalid,
  freshEmail,
  freshPhone,
  hourMs,
  shownText,
  useUnified,
  type Body,
} from './support.ts'

const u = useUnified()
const c = () => u.company

describe('what is required', () => {
  test.for(['channel', 'destination'])('%s', async (field) => {
    expectInvalid(await c().send(c().sms({ [field]: undefined })), field)
  })

  test('everything that is missing is named at once', async () => {
    const answer = await c().send({ platformPrivateToken: c().privateToken, text: 'Hello' })
    expectInvalid(answer, 'channel', 'destination')
  })

  test('destination.email for e-mail', async () => {
    expectInvalid(await c().send(c().email({ destination: {} })), 'destination.email')
    expectInvalid(await c().send(c().email({ destination: freshPhone() })), 'destination.email')
  })

  test.for(['sms', 'whatsapp'] as const)('country code and number for %s', async (channel) => {
    const { countryCode, phoneNumber } = freshPhone()
    const send = (destination: Body) => c().send(c()[channel]({ destination }))
    expectInvalid(await send({ phoneNumber }), 'destination.countryCode')
    expectInvalid(await send({ countryCode }), 'destination.phoneNumber')
    expectInvalid(await send({ email: freshEmail() }), 'destination.countryCode', 'destination.phoneNumber')
  })

  test('emailSubject for free text by e-mail', async () => {
    expectInvalid(await c().send(c().email({ emailSubject: undefined })), 'emailSubject')
    expectInvalid(await c().send(c().email({ emailSubject: '' })), 'emailSubject')
  })

  test('nothing else: the shortest bodies go', async () => {
    for (const body of [c().sms(), c().email(), c().whatsapp()]) expectAccepted(await c().send(body))
  })
})

describe('the private account token', () => {
  test.for<[string, unknown]>([
    ['absent', undefined],
    ['null', null],
    ['empty', ''],
    ['a number', 5],
    ['an object', {}],
    ['wrong', 'wrong'],
  ])('%s: 400 under its name, never 401', async ([, platformPrivateToken]) => {
    expectInvalid(await c().send(c().sms({ platformPrivateToken })), 'platformPrivateToken')
  })

  test("another account's: 400 under its name", async () => {
    const other = await u.newCompany()
    expectInvalid(
      await c().send(c().sms({ platformPrivateToken: other.privateToken })),
      'platformPrivateToken',
    )
  })

  test('that was replaced stays good for as long as the rotation says', async () => {
    const company = await u.newCompany()
    const until = new Date(u.app.clock.now().getTime() + hourMs)
    await u.app.db.query(
      `update company set previous_private_token_hash = private_token_hash, previous_private_token_until = $2,
         private_token_hash = sha256('the next one') where id = $1`,
      [company.id, until],
    )
    const old = company.sms()
    expectAccepted(await company.send(old))
    expectAccepted(await company.send({ ...old, platformPrivateToken: 'the next one' }))
    u.app.clock.advance(hourMs + 1000)
    expectInvalid(await company.send(old), 'platformPrivateToken')
    expectAccepted(await company.send({ ...old, platformPrivateToken: 'the next one' }))
  })

  test('is compared to the letter', async () => {
    const token = c().privateToken
    for (const given of [token.toUpperCase(), ` ${token}`, `${token} `])
      expectInvalid(await c().send(c().sms({ platformPrivateToken: given })), 'platformPrivateToken')
  })
})

describe('channel', () => {
  test.for([
    [1, 'email'],
    [2, 'sms'],
    [3, 'whatsapp'],
  ] as const)('%i is %s', async ([channel, name]) => {
    const body = { email: c().email(), sms: c().sms(), whatsapp: c().whatsapp() }[name]
    expect(body['channel']).toBe(channel)
    const answer = await c().send(body)
    expectAccepted(answer)
    expect((await c().message(answer)).channel).toBe(name)
  })

  test.for([0, 4, -1, 1.5, 2 ** 40, '2', 'sms', true, [2], {}])('%j is none', async (channel) => {
    expectInvalid(await c().send(c().sms({ channel })), 'channel')
  })
})

describe('destination', () => {
  test.for<[string, Body]>([
    ['too short', { countryCode: 55, phoneNumber: 123 }],
    ['too long', { countryCode: 55, phoneNumber: 119600000001234 }],
    ['a negative number', { countryCode: 55, phoneNumber: -11960000001 }],
    ['a negative country code', { countryCode: -55, phoneNumber: 11960000001 }],
    ['a country code that nobody has', { countryCode: 999, phoneNumber: 11960000001 }],
  ])('%s is no possible number', async ([, destination]) => {
    expectInvalid(await c().send(c().sms({ destination })), /^destination\.(countryCode|phoneNumber)$/)
  })

  test.for<[string, Body]>([
    ['a mobile with nine digits', { countryCode: 55, phoneNumber: 31996883193 }],
    ['a mobile with eight digits', { countryCode: 55, phoneNumber: 3196883193 }],
    ['a fixed line', { countryCode: 55, phoneNumber: 1132345678 }],
    ['Portugal', { countryCode: 351, phoneNumber: 912345678 }],
    ['the United States', { countryCode: 1, phoneNumber: 2025550123 }],
  ])('%s is one', async ([, destination]) => {
    expectAccepted(await c().send(c().sms({ destination })))
  })

  test.for([
    'plain',
    'a@',
    '@example.com',
    'a b@example.com',
    'a@b@example.com',
    'a@example',
    'a@-example.com',
    'a@example..com',
    '.a@example.com',
    'Ana <a@example.com>',
    'a@example.com, b@example.com',
    'a@example.com\r\nBcc: x@example.com',
    'a@example.com\n',
    'a\u0000@example.com',
    `${'a'.repeat(65)}@example.com`,
    `a@${'b'.repeat(250)}.com`,
  ])('%j is no deliverable e-mail address', async (email) => {
    expectInvalid(await c().send(c().email({ destination: { email } })), 'destination.email')
  })

  test.for(['ana@example.com', 'a.b+c@sub.example.com', "o'neil@example.com", 'x@xn--bcher-kva.example'])(
    '%s is one',
    async (email) => {
      expectAccepted(await c().send(c().email({ destination: { email } })))
    },
  )
})

describe('prospect may stand in source or in destination', () => {
  test('the two differing: 400', async () => {
    for (const inSource of [true, false])
      expectInvalid(
        await c().send(
          c().sms({ source: { prospect: inSource }, destination: { ...freshPhone(), prospect: !inSource } }),
        ),
        /^(source|destination)\.prospect$/,
      )
  })

  test.for([true, false])('the two agreeing on %s: fine', async (prospect) => {
    expectAccepted(
      await c().send(c().sms({ source: { prospect }, destination: { ...freshPhone(), prospect } })),
    )
  })

  test('only in destination, as in the SMS example', async () => {
    expectAccepted(await c().send(c().sms({ destination: { ...freshPhone(), prospect: true } })))
  })
})

describe('discardSettings.recentContactLastHours', () => {
  test.for([0, 1, 8760])('%i is fine', async (recentContactLastHours) => {
    expectAccepted(await c().send(c().sms({ discardSettings: { recentContactLastHours } })))
  })
  test.for([-1, 8761, 1.5, '1', true])('%j is not', async (recentContactLastHours) => {
    expectInvalid(
      await c().send(c().sms({ discardSettings: { recentContactLastHours } })),
      'discardSettings.recentContactLastHours',
    )
  })
})

describe('contact.jokers', () => {
  test.for<[string, unknown[]]>([
    ['none', []],
    ['one', ['a']],
    ['five', ['a', 'b', 'c', 'd', 'e']],
    ['null items', [null, 'b', null, null, 'e']],
    ['empty items', ['', '', '', '', '']],
  ])('%s: fine', async ([, jokers]) => {
    expectAccepted(await c().send(c().sms({ contact: { jokers } })))
  })

  test('six: 400', async () => {
    const answer = await c().send(c().sms({ contact: { jokers: ['a', 'b', 'c', 'd', 'e', 'f'] } }))
    expectInvalid(answer, /^contact\.jokers(\[5\])?$/)
  })
})

describe('what is sent', () => {
  test('a template when templateName is given; the text is ignored then', async () => {
    const answer = await c().send(c().whatsapp({ text: `@Joker5 ${'x'.repeat(6000)}` }))
    expectAccepted(answer)
    const row = await c().message(answer)
    expect(row.template_id).toBe(c().templates.whatsapp.id)
    expect(JSON.stringify(row.content)).not.toContain('xxx')
  })

  test('the text when there is no template', async () => {
    const answer = await c().send(c().sms({ text: 'Só texto' }))
    const row = await c().message(answer)
    expect(row.template_id).toBeNull()
    expect(shownText(row)).toBe('Só texto')
  })

  test.for(['sms', 'email'] as const)('neither text nor template nor file by %s: 400', async (channel) => {
    const answer = await c().send(c()[channel]({ text: '' }))
    expect(answer.status).toBe(400)
    expectErrorBody(answer)
  })

  test.for(['whatsapp', 'sms', 'email'] as const)('templates exist for %s', async (channel) => {
    const answer = await c().send(
      c()[channel]({
        text: '',
        emailSubject: undefined,
        templateName: c().templates[channel].name,
        templateParameters: [{ parameterName: 'Order', parameterValue: '42' }],
        contact: { name: 'Ana Lima' },
      }),
    )
    expectAccepted(answer)
    expect(shownText(await c().message(answer))).toContain('42')
  })
})

describe('voiceSettings.callId', () => {
  test('is stored with the message and can be searched for', async () => {
    const answer = await c().send(c().sms({ voiceSettings: { callId: 'call-7f' } }))
    expectAccepted(answer)
    const found = await u.app.db.query<{ id: string }>(
      "select id from message where company_id = $1 and call_id = 'call-7f'",
      [c().id],
    )
    expect(found.map((row) => row.id)).toEqual([(await c().message(answer)).id])
  })
})

describe('the bodies of the document', () => {
  test('WhatsApp template with every object filled', async () => {
    const answer = await c().send({
      platformPrivateToken: c().privateToken,
      text: '',
      emailSubject: '',
      channel: 3,
      attendantUserName: c().users.maria.name,
      templateName: c().templates.whatsapp.name,
      templateParameters: [
        { parameterName: 'FirstName', parameterValue: 'Ana' },
        { parameterName: 'Order', parameterValue: '42' },
      ],
      source: { countryCode: 55, phoneNumber: c().lines.prospectA.phoneNumber, prospect: false },
      destination: { ...freshPhone(), email: '' },
      discardSettings: { recentContactLastHours: 0, InAttendance: false },
      contact: {
        name: 'Ana Lima',
        customCode: 'C1',
        id: '12345678900',
        tag: 'vip',
        jokers: ['1', '2', '3', '4', '5'],
        walletClientCode: c().segments.gold.clientCode,
        updateIfExists: true,
      },
      voiceSettings: { callId: '' },
      files: [],
    })
    expectAccepted(answer)
    expect(await c().message(answer)).toMatchObject({
      state: 'queued',
      line_id: c().lines.prospectA.id,
      template_id: c().templates.whatsapp.id,
      segment_id: c().segments.gold.id,
    })
  })

  test('SMS without source, with prospect inside destination', async () => {
    const answer = await c().send({
      platformPrivateToken: c().privateToken,
      text: 'Olá @FirstName',
      channel: 2,
      destination: { ...freshPhone(), prospect: false },
      discardSettings: { recentContactLastHours: 0, InAttendance: false },
      contact: { name: 'Ana Lima', updateIfExists: true },
    })
    expectAccepted(answer)
    expect(await c().message(answer)).toMatchObject({
      line_id: c().lines.sms.id,
      content: { text: 'Olá Ana' },
    })
  })

  test('e-mail with only the address in destination', async () => {
    const answer = await c().send({
      platformPrivateToken: c().privateToken,
      text: 'Olá @FirstName',
      emailSubject: 'Aviso',
      channel: 1,
      destination: { email: freshEmail() },
      contact: { name: 'Ana Lima' },
      files: [{ address: '', base64: Buffer.from('report').toString('base64'), name: 'report.txt' }],
    })
    expectAccepted(answer)
    expect(await c().message(answer)).toMatchObject({
      line_id: c().lines.email.id,
      content: { text: 'Olá Ana', subject: 'Aviso', files: [{ name: 'report.txt' }] },
    })
  })

  test('unknown fields are ignored, at any depth', async () => {
    expectAccepted(
      await c().send(
        c().sms({
          future: 1,
          destination: { ...freshPhone(), future: { a: 1 } },
          contact: { future: [] },
          discardSettings: { future: null },
          source: { future: '' },
        }),
      ),
    )
  })
})
