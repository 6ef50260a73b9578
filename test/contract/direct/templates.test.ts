import { describe, expect, test } from 'vitest'
import type { Channel } from '../../../src/domain/channel.ts'
import { createContact } from '../../../src/store/contacts.ts'
import { createTemplate, type TemplateInput } from '../../../src/store/templates.ts'
import { must, randomMobile } from '../../harness/factories.ts'
import {
  bodies,
  emailBody,
  expectAccepted,
  expectConflicts,
  expectInvalid,
  messageOf,
  smsBody,
  useDirect,
  whatsappBody,
  type Body,
} from './support.ts'

const d = useDirect()
const c = () => d.company
const sent = async (channel: Channel, body: Body) => {
  const answer = await c().send(channel, body)
  expectAccepted(answer)
  return (await messageOf(d.app, answer)).content
}
const sentText = async (channel: Channel, body: Body) => {
  const content = await sent(channel, body)
  if (content.kind !== 'text') throw new Error('No text.')
  return content
}
const sentTemplate = async (body: Body) => {
  const content = await sent('whatsapp', body)
  if (content.kind !== 'template') throw new Error('No template.')
  return content
}
const addTemplate = async (input: Partial<TemplateInput> & Pick<TemplateInput, 'channel' | 'content'>) => {
  const code = `t-${Math.random().toString(36).slice(2)}`
  return must(await createTemplate(d.app.db, c().id, { name: code, code, kind: 'text', ...input }))
}
const provider = (parameterFormat: 'positional' | 'named') =>
  ({
    name: `x_${Math.random().toString(36).slice(2)}`,
    language: 'en',
    parameterFormat,
    category: 'utility',
  }) as const

describe('a message must be bound to a template configured beforehand', () => {
  test('sending without a template is not possible', async () => {
    expectInvalid(
      await c().send('sms', smsBody({ template_code: undefined, text: 'free text' })),
      'template_code',
    )
  })

  test.for(['email', 'sms', 'whatsapp'] as const)('%s: an unknown template is 422', async (channel) => {
    expectInvalid(await c().send(channel, bodies[channel]({ template_code: 'nobody' })), 'template_code')
  })

  test.for<[Channel, string]>([
    ['email', 'appointment-reminder'],
    ['sms', 'invoice'],
    ['whatsapp', 'order-confirmation'],
  ])('%s: a template of another channel is 422 (%s)', async ([channel, code]) => {
    expectInvalid(await c().send(channel, bodies[channel]({ template_code: code })), 'template_code')
  })

  test('a template of another company is unknown', async () => {
    const other = await d.newCompany()
    must(
      await createTemplate(d.app.db, other.id, {
        name: 'theirs',
        code: 'theirs',
        channel: 'sms',
        kind: 'text',
        content: { body: 'x', buttons: [], variables: [] },
      }),
    )
    expectInvalid(await c().send('sms', smsBody({ template_code: 'theirs' })), 'template_code')
  })

  test('not approved or disabled: a rule, 409', async () => {
    expectConflicts(
      await c().send('whatsapp', whatsappBody({ template_code: 'pending', variables: {} })),
      'template "Not approved yet" is not approved (pending)',
    )
    expectConflicts(
      await c().send('sms', smsBody({ template_code: 'disabled' })),
      'template "Switched off" is disabled',
    )
  })

  test('a carousel template cannot be sent here', async () => {
    expectInvalid(
      await c().send('whatsapp', whatsappBody({ template_code: 'spring-offers', variables: {} })),
      'template_code',
    )
  })

  test('a verification template can', async () => {
    const content = await sentTemplate(
      whatsappBody({ template_code: 'verification-code', variables: { body: { Code: '123456' } } }),
    )
    expect(content).toMatchObject({
      templateKind: 'verification',
      body: [{ name: 'Code', value: '123456' }],
      buttons: [{ kind: 'code', value: '123456' }],
    })
  })
})

