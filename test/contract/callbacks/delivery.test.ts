/** How callbacks are tried again, signed while a secret changes, replayed, and kept on record. */
import { Webhook } from 'standardwebhooks'
import { describe, expect, test } from 'vitest'
import { nextRetry, readRetryAfter, retrySchedule } from '../../../src/flows/deliver-callbacks.ts'
import { replayAll, replayCallback } from '../../../src/flows/replay-callback.ts'
import { rotateCallbackSecret } from '../../../src/flows/rotate-callback-secret.ts'
import { listCallbackAttempts, listCallbacks, removeCallbacksBefore } from '../../../src/store/callbacks.ts'
import { readTimeline } from '../../../src/store/timeline.ts'
import { findWebhook, saveWebhook } from '../../../src/store/webhooks.ts'
import { makeCompany, must, testSealer } from '../../harness/factories.ts'
import { until } from '../../harness/http.ts'
import {
  allAre,
  receiverOfTest,
  report,
  rowsOf,
  sent,
  startWorker,
  tried,
  useWorld,
  verify,
  type Call,
} from './support.ts'

const world = useWorld()
const seconds = 1_000
const minutes = 60 * seconds
const hours = 60 * minutes

const ids = (calls: Call[]) => new Set(calls.map((call) => call.headers['webhook-id']))

