import { describe, expect, test } from 'vitest'
import { channels } from '../../../src/domain/channel.ts'
import { createContact } from '../../../src/store/contacts.ts'
import { must, randomMobile } from '../../harness/factories.ts'
import {
  emailBody,
  expectAccepted,
  expectConflicts,
  freshEmail,
  messageOf,
  smsBody,
  useDirect,
  whatsappBody,
} from '../direct/support.ts'
import { addList, addRule, alwaysOpen, dayMs, hourMs, minuteFrom, minuteMs, neverOpen } from './support.ts'

const d = useDirect({ nodes: 2 })
const dry = { headers: { 'Pombo-Dry-Run': 'true' } }

describe('opt-out of the recipient', () => {
  test('per channel, without any rule', async () => {
    const company = await d.newCompany()
    const phone = randomMobile()
    must(await createContact(d.app.db, company.id, { phone }))
    await d.app.db.query(`update contact set opted_out_channels = '{sms}' where company_id = $1`, [
      company.id,
    ])
    expectConflicts(
      await company.send('sms', smsBody({ recipient_number: phone })),
      'recipient has opted out of SMS',
    )
    expectAccepted(await company.send('whatsapp', whatsappBody({ recipient_number: phone })))
  })

  test('a rule of the company narrows it', async () => {
    const company = await d.newCompany()
    const phone = randomMobile()
    must(await createContact(d.app.db, company.id, { phone }))
    await d.app.db.query(`update contact set opted_out_channels = '{sms,whatsapp}' where company_id = $1`, [
      company.id,
    ])
    await addRule(d.app, company.id, { settings: { kind: 'opt_out' }, channels: ['whatsapp'] })
    expectAccepted(await company.send('sms', smsBody({ recipient_number: phone })))
    expectConflicts(
      await company.send('whatsapp', whatsappBody({ recipient_number: phone })),
      /opted out of WhatsApp/,
    )
  })

  test('of marketing on WhatsApp refuses templates of marketing alone', async () => {
    const company = await d.newCompany()
    const phone = randomMobile()
    must(await createContact(d.app.db, company.id, { phone }))
    await d.app.db.query(`update contact set marketing_opted_out_at = now() where company_id = $1`, [
      company.id,
    ])
    const send = () => company.send('whatsapp', whatsappBody({ recipient_number: phone }))
    expectAccepted(await send())
    await d.app.db.query(
      `update template set content = jsonb_set(content, '{provider,category}', '"marketing"')
        where company_id = $1 and channel = 'whatsapp'`,
      [company.id],
    )
    await d.app.db.query('update company set catalogue_version = catalogue_version + 1 where id = $1', [
      company.id,
    ])
    expectConflicts(await send(), 'recipient has opted out of marketing on WhatsApp')
    expectAccepted(await company.send('sms', smsBody({ recipient_number: phone })))
  })

  test('a mailbox that bounced is refused like one, by e-mail alone', async () => {
    const company = await d.newCompany()
    const [phone, email] = [randomMobile(), `${randomMobile()}@people.example`]
    must(await createContact(d.app.db, company.id, { phone, email }))
    await d.app.db.query(`update contact set email_bounced_at = '2026-11-01Z' where company_id = $1`, [
      company.id,
    ])
    expectConflicts(
      await company.send('email', emailBody({ recipient_email: email })),
      'e-mail address of the recipient does not exist (bounced on 2026-11-01)',
    )
    expectAccepted(await company.send('sms', smsBody({ recipient_number: phone })))
  })
})

describe('segment not allowed on the channel', () => {
  test('the segments named, on the channels named', async () => {
    const company = await d.newCompany()
    const [first, second] = company.segments
    await addRule(d.app, company.id, {
      name: 'No SMS',
      settings: { kind: 'segment_channel' },
      channels: ['sms'],
      segmentIds: [second.id],
    })
    expectConflicts(
      await company.send('sms', smsBody({ segment: second.name })),
      'segment is not allowed on this channel by the rule "No SMS"',
    )
    expectAccepted(await company.send('sms', smsBody({ segment: first.name })))
    expectAccepted(await company.send('email', emailBody({ segment: second.name })))
  })
})

