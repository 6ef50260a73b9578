import { describe, expect, test } from 'vitest'
import { channels, type Channel } from '../../../src/domain/channel.ts'
import {
  bodies,
  emailBody,
  expectAccepted,
  expectInvalid,
  messageOf,
  smsBody,
  useDirect,
  whatsappBody,
} from './support.ts'

const d = useDirect({ config: { maxBodyBytes: 64 * 1024 } })
const c = () => d.company
const recipientOf: Record<Channel, string> = {
  email: 'recipient_email',
  sms: 'recipient_number',
  whatsapp: 'recipient_number',
}
const without = (body: Record<string, unknown>, ...names: string[]) =>
  Object.fromEntries(Object.entries(body).filter(([name]) => !names.includes(name)))

describe('required fields', () => {
  for (const channel of channels)
    for (const field of [recipientOf[channel], 'contract_code', 'template_code']) {
      test(`${channel}: ${field} is required`, async () => {
        expectInvalid(await c().send(channel, without(bodies[channel](), field)), field)
      })
      test(`${channel}: null and an empty string are not given: ${field}`, async () => {
        for (const value of [null, ''])
          expectInvalid(await c().send(channel, bodies[channel]({ [field]: value })), field)
      })
    }

  test.for(channels)('%s: an empty object lacks all three, reported at once', async (channel) => {
    expectInvalid(await c().send(channel, {}), recipientOf[channel], 'contract_code', 'template_code')
  })

  test('the sentence says what is wrong', async () => {
    const answer = await c().send('sms', without(smsBody(), 'contract_code'))
    expect(answer.body['errors']).toEqual({ contract_code: ['is required'] })
    expect(answer.body['message']).toBe('contract_code: is required')
  })
})

describe('optional fields', () => {
  test.for(channels)('%s: a body without any of them is accepted', async (channel) => {
    const body = without(bodies[channel](), 'document_number', 'segment', 'flash_sms', 'callback_details')
    expectAccepted(await c().send(channel, body))
  })

  test.for(channels)('%s: null and empty mean not given', async (channel) => {
    for (const nothing of [null, ''])
      expectAccepted(
        await c().send(
          channel,
          bodies[channel]({
            document_number: nothing,
            segment: nothing,
            flash_sms: nothing,
            whatsapp_sender_number: nothing,
            callback_details: nothing,
          }),
        ),
      )
  })

  test('document number, contract code and segment are stored with the message', async () => {
    const answer = await c().send('email', emailBody({ contract_code: 'CT 9', document_number: '1-2' }))
    expect(await messageOf(d.app, answer)).toMatchObject({
      contract_code: 'CT 9',
      document_number: '1-2',
      segment_id: c().segments[0].id,
    })
  })

  test('segment: given and unknown is 422', async () => {
    expectInvalid(await c().send('sms', smsBody({ segment: 'Nobody' })), 'segment')
  })

  test('segment and template code compare trimmed and without regard to case', async () => {
    const answer = await c().send(
      'sms',
      smsBody({ segment: '  FIRST segment ', template_code: ' Appointment-REMINDER ' }),
    )
    expectAccepted(answer)
    expect((await messageOf(d.app, answer)).segment_id).toBe(c().segments[0].id)
  })

  test('a template is found by its code, not by its name', async () => {
    expectInvalid(await c().send('sms', smsBody({ template_code: 'Appointment reminder' })), 'template_code')
  })
})

describe('whatsapp_sender_number', () => {
  test('not given: the default line', async () => {
    const answer = await c().send('whatsapp', whatsappBody())
    expect((await messageOf(d.app, answer)).line_id).toBe(c().lines.whatsapp[0]!.id)
  })

  test.for(['5531987650003', '+5531987650003'])('%s: exactly that line', async (number) => {
    const answer = await c().send('whatsapp', whatsappBody({ whatsapp_sender_number: number }))
    expect((await messageOf(d.app, answer)).line_id).toBe(c().lines.whatsapp[1]!.id)
  })

  test.for<[string, unknown]>([
    ['unknown', '5531999990000'],
    ['too short', '5531'],
    ['letters', 'abcdefgh'],
    ['no string', 5531987650003],
    ['a line of another channel', '5531987650001'],
  ])('%s: 422', async ([, number]) => {
    expectInvalid(
      await c().send('whatsapp', whatsappBody({ whatsapp_sender_number: number })),
      'whatsapp_sender_number',
    )
  })

  test('0 means not given', async () => {
    expectAccepted(await c().send('whatsapp', whatsappBody({ whatsapp_sender_number: 0 })))
  })

  test('disabled: 422', async () => {
    const company = await d.newCompany()
    await d.app.db.query('update line set is_enabled = false where id = $1', [company.lines.whatsapp[1]!.id])
    expectInvalid(
      await company.send('whatsapp', whatsappBody({ whatsapp_sender_number: '5531987650003' })),
      'whatsapp_sender_number',
    )
  })
})

