import { describe, expect, test } from 'vitest'
import {
  expectAccepted,
  expectRefused,
  freshPhone,
  hourMs,
  messages,
  reasonsText,
  useUnified,
  type TestPhone,
} from './support.ts'

const u = useUnified()
const c = () => u.company
const ago = (ms: number) => new Date(u.app.clock.now().getTime() - ms)

const withWindow = async (line: { id: string }, receivedAt: Date): Promise<TestPhone> => {
  const to = freshPhone()
  await c().openWindow(await c().addContact(to), line.id, receivedAt)
  return to
}

describe('free text on WhatsApp needs an open window', () => {
  test('somebody new has none: 400 with the message, recorded as blocked', async () => {
    const to = freshPhone()
    const answer = await c().send(c().whatsappText(to))
    expectRefused(answer, messages.windowClosed)
    const row = await c().blocked(answer)
    expect(row.state).toBe('blocked')
    expect(reasonsText(row)).toContain('24-hour window closed')
    expect(await c().contact(to)).toBeUndefined()
  })

  test('it is open for 24 hours from the last message received', async () => {
    expectAccepted(
      await c().send(c().whatsappText(await withWindow(c().lines.main, ago(24 * hourMs - 1000)))),
    )
    expectRefused(
      await c().send(c().whatsappText(await withWindow(c().lines.main, ago(24 * hourMs + 1000)))),
      messages.windowClosed,
    )
  })

  test('it closes as time passes', async () => {
    const to = await withWindow(c().lines.main, ago(0))
    expectAccepted(await c().send(c().whatsappText(to)))
    u.app.clock.advance(24 * hourMs + 1000)
    expectRefused(await c().send(c().whatsappText(to)), messages.windowClosed)
  })

  test('our own messages do not open it', async () => {
    const to = freshPhone()
    expectAccepted(await c().send(c().whatsapp({ destination: to })))
    expectRefused(await c().send(c().whatsappText(to)), messages.windowClosed)
  })

  test('files without template need it too', async () => {
    const files = [{ name: 'a.pdf', base64: Buffer.from('%PDF-1.4').toString('base64') }]
    expectRefused(await c().send(c().whatsappText(freshPhone(), { text: '', files })), messages.windowClosed)
    const to = await withWindow(c().lines.main, ago(0))
    expectAccepted(await c().send(c().whatsappText(to, { text: '', files })))
  })

  test('the two spellings of a Brazilian mobile share it', async () => {
    const to = await withWindow(c().lines.main, ago(0))
    const short = { countryCode: 55, phoneNumber: Number(String(to.phoneNumber).replace(/^119/, '11')) }
    expectAccepted(await c().send(c().whatsappText(short)))
  })
})

describe('the window belongs to a contact and a line', () => {
  test('one that is open on another line does not count for a named line', async () => {
    const to = await withWindow(c().lines.plain, ago(0))
    const source = (line: { phoneNumber: number }) => ({
      source: { countryCode: 55, phoneNumber: line.phoneNumber, prospect: false },
    })
    expectRefused(await c().send(c().whatsappText(to, source(c().lines.main))), messages.windowClosed)
    expectAccepted(await c().send(c().whatsappText(to, source(c().lines.plain))))
  })

  test('of lines that may be chosen freely one with an open window is taken', async () => {
    const to = await withWindow(c().lines.prospectB, ago(0))
    for (let turn = 0; turn < 10; turn++) {
      const answer = await c().send(c().whatsappText(to, { source: { prospect: true } }))
      expectAccepted(answer)
      expect((await c().message(answer)).line_id).toBe(c().lines.prospectB.id)
    }
  })

  test('with none open among them it is refused', async () => {
    const to = await withWindow(c().lines.plain, ago(0))
    expectRefused(await c().send(c().whatsappText(to, { source: { prospect: true } })), messages.windowClosed)
  })
})

describe('nothing else needs it', () => {
  test('a WhatsApp template', async () => {
    expectAccepted(await c().send(c().whatsapp()))
  })
  test('free text by SMS and by e-mail', async () => {
    expectAccepted(await c().send(c().sms()))
    expectAccepted(await c().send(c().email()))
  })
})