describe('frequency cap', () => {
  test('a cap of 5 under 64 simultaneous requests from two nodes lets exactly 5 through', async () => {
    const company = await d.newCompany()
    await addRule(d.app, company.id, {
      name: 'Five',
      settings: { kind: 'frequency_cap', limit: 5, period: 'month' },
    })
    const recipient_number = randomMobile()
    const answers = await Promise.all(
      Array.from({ length: 64 }, (_, index) =>
        company.send('sms', smsBody({ recipient_number, contract_code: `C${index}` }), {
          url: d.app.urls[index % 2]!,
        }),
      ),
    )
    const accepted = answers.filter((answer) => answer.status === 202)
    expect(accepted).toHaveLength(5)
    for (const answer of answers.filter((each) => each.status !== 202))
      expectConflicts(answer, 'recipient has reached the limit of 5 per month of the rule "Five"')
  })

  test('per recipient: another one has a count of his own, and both spellings are one', async () => {
    const company = await d.newCompany()
    await addRule(d.app, company.id, { settings: { kind: 'frequency_cap', limit: 1, period: 'month' } })
    expectAccepted(await company.send('sms', smsBody({ recipient_number: '5531988887777' })))
    expect((await company.send('sms', smsBody({ recipient_number: '553188887777' }))).status).toBe(409)
    expectAccepted(await company.send('sms', smsBody({ recipient_number: '5531988887778' })))
  })

  test('counts accepted messages only: a refusal, a bad request and a dry run do not', async () => {
    const company = await d.newCompany()
    await addRule(d.app, company.id, { settings: { kind: 'frequency_cap', limit: 1, period: 'month' } })
    const recipient_number = randomMobile()
    expect((await company.send('sms', smsBody({ recipient_number, template_code: 'disabled' }))).status).toBe(
      409,
    )
    expect((await company.send('sms', smsBody({ recipient_number, template_code: 'nobody' }))).status).toBe(
      422,
    )
    expect((await company.send('sms', smsBody({ recipient_number }), dry)).status).toBe(202)
    expectAccepted(await company.send('sms', smsBody({ recipient_number })))
    expect((await company.send('sms', smsBody({ recipient_number }))).status).toBe(409)
  })

  test('narrowed to a channel it counts and stops that channel only', async () => {
    const company = await d.newCompany()
    await addRule(d.app, company.id, {
      settings: { kind: 'frequency_cap', limit: 1, period: 'month' },
      channels: ['sms'],
    })
    const recipient_number = randomMobile()
    expectAccepted(await company.send('whatsapp', whatsappBody({ recipient_number })))
    expectAccepted(await company.send('sms', smsBody({ recipient_number })))
    expect((await company.send('sms', smsBody({ recipient_number }))).status).toBe(409)
    expectAccepted(await company.send('whatsapp', whatsappBody({ recipient_number })))
  })

  test("the next period starts at the hour of the company's clock", async () => {
    const company = await d.newCompany({ timeZone: 'Asia/Kathmandu' })
    await addRule(d.app, company.id, { settings: { kind: 'frequency_cap', limit: 1, period: 'day' } })
    const recipient_number = randomMobile()
    expectAccepted(await company.send('sms', smsBody({ recipient_number })))
    const { body } = await company.send('sms', smsBody({ recipient_number }), dry)
    const verdict = (body['verdict'] as { rule: string; nextAllowedAt: string }[]).find(
      (each) => each.rule === 'frequency_cap',
    )!
    const next = new Date(verdict.nextAllowedAt)
    // Midnight in Kathmandu is 18:15 UTC.
    expect(next.toISOString().slice(11)).toBe('18:15:00.000Z')
    const wait = next.getTime() - d.app.clock.now().getTime()
    expect(wait).toBeGreaterThan(0)
    expect(wait).toBeLessThanOrEqual(dayMs)
  })
})

