import { describe, expect, test } from 'vitest'
import { request, type Answer } from '../../harness/http.ts'
import type { CutPoint } from '../../harness/pg-proxy.ts'
import {
  count,
  expectAccepted,
  expectErrorBody,
  freshPhone,
  useUnified,
  type Body,
  type Company,
} from './support.ts'

const u = useUnified({ hasProxy: true, nodes: 2, patienceMs: 2_000 })

/** Ids that callers were told, and ids that are stored: neither more nor less. */
const expectExactlyStored = async (company: Company, answers: Answer[]) => {
  const rows = await u.app.db.query<{ id: string }>('select id from message where company_id = $1', [
    company.id,
  ])
  const stored = rows.map((row) => `msg_${row.id.replaceAll('-', '')}`).toSorted()
  const told = answers
    .filter((answer) => answer.status === 200)
    .map((answer) => String(answer.body['messageId']))
  expect(stored).toEqual(told.toSorted())
  expect(await company.traces()).toMatchObject({ outbox: told.length, events: told.length })
}

describe.for(['before', 'after'] as const)(
  'a connection cut exactly at COMMIT, %s the database had it',
  (point) => {
    test('one send is accepted all the same, once', async () => {
      const company = await u.newCompany()
      expectAccepted(await company.send(company.sms()))
      const first = await company.traces()
      expect(first).toMatchObject({ messages: 1 })
      const isCut = u.app.proxy.cutAt(point)
      const answer = await company.send(company.sms())
      await isCut
      expectAccepted(answer)
      expect(await company.message(answer)).toMatchObject({ state: 'queued' })
      expect(await company.traces()).toMatchObject({ messages: 2, outbox: 2, contacts: 2, events: 2 })
    })

    test('of many sends none is lost and none is doubled', async () => {
      const company = await u.newCompany()
      const isCut = u.app.proxy.cutAt(point)
      const answers = await Promise.all(
        Array.from({ length: 100 }, (_, index) => company.sendTo(u.app.urls[index % 2]!, company.sms())),
      )
      await isCut
      expect(count(answers, 200)).toBe(100)
      await expectExactlyStored(company, answers)
    })

    test('time after time', async () => {
      const company = await u.newCompany()
      const answers: Answer[] = []
      for (let turn = 0; turn < 5; turn++) {
        const isCut = u.app.proxy.cutAt(point)
        answers.push(...(await Promise.all(Array.from({ length: 10 }, () => company.send(company.sms())))))
        await isCut
      }
      expect(count(answers, 200)).toBe(50)
      await expectExactlyStored(company, answers)
    })

    test('a condition that only one may pass is passed by one', async () => {
      const company = await u.newCompany()
      const to = freshPhone()
      const isCut = u.app.proxy.cutAt(point)
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          company.sendTo(
            u.app.urls[index % 2]!,
            company.sms({ destination: to, discardSettings: { recentContactLastHours: 1 } }),
          ),
        ),
      )
      await isCut
      expect(count(answers, 200)).toBe(1)
      expect(count(answers, 400)).toBe(19)
      expect(await company.traces()).toMatchObject({ messages: 20, outbox: 1, contacts: 1 })
    })

    test('a key still gives one message and equal answers', async () => {
      const company = await u.newCompany()
      const body = company.sms()
      const isCut = u.app.proxy.cutAt(point)
      const answers = await Promise.all(
        Array.from({ length: 10 }, (_, index) =>
          company.sendTo(u.app.urls[index % 2]!, body, { 'idempotency-key': 'cut' }),
        ),
      )
      await isCut
      for (const answer of answers) {
        expectAccepted(answer)
        expect(answer.text).toBe(answers[0]!.text)
      }
      expect(await company.traces()).toMatchObject({ messages: 1, outbox: 1, keys: 1 })
    })

    test('a login is answered by a token that works, or by 503', async () => {
      const company = await u.newCompany()
      const isCut = u.app.proxy.cutAt(point, /insert into api_token|^\s*commit/i)
      const login = await request(`${u.app.url}/v1/login`, { body: company.credentials() })
      await isCut
      expect([200, 503]).toContain(login.status)
      const again = await request(`${u.app.url}/v1/login`, { body: company.credentials() })
      expect(again.status).toBe(200)
    })
  },
)

describe('the database vanishes while committing', () => {
  const key = { 'idempotency-key': 'in-doubt' }
  /** One send whose COMMIT is the last that the database hears, or does not hear. */
  const sendIntoTheVoid = async (point: CutPoint, company: Company, body: Body) => {
    let isGone = false
    void u.app.proxy.cutAt(point).then(() => {
      isGone = true
      u.app.proxy.goAway()
    })
    try {
      const answer = await company.send(body, key)
      expect(isGone).toBe(true)
      expect(answer.status).toBe(503)
      expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0)
      expectErrorBody(answer)
    } finally {
      u.app.proxy.comeBack()
    }
  }

  test('the answer is 503, the one case where the message may be there; a key removes the doubt', async () => {
    const company = await u.newCompany()
    const body = company.sms()
    await sendIntoTheVoid('after', company, body)
    expect(await company.traces()).toMatchObject({ messages: 1 })
    const again = await company.send(body, key)
    expectAccepted(again)
    expect(again.headers['idempotency-replayed']).toBe('true')
    expect(await company.traces()).toMatchObject({ messages: 1, outbox: 1 })
  })

  test('before it had the COMMIT: nothing is there, and the same key is accepted afterwards', async () => {
    const company = await u.newCompany()
    const body = company.sms()
    await sendIntoTheVoid('before', company, body)
    expect(await company.traces()).toMatchObject({ messages: 0, contacts: 0, keys: 0 })
    const again = await company.send(body, key)
    expectAccepted(again)
    expect(again.headers['idempotency-replayed']).toBeUndefined()
  })
})
