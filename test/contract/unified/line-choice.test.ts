import { describe, expect, test } from 'vitest'
import {
  expectAccepted,
  expectInvalid,
  freshPhone,
  useUnified,
  type Body,
  type Company,
  type TestLine,
} from './support.ts'

const u = useUnified()
const c = () => u.company

const from = (line: TestLine, prospect?: boolean) => ({
  source: {
    countryCode: line.countryCode,
    phoneNumber: line.phoneNumber,
    ...(prospect !== undefined && { prospect }),
  },
})

/** Lines that `times` sends with this source left through. */
async function draw(company: Company, extra: Body, times = 40): Promise<string[]> {
  const answers = await Promise.all(
    Array.from({ length: times }, () => company.send(company.whatsapp(extra))),
  )
  return Promise.all(answers.map(async (answer) => (await company.message(answer)).line_id!))
}

describe('no source', () => {
  test.for(['whatsapp', 'sms', 'email'] as const)(
    "the company's default line of %s sends",
    async (channel) => {
      const answer = await c().send(c()[channel]())
      expectAccepted(answer)
      const expected = { whatsapp: c().lines.main, sms: c().lines.sms, email: c().lines.email }[channel]
      expect((await c().message(answer)).line_id).toBe(expected.id)
    },
  )

  test('the queue entry goes to the same line', async () => {
    const answer = await c().send(c().whatsapp())
    const row = await c().message(answer)
    const [entry] = await u.app.db.query('select line_id, contact_id from outbox where message_id = $1', [
      row.id,
    ])
    expect(entry).toEqual({ line_id: c().lines.main.id, contact_id: row.contact_id })
  })
})

describe('a named line', () => {
  test.for([false, undefined])('with prospect %s is the one that sends, and no other', async (prospect) => {
    for (const line of [c().lines.plain, c().lines.prospectA]) {
      const drawn = await draw(c(), from(line, prospect), 8)
      expect(new Set(drawn)).toEqual(new Set([line.id]))
    }
  })

  test('sends also when it is failing: the message waits for it', async () => {
    const company = await u.newCompany()
    await u.app.db.query("update line set paused_at = now(), paused_reason = 'trouble' where id = $1", [
      company.lines.plain.id,
    ])
    const answer = await company.send(company.whatsapp(from(company.lines.plain, false)))
    expectAccepted(answer)
    expect(await company.message(answer)).toMatchObject({ state: 'queued', line_id: company.lines.plain.id })
  })

  test.for<[string, () => Body]>([
    ['unknown', () => ({ countryCode: 55, phoneNumber: 1139999999 })],
    ['unknown, with prospect true', () => ({ countryCode: 55, phoneNumber: 1139999999, prospect: true })],
    ['of another country', () => ({ countryCode: 351, phoneNumber: c().lines.plain.phoneNumber })],
    ['of another channel', () => ({ countryCode: 55, phoneNumber: c().lines.sms.phoneNumber })],
    ['disabled', () => ({ countryCode: 55, phoneNumber: c().lines.disabled.phoneNumber })],
    ['a country code without number', () => ({ countryCode: 55 })],
    ['a number without country code', () => ({ phoneNumber: c().lines.plain.phoneNumber })],
  ])('%s: 400', async ([, source]) => {
    const before = await c().traces()
    expectInvalid(await c().send(c().whatsapp({ source: source() })), /^source(\.|$)/)
    expect(await c().traces()).toEqual(before)
  })

  test('of another company is unknown', async () => {
    const other = await u.newCompany({ withoutLines: ['sms'] })
    await u.app.db.query('update line set phone_number = 1138888888 where id = $1', [other.lines.plain.id])
    expectInvalid(
      await c().send(c().whatsapp({ source: { countryCode: 55, phoneNumber: 1138888888 } })),
      /^source(\.|$)/,
    )
  })
})