describe('flash_sms', () => {
  test.for<[unknown, boolean]>([
    [true, true],
    [false, false],
    [undefined, false],
    [null, false],
  ])('%s', async ([given, isFlash]) => {
    const answer = await c().send('sms', smsBody({ flash_sms: given }))
    expectAccepted(answer)
    const { content } = await messageOf(d.app, answer)
    expect(content.kind === 'text' && (content.isFlash ?? false)).toBe(isFlash)
  })

  test.for(['true', 'false', 1, 0, {}, []])('is a boolean and nothing else: %j', async (value) => {
    expectInvalid(await c().send('sms', smsBody({ flash_sms: value })), 'flash_sms')
  })
})

describe('numbers are digits with country code, 8 to 15', () => {
  test.for(['5531987654321', '+5531987654321', '553187654321', '12025550123', '4915112345678'])(
    '%s',
    async (number) => {
      const answer = await c().send('sms', smsBody({ recipient_number: number }))
      expectAccepted(answer)
      expect((await messageOf(d.app, answer)).recipient.replace('+', '')).toBe(number.replace('+', ''))
    },
  )

  test.for([
    '1234567',
    '1234567890123456',
    '55 31 98765 4321',
    '(55)31987654321',
    '005531987654321',
    '++5531987654321',
    '5531987654321x',
    '٥٥٣١٩٨٧٦٥٤٣٢١',
    '00000000',
    '55319876543211',
    '5531987654321\n',
  ])('not possible: %j', async (number) => {
    expectInvalid(await c().send('sms', smsBody({ recipient_number: number })), 'recipient_number')
  })

  test.for([5531987654321, 5531987654321.5, 1e20, true, {}, ['5531987654321']])(
    'no string: %j',
    async (number) => {
      expectInvalid(
        await c().send('whatsapp', whatsappBody({ recipient_number: number })),
        'recipient_number',
      )
    },
  )
})

describe('recipient_email', () => {
  test.for(['ana@example.com', ' Ana.Maria+x@Example.COM ', 'ana@münchen.example'])('%s', async (email) => {
    expectAccepted(await c().send('email', emailBody({ recipient_email: email })))
  })

  test.for([
    'ana',
    'ana@',
    '@example.com',
    'a@b@example.com',
    'Ana <ana@example.com>',
    'ana@example.com\r\nBcc: x@example.com',
    'ana@example.com, eva@example.com',
    'ana@127.0.0.1',
    `${'a'.repeat(65)}@example.com`,
    `a@${'b'.repeat(300)}.com`,
  ])('not deliverable: %j', async (email) => {
    expectInvalid(await c().send('email', emailBody({ recipient_email: email })), 'recipient_email')
  })
})

describe('types are strict, names match in any case, unknown fields are ignored', () => {
  test.for<[Channel, string, unknown]>([
    ['email', 'recipient_email', 5],
    ['email', 'variable_values', 'x'],
    ['email', 'variable_values', []],
    ['email', 'document_number', 12345678909],
    ['sms', 'contract_code', 1],
    ['sms', 'contract_code', true],
    ['sms', 'template_code', {}],
    ['sms', 'segment', 3],
    ['sms', 'callback_details', 'https://example.com'],
    ['whatsapp', 'variables', []],
    ['whatsapp', 'variables', 'x'],
  ])('%s: %s as %j', async ([channel, field, value]) => {
    expectInvalid(await c().send(channel, bodies[channel]({ [field]: value })), field)
  })

  test('names in another case are the documented ones', async () => {
    const { recipient_number, contract_code, template_code, ...rest } = smsBody()
    expectAccepted(
      await c().send('sms', {
        ...rest,
        Recipient_Number: recipient_number,
        CONTRACT_CODE: contract_code,
        Template_code: template_code,
      }),
    )
  })

  test('errors are keyed by the path as sent', async () => {
    const { contract_code: _, ...rest } = smsBody()
    expectInvalid(
      await c().send('sms', { ...rest, Contract_Code: 5, Callback_Details: { URL: 'ftp://example.com' } }),
      'Contract_Code',
      'Callback_Details.URL',
    )
  })

  test('unknown fields are ignored, also those of the other routes', async () => {
    expectAccepted(
      await c().send('sms', smsBody({ foo: { bar: [1] }, recipient_email: 5, variables: 'x', __proto__: 1 })),
    )
  })
})

