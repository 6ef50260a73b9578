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
  type Company,
  type TestPhone,
} from './support.ts'

const u = useUnified()
const c = () => u.company
const discard = { discardSettings: { InAttendance: true } }

const attended = async (company: Company = c()): Promise<TestPhone> => {
  const to = freshPhone()
  const contactId = await company.addContact(to)
  await company.openAttendance(contactId, company.users.maria.id, u.app.clock.now())
  return to
}

const attendants = async (to: TestPhone, company: Company = c()) =>
  (await company.openAttendances((await company.contact(to))!.id)).map((row) => row.user_id)

describe('InAttendance', () => {
  test('true discards a contact in attendance: 400 with the message, recorded as blocked', async () => {
    const answer = await c().send(c().sms({ destination: await attended(), ...discard }))
    expectRefused(answer, messages.inAttendance)
    const row = await c().blocked(answer)
    expect(row.state).toBe('blocked')
    expect(reasonsText(row)).toContain('contact in attendance')
  })

  test.for([false, undefined])('%s sends to a contact in attendance', async (InAttendance) => {
    expectAccepted(
      await c().send(c().sms({ destination: await attended(), discardSettings: { InAttendance } })),
    )
  })

  test('true sends to a contact that nobody attends', async () => {
    const to = freshPhone()
    await c().addContact(to)
    expectAccepted(await c().send(c().sms({ destination: to, ...discard })))
  })
})

describe('attendantUserName', () => {
  test('opens an attendance of that user with an accepted send', async () => {
    const to = freshPhone()
    expectAccepted(await c().send(c().sms({ destination: to, attendantUserName: c().users.maria.name })))
    expect(await attendants(to)).toEqual([c().users.maria.id])
  })

  test('makes the contact count as in attendance', async () => {
    const to = freshPhone()
    expectAccepted(await c().send(c().sms({ destination: to, attendantUserName: c().users.maria.name })))
    expectRefused(await c().send(c().sms({ destination: to, ...discard })), messages.inAttendance)
  })

  test('moves an open attendance to that user: there is one at a time', async () => {
    const to = await attended()
    expectAccepted(await c().send(c().sms({ destination: to, attendantUserName: c().users.joao.name })))
    expect(await attendants(to)).toEqual([c().users.joao.id])
    expectAccepted(await c().send(c().sms({ destination: to, attendantUserName: c().users.joao.name })))
    expect(await attendants(to)).toEqual([c().users.joao.id])
  })

  test('absent leaves an attendance as it is', async () => {
    const to = await attended()
    expectAccepted(await c().send(c().sms({ destination: to })))
    expect(await attendants(to)).toEqual([c().users.maria.id])
  })

  test.for(['administrator', 'joao', 'maria'] as const)(
    'may be any user that may attend: %s',
    async (user) => {
      expectAccepted(await c().send(c().sms({ attendantUserName: c().users[user].name })))
    },
  )

  test.for<[string, () => string]>([
    ['nobody', () => 'nobody of that name'],
    ['an API user', () => c().users.api.name],
    ['a viewer', () => c().users.viewer.name],
    ['a disabled user', () => c().users.disabled.name],
  ])('is %s: 400, nothing stored', async ([, name]) => {
    const before = await c().traces()
    expectInvalid(await c().send(c().sms({ attendantUserName: name() })), 'attendantUserName')
    expect(await c().traces()).toEqual(before)
  })

  test('of another company is nobody', async () => {
    const other = await u.newCompany()
    await u.app.db.query("update app_user set name = 'Theirs', name_key = 'theirs' where id = $1", [
      other.users.maria.id,
    ])
    expectInvalid(await c().send(c().sms({ attendantUserName: 'theirs' })), 'attendantUserName')
  })

  test('binds nothing when the send is refused', async () => {
    const to = freshPhone()
    const contactId = await c().addContact(to)
    expectRefused(
      await c().send(c().whatsappText(to, { attendantUserName: c().users.maria.name })),
      messages.windowClosed,
    )
    expect(await c().openAttendances(contactId)).toEqual([])
  })

  test('moves nothing when the send is refused', async () => {
    const to = await attended()
    expectRefused(
      await c().send(c().whatsappText(to, { attendantUserName: c().users.joao.name })),
      messages.windowClosed,
    )
    expect(await attendants(to)).toEqual([c().users.maria.id])
  })
})

describe('an attendance ends', () => {
  test('when a person closes it', async () => {
    const to = await attended()
    expectRefused(await c().send(c().sms({ destination: to, ...discard })), messages.inAttendance)
    await u.app.db.query("update attendance set closed_at = $2, closed_by = 'Maria' where contact_id = $1", [
      (await c().contact(to))!.id,
      u.app.clock.now(),
    ])
    expectAccepted(await c().send(c().sms({ destination: to, ...discard })))
  })

  test('after 24 idle hours unless the company says otherwise', async () => {
    const to = await attended()
    u.app.clock.advance(24 * hourMs - 1000)
    expectRefused(await c().send(c().sms({ destination: to, ...discard })), messages.inAttendance)
    u.app.clock.advance(2000)
    expectAccepted(await c().send(c().sms({ destination: to, ...discard })))
  })

  test("after the company's own idle hours", async () => {
    const company = await u.newCompany({ attendanceIdleHours: 2 })
    const to = await attended(company)
    u.app.clock.advance(2 * hourMs - 1000)
    expectRefused(await company.send(company.sms({ destination: to, ...discard })), messages.inAttendance)
    u.app.clock.advance(2000)
    expectAccepted(await company.send(company.sms({ destination: to, ...discard })))
  })

  test('and a new one can be opened after that', async () => {
    const to = await attended()
    u.app.clock.advance(25 * hourMs)
    expectAccepted(await c().send(c().sms({ destination: to, attendantUserName: c().users.joao.name })))
    expectRefused(await c().send(c().sms({ destination: to, ...discard })), messages.inAttendance)
    expect(await attendants(to)).toEqual([c().users.joao.id])
  })
})
