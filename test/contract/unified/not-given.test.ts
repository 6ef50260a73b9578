import { describe, expect, test } from 'vitest'
import {
  errorsAt,
  expectAccepted,
  expectInvalid,
  freshEmail,
  freshPhone,
  useUnified,
  type Body,
} from './support.ts'

const u = useUnified()
const c = () => u.company

/** Every optional field, in a body that is right without it. */
const optional: [string, (value: unknown) => Body][] = [
  ['emailSubject', (value) => c().sms({ emailSubject: value })],
  ['attendantUserName', (value) => c().sms({ attendantUserName: value })],
  ['templateName', (value) => c().sms({ templateName: value })],
  ['source.countryCode', (value) => c().sms({ source: { countryCode: value } })],
  ['source.phoneNumber', (value) => c().sms({ source: { phoneNumber: value } })],
  ['destination.email', (value) => c().sms({ destination: { ...freshPhone(), email: value } })],
  ['contact.name', (value) => c().sms({ contact: { name: value } })],
  ['contact.customCode', (value) => c().sms({ contact: { customCode: value } })],
  ['contact.id', (value) => c().sms({ contact: { id: value } })],
  ['contact.tag', (value) => c().sms({ contact: { tag: value } })],
  ['contact.walletClientCode', (value) => c().sms({ contact: { walletClientCode: value } })],
  ['voiceSettings.callId', (value) => c().sms({ voiceSettings: { callId: value } })],
]
const optionalOfOtherTypes: [string, (value: unknown) => Body][] = [
  ['templateParameters', (value) => c().sms({ templateParameters: value })],
  ['source', (value) => c().sms({ source: value })],
  ['source.prospect', (value) => c().sms({ source: { prospect: value } })],
  ['destination.prospect', (value) => c().sms({ destination: { ...freshPhone(), prospect: value } })],
  ['discardSettings', (value) => c().sms({ discardSettings: value })],
  [
    'discardSettings.recentContactLastHours',
    (value) => c().sms({ discardSettings: { recentContactLastHours: value } }),
  ],
  ['discardSettings.InAttendance', (value) => c().sms({ discardSettings: { InAttendance: value } })],
  ['contact', (value) => c().sms({ contact: value })],
  ['contact.jokers', (value) => c().sms({ contact: { jokers: value } })],
  ['contact.updateIfExists', (value) => c().sms({ contact: { updateIfExists: value } })],
  ['voiceSettings', (value) => c().sms({ voiceSettings: value })],
  ['files', (value) => c().sms({ files: value })],
]

describe('null means not given', () => {
  test.for([...optional, ...optionalOfOtherTypes])('%s', async ([, build]) => {
    expectAccepted(await c().send(build(null)))
  })

  test.for(['channel', 'destination'])('so a required %s is missing', async (field) => {
    expectInvalid(await c().send(c().sms({ [field]: null })), field)
  })

  test('so does null for what the channel requires', async () => {
    expectInvalid(await c().send(c().email({ destination: { email: null } })), 'destination.email')
    expectInvalid(
      await c().send(c().sms({ destination: { countryCode: null, phoneNumber: 11960000001 } })),
      'destination.countryCode',
    )
  })
})

describe('an empty string means not given', () => {
  test.for(optional.filter(([field]) => !field.startsWith('source')))('%s', async ([, build]) => {
    expectAccepted(await c().send(build('')))
  })

  test('an empty attendant is none: rule D1 does not apply, nobody is bound', async () => {
    const to = freshPhone()
    const answer = await c().send(
      c().sms({ destination: to, attendantUserName: '', discardSettings: { InAttendance: true } }),
    )
    expectAccepted(answer)
    expect(await c().openAttendances((await c().contact(to))!.id)).toEqual([])
  })

  test('an empty call id is stored as none', async () => {
    const answer = await c().send(c().sms({ voiceSettings: { callId: '' } }))
    expect((await c().message(answer)).call_id).toBeNull()
  })

  test('empty contact data overwrites nothing', async () => {
    const to = freshPhone()
    await c().addContact(to, { name: 'Ana Lima', tag: 'vip', jokers: ['one'] })
    expectAccepted(
      await c().send(
        c().sms({ destination: to, contact: { name: '', tag: null, jokers: [''], updateIfExists: true } }),
      ),
    )
    expect(await c().contact(to)).toMatchObject({ name: 'Ana Lima', tag: 'vip' })
    expect((await c().contact(to))!.jokers?.[0]).toBe('one')
  })
})

describe('0 means not given for a country code or number', () => {
  test('in source: the default line sends', async () => {
    const answer = await c().send(
      c().whatsapp({ source: { countryCode: 0, phoneNumber: 0, prospect: false } }),
    )
    expectAccepted(answer)
    expect((await c().message(answer)).line_id).toBe(c().lines.main.id)
  })

  test('in destination of an e-mail', async () => {
    expectAccepted(
      await c().send(c().email({ destination: { email: freshEmail(), countryCode: 0, phoneNumber: 0 } })),
    )
  })

  test('in destination of an SMS it is missing', async () => {
    expectInvalid(
      await c().send(c().sms({ destination: { countryCode: 0, phoneNumber: 0 } })),
      'destination.countryCode',
      'destination.phoneNumber',
    )
  })
})

describe('items of lists all of whose fields are not given', () => {
  test.for<[string, unknown[]]>([
    ['empty objects', [{}, {}]],
    ['empty strings', [{ address: '', base64: '', name: '' }]],
    ['nulls', [{ address: null, base64: null, name: null }]],
  ])('files: %s are no files', async ([, files]) => {
    const answer = await c().send(c().sms({ files }))
    expectAccepted(answer)
    expect((await c().message(answer)).content.files).toEqual([])
  })

  test.for<[string, unknown[]]>([
    ['empty objects', [{}, {}]],
    ['nulls', [{ parameterName: null, parameterValue: null }]],
    ['empty names without value', [{ parameterName: '', parameterValue: null }]],
  ])('templateParameters: %s are no parameters', async ([, extra]) => {
    const answer = await c().send(
      c().sms({
        templateName: c().templates.sms.name,
        templateParameters: [...extra, { parameterName: 'Order', parameterValue: '42' }],
      }),
    )
    expectAccepted(answer)
  })

  test('a template that needs no more than empty files gets none', async () => {
    expectAccepted(await c().send(c().whatsapp({ files: [{ address: '', base64: '', name: '' }] })))
  })
})

describe('an explicit empty parameter value', () => {
  test.for(['sms', 'email'] as const)('is a value by %s', async (channel) => {
    const answer = await c().send(
      c()[channel]({
        templateName: c().templates[channel].name,
        templateParameters: [{ parameterName: 'Order', parameterValue: '' }],
      }),
    )
    expectAccepted(answer)
    expect((await c().message(answer)).content.text).toContain('Order  is ready.')
  })

  test('is refused by WhatsApp, and so here', async () => {
    const answer = await c().send(
      c().whatsapp({
        templateParameters: [
          { parameterName: 'FirstName', parameterValue: 'Ana' },
          { parameterName: 'Order', parameterValue: '' },
        ],
      }),
    )
    expectInvalid(answer, /^templateParameters/)
    expect(JSON.stringify(answer.body['errors'])).toContain('Order')
  })

  test('a parameter whose value is null is not given', async () => {
    const answer = await c().send(
      c().sms({
        templateName: c().templates.sms.name,
        templateParameters: [{ parameterName: 'Order', parameterValue: null }],
      }),
    )
    expectInvalid(answer, 'templateParameters')
    expect(errorsAt(answer, 'templateParameters')).toContain('Order')
  })
})
