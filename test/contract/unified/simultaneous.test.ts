import { describe, expect, test } from 'vitest'
import { request, type Answer } from '../../harness/http.ts'
import {
  count,
  expectAccepted,
  expectErrorBody,
  freshPhone,
  messages,
  useUnified,
  type Company,
} from './support.ts'

const u = useUnified({ nodes: 2, patienceMs: 3_000 })

const states = async (company: Company) =>
  Object.fromEntries(
    (
      await u.app.db.query<{ state: string; count: number }>(
        'select state, count(*) as count from message where company_id = $1 group by state',
        [company.id],
      )
    ).map((row) => [row.state, row.count]),
  )

const notAccepted = (answers: Answer[]) =>
  answers.filter((answer) => answer.status !== 200).map((answer) => `${answer.status} ${answer.text}`)

const deadlocks = async () => {
  const [row] = await u.app.db.query<{ deadlocks: number }>(
    'select deadlocks from pg_stat_database where datname = current_database()',
  )
  return row!.deadlocks
}

describe('64 simultaneous sends with recentContactLastHours 1 to one new contact', () => {
  test.for([
    ['one node', 1],
    ['two nodes', 2],
  ] as const)('from %s: one is accepted, 63 are refused', async ([, nodes]) => {
    const company = await u.newCompany()
    const to = freshPhone()
    const answers = await Promise.all(
      Array.from({ length: 64 }, (_, index) =>
        company.sendTo(
          u.app.urls[index % nodes]!,
          company.sms({ destination: to, discardSettings: { recentContactLastHours: 1 } }),
        ),
      ),
    )
    expect(count(answers, 200)).toBe(1)
    const refused = answers.filter((answer) => answer.status !== 200)
    for (const answer of refused)
      expect(answer).toMatchObject({ status: 400, body: { message: messages.recentlyContacted } })
    expect(await states(company)).toEqual({ queued: 1, blocked: 63 })
    expect(await company.traces()).toMatchObject({ contacts: 1, outbox: 1 })
  })

  test('without the condition all of them are accepted, for one contact', async () => {
    const company = await u.newCompany()
    const to = freshPhone()
    const answers = await Promise.all(
      Array.from({ length: 64 }, (_, index) =>
        company.sendTo(u.app.urls[index % 2]!, company.sms({ destination: to })),
      ),
    )
    expect(count(answers, 200)).toBe(64)
    expect(await company.traces()).toMatchObject({ messages: 64, contacts: 1, outbox: 64 })
  })

  test('of the two spellings of one Brazilian mobile one passes as well', async () => {
    const company = await u.newCompany()
    const long = freshPhone()
    const short = { countryCode: 55, phoneNumber: Number(String(long.phoneNumber).replace(/^119/, '11')) }
    const answers = await Promise.all(
      Array.from({ length: 32 }, (_, index) =>
        company.sendTo(
          u.app.urls[index % 2]!,
          company.sms({
            destination: index % 3 ? long : short,
            discardSettings: { recentContactLastHours: 1 },
          }),
        ),
      ),
    )
    expect(count(answers, 200)).toBe(1)
    expect(await company.traces()).toMatchObject({ contacts: 1 })
  })
})

describe('64 simultaneous sends to somebody whom an attendant is bound to by one of them', () => {
  test('leave one open attendance', async () => {
    const company = await u.newCompany()
    const to = freshPhone()
    const attendants = [company.users.maria.name, company.users.joao.name]
    const answers = await Promise.all(
      Array.from({ length: 64 }, (_, index) =>
        company.sendTo(
          u.app.urls[index % 2]!,
          company.sms({ destination: to, attendantUserName: attendants[index % 3 ? 0 : 1] }),
        ),
      ),
    )
    expect(count(answers, 200)).toBe(64)
    expect(await company.openAttendances((await company.contact(to))!.id)).toHaveLength(1)
  })
})

describe('64 simultaneous sends with one Idempotency-Key', () => {
  test.for([1, 2])('on %i nodes give 64 equal answers and one message', async (nodes) => {
    const company = await u.newCompany()
    const body = company.sms()
    const answers = await Promise.all(
      Array.from({ length: 64 }, (_, index) =>
        company.sendTo(u.app.urls[index % nodes]!, body, { 'idempotency-key': 'one' }),
      ),
    )
    for (const answer of answers) {
      expectAccepted(answer)
      expect(answer.text).toBe(answers[0]!.text)
      expect(answer.headers['x-request-id']).toBe(answers[0]!.headers['x-request-id'])
    }
    expect(await company.traces()).toMatchObject({ messages: 1, outbox: 1, keys: 1 })
  })
})

