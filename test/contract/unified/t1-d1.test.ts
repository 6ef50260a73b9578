import { describe, expect, test } from 'vitest'
import {
  expectAccepted,
  expectInvalid,
  expectRefused,
  freshPhone,
  messages,
  reasonsText,
  useUnified,
  type Body,
} from './support.ts'

const u = useUnified()
const c = () => u.company

describe('rule T1: text must always be in the body', () => {
  const bodies: [string, () => Body][] = [
    ['SMS', () => c().sms()],
    ['e-mail', () => c().email()],
    ['a WhatsApp template, which does not use it', () => c().whatsapp()],
    ['an SMS template', () => c().sms({ templateName: c().templates.sms.name })],
    ['files only', () => c().email({ files: [{ name: 'a.txt', base64: 'YQ==' }] })],
  ]
  test.for(bodies)('absent from %s: 400 with exactly its message, nothing stored', async ([, build]) => {
    const before = await c().traces()
    expectRefused(await c().send({ ...build(), text: undefined }), messages.textAbsent)
    expect(await c().traces()).toEqual(before)
  })

  test('null is as absent', async () => {
    expectRefused(await c().send(c().sms({ text: null })), messages.textAbsent)
  })

  test('an empty object has none', async () => {
    expectRefused(await c().send({}), messages.textAbsent)
  })

  test('empty is present', async () => {
    expectAccepted(await c().send(c().whatsapp({ text: '' })))
  })

  test('of a wrong type it is present, and named by its path', async () => {
    expectInvalid(await c().send(c().sms({ text: 7 })), 'text')
  })

  test('inside another object it is absent', async () => {
    expectRefused(await c().send(c().sms({ text: undefined, contact: { text: 'x' } })), messages.textAbsent)
  })
})

describe('rule D1: an attendant and InAttendance true exclude each other', () => {
  const bodies: [string, () => Body][] = [
    ['SMS', () => c().sms()],
    ['e-mail', () => c().email()],
    ['WhatsApp', () => c().whatsapp()],
  ]
  test.for(bodies)('%s: 400 with exactly its message, recorded as blocked', async ([, build]) => {
    const answer = await c().send({
      ...build(),
      attendantUserName: c().users.maria.name,
      discardSettings: { InAttendance: true },
    })
    expectRefused(answer, messages.inAttendance)
    const row = await c().blocked(answer)
    expect(row).toMatchObject({ state: 'blocked', api: 'unified' })
    expect(reasonsText(row)).toContain('contact in attendance')
  })

  test('creates, changes and binds nothing on the contact', async () => {
    const to = freshPhone()
    const stranger = freshPhone()
    const contactId = await c().addContact(to, { name: 'Ana Lima' })
    for (const destination of [to, stranger])
      await c().send(
        c().sms({
          destination,
          attendantUserName: c().users.maria.name,
          discardSettings: { InAttendance: true },
          contact: { name: 'Another', updateIfExists: true },
        }),
      )
    expect(await c().contact(to)).toMatchObject({ name: 'Ana Lima', last_interaction_at: null })
    expect(await c().openAttendances(contactId)).toEqual([])
    expect(await c().contact(stranger)).toBeUndefined()
  })

  test.for<[string, Body]>([
    ['InAttendance false, as the document advises', { discardSettings: { InAttendance: false } }],
    ['InAttendance not given', { discardSettings: {} }],
    ['no discardSettings', {}],
  ])('%s: it is sent', async ([, extra]) => {
    expectAccepted(await c().send(c().sms({ attendantUserName: c().users.maria.name, ...extra })))
  })

  test('InAttendance true without an attendant: it is sent to a contact that nobody attends', async () => {
    expectAccepted(await c().send(c().sms({ discardSettings: { InAttendance: true } })))
  })
})