describe('retries', () => {
  test('follow the schedule with the same id and body, then it is given up', async () => {
    const receiver = await receiverOfTest(() => 500)
    startWorker(world)
    const message = await sent(world, `${receiver.url}/`)
    const planned = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400].map((s) => s * seconds)
    expect(retrySchedule).toEqual(planned)
    for (const [index, waitMs] of planned.entries()) {
      const failedBefore = world.clock.now().getTime()
      const row = await tried(world, message.id, index + 1)
      const waited = row.due_at.getTime() - failedBefore
      expect(row.state).toBe('waiting')
      // The attempt ended within seconds of the moment we looked at the clock.
      expect(waited).toBeGreaterThan(waitMs - 10_000)
      expect(waited).toBeLessThan(waitMs * 1.1 + 10_000)
      world.clock.advance(waitMs * 1.1)
    }
    const [row] = await allAre(world, message.id, 'given_up')
    expect(row!.attempts).toBe(10)
    expect(receiver.calls).toHaveLength(10)
    expect(ids(receiver.calls).size).toBe(1)
    expect(new Set(receiver.calls.map((call) => call.text)).size).toBe(1)
    const attempts = await listCallbackAttempts(world.db, world.company.id, [row!.id])
    expect(attempts.map(({ number, status }) => [number, status])).toEqual(
      Array.from({ length: 10 }, (_, index) => [index + 1, 500]),
    )
    const timeline = await readTimeline(world.db, world.company.id, message.id)
    const told = timeline!.events.filter(({ kind }) => kind === 'callback')
    expect(told.map(({ detail }) => [detail['event'], detail['attempt'], detail['status']])).toEqual(
      Array.from({ length: 10 }, (_, index) => ['sent', index + 1, 500]),
    )
  })

  test('sign each attempt with its own time', async () => {
    const receiver = await receiverOfTest(() => (receiver.calls.length === 1 ? 503 : 204))
    startWorker(world)
    const message = await sent(world, `${receiver.url}/`)
    await tried(world, message.id, 1)
    world.clock.advance(10 * seconds)
    await allAre(world, message.id, 'delivered')
    const [first, second] = receiver.calls
    const stamp = (call: Call) => Number(call.headers['webhook-timestamp'])
    expect(stamp(second!) - stamp(first!)).toBeGreaterThanOrEqual(9)
    for (const call of receiver.calls)
      expect(call.headers['webhook-signature']).toBe(
        new Webhook(world.company.callbackSecret).sign(
          call.headers['webhook-id']!,
          new Date(stamp(call) * 1000),
          call.text,
        ),
      )
  })

  test.for([301, 307, 400, 404, 429, 502])('%i is no success', async (status) => {
    const receiver = await receiverOfTest(() => ({
      status,
      headers: { location: `${receiver.url}/elsewhere` },
    }))
    startWorker(world)
    const message = await sent(world, `${receiver.url}/`)
    expect(await tried(world, message.id, 1)).toMatchObject({ state: 'waiting', last_status: status })
    expect(receiver.calls.map((call) => call.path)).toEqual(['/'])
  })

  test('410 stops', async () => {
    const receiver = await receiverOfTest(() => 410)
    startWorker(world)
    const message = await sent(world, `${receiver.url}/`)
    await allAre(world, message.id, 'given_up')
    world.clock.advance(100 * hours)
    expect(await allAre(world, message.id, 'given_up')).toMatchObject([{ attempts: 1 }])
    expect(receiver.calls).toHaveLength(1)
  })

  test('410 switches the company webhook off, and an alert says so', async () => {
    const company = await makeCompany(world.db)
    const receiver = await receiverOfTest(() => 410)
    const saving = { db: world.db, sealer: testSealer, exceptions: { allows: () => true } }
    must(await saveWebhook(saving, company.id, { url: receiver.url }, world.clock.now()))
    startWorker(world)
    const message = await sent(world, null, { company })
    await allAre(world, message.id, 'given_up')
    expect(await findWebhook(world.db, company.id)).toMatchObject({
      disabledReason: expect.stringContaining('410'),
    })
    await until('an alert', async () =>
      (
        await world.db.query(`select 1 from alert where kind = 'webhook_gone' and company_id = $1`, [
          company.id,
        ])
      ).at(0),
    )
    expect(await rowsOf(world, (await sent(world, null, { company })).id)).toEqual([])
    // Saved again it works again, and the alert is gone.
    receiver.answer = () => 200
    must(await saveWebhook(saving, company.id, { url: receiver.url }, world.clock.now()))
    await allAre(world, (await sent(world, null, { company })).id, 'delivered')
    const open = `select 1 from alert where kind = 'webhook_gone' and company_id = $1 and cleared_at is null`
    expect(await world.db.query(open, [company.id])).toEqual([])
  })

  test('Retry-After is honoured, later and sooner than the schedule', async () => {
    const receiver = await receiverOfTest(({ path }) => ({
      status: 503,
      headers: { 'retry-after': decodeURIComponent(path.slice(1)) },
    }))
    startWorker(world)
    const dueIn = async (asked: string) => {
      const before = world.clock.now().getTime()
      const message = await sent(world, `${receiver.url}/${asked}`)
      return (await tried(world, message.id, 1)).due_at.getTime() - before
    }
    const hour = await dueIn('3600')
    expect(hour).toBeGreaterThanOrEqual(3_600_000)
    expect(hour).toBeLessThan(3_600_000 + 20_000)
    expect(await dueIn('2')).toBeLessThan(2_000 + 2_900)
    const date = new Date(world.clock.now().getTime() + 2 * hours).toUTCString()
    const twoHours = await dueIn(encodeURIComponent(date))
    expect(twoHours).toBeGreaterThan(2 * hours - 2_000)
    expect(twoHours).toBeLessThan(2 * hours + 20_000)
    expect(await dueIn('soon')).toBeGreaterThanOrEqual(5_000)
  })

  test('asking for early retries for ever ends', () => {
    let at = { step: 0, early: 0 }
    let tries = 1
    for (let next = nextRetry(at, 1, Math.random); next; next = nextRetry(at, 1, Math.random)) {
      at = next
      tries++
    }
    expect(tries).toBe(20)
  })

  test.for([
    ['5', 5_000],
    ['0', 1_000],
    ['999999999', 86_400_000],
    ['Sun, 15 Nov 2026 00:01:00 GMT', 60_000],
    ['Sun, 15 Nov 2020 00:01:00 GMT', 1_000],
    ['soon', undefined],
    [undefined, undefined],
  ] as const)('Retry-After %s is %s ms', ([text, ms]) => {
    expect(readRetryAfter(text, new Date('2026-11-15T00:00:00Z'))).toBe(ms)
  })
})

