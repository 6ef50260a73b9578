import { describe, expect, test } from 'vitest'
import {
  expectAccepted,
  expectInvalid,
  expectRefused,
  freshPhone,
  hourMs,
  messages,
  reasonsText,
  useUnified,
  type Body,
} from './support.ts'
import { request } from '../../harness/http.ts'

const u = useUnified()

const without = (body: Body, ...names: string[]): Body =>
  Object.fromEntries(Object.entries(body).filter(([name]) => !names.includes(name)))

describe('the earlier of two faults decides', () => {
  test('1 before 2: no token and no object', async () => {
    const answer = await request(`${u.app.url}/v1/sendmessage`, { body: '[]' })
    expect(answer.status).toBe(401)
  })

  test.for(['[]', '"text"', '17', 'null', 'true', '{"text"'])('2 before 3: %s is no object', async (body) => {
    const answer = await u.company.send(body)
    expect(answer.status).toBe(400)
    expect(answer.body['message']).not.toBe(messages.textAbsent)
  })

  test('3 before 4: no text and no private token', async () => {
    expectRefused(
      await u.company.send(without(u.company.sms(), 'text', 'platformPrivateToken')),
      messages.textAbsent,
    )
  })

  test('3 before 5: no text, and nothing has its type', async () => {
    const answer = await u.company.send({
      platformPrivateToken: 1,
      channel: '3',
      destination: [],
      contact: 'x',
      files: {},
    })
    expectRefused(answer, messages.textAbsent)
    expect(answer.body['errors']).toBeUndefined()
  })

  test('3 before 6 and 7: no text, rule D1 and a template that does not exist', async () => {
    const body = u.company.whatsapp({
      attendantUserName: u.company.users.maria.name,
      discardSettings: { InAttendance: true },
      templateName: 'no such template',
    })
    expectRefused(await u.company.send(without(body, 'text')), messages.textAbsent)
  })

  test('4 before 5: a wrong private token and a wrong type', async () => {
    const answer = await u.company.send(u.company.sms({ platformPrivateToken: 'wrong', channel: '2' }))
    expectInvalid(answer, 'platformPrivateToken')
  })

  test('5 before 6: a wrong type and rule D1', async () => {
    const answer = await u.company.send(
      u.company.sms({
        attendantUserName: u.company.users.maria.name,
        discardSettings: { InAttendance: true, recentContactLastHours: 'x' },
      }),
    )
    expectInvalid(answer, 'discardSettings.recentContactLastHours')
    expect(answer.body['message']).not.toBe(messages.inAttendance)
  })

  test.for<[string, Body]>([
    ['a template that does not exist', { templateName: 'no such template' }],
    ['a line that does not exist', { source: { countryCode: 55, phoneNumber: 1139999999 } }],
    ['a wallet that does not exist', { contact: { walletClientCode: 'no such wallet' } }],
    ['an attendant that does not exist', { attendantUserName: 'nobody at all' }],
  ])('6 before 7: rule D1 and %s', async ([, extra]) => {
    const answer = await u.company.send(
      u.company.whatsapp({
        attendantUserName: u.company.users.maria.name,
        discardSettings: { InAttendance: true },
        ...extra,
      }),
    )
    expectRefused(answer, messages.inAttendance)
  })

  test('7 before 8: an unknown wallet and a contact in attendance that was just contacted', async () => {
    const to = freshPhone()
    const contactId = await u.company.addContact(to, { last_interaction_at: u.app.clock.now() })
    await u.company.openAttendance(contactId, u.company.users.maria.id, u.app.clock.now())
    const answer = await u.company.send(
      u.company.sms({
        destination: to,
        contact: { walletClientCode: 'no such wallet' },
        discardSettings: { InAttendance: true, recentContactLastHours: 1 },
      }),
    )
    expectInvalid(answer, 'contact.walletClientCode')
  })

  test('within 7 everything is reported at once', async () => {
    const answer = await u.company.send(
      u.company.whatsapp({
        templateName: 'no such template',
        attendantUserName: 'nobody',
        contact: { walletClientCode: 'none' },
        source: { countryCode: 55, phoneNumber: 1139999999 },
      }),
    )
    expectInvalid(answer, 'templateName', 'attendantUserName', 'contact.walletClientCode', /^source(\.|$)/)
  })
})

describe('8: attendance, recent contact, window, rules, in this order', () => {
  const setUp = async () => {
    const company = await u.newCompany()
    const to = freshPhone()
    const contactId = await company.addContact(to, { last_interaction_at: u.app.clock.now() })
    await company.openAttendance(contactId, company.users.maria.id, u.app.clock.now())
    await company.addRestrictionList('Debtors', [to])
    return { company, to }
  }

  test('the message is that of the first that applies', async () => {
    const { company, to } = await setUp()
    const send = (discardSettings: Body) => company.send(company.whatsappText(to, { discardSettings }))
    expectRefused(await send({ InAttendance: true, recentContactLastHours: 1 }), messages.inAttendance)
    expectRefused(await send({ recentContactLastHours: 1 }), messages.recentlyContacted)
    expectRefused(await send({}), messages.windowClosed)
    const byRule = await company.send(company.sms({ destination: to }))
    expect(byRule.status).toBe(400)
    expect(byRule.body['message']).toMatch(/^message not sent: .*Debtors/)
  })

  test('all that apply are recorded', async () => {
    const { company, to } = await setUp()
    const answer = await company.send(
      company.whatsappText(to, { discardSettings: { InAttendance: true, recentContactLastHours: 1 } }),
    )
    const row = await company.blocked(answer)
    expect(row.state).toBe('blocked')
    for (const reason of [
      'contact in attendance',
      'contact recently contacted',
      '24-hour window closed',
      'Debtors',
    ])
      expect(reasonsText(row)).toContain(reason)
  })

  test('all that apply are in a verdict, in this order', async () => {
    const { company, to } = await setUp()
    const answer = await company.send(
      company.whatsappText(to, { discardSettings: { InAttendance: true, recentContactLastHours: 1 } }),
      { 'pombo-dry-run': 'true' },
    )
    expectRefused(answer, messages.inAttendance)
    const verdict = answer.body['verdict'] as { rule: string; passed: boolean }[]
    expect(verdict.filter((item) => !item.passed).map((item) => item.rule)).toEqual([
      'attendance',
      'recent_contact',
      'window',
      'restriction_list',
    ])
  })

  test('and when none applies it is accepted', async () => {
    const company = await u.newCompany()
    const to = freshPhone()
    const contactId = await company.addContact(to, {
      last_interaction_at: new Date(u.app.clock.now().getTime() - 2 * hourMs),
    })
    await company.openWindow(
      contactId,
      company.lines.main.id,
      new Date(u.app.clock.now().getTime() - 2 * hourMs),
    )
    await company.addRestrictionList('Debtors', [freshPhone()])
    expectAccepted(
      await company.send(
        company.whatsappText(to, { discardSettings: { InAttendance: true, recentContactLastHours: 1 } }),
      ),
    )
  })
})
