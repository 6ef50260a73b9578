import { describe, expect, test } from 'vitest'
import type { Answer } from '../../harness/http.ts'
import {
  expectAccepted,
  expectInvalid,
  expectRefused,
  freshPhone,
  hourMs,
  messages,
  useUnified,
  type Company,
} from '../unified/support.ts'

const u = useUnified({ nodes: 2 })
const c = () => u.company
let keys = 0
const freshKey = () => `key-${++keys}`

const withKey = (key: string, body: unknown, company: Company = c()) =>
  company.send(body, { 'idempotency-key': key })

const countMessages = async (company: Company = c()) => (await company.traces())['messages'] as number

const expectReplay = (again: Answer, first: Answer) => {
  expect({ status: again.status, text: again.text }).toEqual({ status: first.status, text: first.text })
  expect(again.headers['x-request-id']).toBe(first.headers['x-request-id'])
  expect(again.headers['idempotency-replayed']).toBe('true')
  expect(first.headers['idempotency-replayed']).toBeUndefined()
}

describe('the same key and the same body', () => {
  test('give the first answer again, ids and all, and no second message', async () => {
    const key = freshKey()
    const body = c().sms()
    const first = await withKey(key, body)
    expectAccepted(first)
    const before = await c().traces()
    for (let turn = 0; turn < 3; turn++) expectReplay(await withKey(key, body), first)
    expect(await c().traces()).toEqual(before)
  })

  test('also for a send whose condition would refuse it now', async () => {
    const key = freshKey()
    const body = c().sms({ discardSettings: { recentContactLastHours: 1 } })
    const first = await withKey(key, body)
    expectAccepted(first)
    expectReplay(await withKey(key, body), first)
  })

  test('also on another node', async () => {
    const key = freshKey()
    const body = c().sms()
    const first = await withKey(key, body)
    expectReplay(await c().sendTo(u.app.urls[1]!, body, { 'idempotency-key': key }), first)
  })

  test('also with another user of the company: the key belongs to the company', async () => {
    const company = await u.newCompany()
    const key = freshKey()
    const body = company.sms()
    const first = await withKey(key, body, company)
    await u.app.db.query('update api_token set user_id = $2 where user_id = $1', [
      company.users.api.id,
      company.users.otherApi.id,
    ])
    expectReplay(await withKey(key, body, company), first)
  })

  test('within 24 hours; after that it is a new message', async () => {
    const key = freshKey()
    const body = c().sms()
    const first = await withKey(key, body)
    u.app.clock.advance(24 * hourMs - 2000)
    expectReplay(await withKey(key, body), first)
    u.app.clock.advance(4000)
    const later = await withKey(key, body)
    expectAccepted(later)
    expect(later.body['messageId']).not.toBe(first.body['messageId'])
    expect(later.headers['idempotency-replayed']).toBeUndefined()
    expectReplay(await withKey(key, body), later)
  })

  test('when they arrive at the same time on two nodes', async () => {
    const company = await u.newCompany()
    const key = freshKey()
    const body = company.sms()
    const answers = await Promise.all(
      Array.from({ length: 32 }, (_, index) =>
        company.sendTo(u.app.urls[index % 2]!, body, { 'idempotency-key': key }),
      ),
    )
    for (const answer of answers) {
      expectAccepted(answer)
      expect(answer.text).toBe(answers[0]!.text)
      expect(answer.headers['x-request-id']).toBe(answers[0]!.headers['x-request-id'])
    }
    expect(answers.filter((answer) => answer.headers['idempotency-replayed'] === undefined)).toHaveLength(1)
    expect(await countMessages(company)).toBe(1)
  })
})

describe('the same key and another body', () => {
  test('is 400 under Idempotency-Key, never 409', async () => {
    const key = freshKey()
    expectAccepted(await withKey(key, c().sms()))
    const before = await c().traces()
    expectInvalid(await withKey(key, c().sms()), 'Idempotency-Key')
    expect(await c().traces()).toEqual(before)
  })

  test('the raw body counts: a space more is another body', async () => {
    const key = freshKey()
    const body = JSON.stringify(c().sms())
    const first = await withKey(key, body)
    expectInvalid(await withKey(key, `${body} `), 'Idempotency-Key')
    expectReplay(await withKey(key, body), first)
  })

  test('at the same time: one of them is taken, the others are 400', async () => {
    const company = await u.newCompany()
    const key = freshKey()
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        company.sendTo(u.app.urls[index % 2]!, company.sms(), { 'idempotency-key': key }),
      ),
    )
    expect(answers.filter((answer) => answer.status === 200)).toHaveLength(1)
    for (const answer of answers.filter((one) => one.status !== 200)) expectInvalid(answer, 'Idempotency-Key')
    expect(await countMessages(company)).toBe(1)
  })
})

describe('the scope of a key', () => {
  test('is the company: two companies may use the same one', async () => {
    const other = await u.newCompany()
    const key = freshKey()
    const mine = await withKey(key, c().sms())
    const theirs = await withKey(key, other.sms(), other)
    expectAccepted(mine)
    expectAccepted(theirs)
    expect(theirs.headers['idempotency-replayed']).toBeUndefined()
  })

  test('keys differ by case', async () => {
    const key = freshKey()
    const body = c().sms()
    const first = await withKey(key, body)
    const second = await withKey(key.toUpperCase(), body)
    expectAccepted(second)
    expect(second.body['messageId']).not.toBe(first.body['messageId'])
  })

  test('without a key nothing is remembered', async () => {
    const body = c().sms()
    const [one, two] = [await c().send(body), await c().send(body)]
    expect(one.body['messageId']).not.toBe(two.body['messageId'])
  })
})

describe('only accepted sends are kept', () => {
  test('a refused one may be tried again with its key', async () => {
    const key = freshKey()
    const to = freshPhone()
    expectAccepted(await c().send(c().sms({ destination: to })))
    const body = c().sms({ destination: to, discardSettings: { recentContactLastHours: 1 } })
    expectRefused(await withKey(key, body), messages.recentlyContacted)
    u.app.clock.advance(hourMs + 1000)
    const second = await withKey(key, body)
    expectAccepted(second)
    expect(second.headers['idempotency-replayed']).toBeUndefined()
  })

  test('a bad one too, mended', async () => {
    const key = freshKey()
    expectInvalid(await withKey(key, c().sms({ channel: 9 })), 'channel')
    expectInvalid(await withKey(key, c().sms({ templateName: 'none' })), 'templateName')
    expectAccepted(await withKey(key, c().sms()))
  })
})

describe('what a key looks like', () => {
  test.for(['a', '!~', 'a'.repeat(255), 'uuid:1/2?3="4"'])('%s is one', async (key) => {
    expectAccepted(await withKey(key, c().sms()))
  })

  test.for([
    ['empty', ''],
    ['too long', 'a'.repeat(256)],
    ['with a space', 'a b'],
    ['with a tab', 'a\tb'],
    ['with a letter outside ASCII', 'ação'],
  ])('%s is none: 400 under Idempotency-Key, nothing stored', async ([, key]) => {
    const before = await c().traces()
    expectInvalid(await withKey(key!, c().sms()), 'Idempotency-Key')
    expect(await c().traces()).toEqual(before)
  })

  test('two of them are none', async () => {
    const answer = await c().send(c().sms(), { 'idempotency-key': ['a1', 'a2'] })
    expectInvalid(answer, 'Idempotency-Key')
  })
})