describe('e-mail and SMS take their variables in variable_values', () => {
  test('SMS', async () => {
    const content = await sentText('sms', smsBody({ variable_values: { Date: '1 May', Time: '10:00' } }))
    expect(content.text).toBe('Your appointment is on 1 May at 10:00. See you then!')
  })

  test('e-mail: subject and body, values escaped for HTML in the body and for a header in the subject', async () => {
    const content = await sentText(
      'email',
      emailBody({ variable_values: { OrderNumber: '7<b>\r\nX: y', Amount: '"1" & 2' } }),
    )
    expect(content.subject).toBe('Order 7<b> X: y is confirmed')
    expect(content.text).toContain('Your order <b>7&lt;b&gt;')
    expect(content.text).toContain('&quot;1&quot; &amp; 2')
    expect(content.text).toContain('@media (max-width: 600px)')
  })

  test('names without regard to case, a leading @ is optional, undeclared ones are ignored', async () => {
    const content = await sentText(
      'sms',
      smsBody({ variable_values: { '@date': 'D', TIME: 'T', Nobody: 'x', constructor: 'x' } }),
    )
    expect(content.text).toBe('Your appointment is on D at T. See you then!')
  })

  test('a value that looks like a variable stays as it is', async () => {
    const content = await sentText('sms', smsBody({ variable_values: { Date: '@Time', Time: '@Date' } }))
    expect(content.text).toBe('Your appointment is on @Time at @Date. See you then!')
  })

  test('an explicit empty value is a value', async () => {
    const content = await sentText('sms', smsBody({ variable_values: { Date: '', Time: 'T' } }))
    expect(content.text).toBe('Your appointment is on  at T. See you then!')
  })

  test.for<[string, unknown]>([
    ['no object at all', undefined],
    ['null', null],
    ['one missing', { Date: 'D' }],
    ['one null', { Date: 'D', Time: null }],
    ['one name twice', { Date: 'D', '@date': 'E', Time: 'T' }],
  ])('422 under variable_values: %s', async ([, values]) => {
    expectInvalid(await c().send('sms', smsBody({ variable_values: values })), 'variable_values')
  })

  test('every missing one is named', async () => {
    const answer = await c().send('sms', smsBody({ variable_values: {} }))
    expect(answer.body['errors']).toEqual({
      variable_values: [expect.stringContaining('Date'), expect.stringContaining('Time')],
    })
  })

  test.for<unknown>([5, true, {}, ['x']])(
    'a value that is no string is 422 with its name: %j',
    async (value) => {
      expectInvalid(
        await c().send('sms', smsBody({ variable_values: { Date: value, Time: 'T' } })),
        'variable_values.Date',
      )
    },
  )

  test('a name of the caller in an error is safe, whatever it is', async () => {
    const answer = await c().send(
      'sms',
      JSON.stringify(smsBody()).replace('"Date":', '"__proto__":5,"a.b":5,"Date":'),
    )
    expectInvalid(answer, 'variable_values.__proto__', 'variable_values.a.b')
  })

  test('values come from the request first, then from the contact', async () => {
    const phone = randomMobile()
    must(await createContact(d.app.db, c().id, { phone, name: 'Ana Maria Silva' }))
    const body = (values: Body) =>
      smsBody({ recipient_number: phone, template_code: 'personal-greeting', variable_values: values })
    expect((await sentText('sms', body({ Subject: 'S' }))).text).toContain('Hello Ana,')
    expect((await sentText('sms', body({ Subject: 'S', FirstName: 'Eva' }))).text).toContain('Hello Eva,')
  })

  test('a rendered text past the limit of the channel is 422', async () => {
    expectInvalid(
      await c().send('sms', smsBody({ variable_values: { Date: 'x'.repeat(1600), Time: 'T' } })),
      'variable_values',
    )
  })
})