describe('prospect true', () => {
  test('draws among the named line and every enabled prospect line', async () => {
    const drawn = new Set(await draw(c(), from(c().lines.plain, true)))
    const { plain, prospectA, prospectB } = c().lines
    expect(drawn).toEqual(new Set([plain.id, prospectA.id, prospectB.id]))
  })

  test('draws among the default line and every prospect line when none is named', async () => {
    const drawn = new Set(await draw(c(), { source: { prospect: true } }))
    const { main, prospectA, prospectB } = c().lines
    expect(drawn).toEqual(new Set([main.id, prospectA.id, prospectB.id]))
  })

  test('means the same inside destination', async () => {
    const answers = await Promise.all(
      Array.from({ length: 40 }, () => {
        const body = c().whatsapp()
        return c().send({ ...body, destination: { ...(body['destination'] as Body), prospect: true } })
      }),
    )
    const drawn = await Promise.all(answers.map(async (answer) => (await c().message(answer)).line_id))
    expect(new Set(drawn).size).toBe(3)
  })

  test('never draws a disabled prospect line', async () => {
    const company = await u.newCompany()
    await u.app.db.query('update line set is_enabled = false where id = $1', [company.lines.prospectA.id])
    const drawn = new Set(await draw(company, from(company.lines.plain, true)))
    expect(drawn).toEqual(new Set([company.lines.plain.id, company.lines.prospectB.id]))
  })

  test('draws a line more often the more it can take', async () => {
    const company = await u.newCompany()
    await u.app.db.query('update line set rate_per_second = 1 where company_id = $1', [company.id])
    await u.app.db.query('update line set rate_per_second = 1000 where id = $1', [company.lines.prospectB.id])
    const drawn = await draw(company, { source: { prospect: true } }, 60)
    // One in 500 goes elsewhere on average; ten of sixty would be a wonder.
    expect(drawn.filter((line) => line === company.lines.prospectB.id).length).toBeGreaterThan(50)
  })

  test('a message keeps the line that was drawn', async () => {
    const answer = await c().send(c().whatsapp({ source: { prospect: true } }))
    const row = await c().message(answer)
    const [entry] = await u.app.db.query('select line_id from outbox where message_id = $1', [row.id])
    expect(entry).toEqual({ line_id: row.line_id })
  })
})

describe('leaving through another line when the chosen one fails', () => {
  const mayLeaveElsewhere = async (extra: Body) => {
    const row = await c().message(await c().send(c().whatsapp(extra)))
    const [entry] = await u.app.db.query<{ is_pinned: boolean }>(
      'select is_pinned from outbox where message_id = $1',
      [row.id],
    )
    return !entry!.is_pinned
  }

  test.for<[string, () => Body]>([
    ['a named line', () => from(c().lines.plain)],
    ['a named line with prospect false', () => from(c().lines.plain, false)],
    ['no line, but prospect false', () => ({ source: { prospect: false } })],
    [
      'no line, but prospect false in destination',
      () => ({ destination: { ...freshPhone(), prospect: false } }),
    ],
  ])('is out of the question for %s', async ([, extra]) => {
    expect(await mayLeaveElsewhere(extra())).toBe(false)
  })

  test.for<[string, () => Body]>([
    ['no source', () => ({})],
    ['a source that says nothing', () => ({ source: { countryCode: 0, phoneNumber: 0 } })],
    ['prospect true', () => ({ source: { prospect: true } })],
    ['a named line with prospect true', () => from(c().lines.plain, true)],
  ])('is possible for %s', async ([, extra]) => {
    expect(await mayLeaveElsewhere(extra())).toBe(true)
  })
})

describe('no line at all for the channel', () => {
  test.for(['whatsapp', 'sms', 'email'] as const)('%s: 400', async (channel) => {
    const company = await u.newCompany({ withoutLines: [channel] })
    expectInvalid(await company.send(company[channel]()), /^(source|channel)(\.|$)/)
  })
})

describe('e-mail', () => {
  test.for<[string, Body]>([
    ['a line that does not exist', { countryCode: 55, phoneNumber: 1139999999, prospect: false }],
    ['a country code without number', { countryCode: 55 }],
    ['prospect', { prospect: true }],
  ])('ignores source: %s', async ([, source]) => {
    const answer = await c().send(c().email({ source }))
    expectAccepted(answer)
    expect((await c().message(answer)).line_id).toBe(c().lines.email.id)
  })
})
