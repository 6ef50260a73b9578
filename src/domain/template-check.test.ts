import { describe, expect, test } from 'vitest'
import { demoTemplates } from '../flows/demo/templates.ts'
import { checkTemplate, providerCategory, type TemplateDraft } from './template-check.ts'
import { toProviderTemplate } from './provider-template.ts'
import type { TemplateContent } from './template.ts'

const provider = {
  name: 'a_name',
  language: 'pt_BR',
  parameterFormat: 'positional',
  category: 'utility',
} as const

const draft = (changes: Partial<TemplateDraft>, content: Partial<TemplateContent> = {}): TemplateDraft => ({
  name: 'Name',
  code: 'code',
  channel: 'sms',
  kind: 'text',
  ...changes,
  content: { body: 'Hello', buttons: [], variables: [], ...content },
})
const whatsapp = (content: Partial<TemplateContent>, changes: Partial<TemplateDraft> = {}) =>
  draft({ channel: 'whatsapp', ...changes }, { provider, ...content })
const verification = (content: Partial<TemplateContent>) =>
  whatsapp(
    {
      body: '@Code is your code',
      variables: ['Code'],
      buttons: [{ kind: 'code', text: 'Copy', value: '@Code' }],
      ...content,
    },
    { kind: 'verification' },
  )
const cards = (count: number) =>
  Array.from({ length: count }, () => ({
    body: 'A card',
    buttons: [{ kind: 'quick_reply' as const, text: 'Yes' }],
  }))

const fieldsOf = (given: TemplateDraft) => checkTemplate(given).map(({ field }) => field)

test.each(demoTemplates.map((template) => [template.code, template] as const))(
  'the demo template %s is good',
  (_code, template) => expect(checkTemplate(template)).toEqual([]),
)

describe('names and texts', () => {
  test.each([
    ['no name', draft({ name: ' ' }), 'name'],
    ['no code', draft({ code: '' }), 'code'],
    ['a name of two lines', draft({ name: 'a\nb' }), 'name'],
    ['no body', draft({}, { body: ' ' }), 'body'],
  ])('%s', (_what, given, field) => expect(fieldsOf(given)).toEqual([field]))
})

describe('variables', () => {
  test('declared but not used, declared twice, and no name at all', () => {
    expect(checkTemplate(draft({}, { variables: ['Missing'] }))).toEqual([
      { field: 'variables', message: '"Missing" is declared but not used' },
    ])
    expect(fieldsOf(draft({}, { body: '@A', variables: ['A', '@a'] }))).toEqual(['variables'])
    expect(fieldsOf(draft({}, { body: '@A b', variables: ['A b'] }))).toContain('variables')
  })

  test('a contact variable or a number that is used must be declared; a style sheet is left alone', () => {
    expect(fieldsOf(draft({}, { body: 'Hi @FirstName' }))).toEqual(['variables'])
    expect(fieldsOf(draft({}, { body: 'Hi @1' }))).toEqual(['variables'])
    expect(fieldsOf(draft({}, { body: '@media print, mail to a@name.example, @pombo' }))).toEqual([])
  })

  test('used in a button or in the header counts as used', () => {
    const given = whatsapp({
      header: { kind: 'text', text: 'No. @Number' },
      buttons: [{ kind: 'url', text: 'Open', url: 'https://example.com/@Id' }],
      variables: ['Number', 'Id'],
    })
    expect(checkTemplate(given)).toEqual([])
  })
})

describe('verification', () => {
  test('a code in the body and in the button is good', () => expect(fieldsOf(verification({}))).toEqual([]))
  test.each([
    ['no button', verification({ buttons: [] }), 'buttons'],
    [
      'a button without the code',
      verification({ buttons: [{ kind: 'quick_reply', text: 'Ok' }] }),
      'buttons',
    ],
    ['a body without the code', verification({ body: 'Your code' }), 'body'],
    [
      'further variables at the end of the body, where the provider takes none',
      verification({
        body: 'Hi @Joker1, @Code is your code at @Company',
        variables: ['Joker1', 'Code', 'Company'],
      }),
      'body',
    ],
    ['no declared code', verification({ variables: [] }), 'variables'],
  ])('%s is refused', (_what, given, field) => expect(fieldsOf(given)).toContain(field))

  test('how long a code is good for, where the provider says so', () => {
    expect(fieldsOf(verification({ codeExpiryMinutes: 10 }))).toEqual([])
    expect(fieldsOf(verification({ codeExpiryMinutes: 91 }))).toEqual(['codeExpiryMinutes'])
    const more = { body: 'Hi @Name, @Code is it', variables: ['Name', 'Code'], codeExpiryMinutes: 10 }
    expect(fieldsOf(verification(more))).toEqual(['codeExpiryMinutes'])
    expect(fieldsOf(draft({}, { codeExpiryMinutes: 10 }))).toEqual(['codeExpiryMinutes'])
  })

  test('an address button may carry the code', () => {
    const buttons = [{ kind: 'url' as const, text: 'Copy', url: 'https://example.com/otp/@Code' }]
    expect(fieldsOf(verification({ buttons }))).toEqual([])
  })

  test('a code alone is authentication, with further variables it is utility', () => {
    expect(providerCategory('verification', verification({}).content)).toBe('authentication')
    const more = verification({ body: 'Hi @Name, @Code', variables: ['Name', 'Code'] })
    expect(providerCategory('verification', more.content)).toBe('utility')
  })
})

