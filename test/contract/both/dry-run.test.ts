import { describe, expect, test } from 'vitest'
import type { Answer } from '../../harness/http.ts'
import {
  expectAccepted,
  expectInvalid,
  expectRefused,
  freshPhone,
  messages,
  useUnified,
  type Body,
} from '../unified/support.ts'

const u = useUnified()
const c = () => u.company

const dry = (body: unknown, headers: Record<string, string> = {}) =>
  c().send(body, { 'pombo-dry-run': 'true', ...headers })

type Item = { rule: string; passed: boolean; reason?: string; matched?: string; nextAllowedAt?: string }
const verdictOf = (answer: Answer) => answer.body['verdict'] as Item[]

const expectVerdict = (answer: Answer) => {
  expect(Array.isArray(answer.body['verdict']), answer.text).toBe(true)
  for (const item of verdictOf(answer)) {
    expect(typeof item.rule).toBe('string')
    expect(typeof item.passed).toBe('boolean')
    for (const key of Object.keys(item))
      expect(['rule', 'passed', 'reason', 'matched', 'nextAllowedAt']).toContain(key)
    if (!item.passed) expect(item.reason).toMatch(/\S/)
    if (item.nextAllowedAt !== undefined) expect(Date.parse(item.nextAllowedAt)).not.toBeNaN()
  }
}

const bodies: [string, () => Body][] = [
  ['SMS', () => c().sms({ contact: { name: 'Ana' } })],
  [
    'e-mail with a file',
    () => c().email({ files: [{ name: 'a.txt', base64: Buffer.from('dry').toString('base64') }] }),
  ],
  ['WhatsApp template', () => c().whatsapp()],
]