describe('200 simultaneous logins', () => {
  test('leave one valid token, and stay within bounds of memory', { timeout: 120_000 }, async () => {
    const company = await u.newCompany()
    const before = process.memoryUsage.rss()
    let highest = before
    const watch = setInterval(() => (highest = Math.max(highest, process.memoryUsage.rss())), 10)
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, index) =>
        request(`${u.app.urls[index % 2]!}/v1/login`, { body: company.credentials(), timeoutMs: 90_000 }),
      ),
    )
    clearInterval(watch)
    expect(count(answers, 200) + count(answers, 503)).toBe(200)
    // One hash takes 19 MiB; all of them at once would take 3.7 GiB.
    expect((highest - before) / 1024 / 1024).toBeLessThan(300)
    const tokens = answers
      .filter((answer) => answer.status === 200)
      .map((answer) => String(answer.body['access_token']))
    expect(tokens.length).toBeGreaterThan(0)
    const tries: Answer[] = await Promise.all(
      tokens.map((token) =>
        request(`${u.app.url}/v1/sendmessage`, {
          body: company.sms(),
          headers: { authorization: `Bearer ${token}` },
        }),
      ),
    )
    expect(count(tries, 200)).toBe(1)
    expect(count(tries, 401)).toBe(tokens.length - 1)
  })
})

describe('a token that is replaced while sends are under way', () => {
  test('sends are either accepted or 401, and what was accepted is stored', async () => {
    const company = await u.newCompany()
    const sends = Array.from({ length: 100 }, (_, index) =>
      company.sendTo(u.app.urls[index % 2]!, company.sms()),
    )
    const login = await request(`${u.app.urls[1]!}/v1/login`, { body: company.credentials() })
    expect(login.status).toBe(200)
    const late = await company.send(company.sms())
    expect(late.status).toBe(401)
    const answers = await Promise.all(sends)
    expect(count(answers, 200) + count(answers, 401)).toBe(100)
    expect(await company.traces()).toMatchObject({ messages: count(answers, 200) })
  })
})

describe('shuffled sends from four callers to the same contacts', () => {
  test('end in no deadlock', async () => {
    const company = await u.newCompany()
    const phones = Array.from({ length: 40 }, freshPhone)
    const before = await deadlocks()
    const shuffled = () =>
      phones
        .map((phone) => ({ phone, at: Math.random() }))
        .toSorted((one, two) => one.at - two.at)
        .map(({ phone }) => phone)
    const caller = async (index: number) => {
      const answers: Answer[] = []
      for (let round = 0; round < 5; round++) {
        const body = (phone: object, place: number) =>
          company.sms({
            destination: phone,
            contact: { name: `Round ${round}`, updateIfExists: true },
            ...(place % 4 === 0 && { attendantUserName: company.users.maria.name }),
          })
        answers.push(
          ...(await Promise.all(
            shuffled().map((phone, place) => company.sendTo(u.app.urls[index % 2]!, body(phone, place))),
          )),
        )
      }
      return answers
    }
    const answers = (await Promise.all([0, 1, 2, 3].map(caller))).flat()
    expect(notAccepted(answers)).toEqual([])
    expect(await company.traces()).toMatchObject({ messages: 800, contacts: 40 })
    expect(await deadlocks()).toBe(before)
  })

  test('also with idempotency keys that several of them share', async () => {
    const company = await u.newCompany()
    const before = await deadlocks()
    const bodies = Array.from({ length: 30 }, (_, index) => ({ key: `shared-${index}`, body: company.sms() }))
    const caller = (index: number) =>
      Promise.all(
        bodies
          .toSorted(() => Math.random() - 0.5)
          .map(({ key, body }) => company.sendTo(u.app.urls[index % 2]!, body, { 'idempotency-key': key })),
      )
    const answers = (await Promise.all([0, 1, 2, 3].map(caller))).flat()
    expect(notAccepted(answers)).toEqual([])
    expect(await company.traces()).toMatchObject({ messages: 30, keys: 30 })
    expect(await deadlocks()).toBe(before)
  })
})

describe('a contact that somebody else holds', () => {
  test('for two seconds delays no send to another contact', async () => {
    const company = await u.newCompany()
    const held = freshPhone()
    const contactId = await company.addContact(held)
    const connection = await u.app.db.connect()
    await connection.query('begin')
    await connection.query('select 1 from contact where id = $1 for update', [contactId])
    let isSettled = false
    const waiting = company.send(company.sms({ destination: held })).then((answer) => {
      isSettled = true
      return answer
    })
    const releaseAt = Date.now() + 2_000
    let others = 0
    while (Date.now() < releaseAt) {
      const answers = await Promise.all(Array.from({ length: 10 }, () => company.send(company.sms())))
      expect(count(answers, 200)).toBe(10)
      others += 10
    }
    // One that waited for the held contact would have taken up the whole two seconds.
    expect(others).toBeGreaterThan(50)
    expect(isSettled).toBe(false)
    await connection.query('commit')
    connection.release()
    expectAccepted(await waiting)
    expect(await company.traces()).toMatchObject({ messages: others + 1 })
  })

  test('for longer than anybody wants to wait gets 503, and nothing is stored', async () => {
    const impatient = await u.newCompany()
    const held = freshPhone()
    const contactId = await impatient.addContact(held)
    const connection = await u.app.db.connect()
    await connection.query('begin')
    await connection.query('select 1 from contact where id = $1 for update', [contactId])
    const answer = await impatient.send(impatient.sms({ destination: held }))
    await connection.query('rollback')
    connection.release()
    expect(answer.status).toBe(503)
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0)
    expectErrorBody(answer)
    expect(await impatient.traces()).toMatchObject({ messages: 0, outbox: 0 })
    expectAccepted(await impatient.send(impatient.sms({ destination: held })))
  })
})
