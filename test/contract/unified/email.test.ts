import { describe, expect, test } from 'vitest'
import { expectAccepted, expectInvalid, useUnified } from './support.ts'

const u = useUnified()
const c = () => u.company

describe('an e-mail', () => {
  test("leaves through the company's e-mail account", async () => {
    expect((await c().message(await c().send(c().email()))).line_id).toBe(c().lines.email.id)
  })

  test('carries the subject and the text', async () => {
    const answer = await c().send(c().email({ emailSubject: 'Olá, você', text: 'Linha 1\nLinha 2' }))
    expect((await c().message(answer)).content).toMatchObject({
      subject: 'Olá, você',
      text: 'Linha 1\nLinha 2',
    })
  })

  test.for([
    '<b>Hi</b>',
    '<p>Hi',
    'one<br>two',
    'one<br/>two',
    '<A HREF="https://example.com">x</A>',
    '<!doctype html><html><body>x</body></html>',
  ])('%s is HTML', async (text) => {
    const answer = await c().send(c().email({ text }))
    expect((await c().message(answer)).content).toMatchObject({ text, isHtml: true })
  })

  test.for(['Hi', '1 < 2 and 3 > 2', '<foo>bar</foo>', 'a <b', '<ana@example.com>', '<3'])(
    '%s is plain text',
    async (text) => {
      const answer = await c().send(c().email({ text }))
      const { content } = await c().message(answer)
      expect(content.text).toBe(text)
      expect(content.isHtml ?? false).toBe(false)
    },
  )

  test.for(['a\r\nBcc: x@example.com', 'a\nb', 'a\rb', '\n'])(
    'a subject with a line break, %j: 400',
    async (emailSubject) => {
      const before = await c().traces()
      expectInvalid(await c().send(c().email({ emailSubject })), 'emailSubject')
      expect(await c().traces()).toEqual(before)
    },
  )

  test('a subject with a template cannot have one either', async () => {
    const answer = await c().send(
      c().email({
        emailSubject: 'a\r\nb',
        templateName: c().templates.email.name,
        templateParameters: [{ parameterName: 'Order', parameterValue: '1' }],
      }),
    )
    expectInvalid(answer, 'emailSubject')
  })

  test('a number in destination is not used', async () => {
    const body = c().email({
      destination: { email: 'only@example.com', countryCode: 55, phoneNumber: 11960000009 },
    })
    const answer = await c().send(body)
    expectAccepted(answer)
    expect((await c().message(answer)).recipient).toBe('only@example.com')
  })
})