describe('order', () => {
  test('later events wait for one that is being tried again', async () => {
    const receiver = await receiverOfTest(() => (receiver.calls.length <= 2 ? 500 : 200))
    startWorker(world)
    const message = await sent(world, `${receiver.url}/`)
    await tried(world, message.id, 1)
    await report(world, message, ['delivered', 'read'])
    world.clock.advance(6 * seconds)
    await tried(world, message.id, 2)
    world.clock.advance(6 * minutes)
    await allAre(world, message.id, 'delivered')
    expect(receiver.calls.map((call) => call.body.type)).toEqual([
      'message.sent',
      'message.sent',
      'message.sent',
      'message.delivered',
      'message.read',
    ])
  })

  test('an event that the receiver refuses holds nobody up', async () => {
    const receiver = await receiverOfTest(({ body }) => (body.type === 'message.sent' ? 422 : 200))
    startWorker(world)
    const message = await sent(world, `${receiver.url}/`)
    await tried(world, message.id, 1)
    await report(world, message, ['delivered'])
    await until('delivered', () => receiver.calls.some((call) => call.body.type === 'message.delivered'))
  })

  test('a dead receiver holds nobody up for ever', async () => {
    const receiver = await receiverOfTest(({ body }) => (body.type === 'message.sent' ? 500 : 200))
    startWorker(world)
    const message = await sent(world, `${receiver.url}/`)
    await report(world, message, ['delivered'])
    for (const [index, waitMs] of [6 * seconds, 6 * minutes, 40 * minutes].entries()) {
      await tried(world, message.id, index + 1)
      expect(receiver.calls.every((call) => call.body.type === 'message.sent')).toBe(true)
      world.clock.advance(waitMs)
    }
    await tried(world, message.id, 4)
    world.clock.advance(2.4 * hours)
    await until('delivered', () => receiver.calls.some((call) => call.body.type === 'message.delivered'))
    expect((await rowsOf(world, message.id))[0]).toMatchObject({ event: 'sent', state: 'waiting' })
  })
})

describe('secrets', () => {
  test('during the overlap both sign, afterwards only the new one', async () => {
    const company = await makeCompany(world.db)
    const receiver = await receiverOfTest()
    startWorker(world)
    const context = { db: world.db, sealer: testSealer, clock: world.clock }
    const fresh = await rotateCallbackSecret(context, company.id, 2)
    expect(fresh).not.toBe(company.callbackSecret)
    const knows = (secret: string, call: Call) =>
      call.headers['webhook-signature']!.split(' ').includes(
        new Webhook(secret).sign(
          call.headers['webhook-id']!,
          new Date(Number(call.headers['webhook-timestamp']) * 1000),
          call.text,
        ),
      )
    await sent(world, `${receiver.url}/during`, { company })
    const [during] = await receiver.take('/during', 1)
    expect([knows(fresh!, during!), knows(company.callbackSecret, during!)]).toEqual([true, true])
    world.clock.advance(2 * hours + seconds)
    await sent(world, `${receiver.url}/after`, { company })
    const [after] = await receiver.take('/after', 1)
    expect([knows(fresh!, after!), knows(company.callbackSecret, after!)]).toEqual([true, false])
  })

  test('without overlap the old one is dead at once', async () => {
    const company = await makeCompany(world.db)
    const receiver = await receiverOfTest()
    startWorker(world)
    await rotateCallbackSecret({ db: world.db, sealer: testSealer, clock: world.clock }, company.id, 0)
    await sent(world, `${receiver.url}/`, { company })
    const [call] = await receiver.take('/', 1)
    expect(call!.headers['webhook-signature']).not.toContain(' ')
    expect(() => verify(company.callbackSecret, call!)).toThrow()
  })

  test('of a company that is not there: nothing', async () => {
    const context = { db: world.db, sealer: testSealer, clock: world.clock }
    expect(await rotateCallbackSecret(context, crypto.randomUUID())).toBeUndefined()
    expect(await rotateCallbackSecret(context, world.company.id, 24, 'webhook')).toBeUndefined()
  })
})

