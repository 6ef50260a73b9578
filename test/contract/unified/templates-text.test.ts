import { describe, expect, test } from 'vitest'
import {
  expectAccepted,
  expectInvalid,
  freshEmail,
  reasonsText,
  shownText,
  useUnified,
  type Body,
} from './support.ts'

const u = useUnified()
const c = () => u.company

const order = [{ parameterName: 'Order', parameterValue: '42' }]

describe('templateName', () => {
  test('unknown: 400, nothing stored', async () => {
    const before = await c().traces()
    expectInvalid(await c().send(c().whatsapp({ templateName: 'no such template' })), 'templateName')
    expect(await c().traces()).toEqual(before)
  })

  test.for([
    ['sms', 'whatsapp'],
    ['sms', 'email'],
    ['email', 'sms'],
    ['whatsapp', 'sms'],
  ] as const)('by %s, a template of %s: 400', async ([channel, other]) => {
    const body = c()[channel]({ templateName: c().templates[other].name, templateParameters: order })
    expectInvalid(await c().send(body), 'templateName')
  })

  test.for<[string, Body]>([
    ['disabled', { isEnabled: false }],
    ['waiting for approval', { approval: 'pending' }],
    ['rejected', { approval: 'rejected' }],
    ['paused by the provider', { approval: 'paused' }],
  ])('%s: refused by rule, recorded as blocked', async ([, state]) => {
    const template = await c().addTemplate({ channel: 'whatsapp', content: { body: 'Hi' }, ...state })
    const answer = await c().send(c().whatsapp({ templateName: template.name, templateParameters: [] }))
    expect(answer.status).toBe(400)
    expect(answer.body['message']).toMatch(/^message not sent: .+/)
    const row = await c().blocked(answer)
    expect(row.state).toBe('blocked')
    expect(reasonsText(row)).toContain(String(answer.body['message']).slice('message not sent: '.length))
  })
})

describe('a WhatsApp template', () => {
  test('is handed on as a template with its parameters, not as text', async () => {
    const answer = await c().send(c().whatsapp())
    const { content } = await c().message(answer)
    expect(content).toMatchObject({
      kind: 'template',
      templateKind: 'text',
      name: 'order_update',
      language: 'pt_BR',
      body: [
        { name: 'FirstName', value: 'Ana' },
        { name: 'Order', value: '42' },
      ],
      buttons: [],
    })
    expect(content.preview).toContain('Hello Ana, your order 42 is ready.')
  })

  test('can have variables in header, body and buttons', async () => {
    const template = await c().addTemplate({
      channel: 'whatsapp',
      content: {
        header: { kind: 'text', text: 'Order @Order' },
        body: 'It is @Status.',
        footer: 'Thank you',
        buttons: [
          { kind: 'quick_reply', text: 'Stop' },
          { kind: 'url', text: 'Track', url: 'https://example.com/t/@Order' },
        ],
        variables: ['Order', 'Status'],
      },
    })
    const answer = await c().send(
      c().whatsapp({
        templateName: template.name,
        templateParameters: [...order, { parameterName: 'Status', parameterValue: 'ready' }],
      }),
    )
    expectAccepted(answer)
    const { content } = await c().message(answer)
    expect(content.header).toMatchObject({ kind: 'text', parameters: [{ value: '42' }] })
    expect(content.body).toMatchObject([{ name: 'Status', value: 'ready' }])
    expect(content.buttons).toContainEqual({ index: 1, kind: 'url', value: '42' })
  })

  test('without variables needs no parameters', async () => {
    const template = await c().addTemplate({ channel: 'whatsapp', content: { body: 'Good morning' } })
    for (const templateParameters of [undefined, null, []]) {
      const answer = await c().send(c().whatsapp({ templateName: template.name, templateParameters }))
      expectAccepted(answer)
      expect(shownText(await c().message(answer))).toContain('Good morning')
    }
  })
})

describe('an e-mail template', () => {
  const send = (extra: Body) =>
    c().send(
      c().email({
        text: '',
        emailSubject: undefined,
        templateName: c().templates.email.name,
        templateParameters: order,
        destination: { email: freshEmail() },
        ...extra,
      }),
    )

  test('brings its own subject, with its variables filled', async () => {
    const answer = await send({})
    expectAccepted(answer)
    expect((await c().message(answer)).content).toMatchObject({
      subject: 'Order 42',
      text: '<p>Order 42 is ready.</p>',
      isHtml: true,
    })
  })

  test.for([undefined, null, ''])('also when emailSubject is %j', async (emailSubject) => {
    expect((await c().message(await send({ emailSubject }))).content.subject).toBe('Order 42')
  })

  test('takes a subject that is given instead, with variables filled', async () => {
    const answer = await send({ emailSubject: 'News for @FirstName', contact: { name: 'Ana Lima' } })
    expect((await c().message(answer)).content.subject).toBe('News for Ana')
  })
})

test('jokers fill the variables of a template, as in the example of the document', async () => {
  const template = await c().addTemplate({
    channel: 'whatsapp',
    content: { body: 'Hello @1, your appointment is on @2 at @3.', variables: ['1', '2', '3'] },
  })
  const answer = await c().send(
    c().whatsapp({
      templateName: template.name,
      templateParameters: [],
      contact: { jokers: ['Ana', 'Monday', '10:00', '', ''], updateIfExists: true },
    }),
  )
  expectAccepted(answer)
  const { content } = await c().message(answer)
  expect(content.body.map((parameter) => parameter.value)).toEqual(['Ana', 'Monday', '10:00'])
  expect(content.preview).toContain('Hello Ana, your appointment is on Monday at 10:00.')
})
