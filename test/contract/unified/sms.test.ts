import { describe, expect, test } from 'vitest'
import { expectAccepted, expectInvalid, freshPhone, useUnified } from './support.ts'

const u = useUnified()
const c = () => u.company

describe('an SMS', () => {
  test('is free text or a template, as the person will read it', async () => {
    expect((await c().message(await c().send(c().sms({ text: 'Olá!' })))).content).toMatchObject({
      kind: 'text',
      text: 'Olá!',
    })
    const answer = await c().send(
      c().sms({
        text: 'not this',
        templateName: c().templates.sms.name,
        templateParameters: [{ parameterName: 'Order', parameterValue: '42' }],
      }),
    )
    expect((await c().message(answer)).content).toMatchObject({ kind: 'text', text: 'Order 42 is ready.' })
  })

  test('leaves through the SMS line, also when source names it', async () => {
    const { countryCode, phoneNumber, id } = c().lines.sms
    for (const source of [undefined, { countryCode, phoneNumber, prospect: false }]) {
      const answer = await c().send(c().sms({ source }))
      expectAccepted(answer)
      expect((await c().message(answer)).line_id).toBe(id)
    }
  })

  test('cannot leave through a WhatsApp line', async () => {
    const { countryCode, phoneNumber } = c().lines.main
    expectInvalid(await c().send(c().sms({ source: { countryCode, phoneNumber } })), /^source(\.|$)/)
  })

  test('does not look at a subject or an e-mail address', async () => {
    const answer = await c().send(
      c().sms({ emailSubject: 'Subject', destination: { ...freshPhone(), email: 'ana@example.com' } }),
    )
    expectAccepted(answer)
    expect((await c().message(answer)).content.subject).toBeUndefined()
  })
})