describe('duplicate within N minutes', () => {
  test('the same channel, recipient, template and rendered content', async () => {
    const company = await d.newCompany()
    await addRule(d.app, company.id, { settings: { kind: 'duplicate', withinMinutes: 30 } })
    const recipient_number = randomMobile()
    const body = (time: string) => smsBody({ recipient_number, variable_values: { Date: 'D', Time: time } })
    expectAccepted(await company.send('sms', body('1')))
    expectConflicts(
      await company.send('sms', body('1')),
      'same message was accepted for this recipient within 30 minutes',
    )
    // The rendered content counts: other spellings of the same values are the same message.
    expectConflicts(
      await company.send(
        'sms',
        smsBody({ recipient_number, contract_code: 'other', variable_values: { '@date': 'D', TIME: '1' } }),
      ),
      /same message/,
    )
    expectAccepted(await company.send('sms', body('2')))
    expectAccepted(await company.send('sms', smsBody({ variable_values: { Date: 'D', Time: '1' } })))
  })

  test('of simultaneous equal ones on two nodes exactly one passes', async () => {
    const company = await d.newCompany()
    await addRule(d.app, company.id, { settings: { kind: 'duplicate', withinMinutes: 5 } })
    const body = emailBody({ recipient_email: freshEmail() })
    const answers = await Promise.all(
      Array.from({ length: 32 }, (_, index) => company.send('email', body, { url: d.app.urls[index % 2]! })),
    )
    expect(answers.filter((answer) => answer.status === 202)).toHaveLength(1)
    expect(answers.filter((answer) => answer.status === 409)).toHaveLength(31)
  })

  test('passes again when the minutes are over', async () => {
    const company = await d.newCompany()
    await addRule(d.app, company.id, { settings: { kind: 'duplicate', withinMinutes: 10 } })
    const body = smsBody()
    expectAccepted(await company.send('sms', body))
    d.app.clock.advance(9 * minuteMs)
    expect((await company.send('sms', body)).status).toBe(409)
    d.app.clock.advance(minuteMs)
    expectAccepted(await company.send('sms', body))
  })
})

describe('allowed hours', () => {
  test('a blocking rule refuses outside them and says when they open', async () => {
    const company = await d.newCompany()
    const { at, settings } = minuteFrom(d.app.clock.now(), 90)
    await addRule(d.app, company.id, { name: 'Office', settings })
    expectConflicts(await company.send('sms', smsBody()), 'outside the hours of the rule "Office"')
    const { body } = await company.send('sms', smsBody(), dry)
    expect(body['verdict']).toContainEqual(
      expect.objectContaining({ rule: 'allowed_hours', nextAllowedAt: at.toISOString() }),
    )
  })

  test('inside them it passes', async () => {
    const company = await d.newCompany()
    await addRule(d.app, company.id, { settings: alwaysOpen })
    expectAccepted(await company.send('sms', smsBody()))
  })

  test('holidays are closed', async () => {
    const company = await d.newCompany()
    const today = d.app.clock.now().toISOString().slice(0, 10)
    const tomorrow = new Date(d.app.clock.now().getTime() + dayMs).toISOString().slice(0, 10)
    await addRule(d.app, company.id, { settings: { ...alwaysOpen, holidays: [today, tomorrow] } })
    expectConflicts(await company.send('sms', smsBody()), /outside the hours/)
  })
})

type Queued = { dueAt: Date; isDeferred: boolean; expiresAt: Date; state: string }