describe('Pombo-Dry-Run: true', () => {
  test.for(bodies)(
    '%s: answers as a real call would, with a verdict and without a message',
    async ([, build]) => {
      const before = await c().traces()
      const answer = await dry(build())
      expect(answer.status).toBe(200)
      expect(Object.keys(answer.body).toSorted()).toEqual(['messageId', 'requestId', 'status', 'verdict'])
      expect(answer.body).toMatchObject({
        messageId: null,
        status: 'queued',
        requestId: answer.headers['x-request-id'],
      })
      expectVerdict(answer)
      expect(answer.headers['pombo-message-id']).toBeUndefined()
      expect(await c().traces()).toEqual(before)
    },
  )

  test('names every rule that was looked at, also those that passed', async () => {
    const company = await u.newCompany()
    await company.addRestrictionList('Debtors', [freshPhone()])
    const answer = await company.send(
      company.sms({ discardSettings: { InAttendance: true, recentContactLastHours: 1 } }),
      { 'pombo-dry-run': 'true' },
    )
    expect(answer.status).toBe(200)
    expect(verdictOf(answer).map(({ rule, passed }) => [rule, passed])).toEqual(
      expect.arrayContaining([
        ['attendance', true],
        ['recent_contact', true],
        ['restriction_list', true],
      ]),
    )
  })

  test('a refusal has its status, its message and every reason', async () => {
    const company = await u.newCompany()
    const to = freshPhone()
    await company.addRestrictionList('Debtors', [to])
    await company.addRestrictionList('Complaints', [to])
    const before = await company.traces()
    const answer = await company.send(company.whatsappText(to), { 'pombo-dry-run': 'true' })
    expectRefused(answer, messages.windowClosed)
    expectVerdict(answer)
    const failed = verdictOf(answer).filter((item) => !item.passed)
    expect(failed.map((item) => item.rule)).toEqual(['window', 'restriction_list', 'restriction_list'])
    expect(await company.traces()).toEqual(before)
  })

  test('says when a recent contact may be contacted again', async () => {
    const to = freshPhone()
    const lastAt = u.app.clock.now()
    await c().addContact(to, { last_interaction_at: lastAt })
    const answer = await dry(c().sms({ destination: to, discardSettings: { recentContactLastHours: 2 } }))
    expectRefused(answer, messages.recentlyContacted)
    const item = verdictOf(answer).find((one) => one.rule === 'recent_contact')
    expect(Date.parse(item!.nextAllowedAt!)).toBe(lastAt.getTime() + 2 * 3_600_000)
  })

  test('rule D1 is a refusal with a verdict, and is not recorded', async () => {
    const before = await c().traces()
    const answer = await dry(
      c().sms({ attendantUserName: c().users.maria.name, discardSettings: { InAttendance: true } }),
    )
    expectRefused(answer, messages.inAttendance)
    expectVerdict(answer)
    expect(verdictOf(answer)).toContainEqual(expect.objectContaining({ rule: 'attendance', passed: false }))
    expect(await c().traces()).toEqual(before)
  })

  test('bad requests are answered as ever', async () => {
    expectRefused(await dry(c().sms({ text: undefined })), messages.textAbsent)
    expectInvalid(await dry(c().sms({ platformPrivateToken: 'wrong' })), 'platformPrivateToken')
    expectInvalid(await dry(c().sms({ channel: 9 })), 'channel')
    expectInvalid(await dry(c().sms({ templateName: 'none' })), 'templateName')
    expectInvalid(await dry(c().email({ files: [{ name: 'a.txt', base64: '!' }] })), 'files[0].base64')
    expect((await dry('{')).status).toBe(400)
    expect((await dry(c().sms(), { authorization: 'Bearer wrong' })).status).toBe(401)
  })

  test('binds nobody and is no interaction', async () => {
    const to = freshPhone()
    expect((await dry(c().sms({ destination: to, attendantUserName: c().users.maria.name }))).status).toBe(
      200,
    )
    expect(await c().contact(to)).toBeUndefined()
    expectAccepted(
      await c().send(
        c().sms({ destination: to, discardSettings: { recentContactLastHours: 1, InAttendance: true } }),
      ),
    )
  })

  test('changes nothing on a contact that exists', async () => {
    const to = freshPhone()
    await c().addContact(to, { name: 'Old' })
    const before = await c().traces()
    await dry(c().sms({ destination: to, contact: { name: 'New', updateIfExists: true } }))
    expect(await c().traces()).toEqual(before)
  })

  test('is not counted by a cap', async () => {
    const company = await u.newCompany()
    await company.addRule({ kind: 'frequency_cap', settings: { limit: 1, period: 'month' } })
    const to = freshPhone()
    for (let turn = 0; turn < 3; turn++)
      expect((await company.send(company.sms({ destination: to }), { 'pombo-dry-run': 'true' })).status).toBe(
        200,
      )
    expectAccepted(await company.send(company.sms({ destination: to })))
    const full = await company.send(company.sms({ destination: to }), { 'pombo-dry-run': 'true' })
    expect(full.status).toBe(400)
    expect(verdictOf(full)).toContainEqual(expect.objectContaining({ rule: 'frequency_cap', passed: false }))
  })

  test('a delay by a rule is in the verdict, with its end', async () => {
    const company = await u.newCompany()
    const hour = (u.app.clock.now().getUTCHours() + 3) % 24
    const weekdays = Array.from({ length: 7 }, () => [{ from: hour * 60, to: hour * 60 + 60 }])
    await company.addRule({
      kind: 'allowed_hours',
      action: 'defer',
      settings: { timeZone: 'UTC', weekdays, holidays: [] },
    })
    const answer = await company.send(company.sms(), { 'pombo-dry-run': 'true' })
    expect(answer.status).toBe(200)
    const item = verdictOf(answer).find((one) => one.rule === 'allowed_hours')!
    expect(item.passed).toBe(false)
    expect(Date.parse(item.nextAllowedAt!)).toBeGreaterThan(u.app.clock.now().getTime())
  })

  test('neither reads nor writes idempotency records', async () => {
    const body = c().sms()
    const key = { 'idempotency-key': 'dry-key' }
    expect((await dry(body, key)).status).toBe(200)
    const real = await c().send(body, key)
    expectAccepted(real)
    expect(real.headers['idempotency-replayed']).toBeUndefined()
    const again = await dry(body, key)
    expect(again.body['messageId']).toBeNull()
    expect(again.headers['idempotency-replayed']).toBeUndefined()
    expect((await dry(c().sms(), key)).status).toBe(200)
  })
})

describe('other values', () => {
  test('false is as if absent', async () => {
    const answer = await c().send(c().sms(), { 'pombo-dry-run': 'false' })
    expectAccepted(answer)
    await c().message(answer)
  })

  test.for(['', '1', 'yes', 'truefalse', 'true, true'])(
    '%j is 400 under its name, nothing stored',
    async (value) => {
      const before = await c().traces()
      const answer = await c().send(c().sms(), { 'pombo-dry-run': value })
      expectInvalid(answer, 'Pombo-Dry-Run')
      expect(await c().traces()).toEqual(before)
    },
  )

  test('without the header there is no verdict', async () => {
    const to = freshPhone()
    const answer = await c().send(c().whatsappText(to))
    expectRefused(answer, messages.windowClosed)
    expect(answer.body).not.toHaveProperty('verdict')
  })
})
