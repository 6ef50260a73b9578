import { describe, expect, test } from 'vitest'
import { expectAccepted, expectRefused, freshPhone, hourMs, reasonsText, useUnified } from './support.ts'

const u = useUnified()
const allWeek = (hours: { from: number; to: number }[]) => Array.from({ length: 7 }, () => hours)

/** A window of hours in UTC that the clock's moment is not in, and that opens within a day. */
const notNow = () => {
  const hour = (u.app.clock.now().getUTCHours() + 3) % 24
  return { timeZone: 'UTC', weekdays: allWeek([{ from: hour * 60, to: hour * 60 + 60 }]), holidays: [] }
}

describe("a company's rules", () => {
  test('refuse with their reasons, joined by a semicolon, and the send is recorded with all of them', async () => {
    const company = await u.newCompany()
    const to = freshPhone()
    await company.addRestrictionList('Debtors', [to])
    await company.addRestrictionList('Complaints', [to])
    const answer = await company.send(company.sms({ destination: to }))
    expect(answer.status).toBe(400)
    const message = String(answer.body['message'])
    expect(message).toMatch(/^message not sent: /)
    const reasons = message.slice('message not sent: '.length).split('; ')
    expect(reasons).toHaveLength(2)
    expect(reasons.join()).toContain('Debtors')
    expect(reasons.join()).toContain('Complaints')
    const row = await company.blocked(answer)
    expect(row.state).toBe('blocked')
    for (const reason of reasons) expect(reasonsText(row)).toContain(reason)
    expect(await company.contact(to)).toBeUndefined()
  })

  test('by document number look at the tax identifier, given with the call or stored', async () => {
    const company = await u.newCompany()
    const list = await company.addRestrictionList('Debtors', [])
    await u.app.db.query(
      `insert into restriction_entry (list_id, field, is_prefix, value) values ($1, 'document', false, '12345678900')`,
      [list],
    )
    const refused = await company.send(company.sms({ contact: { id: '123.456.789-00' } }))
    expectRefused(refused, 'message not sent: document number is on the restriction list "Debtors"')
    const to = freshPhone()
    await company.addContact(to, { tax_id: '123.456.789-00' })
    expect((await company.send(company.sms({ destination: to }))).status).toBe(400)
    expectAccepted(await company.send(company.sms({ contact: { id: '987.654.321-00' } })))
  })

  test('leave others alone', async () => {
    const company = await u.newCompany()
    await company.addRestrictionList('Debtors', [freshPhone()])
    expectAccepted(await company.send(company.sms()))
  })

  test('can be narrowed to channels and to the direct API', async () => {
    const company = await u.newCompany()
    await company.addRule({ kind: 'allowed_hours', settings: notNow(), channels: ['email'] })
    await company.addRule({ kind: 'allowed_hours', settings: notNow(), apis: ['direct'] })
    expectAccepted(await company.send(company.sms()))
    expect((await company.send(company.email())).status).toBe(400)
  })

  test("can be narrowed to segments: the contact's wallet counts", async () => {
    const company = await u.newCompany()
    await company.addRule({
      kind: 'segment_channel',
      channels: ['sms'],
      segmentIds: [company.segments.silver.id],
    })
    const inWallet = (walletClientCode: string) =>
      company.send(company.sms({ contact: { walletClientCode } }))
    expectAccepted(await company.send(company.sms()))
    expectAccepted(await inWallet(company.segments.gold.clientCode))
    expect((await inWallet(company.segments.silver.clientCode)).body['message']).toMatch(
      /^message not sent: /,
    )
    const to = freshPhone()
    await company.addContact(to, { segment_id: company.segments.silver.id })
    expect((await company.send(company.sms({ destination: to }))).status).toBe(400)
  })

  test('that only delay accept the message, with the same answer, for the first moment that they allow', async () => {
    const company = await u.newCompany()
    await company.addRule({ kind: 'allowed_hours', action: 'defer', settings: notNow() })
    const answer = await company.send(company.sms())
    expectAccepted(answer)
    const row = await company.message(answer)
    expect(row.state).toBe('queued')
    const [entry] = await u.app.db.query<{ due_at: Date }>(
      'select due_at from outbox where message_id = $1',
      [row.id],
    )
    const waitMs = entry!.due_at.getTime() - u.app.clock.now().getTime()
    expect(waitMs).toBeGreaterThan(hourMs)
    expect(waitMs).toBeLessThanOrEqual(3 * hourMs)
  })

  test('any that refuses outweighs those that only delay', async () => {
    const company = await u.newCompany()
    const to = freshPhone()
    await company.addRule({ kind: 'allowed_hours', action: 'defer', settings: notNow() })
    await company.addRestrictionList('Debtors', [to])
    const answer = await company.send(company.sms({ destination: to }))
    expect(answer.status).toBe(400)
    expect(answer.body['message']).toContain('Debtors')
    // Only what refuses is a reason of the refusal.
    expect(String(answer.body['message']).split('; ')).toHaveLength(1)
  })

  test('cap what a person gets in a period, and count accepted messages only', async () => {
    const company = await u.newCompany()
    await company.addRule({ kind: 'frequency_cap', settings: { limit: 2, period: 'month' } })
    const to = freshPhone()
    const refused = await company.send(company.whatsappText(to))
    expect(refused.status).toBe(400)
    for (let turn = 0; turn < 2; turn++) expectAccepted(await company.send(company.sms({ destination: to })))
    expect((await company.send(company.sms({ destination: to }))).body['message']).toMatch(
      /^message not sent: /,
    )
    expectAccepted(await company.send(company.sms()))
  })

  test('hold back a duplicate within its minutes, and nothing else', async () => {
    const company = await u.newCompany()
    await company.addRule({ kind: 'duplicate', settings: { withinMinutes: 10 } })
    const to = freshPhone()
    const send = (text: string) => company.send(company.sms({ destination: to, text }))
    expectAccepted(await send('Hello'))
    expect((await send('Hello')).body['message']).toMatch(/^message not sent: /)
    expectAccepted(await send('Hello again'))
    u.app.clock.advance(11 * 60_000)
    expectAccepted(await send('Hello'))
  })

  test('keep to a person who opted out of the channel', async () => {
    const company = await u.newCompany()
    await company.addRule({ kind: 'opt_out' })
    const to = freshPhone()
    const contactId = await company.addContact(to)
    await u.app.db.query("update contact set opted_out_channels = '{sms}' where id = $1", [contactId])
    expect((await company.send(company.sms({ destination: to }))).body['message']).toMatch(
      /^message not sent: /,
    )
    expectAccepted(await company.send(company.whatsapp({ destination: to })))
  })

  test('are not asked when the request itself is wrong', async () => {
    const company = await u.newCompany()
    const to = freshPhone()
    await company.addRestrictionList('Debtors', [to])
    const before = await company.traces()
    const answer = await company.send(company.sms({ destination: to, templateName: 'none' }))
    expect(answer.body['message']).not.toContain('Debtors')
    expect(await company.traces()).toEqual(before)
  })
})

test('a refusal by a single rule says exactly its reason', async () => {
  const company = await u.newCompany()
  const to = freshPhone()
  await company.addRestrictionList('Debtors', [to])
  const answer = await company.send(company.sms({ destination: to }), { 'pombo-dry-run': 'true' })
  const verdict = answer.body['verdict'] as { passed: boolean; reason?: string }[]
  const reasons = verdict.filter((item) => !item.passed).map((item) => item.reason)
  expectRefused(answer, `message not sent: ${reasons.join('; ')}`)
})