describe('lengths count code points', () => {
  test.for(['document_number', 'contract_code'])('%s: at most 255', async (field) => {
    expectAccepted(await c().send('sms', smsBody({ [field]: '😀'.repeat(255) })))
    expectInvalid(await c().send('sms', smsBody({ [field]: 'x'.repeat(256) })), field)
  })

  test('characters that cannot be stored are refused by name', async () => {
    expectInvalid(
      await c().send(
        'sms',
        '{"recipient_number":"5531987654321","template_code":"fixed-sms","contract_code":"a\\u0000b","document_number":"\\ud800"}',
      ),
      'contract_code',
      'document_number',
    )
  })
})

describe('all that is wrong is reported at once', () => {
  test('shape, values, and what the request names', async () => {
    expectInvalid(
      await c().send('sms', {
        recipient_number: 'abc',
        variable_values: { Date: 1, Time: '10:00' },
        document_number: 5,
        template_code: 'appointment-reminder',
        segment: 'Nobody',
        flash_sms: 'no',
        callback_details: { url: 'http://localhost/x', custom_fields: { a: 1 } },
      }),
      'recipient_number',
      'variable_values.Date',
      'document_number',
      'contract_code',
      'segment',
      'flash_sms',
      'callback_details.url',
      'callback_details.custom_fields.a',
    )
  })

  test('an unknown template beside a missing contract code and an unknown line', async () => {
    expectInvalid(
      await c().send('whatsapp', {
        recipient_number: '5531987654321',
        template_code: 'nobody',
        whatsapp_sender_number: '5531999990000',
      }),
      'template_code',
      'contract_code',
      'whatsapp_sender_number',
    )
  })

  test('a missing variable beside a wrong recipient, but no variable that a contact would fill', async () => {
    expectInvalid(
      await c().send(
        'sms',
        smsBody({ recipient_number: '1', template_code: 'personal-greeting', variable_values: {} }),
      ),
      'recipient_number',
      'variable_values',
    )
    const answer = await c().send(
      'sms',
      smsBody({ recipient_number: '1', template_code: 'personal-greeting', variable_values: {} }),
    )
    const errors = answer.body['errors'] as Record<string, string[]>
    expect(errors['variable_values']).toEqual([expect.stringContaining('Subject')])
  })

  test('wrong headers beside a wrong body', async () => {
    expectInvalid(
      await c().send('sms', without(smsBody(), 'contract_code'), {
        headers: { 'Pombo-Dry-Run': 'yes', 'Idempotency-Key': 'with space' },
      }),
      'contract_code',
      'Pombo-Dry-Run',
      'Idempotency-Key',
    )
  })
})

describe('a body that is no JSON object is 422 under body', () => {
  test.for(['', '{', 'null', '[]', '"x"', '5', '{"a":1}x', "{'a':1}", '{"a":1,}'])('%j', async (body) => {
    expectInvalid(await c().send('sms', body), 'body')
  })

  test('bytes that are no UTF-8', async () => {
    expectInvalid(await c().send('sms', Buffer.from([0x7b, 0xff, 0x7d])), 'body')
  })

  test('too large', async () => {
    expectInvalid(await c().send('sms', smsBody({ padding: 'x'.repeat(70_000) })), 'body')
  })

  test.for([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/xml',
    'nonsense',
    'application/json; charset=latin1',
  ])('another media type: %s', async (type) => {
    expectInvalid(
      await c().send('sms', JSON.stringify(smsBody()), { headers: { 'content-type': type } }),
      'body',
    )
  })

  test.for(['application/json', 'application/json; charset=utf-8', 'Application/JSON;charset="UTF-8"'])(
    'JSON by any spelling of its type: %s',
    async (type) => {
      expectAccepted(await c().send('sms', smsBody(), { headers: { 'content-type': type } }))
    },
  )

  test('a missing Content-Type is read as JSON', async () => {
    expectAccepted(await c().send('sms', smsBody(), { headers: { 'content-type': [] } }))
  })
})
