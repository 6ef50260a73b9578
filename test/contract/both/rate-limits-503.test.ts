import { describe, expect, test } from 'vitest'
import { request, until, type Answer } from '../../harness/http.ts'
import { count, expectAccepted, expectErrorBody, useUnified } from '../unified/support.ts'

const expectTryLater = (answer: Answer, status: 429 | 503) => {
  expect(answer.status, answer.text).toBe(status)
  expect(answer.headers['retry-after']).toMatch(/^[1-9]\d*$/)
  expectErrorBody(answer)
}

describe('without settings there is no rate limit', () => {
  const u = useUnified()
  test('many sends at once all pass', async () => {
    const answers = await Promise.all(Array.from({ length: 300 }, () => u.company.send(u.company.sms())))
    expect(count(answers, 200)).toBe(300)
  })
})

describe('a rate limit per company', () => {
  const u = useUnified({ config: { rateLimits: { perCompany: 3, perToken: 0, perAddress: 0 } } })

  test('past it: 429 with Retry-After, for that company alone, and only for a while', async () => {
    const other = await u.newCompany()
    const answers = await Promise.all(Array.from({ length: 30 }, () => u.company.send(u.company.sms())))
    // The second may turn over in the middle of the burst.
    expect(count(answers, 200)).toBeGreaterThanOrEqual(3)
    expect(count(answers, 429)).toBeGreaterThanOrEqual(20)
    expectTryLater(
      answers.find((answer) => answer.status === 429)!,
      429,
    )
    expectAccepted(await other.send(other.sms()))
    u.app.clock.advance(1_000)
    await until(
      'the company may send again',
      async () => (await u.company.send(u.company.sms())).status === 200,
    )
  })

  test('does not count for login', async () => {
    const answers = []
    for (let turn = 0; turn < 6; turn++)
      answers.push(await request(`${u.app.url}/v1/login`, { body: u.company.credentials() }))
    expect(count(answers, 200)).toBe(6)
  })
})

describe('a rate limit per token', () => {
  const u = useUnified({ config: { rateLimits: { perCompany: 0, perToken: 3, perAddress: 0 } } })

  test('past it: 429, for that token alone', async () => {
    const other = await request(`${u.app.url}/v1/login`, {
      body: { ...u.company.credentials(), Username: u.company.users.otherApi.name },
    })
    const answers = await Promise.all(Array.from({ length: 30 }, () => u.company.send(u.company.sms())))
    expect(count(answers, 200)).toBeGreaterThanOrEqual(3)
    expect(count(answers, 429)).toBeGreaterThanOrEqual(20)
    const authorization = `Bearer ${String(other.body['access_token'])}`
    expectAccepted(await u.company.send(u.company.sms(), { authorization }))
  })
})

describe('a rate limit per address', () => {
  const u = useUnified({ config: { rateLimits: { perCompany: 0, perToken: 0, perAddress: 5 } } })

  test('past it: 429 with Retry-After, for that address alone', async () => {
    const answers = await Promise.all(
      Array.from({ length: 40 }, () =>
        request(`${u.app.url}/v1/sendmessage`, { body: '{}', from: '127.0.3.1' }),
      ),
    )
    expect(count(answers, 401)).toBeGreaterThanOrEqual(5)
    expect(count(answers, 429)).toBeGreaterThanOrEqual(20)
    expectTryLater(
      answers.find((answer) => answer.status === 429)!,
      429,
    )
    expect((await request(`${u.app.url}/v1/sendmessage`, { body: '{}', from: '127.0.3.2' })).status).toBe(401)
  })
})

describe('503 with Retry-After', () => {
  const u = useUnified({ hasProxy: true, patienceMs: 300, config: { acceptQueueDepth: 16 } })
  const logIn = () => request(`${u.app.url}/v1/login`, { body: u.company.credentials() })

  test.for(['starting', 'draining'] as const)('while %s', async (phase) => {
    const { lifecycle } = u.app.nodes[0]!
    lifecycle.phase = phase
    try {
      expectTryLater(await u.company.send(u.company.sms()), 503)
      expectTryLater(await logIn(), 503)
      expect((await request(`${u.app.url}/health/ready`)).status).toBe(503)
      expect((await request(`${u.app.url}/health/live`)).status).toBe(200)
    } finally {
      lifecycle.phase = 'serving'
    }
    expectAccepted(await u.company.send(u.company.sms()))
  })

  test('without database, for login and send alike; and all is well when it is back', async () => {
    const before = await u.company.traces()
    u.app.proxy.goAway()
    try {
      expectTryLater(await u.company.send(u.company.sms()), 503)
      expectTryLater(await logIn(), 503)
    } finally {
      u.app.proxy.comeBack()
    }
    expect(await u.company.traces()).toEqual(before)
    expectAccepted(await u.company.send(u.company.sms()))
    const ready = await until('ready again', async () => {
      const answer = await request(`${u.app.url}/health/ready`)
      return answer.status === 200 && answer
    })
    expect(ready.status).toBe(200)
  })

  test('when the database goes away between the token and the message', async () => {
    const before = await u.company.traces()
    // The accepting transaction begins: from here on nothing is there any more.
    const isGone = u.app.proxy.cutAt('before', /^\s*begin\b/i).then(() => u.app.proxy.goAway())
    try {
      expectTryLater(await u.company.send(u.company.sms()), 503)
      await isGone
    } finally {
      u.app.proxy.comeBack()
    }
    expect(await u.company.traces()).toEqual(before)
  })

  test('when more wait than may wait; those that waited are taken', async () => {
    const warm = await u.company.send(u.company.sms())
    expectAccepted(warm)
    // Batches stand still at their first statement while more requests come than the queue may hold.
    const connection = await u.app.db.connect()
    await connection.query('begin')
    await connection.query('lock table message in access exclusive mode')
    const sends = Array.from({ length: 700 }, () => u.company.send(u.company.sms()))
    const first = await Promise.race(sends)
    expectTryLater(first, 503)
    await connection.query('commit')
    connection.release()
    const answers = await Promise.all(sends)
    expect(count(answers, 200)).toBeGreaterThan(0)
    expect(count(answers, 200) + count(answers, 503)).toBe(700)
    const [stored] = await u.app.db.query<{ stored: number }>(
      'select count(*) as stored from message where request_id = any($1)',
      [answers.filter((answer) => answer.status === 200).map((answer) => answer.body['requestId'])],
    )
    expect(stored!.stored).toBe(count(answers, 200))
  })
})
