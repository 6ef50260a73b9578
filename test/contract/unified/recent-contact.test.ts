import { describe, expect, test } from 'vitest'
import {
  expectAccepted,
  expectRefused,
  freshEmail,
  freshPhone,
  hourMs,
  messages,
  reasonsText,
  useUnified,
} from './support.ts'

const u = useUnified()
const c = () => u.company
const recent = (hours: number) => ({ discardSettings: { recentContactLastHours: hours } })

describe('recentContactLastHours discards a send after an earlier interaction', () => {
  test('within the hours: 400 with the message, recorded as blocked', async () => {
    const to = freshPhone()
    expectAccepted(await c().send(c().sms({ destination: to })))
    const answer = await c().send(c().sms({ destination: to, ...recent(1) }))
    expectRefused(answer, messages.recentlyContacted)
    const row = await c().blocked(answer)
    expect(row.state).toBe('blocked')
    expect(reasonsText(row)).toContain('contact recently contacted')
  })

  test('until they have passed', async () => {
    const to = freshPhone()
    expectAccepted(await c().send(c().sms({ destination: to })))
    u.app.clock.advance(2 * hourMs - 2000)
    expectRefused(await c().send(c().sms({ destination: to, ...recent(2) })), messages.recentlyContacted)
    u.app.clock.advance(4000)
    expectAccepted(await c().send(c().sms({ destination: to, ...recent(2) })))
  })

  test('0 asks for nothing', async () => {
    const to = freshPhone()
    for (let turn = 0; turn < 3; turn++)
      expectAccepted(await c().send(c().sms({ destination: to, ...recent(0) })))
  })

  test('somebody new has had no interaction', async () => {
    expectAccepted(await c().send(c().sms(recent(8760))))
  })

  test('a stored contact without any interaction neither', async () => {
    const to = freshPhone()
    await c().addContact(to, { name: 'Imported' })
    expectAccepted(await c().send(c().sms({ destination: to, ...recent(24) })))
  })
})

describe('an interaction is', () => {
  test('an accepted message on any channel', async () => {
    const to = freshPhone()
    expectAccepted(await c().send(c().sms({ destination: to })))
    expectRefused(await c().send(c().whatsapp({ destination: to, ...recent(1) })), messages.recentlyContacted)
  })

  test('a received message', async () => {
    const to = freshPhone()
    await c().addContact(to, { last_interaction_at: u.app.clock.now() })
    expectRefused(await c().send(c().sms({ destination: to, ...recent(1) })), messages.recentlyContacted)
  })

  test('not a refused send', async () => {
    const to = freshPhone()
    expectRefused(await c().send(c().whatsappText(to)), messages.windowClosed)
    expectAccepted(await c().send(c().sms({ destination: to, ...recent(1) })))
  })

  test('not a refused send to a contact that exists: its hours run on from the accepted one', async () => {
    const to = freshPhone()
    expectAccepted(await c().send(c().sms({ destination: to })))
    u.app.clock.advance(hourMs / 2)
    expectRefused(await c().send(c().sms({ destination: to, ...recent(1) })), messages.recentlyContacted)
    u.app.clock.advance(hourMs / 2 + 2000)
    expectAccepted(await c().send(c().sms({ destination: to, ...recent(1) })))
  })

  test('not a bad request', async () => {
    const to = freshPhone()
    await c().send(c().sms({ destination: to, templateName: 'no such template' }))
    expectAccepted(await c().send(c().sms({ destination: to, ...recent(1) })))
  })

  test("not another contact's", async () => {
    expectAccepted(await c().send(c().sms()))
    expectAccepted(await c().send(c().sms(recent(1))))
  })

  test("not another company's", async () => {
    const to = freshPhone()
    const other = await u.newCompany()
    expectAccepted(await other.send(other.sms({ destination: to })))
    expectAccepted(await c().send(c().sms({ destination: to, ...recent(1) })))
  })

  test('an e-mail, for the contact with that address', async () => {
    const email = freshEmail()
    expectAccepted(await c().send(c().email({ destination: { email } })))
    expectRefused(
      await c().send(c().email({ destination: { email: email.toUpperCase() }, ...recent(1) })),
      messages.recentlyContacted,
    )
  })
})

test('a contact that was just contacted is refused by a send that was accepted a moment ago with the same condition', async () => {
  const to = freshPhone()
  expectAccepted(await c().send(c().sms({ destination: to, ...recent(1) })))
  expectRefused(await c().send(c().sms({ destination: to, ...recent(1) })), messages.recentlyContacted)
  expect((await c().contact(to))!.last_interaction_at).not.toBeNull()
})
