import { describe, expect, test } from 'vitest'
import { request, until, type Answer } from '../../harness/http.ts'
import {
  expectAccepted,
  expectInvalid,
  expectRefused,
  freshPhone,
  messages,
  reasonsText,
  useUnified,
  type Body,
} from '../unified/support.ts'

const u = useUnified()
const c = () => u.company

/** The log may be written after the answer has left. */
const untilLogged = (answer: Answer, since: number) =>
  until(
    `a line of the log with the request id of ${answer.status} ${answer.text}`,
    () => u.app.logLines.slice(since).some((line) => line.includes(String(answer.body['requestId']))),
    1_000,
  )

describe('an accepted message', () => {
  test('is in the database, with its queue entry and its first event, when the answer arrives', async () => {
    const before = u.app.clock.now()
    const answer = await c().send(c().sms({ text: 'On disk' }))
    expectAccepted(answer)
    const row = await c().message(answer)
    expect(row).toMatchObject({
      api: 'unified',
      channel: 'sms',
      state: 'queued',
      line_id: c().lines.sms.id,
      request_id: answer.body['requestId'],
      content: { kind: 'text', text: 'On disk' },
    })
    expect(row.accepted_at.getTime()).toBeGreaterThanOrEqual(before.getTime())
    expect(row.expires_at.getTime()).toBeGreaterThan(row.accepted_at.getTime())
    const [counts] = await u.app.db.query(
      `select (select count(*) from outbox where message_id = $1) as queued,
         (select count(*) from message_history where message_id = $1) as events`,
      [row.id],
    )
    expect(counts).toEqual({ queued: 1, events: 1 })
  })

  test('was committed with its contact, not after it', async () => {
    const to = freshPhone()
    const answer = await c().send(c().sms({ destination: to }))
    expect((await c().message(answer)).contact_id).toBe((await c().contact(to))!.id)
  })

  test('no connection gives up durability for speed: what the server is set to counts', async () => {
    for (const node of u.app.nodes) {
      const rows = await node.db.query<{ name: string; source: string }>(
        "select name, source from pg_settings where name in ('synchronous_commit', 'commit_delay')",
      )
      expect(rows).toHaveLength(2)
      for (const row of rows) expect(['client', 'session', 'user', 'database']).not.toContain(row.source)
    }
  })
})

describe('a send that is refused', () => {
  const refusals: [string, string, () => Promise<Body>][] = [
    [
      'rule D1',
      messages.inAttendance,
      async () =>
        c().sms({ attendantUserName: c().users.maria.name, discardSettings: { InAttendance: true } }),
    ],
    [
      'attendance',
      messages.inAttendance,
      async () => {
        const to = freshPhone()
        await c().openAttendance(await c().addContact(to), c().users.maria.id, u.app.clock.now())
        return c().sms({ destination: to, discardSettings: { InAttendance: true } })
      },
    ],
    [
      'recent contact',
      messages.recentlyContacted,
      async () => {
        const to = freshPhone()
        await c().addContact(to, { last_interaction_at: u.app.clock.now() })
        return c().sms({ destination: to, discardSettings: { recentContactLastHours: 1 } })
      },
    ],
    ['the window', messages.windowClosed, async () => c().whatsappText(freshPhone())],
  ]

  test.for(refusals)(
    'by %s is recorded as blocked with its reason, and never queued',
    async ([, message, build]) => {
      const body = await build()
      const before = await c().traces()
      const answer = await c().send(body)
      expectRefused(answer, message)
      const row = await c().blocked(answer)
      expect(row.state).toBe('blocked')
      expect(reasonsText(row)).toContain(message.slice('message not sent: '.length))
      expect(row.recipient).toContain(String((body['destination'] as { phoneNumber: number }).phoneNumber))
      expect(await c().traces()).toMatchObject({
        messages: Number(before['messages']) + 1,
        outbox: before['outbox'],
        contacts: before['contacts'],
        contactData: before['contactData'],
        attendances: before['attendances'],
      })
    },
  )

  test('keeps what it would have sent, so that the console can show it', async () => {
    const answer = await c().send(c().whatsappText(freshPhone(), { text: 'Never sent' }))
    expect((await c().blocked(answer)).content).toMatchObject({ text: 'Never sent' })
  })

  test('says nothing of its record in the answer', async () => {
    const answer = await c().send(c().whatsappText(freshPhone()))
    expect(Object.keys(answer.body).toSorted()).toEqual(['message', 'requestId'])
  })
})

describe('a bad request', () => {
  test.for<[string, () => Body]>([
    ['of the wrong shape', () => c().sms({ channel: '2' })],
    ['without text', () => c().sms({ text: undefined })],
    ["with another account's private token", () => c().sms({ platformPrivateToken: 'x' })],
    ['with an unknown template', () => c().sms({ templateName: 'none' })],
    ['with an unknown attendant', () => c().sms({ attendantUserName: 'none' })],
    ['with an unknown wallet', () => c().sms({ contact: { walletClientCode: 'none' } })],
    ['with an unknown line', () => c().sms({ source: { countryCode: 55, phoneNumber: 1 } })],
    ['with a variable left empty', () => c().sms({ templateName: c().templates.sms.name })],
  ])('%s is logged, not recorded', async ([, build]) => {
    const before = await c().traces()
    const linesBefore = u.app.logLines.length
    const answer = await c().send(build())
    expect(answer.status).toBe(400)
    expect(await c().traces()).toEqual(before)
    await untilLogged(answer, linesBefore)
  })

  test('without a token is logged, not recorded', async () => {
    const before = await c().traces()
    const linesBefore = u.app.logLines.length
    const answer = await c().send(c().sms(), { authorization: 'Bearer wrong' })
    expect(answer.status).toBe(401)
    expect(await c().traces()).toEqual(before)
    await untilLogged(answer, linesBefore)
  })

  test('is counted', async () => {
    const countOf = async () => {
      const metrics = await request(`${u.app.url}/metrics`)
      const line = /pombo_http_answers_total\{route="\/v1\/sendmessage",status="400"\} (\d+)/.exec(
        metrics.text,
      )
      return Number(line?.[1] ?? 0)
    }
    const before = await countOf()
    expectInvalid(await c().send(c().sms({ channel: 9 })), 'channel')
    await until('the count has gone up', async () => (await countOf()) === before + 1)
  })
})

test('logs hold no secret and no content', async () => {
  const secret = 'Very private text'
  await c().send(c().sms({ text: secret, contact: { name: 'Private Person' } }))
  await c().send(c().sms({ text: secret, channel: 9 }))
  await c().send(c().whatsappText(freshPhone(), { text: secret }))
  const log = u.app.logLines.join('\n')
  for (const text of [c().privateToken, c().accessToken, secret, 'Private Person'])
    expect(log).not.toContain(text)
})
