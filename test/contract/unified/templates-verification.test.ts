import { beforeAll, describe, expect, test } from 'vitest'
import type { TemplateContent } from '../../../src/domain/template.ts'
import { createTemplate } from '../../../src/store/templates.ts'
import { expectAccepted, expectInvalid, errorsAt, useUnified, type Body } from './support.ts'

const u = useUnified()
const c = () => u.company

const codeButton = { kind: 'code' as const, text: 'Copy', value: '@Code' }
let plain = ''
let withMore = ''

beforeAll(async () => {
  plain = (
    await c().addTemplate({
      channel: 'whatsapp',
      kind: 'verification',
      content: { body: '@Code is your code.', variables: ['Code'], buttons: [codeButton] },
    })
  ).name
  withMore = (
    await c().addTemplate({
      channel: 'whatsapp',
      kind: 'verification',
      content: {
        body: '@Joker1, your code for @Shop is @Code.',
        variables: ['Joker1', 'Shop', 'Code'],
        buttons: [codeButton],
      },
    })
  ).name
})

const send = (templateName: string, values: Record<string, unknown>, extra: Body = {}) =>
  c().send(
    c().whatsapp({
      templateName,
      templateParameters: Object.entries(values).map(([parameterName, parameterValue]) => ({
        parameterName,
        parameterValue,
      })),
      ...extra,
    }),
  )

describe('a verification-code template', () => {
  test('takes one parameter named Code, for its body and its button', async () => {
    const answer = await send(plain, { Code: '123456' })
    expectAccepted(answer)
    const { content } = await c().message(answer)
    expect(content.templateKind).toBe('verification')
    expect(content.body).toMatchObject([{ value: '123456' }])
    expect(content.buttons).toMatchObject([{ index: 0, value: '123456' }])
    expect(content.preview).toContain('123456 is your code.')
  })

  test.for(['code', 'CODE', '@Code'])('spelled %s', async (name) => {
    expectAccepted(await send(plain, { [name]: '123456' }))
  })

  test('does not go without it', async () => {
    const answer = await send(plain, {})
    expectInvalid(answer, 'templateParameters')
    expect(errorsAt(answer, 'templateParameters')).toContain('Code')
  })

  test('a code has at most 15 characters', async () => {
    expectAccepted(await send(plain, { Code: '1'.repeat(15) }))
    expectInvalid(await send(plain, { Code: '1'.repeat(16) }), /^templateParameters/)
  })

  test('may have further variables in its body, for example jokers', async () => {
    const answer = await send(withMore, { Code: '123456', Shop: 'Pombo' }, { contact: { jokers: ['Ana'] } })
    expectAccepted(answer)
    const { content } = await c().message(answer)
    expect(content.preview).toContain('Ana, your code for Pombo is 123456.')
    expect(content.buttons).toMatchObject([{ index: 0, value: '123456' }])
  })

  test('needs those too', async () => {
    const answer = await send(withMore, { Code: '123456' }, { contact: { jokers: ['Ana'] } })
    expectInvalid(answer, 'templateParameters')
    expect(errorsAt(answer, 'templateParameters')).toContain('Shop')
  })
})

describe('saving one', () => {
  let saved = 0
  const save = (content: Partial<TemplateContent>) => {
    const number = ++saved
    return createTemplate(u.app.db, c().id, {
      name: `Saved ${number}`,
      code: `saved-${number}`,
      channel: 'whatsapp',
      kind: 'verification',
      content: {
        body: '@Code is your code.',
        variables: ['Code'],
        buttons: [codeButton],
        provider: {
          name: `saved_${number}`,
          language: 'en',
          parameterFormat: 'positional',
          category: 'utility',
        },
        ...content,
      },
    })
  }

  test('without @Code in its button is refused', async () => {
    expect(await save({ buttons: [] })).toMatchObject({ ok: false })
    expect(await save({ buttons: [{ ...codeButton, value: '@Other' }] })).toMatchObject({ ok: false })
    expect(await save({ buttons: [{ kind: 'quick_reply', text: 'Ok' }] })).toMatchObject({ ok: false })
  })

  test('with @Code alone registers it as authentication, with further variables as utility', async () => {
    expect(await save({})).toMatchObject({
      ok: true,
      value: { content: { provider: { category: 'authentication' } } },
    })
    const more = { body: 'Hello @Joker1, @Code is your code.', variables: ['Joker1', 'Code'] }
    expect(await save(more)).toMatchObject({
      ok: true,
      value: { content: { provider: { category: 'utility' } } },
    })
  })
})