describe('carousel', () => {
  const carousel = (count: number) => whatsapp({ cards: cards(count) }, { kind: 'carousel' })
  test.each([2, 10])('%i cards are good', (count) => expect(fieldsOf(carousel(count))).toEqual([]))
  test.each([0, 1, 11])('%i cards are refused', (count) =>
    expect(fieldsOf(carousel(count))).toContain('cards'),
  )

  test('all cards have the same parts, and 160 characters at most', () => {
    const uneven = cards(2).map((card, at) => (at === 1 ? { ...card, buttons: [] } : card))
    expect(fieldsOf(whatsapp({ cards: uneven }, { kind: 'carousel' }))).toEqual(['cards[1]'])
    const long = cards(2).map((card) => ({ ...card, body: 'x'.repeat(161) }))
    expect(fieldsOf(whatsapp({ cards: long }, { kind: 'carousel' }))).toEqual([
      'cards[0].body',
      'cards[1].body',
    ])
  })

  test('on WhatsApp only, and cards on a carousel only', () => {
    expect(fieldsOf(draft({ channel: 'sms', kind: 'carousel' }, { cards: cards(2) }))).toContain('channel')
    expect(fieldsOf(whatsapp({ cards: cards(2) }))).toEqual(['cards'])
  })
})

describe('what a channel takes', () => {
  test('lengths on WhatsApp, in characters', () => {
    expect(fieldsOf(whatsapp({ body: '😀'.repeat(1024) }))).toEqual([])
    expect(fieldsOf(whatsapp({ body: '😀'.repeat(1025) }))).toEqual(['body'])
    expect(fieldsOf(whatsapp({ header: { kind: 'text', text: 'x'.repeat(61) } }))).toEqual(['header'])
    expect(fieldsOf(whatsapp({ footer: 'x'.repeat(61) }))).toEqual(['footer'])
    expect(fieldsOf(whatsapp({ buttons: [{ kind: 'quick_reply', text: 'x'.repeat(26) }] }))).toEqual([
      'buttons[0].text',
    ])
  })

  test('a WhatsApp body neither begins nor ends with a variable, nor has two side by side', () => {
    const body = (text: string) => fieldsOf(whatsapp({ body: text, variables: ['A', 'B'] }))
    expect(body('x @A and @B x')).toEqual([])
    expect(body('@A and @B x')).toEqual(['body'])
    expect(body('x @A and @B')).toEqual(['body'])
    expect(body('x @A @B x')).toEqual(['body'])
  })

  test('one variable in a WhatsApp header, none in a footer', () => {
    const header = { kind: 'text' as const, text: '@A and @B' }
    expect(fieldsOf(whatsapp({ header, variables: ['A', 'B'] }))).toEqual(['header'])
    expect(fieldsOf(whatsapp({ body: 'x @A x', footer: 'by @A', variables: ['A'] }))).toEqual(['footer'])
  })

  test('WhatsApp needs the name and language the provider knows it by', () => {
    expect(fieldsOf(draft({ channel: 'whatsapp' }))).toEqual(['provider'])
    expect(fieldsOf(whatsapp({ provider: { ...provider, name: 'Big Name', language: 'english' } }))).toEqual([
      'provider.name',
      'provider.language',
    ])
  })

  test('an SMS of more than ten segments is refused', () => {
    expect(fieldsOf(draft({}, { body: 'x'.repeat(1530) }))).toEqual([])
    expect(fieldsOf(draft({}, { body: 'x'.repeat(1531) }))).toEqual(['body'])
  })

  test('an e-mail needs a subject of one line; others have none', () => {
    expect(fieldsOf(draft({ channel: 'email' }))).toEqual(['subject'])
    expect(fieldsOf(draft({ channel: 'email' }, { subject: 'a\r\nBcc: x' }))).toEqual(['subject'])
    expect(fieldsOf(draft({ channel: 'email' }, { subject: 'x'.repeat(998) }))).toEqual([])
    expect(fieldsOf(draft({ channel: 'email' }, { subject: 'x'.repeat(999) }))).toEqual(['subject'])
    expect(fieldsOf(draft({}, { subject: 'Lost' }))).toEqual(['subject'])
  })

  test('buttons, header and footer belong to WhatsApp', () => {
    const given = draft(
      {},
      { header: { kind: 'image' }, footer: 'x', buttons: [{ kind: 'quick_reply', text: 'x' }] },
    )
    expect(fieldsOf(given)).toEqual(['header', 'footer', 'buttons'])
  })

  test('an address button is http(s) and ends in its only variable', () => {
    const url = (text: string) =>
      fieldsOf(
        whatsapp({ body: 'x @A x', variables: ['A'], buttons: [{ kind: 'url', text: 'Go', url: text }] }),
      )
    expect(url('https://example.com/@A')).toEqual([])
    expect(url('https://example.com/@A/x')).toEqual(['buttons[0].url'])
    expect(url('javascript:alert(1)')).toEqual(['buttons[0].url'])
  })
})

test('the provider gets numbered placeholders, each text by itself, with samples', () => {
  const invoice = demoTemplates.find(({ code }) => code === 'invoice')!
  const given = toProviderTemplate({ ...invoice, id: '', isEnabled: true, approval: 'approved' })
  expect(given).toMatchObject({
    name: 'invoice',
    language: 'en',
    category: 'UTILITY',
    parameter_format: 'POSITIONAL',
  })
  expect(given.components).toEqual([
    { type: 'HEADER', format: 'TEXT', text: 'Invoice {{1}}', example: { header_text: ['InvoiceNumber'] } },
    {
      type: 'BODY',
      text: 'The invoice over {{1}} is due on {{2}}. Reply to this message if anything is unclear.',
      example: { body_text: [['Amount', 'DueDate']] },
    },
    {
      type: 'BUTTONS',
      buttons: [
        {
          type: 'URL',
          text: 'See the invoice',
          url: 'https://example.com/invoices/{{1}}',
          example: ['InvoiceNumber'],
        },
      ],
    },
  ])
})