describe('replays', () => {
  test('any callback can be sent again, with the same id and body', async () => {
    const receiver = await receiverOfTest()
    startWorker(world)
    const message = await sent(world, `${receiver.url}/`)
    const [row] = await allAre(world, message.id, 'delivered')
    expect(await replayCallback(world, world.company.id, row!.id)).toBe(true)
    await receiver.take('/', 2)
    expect(ids(receiver.calls).size).toBe(1)
    expect(receiver.calls[1]!.text).toBe(receiver.calls[0]!.text)
    expect(await allAre(world, message.id, 'delivered')).toMatchObject([{ attempts: 2 }])
  })

  test('one that was given up starts its schedule again', async () => {
    const receiver = await receiverOfTest(() => (receiver.calls.length === 1 ? 410 : 500))
    startWorker(world)
    const message = await sent(world, `${receiver.url}/`)
    const [row] = await allAre(world, message.id, 'given_up')
    receiver.answer = () => (receiver.calls.length === 2 ? 500 : 200)
    await replayCallback(world, world.company.id, row!.id)
    await tried(world, message.id, 2)
    world.clock.advance(6 * seconds)
    await allAre(world, message.id, 'delivered')
    const attempts = await listCallbackAttempts(world.db, world.company.id, [row!.id])
    expect(attempts.map(({ status }) => status)).toEqual([410, 500, 200])
  })

  test("another company's callback is nobody's", async () => {
    const other = await makeCompany(world.db)
    const receiver = await receiverOfTest()
    startWorker(world)
    const message = await sent(world, `${receiver.url}/`)
    const [row] = await allAre(world, message.id, 'delivered')
    expect(await replayCallback(world, other.id, row!.id)).toBe(false)
    expect(await listCallbackAttempts(world.db, other.id, [row!.id])).toEqual([])
    expect(await listCallbacks(world.db, other.id, { limit: 10 })).toEqual([])
  })

  test('all of a time and state at once', async () => {
    const company = await makeCompany(world.db)
    const receiver = await receiverOfTest(() => 410)
    startWorker(world)
    const first = await sent(world, `${receiver.url}/`, { company })
    const second = await sent(world, `${receiver.url}/`, { company })
    await allAre(world, first.id, 'given_up')
    await allAre(world, second.id, 'given_up')
    receiver.answer = () => 200
    const hourAgo = new Date(world.clock.now().getTime() - hours)
    expect(await replayAll(world, company.id, { state: 'delivered' })).toBe(0)
    expect(await replayAll(world, company.id, { state: 'given_up', until: hourAgo })).toBe(0)
    expect(await replayAll(world, company.id, { state: 'given_up', since: hourAgo })).toBe(2)
    await allAre(world, first.id, 'delivered')
    await allAre(world, second.id, 'delivered')
  })
})

describe('the record', () => {
  test('every attempt: status, time, the answer clipped and without secrets', async () => {
    const { callbackSecret, id: companyId } = world.company
    const receiver = await receiverOfTest((call) => ({
      status: 500,
      body: `seen ${call.headers['webhook-signature']} ${callbackSecret} {"token":"abc123"} \u0000${'x'.repeat(5_000)}`,
    }))
    startWorker(world)
    const message = await sent(world, `${receiver.url}/`)
    const row = await tried(world, message.id, 1)
    const [attempt] = await listCallbackAttempts(world.db, companyId, [row.id])
    expect(attempt).toMatchObject({ number: 1, status: 500, error: null })
    expect(attempt!.durationMs).toBeGreaterThanOrEqual(0)
    expect(attempt!.answer).toMatch(/^seen \[redacted\] \[redacted\] \{"token":"\[redacted\]"\} {2}x+…$/)
    expect(attempt!.answer!.length).toBeLessThanOrEqual(1_001)
    const [view] = await listCallbacks(world.db, companyId, { subjectId: message.id, limit: 10 })
    expect(view).toMatchObject({ url: `${receiver.url}/`, event: 'sent', state: 'waiting', lastStatus: 500 })
  })

  test('what is over goes after its time, what waits stays', async () => {
    const receiver = await receiverOfTest(({ path }) => (path === '/ok' ? 200 : 500))
    startWorker(world)
    const done = await sent(world, `${receiver.url}/ok`)
    const waiting = await sent(world, `${receiver.url}/no`)
    await allAre(world, done.id, 'delivered')
    await tried(world, waiting.id, 1)
    await removeCallbacksBefore(world.db, new Date(world.clock.now().getTime() + hours), 1_000)
    expect(await rowsOf(world, done.id)).toEqual([])
    expect(await rowsOf(world, waiting.id)).toHaveLength(1)
  })
})

test('receivers behind one host are told apart by the first step of the path, ids further down are not', async () => {
  const lanes = await world.db.query<{ lane: string }>(
    `select callback_lane(url) as lane from unnest(array['https://Relay.example:8443/one/1?x=1', 'https://relay.example:8443/one/2',
      'https://relay.example:8443/two', 'https://relay.example:8443', 'https://relay.example:8443/?a']) url`,
  )
  expect(lanes.map(({ lane }) => lane)).toEqual([
    'https://relay.example:8443/one',
    'https://relay.example:8443/one',
    'https://relay.example:8443/two',
    'https://relay.example:8443',
    'https://relay.example:8443/',
  ])
})