describe('a rule blocks or defers', () => {
  const queued = async (answer: Parameters<typeof messageOf>[1]): Promise<Queued> => {
    const { id } = await messageOf(d.app, answer)
    const [row] = await d.app.db.query<Queued>(
      `select o.due_at as "dueAt", o.is_deferred as "isDeferred", m.expires_at as "expiresAt", m.state
        from outbox o join message m on m.id = o.message_id where o.message_id = $1`,
      [id],
    )
    return row!
  }

  test('when only deferring ones match, it is accepted and leaves at the first moment all allow', async () => {
    const company = await d.newCompany()
    const { at, settings } = minuteFrom(d.app.clock.now(), 45)
    await addRule(d.app, company.id, { action: 'defer', settings })
    const answer = await company.send('sms', smsBody())
    expectAccepted(answer)
    expect(await queued(answer)).toMatchObject({ dueAt: at, isDeferred: true, state: 'queued' })
  })

  test('expiry counts from the first moment it may leave', async () => {
    const company = await d.newCompany()
    const { at, settings } = minuteFrom(d.app.clock.now(), 20 * 60)
    await addRule(d.app, company.id, { action: 'defer', settings })
    const answer = await company.send('sms', smsBody())
    expect((await queued(answer)).expiresAt.getTime()).toBe(at.getTime() + dayMs)
  })

  test('two deferring rules: the later moment', async () => {
    const company = await d.newCompany()
    const expiresAt = new Date(d.app.clock.now().getTime() + 3 * hourMs)
    const { at, settings } = minuteFrom(d.app.clock.now(), 30)
    await addRule(d.app, company.id, { action: 'defer', settings })
    await addList(d.app, company.id, [{ field: 'contract', value: 'WAIT', expiresAt }], { action: 'defer' })
    const answer = await company.send('sms', smsBody({ contract_code: 'WAIT' }))
    const { dueAt } = await queued(answer)
    // The minute opens again a day after the first time, when the entry has long expired.
    expect(dueAt).toEqual(new Date(at.getTime() + dayMs))
  })

  test('when any rule blocks, it is refused with all blocking reasons and no others', async () => {
    const company = await d.newCompany()
    await addRule(d.app, company.id, {
      action: 'defer',
      settings: minuteFrom(d.app.clock.now(), 30).settings,
    })
    const one = await addList(d.app, company.id, [{ field: 'contract', value: 'BAD' }])
    const two = await addList(d.app, company.id, [{ field: 'contract', value: 'BAD' }])
    expectConflicts(
      await company.send('sms', smsBody({ contract_code: 'BAD' })),
      `contract code is on the restriction list "${one.name}"`,
      `contract code is on the restriction list "${two.name}"`,
    )
  })

  test('a deferral without end is a refusal', async () => {
    const company = await d.newCompany()
    await addRule(d.app, company.id, { action: 'defer', settings: neverOpen })
    expectConflicts(await company.send('sms', smsBody()), /outside the hours/)
  })

  test('deferred messages count when they are released, not before', async () => {
    const company = await d.newCompany()
    const recipient_number = randomMobile()
    await addRule(d.app, company.id, {
      action: 'defer',
      settings: minuteFrom(d.app.clock.now(), 30).settings,
      channels: ['sms'],
    })
    await addRule(d.app, company.id, { settings: { kind: 'frequency_cap', limit: 1, period: 'month' } })
    expectAccepted(await company.send('sms', smsBody({ recipient_number })))
    expectAccepted(await company.send('sms', smsBody({ recipient_number })))
    expectAccepted(await company.send('whatsapp', whatsappBody({ recipient_number })))
    expect((await company.send('whatsapp', whatsappBody({ recipient_number }))).status).toBe(409)
  })
})

describe('a dry run', () => {
  test('shows every rule that was looked at, passed or not', async () => {
    const company = await d.newCompany()
    await addRule(d.app, company.id, { settings: alwaysOpen, position: 1 })
    await addRule(d.app, company.id, { settings: { kind: 'duplicate', withinMinutes: 5 }, position: 2 })
    const list = await addList(d.app, company.id, [{ field: 'contract', value: 'BAD' }], { position: 3 })
    await addRule(d.app, company.id, { settings: neverOpen, apis: ['unified'], position: 4 })
    const { body } = await company.send('sms', smsBody({ contract_code: 'BAD' }), dry)
    expect(body['verdict']).toEqual([
      { rule: 'opt_out', passed: true },
      { rule: 'template_state', passed: true },
      { rule: 'allowed_hours', passed: true },
      { rule: 'duplicate', passed: true },
      {
        rule: 'restriction_list',
        passed: false,
        reason: `contract code is on the restriction list "${list.name}"`,
        matched: 'contract bad',
      },
    ])
  })

  test.for(channels)('counts nothing: %s', async (channel) => {
    const company = await d.newCompany()
    await addRule(d.app, company.id, { settings: { kind: 'frequency_cap', limit: 1, period: 'month' } })
    const body = { email: emailBody, sms: smsBody, whatsapp: whatsappBody }[channel]()
    for (let round = 0; round < 3; round++) expect((await company.send(channel, body, dry)).status).toBe(202)
    expectAccepted(await company.send(channel, body))
  })
})