describe('on WhatsApp variables.body holds the body variables', () => {
  test('and the header variable is given by header_key and header_value', async () => {
    expect(await sentTemplate(whatsappBody())).toMatchObject({
      header: { kind: 'text', parameters: [{ name: 'InvoiceNumber', value: '4711' }] },
      body: [
        { name: 'Amount', value: 'R$ 10' },
        { name: 'DueDate', value: '1 May' },
      ],
      buttons: [{ kind: 'url', value: '4711' }],
    })
  })

  test('or in body under its name', async () => {
    const variables = { body: { InvoiceNumber: '4711', Amount: '1', DueDate: '2' } }
    expect(await sentTemplate(whatsappBody({ variables }))).toMatchObject({
      header: { parameters: [{ name: 'InvoiceNumber', value: '4711' }] },
    })
  })

  test('header_key in another case and with @', async () => {
    const variables = {
      header_key: '@invoicenumber',
      header_value: '4711',
      body: { Amount: '1', DueDate: '2' },
    }
    expect(await sentTemplate(whatsappBody({ variables }))).toMatchObject({
      header: { parameters: [{ value: '4711' }] },
    })
  })

  test('given by header_value and in the body too it is given twice: 422', async () => {
    const variables = {
      header_key: 'InvoiceNumber',
      header_value: 'H1',
      body: { InvoiceNumber: 'H2', Amount: '1', DueDate: '2' },
    }
    const answer = await c().send('whatsapp', whatsappBody({ template_code: 'invoice', variables }))
    expectInvalid(answer, 'variables')
  })

  test("a header_key that is not the template's: 422", async () => {
    const variables = {
      header_key: 'Other',
      header_value: 'x',
      body: { InvoiceNumber: '1', Amount: '1', DueDate: '2' },
    }
    expectInvalid(await c().send('whatsapp', whatsappBody({ variables })), 'variables.header_key')
  })

  test('a header_key for a template without header: 422', async () => {
    const variables = { header_key: 'OrderNumber', header_value: 'x', body: { OrderNumber: '1', Date: '2' } }
    expectInvalid(
      await c().send('whatsapp', whatsappBody({ template_code: 'delivery-update', variables })),
      'variables.header_key',
    )
  })

  test.for<[string, unknown]>([
    ['no variables', undefined],
    ['no body', { header_key: 'InvoiceNumber', header_value: '1' }],
    ['one missing', { header_key: 'InvoiceNumber', header_value: '1', body: { Amount: '1' } }],
    [
      'one empty, which the provider refuses',
      { header_key: 'InvoiceNumber', header_value: '1', body: { Amount: '1', DueDate: '' } },
    ],
    [
      'one of spaces, which the provider refuses',
      { header_key: 'InvoiceNumber', header_value: '1', body: { Amount: '1', DueDate: ' \n ' } },
    ],
    ['the header missing', { body: { Amount: '1', DueDate: '2' } }],
    [
      'the header without value',
      { header_key: 'InvoiceNumber', header_value: '', body: { Amount: '1', DueDate: '2' } },
    ],
  ])('a variable without value is 422 under variables: %s', async ([, variables]) => {
    expectInvalid(await c().send('whatsapp', whatsappBody({ variables })), 'variables')
  })

  test('a value that is no string is 422 with its name', async () => {
    expectInvalid(
      await c().send(
        'whatsapp',
        whatsappBody({ variables: { header_key: 5, header_value: true, body: { Amount: 1, DueDate: '2' } } }),
      ),
      'variables.header_key',
      'variables.header_value',
      'variables.body.Amount',
    )
  })

  test('newlines, tabs and runs of spaces become one space', async () => {
    const variables = {
      header_key: 'InvoiceNumber',
      header_value: '1',
      body: { Amount: 'a\n\tb     c', DueDate: '2' },
    }
    expect((await sentTemplate(whatsappBody({ variables }))).body[0]).toEqual({
      name: 'Amount',
      value: 'a b c',
    })
  })

  test('positional and named provider parameters are kept apart', async () => {
    for (const format of ['positional', 'named'] as const) {
      const template = await addTemplate({
        channel: 'whatsapp',
        content: {
          body: 'Hi @One and @Two!',
          buttons: [],
          variables: ['One', 'Two'],
          provider: provider(format),
        },
      })
      const content = await sentTemplate(
        whatsappBody({ template_code: template.code, variables: { body: { Two: '2', One: '1' } } }),
      )
      expect(content).toMatchObject({
        parameterFormat: format,
        body: [
          { name: 'One', value: '1' },
          { name: 'Two', value: '2' },
        ],
      })
    }
  })

  test('a body past 1024 characters is 422', async () => {
    const variables = {
      header_key: 'InvoiceNumber',
      header_value: '1',
      body: { Amount: 'x'.repeat(1024), DueDate: '2' },
    }
    expectInvalid(await c().send('whatsapp', whatsappBody({ variables })), 'variables')
  })
})

describe('a media header takes a media-library or http(s) URL as header_value', () => {
  const body = (header: unknown, changes: Body = {}) =>
    whatsappBody({
      template_code: 'image-header',
      variables: { header_value: header, body: { Date: 'today' } },
      ...changes,
    })

  test('an https address', async () => {
    expect(await sentTemplate(body('https://example.com/a.png'))).toMatchObject({
      header: {
        kind: 'media',
        mediaKind: 'image',
        file: {
          name: 'a.png',
          mimeType: 'image/png',
          source: { kind: 'address', url: 'https://example.com/a.png' },
        },
      },
    })
  })

  test.for<[string, unknown]>([
    ['another scheme', 'ftp://example.com/a.png'],
    ['no URL', 'a.png'],
    ['no known extension', 'https://example.com/a'],
    ['another kind of file', 'https://example.com/a.pdf'],
    ['missing', undefined],
    ['empty', ''],
  ])('422 under variables.header_value: %s', async ([, value]) => {
    expectInvalid(await c().send('whatsapp', body(value)), 'variables.header_value')
  })
})
