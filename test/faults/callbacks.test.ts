/** Receivers that hang, cut, redirect, flood, move inside or die: nobody else notices, and nothing is lost. */
import type http from 'node:http'
import { describe, expect, onTestFinished, test } from 'vitest'
import { reportDeadEndpoints } from '../../src/flows/watch-callback-endpoints.ts'
import { silentLog } from '../../src/lib/log.ts'
import type { Exceptions } from '../../src/lib/outbound/index.ts'
import type { Resolve } from '../../src/lib/outbound/lookup.ts'
import { claimCallbacks } from '../../src/store/callback-delivery.ts'
import { listCallbackAttempts } from '../../src/store/callbacks.ts'
import { createDb } from '../../src/store/db.ts'
import { makeCompany, type TestCompany } from '../harness/factories.ts'
import { until } from '../harness/http.ts'
import { startPgProxy } from '../harness/pg-proxy.ts'
import {
  allAre,
  queued,
  receiverOfTest,
  report,
  rowsOf,
  sent,
  settle,
  startWorker,
  tried,
  useWorld,
  type Call,
  type Receiver,
  type Sent,
} from '../contract/callbacks/support.ts'

const world = useWorld()
const seconds = 1_000
const minutes = 60 * seconds
const hours = 60 * minutes

const hang = () => () => {}

/** Many at once, settled in one statement. */
async function sendMany(
  url: (index: number) => string,
  count: number,
  company?: TestCompany,
): Promise<Sent[]> {
  const messages: Sent[] = []
  for (let index = 0; index < count; index++)
    messages.push(await queued(world, url(index), { ...(company && { company }) }))
  await settle(world, messages)
  return messages
}

const attemptsAt = async (port: number): Promise<number> => {
  const [row] = await world.db.query<{ count: number }>(
    `select count(*) as count from callback_attempt a join callback c on c.id = a.callback_id where c.endpoint like $1`,
    [`%:${port}`],
  )
  return row!.count
}

describe('a hanging receiver', () => {
  test('delays no other, of the same company or of another', async () => {
    const hanging = await receiverOfTest(hang)
    const good = await receiverOfTest()
    const company = await makeCompany(world.db)
    startWorker(world, { timeoutMs: 20_000, maxInFlight: 32 })
    await sendMany(() => `${hanging.url}/`, 60)
    await until('the hanging one hangs', () => hanging.calls.length === 4)
    const near = await sendMany((index) => `${good.url}/near/${index}`, 40)
    const far = await sendMany((index) => `${good.url}/far/${index}`, 40, company)
    for (const { id } of [...near, ...far]) await allAre(world, id, 'delivered')
    // Not one of its attempts has ended: nobody waited for it.
    expect(await attemptsAt(hanging.port)).toBe(0)
    expect(hanging.calls).toHaveLength(4)
    await hanging.close()
  })

  test('many of them, all of one company, leave room for the others', async () => {
    const hanging = await receiverOfTest(hang)
    const good = await receiverOfTest()
    const company = await makeCompany(world.db)
    const resolve: Resolve = (_, __, callback) => callback(null, [{ address: '127.0.0.1', family: 4 }])
    const exceptions: Exceptions = { allows: () => true }
    startWorker(world, { timeoutMs: 20_000, maxInFlight: 16, resolve, exceptions })
    await sendMany((index) => `http://h${index}.hang.test:${hanging.port}/`, 40)
    await until('half of the slots hang', () => hanging.calls.length === 8)
    const messages = await sendMany((index) => `${good.url}/${index}`, 20, company)
    for (const { id } of messages) await allAre(world, id, 'delivered')
    expect(hanging.calls).toHaveLength(8)
    await hanging.close()
  })

  test('is given up on after its time, and tried again', async () => {
    const hanging = await receiverOfTest(hang)
    startWorker(world, { timeoutMs: 100 })
    const message = await sent(world, `${hanging.url}/`)
    expect(await tried(world, message.id, 1)).toMatchObject({
      state: 'waiting',
      last_error: expect.stringMatching(/^timed_out/),
    })
    hanging.answer = () => 200
    world.clock.advance(6 * seconds)
    await allAre(world, message.id, 'delivered')
  })
})

describe('a receiver that', () => {
  test('cuts the connection is tried again', async () => {
    const receiver = await receiverOfTest(() =>
      receiver.calls.length === 1 ? (request) => void request.socket.destroy() : 200,
    )
    startWorker(world)
    const message = await sent(world, `${receiver.url}/`)
    expect(await tried(world, message.id, 1)).toMatchObject({ last_error: expect.stringMatching(/^cut/) })
    world.clock.advance(6 * seconds)
    await allAre(world, message.id, 'delivered')
  })

  test('is not there is tried again', async () => {
    const receiver = await receiverOfTest()
    await receiver.close()
    startWorker(world)
    const message = await sent(world, `${receiver.url}/`)
    expect(await tried(world, message.id, 1)).toMatchObject({
      last_error: expect.stringMatching(/^unreachable/),
    })
  })

  test('answers nonsense instead of HTTP is tried again', async () => {
    const receiver = await receiverOfTest(
      () => (request) => void request.socket.end('220 smtp.example.com\r\n'),
    )
    startWorker(world)
    const message = await sent(world, `${receiver.url}/`)
    expect(await tried(world, message.id, 1)).toMatchObject({ last_error: expect.stringMatching(/^cut/) })
  })

  test.for([
    [200, 'delivered'],
    [500, 'waiting'],
  ] as const)('answers %i with gigabytes is cut off: %s', async ([status, state]) => {
    let written = 0
    const flood = (_: http.IncomingMessage, response: http.ServerResponse) => {
      response.writeHead(status, { 'content-length': String(4 * 1024 ** 3) })
      const chunk = Buffer.alloc(64 * 1024, 'x')
      const pour = () => {
        while (!response.destroyed) {
          written += chunk.length
          if (!response.write(chunk)) return response.once('drain', pour)
        }
        return undefined
      }
      pour()
    }
    const receiver = await receiverOfTest(() => flood)
    startWorker(world)
    const message = await sent(world, `${receiver.url}/`)
    const row = await tried(world, message.id, 1)
    expect(row).toMatchObject({ state, last_status: status })
    expect(written).toBeLessThan(64 * 1024 * 1024)
    const [attempt] = await listCallbackAttempts(world.db, world.company.id, [row.id])
    expect(attempt!.answer!.length).toBeLessThanOrEqual(1_001)
  })

  test('says 200 and never ends its body has taken it', async () => {
    const receiver = await receiverOfTest(() => (_, response) => void response.writeHead(200).write('{'))
    startWorker(world, { timeoutMs: 100 })
    const message = await sent(world, `${receiver.url}/`)
    expect(await allAre(world, message.id, 'delivered')).toMatchObject([{ attempts: 1 }])
  })

  test('redirects inside leads nowhere', async () => {
    const inside = await receiverOfTest()
    const receiver = await receiverOfTest(({ path }) => ({
      status: path === '/a' ? 302 : 308,
      headers: { location: path === '/a' ? `${inside.url}/` : 'http://169.254.169.254/latest/meta-data' },
    }))
    startWorker(world)
    const first = await sent(world, `${receiver.url}/a`)
    const second = await sent(world, `${receiver.url}/b`)
    expect(await tried(world, first.id, 1)).toMatchObject({ state: 'waiting', last_status: 302 })
    expect(await tried(world, second.id, 1)).toMatchObject({ state: 'waiting', last_status: 308 })
    expect(inside.calls).toEqual([])
  })

  test('moves its name to a private address gets nothing more', async () => {
    const inside = await receiverOfTest()
    let address = '127.0.0.1'
    const resolve: Resolve = (_, __, callback) => callback(null, [{ address, family: 4 }])
    const exceptions: Exceptions = { allows: () => false }
    startWorker(world, { resolve, exceptions })
    for (const moved of ['127.0.0.1', '10.0.0.7', '169.254.169.254']) {
      address = moved
      const message = await sent(world, `http://receiver.example.com:${inside.port}/`)
      expect(await tried(world, message.id, 1)).toMatchObject({
        state: 'waiting',
        last_error: expect.stringMatching(new RegExp(`^refused: .*${moved.replaceAll('.', '\\.')}`)),
      })
    }
    expect(inside.calls).toEqual([])
  })
})

/** What was answered with success, by id. */
const takenBy = (receiver: Receiver, isTaken: (call: Call, index: number) => boolean) =>
  Map.groupBy(receiver.calls.filter(isTaken), (call) => call.headers['webhook-id']!)

describe('a receiver that fails for a while and recovers', () => {
  test('gets every event once it is back, with the id of the first attempt', async () => {
    let isBack = false
    const refused = new Set<string>()
    const taken: Call[] = []
    const receiver = await receiverOfTest((call) => {
      if (isBack) taken.push(call)
      else refused.add(call.headers['webhook-id']!)
      return isBack ? 200 : 503
    })
    startWorker(world)
    const messages = await sendMany((index) => `${receiver.url}/${index}`, 25)
    for (const message of messages) await report(world, message, ['delivered', 'read'])
    // Away for about an hour: some events are tried several times, most never while the endpoint is closed.
    for (const waitMs of [6 * seconds, 6 * minutes, 40 * minutes]) {
      await until('somebody was turned away', () => refused.size > 0)
      world.clock.advance(waitMs)
    }
    isBack = true
    const all = await until('every event is delivered', async () => {
      world.clock.advance(10 * minutes)
      const rows = (await Promise.all(messages.map(({ id }) => rowsOf(world, id)))).flat()
      return rows.every((row) => row.state === 'delivered') && rows
    })
    expect(all).toHaveLength(75)
    const byId = takenBy(receiver, (call) => taken.includes(call))
    expect(byId.size).toBe(75)
    for (const calls of byId.values()) expect(calls).toHaveLength(1)
    for (const id of refused) expect(byId.has(id)).toBe(true)
    const inOrder = Map.groupBy(taken, (call) => String(call.body.data['messageId']))
    for (const calls of inOrder.values())
      expect(calls.map((call) => call.body.data['status'])).toEqual(['sent', 'delivered', 'read'])
  })

  test('is left alone for a while, then tried with a single event, and open when that succeeds', async () => {
    const company = await makeCompany(world.db)
    const receiver = await receiverOfTest(() => 500)
    const good = await receiverOfTest()
    startWorker(world)
    const messages = await sendMany((index) => `${receiver.url}/orders/${index}`, 60, company)
    const isClosed = async () => {
      const [row] = await world.db.query<{ until: Date | null }>(
        'select closed_until as until from callback_endpoint where company_id = $1',
        [company.id],
      )
      return row?.until != null && row.until > world.clock.now()
    }
    await until('it is closed', isClosed)
    const settled = await until('nothing is in flight', async () => {
      const [row] = await world.db.query<{ leased: number }>(
        'select count(*) as leased from callback where company_id = $1 and lease is not null',
        [company.id],
      )
      return row!.leased === 0 && receiver.calls.length
    })
    expect(settled).toBeLessThan(20)
    // The worker goes round, and passes it by.
    await allAre(world, (await sent(world, `${good.url}/`)).id, 'delivered')
    expect(receiver.calls).toHaveLength(settled)
    world.clock.advance(5 * minutes)
    await until('it is tried', () => receiver.calls.length > settled)
    await until('it is closed again', isClosed)
    expect(receiver.calls).toHaveLength(settled + 1)
    receiver.answer = () => 200
    world.clock.advance(10 * minutes)
    for (const { id } of messages) await allAre(world, id, 'delivered')
    expect(await isClosed()).toBe(false)
  })

  test('raises an alert when it takes nothing for an hour, which its first success clears', async () => {
    const company = await makeCompany(world.db)
    const receiver = await receiverOfTest(() => 404)
    startWorker(world)
    const context = { db: world.db, clock: world.clock, log: silentLog }
    const alerts = () =>
      world.db.query<{ message: string; cleared_at: Date | null }>(
        `select message, cleared_at from alert where company_id = $1 and kind = 'callback_endpoint_dead'`,
        [company.id],
      )
    const message = await sent(world, `${receiver.url}/`, { company })
    await tried(world, message.id, 1)
    await reportDeadEndpoints(context)
    expect(await alerts()).toEqual([])
    for (const [index, waitMs] of [6 * seconds, 6 * minutes, 40 * minutes, 30 * minutes].entries()) {
      await tried(world, message.id, index + 1)
      world.clock.advance(waitMs)
    }
    await reportDeadEndpoints(context)
    await reportDeadEndpoints(context)
    expect(await alerts()).toEqual([{ message: expect.stringContaining(receiver.host), cleared_at: null }])
    receiver.answer = () => 200
    world.clock.advance(3 * hours)
    await allAre(world, message.id, 'delivered')
    await until('cleared', async () => (await alerts())[0]?.cleared_at)
  })
})

describe('several workers', () => {
  test('deliver every event once between them', async () => {
    const receiver = await receiverOfTest()
    for (let index = 0; index < 3; index++) startWorker(world, { maxInFlight: 8 })
    const messages = await sendMany(() => `${receiver.url}/`, 150)
    for (const { id } of messages) await allAre(world, id, 'delivered')
    expect(receiver.calls).toHaveLength(150)
  })

  test('what one of them had in hand when it died is delivered by another, with the same id', async () => {
    const receiver = await receiverOfTest()
    const message = await sent(world, `${receiver.url}/`)
    const lane = { company_id: world.company.id, endpoint: `${receiver.url}/`, free: 10 }
    const lease = { id: crypto.randomUUID(), seconds: 60 }
    const { callbacks } = await claimCallbacks(world.db, [lane], world.clock.now(), lease)
    expect(callbacks).toHaveLength(1)
    const again = await claimCallbacks(world.db, [lane], world.clock.now(), {
      ...lease,
      id: crypto.randomUUID(),
    })
    expect(again.callbacks).toEqual([])
    startWorker(world)
    // Business time does not end leases, only the database's own clock does.
    world.clock.advance(10 * minutes)
    const other = await receiverOfTest()
    await allAre(world, (await sent(world, `${other.url}/`)).id, 'delivered')
    expect(receiver.calls).toEqual([])
    await world.db.query(`update callback set leased_until = now() - interval '1 second' where id = $1`, [
      callbacks[0]!.id,
    ])
    expect(await allAre(world, message.id, 'delivered')).toMatchObject([{ attempts: 2 }])
  })
})

test('a database that is away while receivers answer: their answers are recorded when it is back', async () => {
  const proxy = await startPgProxy(world.url)
  const db = createDb({ url: proxy.url, connections: 4, log: silentLog, connectTimeoutMs: 500 })
  onTestFinished(async () => {
    await db.close()
    await proxy.close()
  })
  let answer = () => {}
  const receiver = await receiverOfTest(() => (_, response) => {
    answer = () => void response.writeHead(200).end()
  })
  startWorker({ db, url: proxy.url, company: world.company, clock: world.clock })
  const message = await sent(world, `${receiver.url}/`)
  await receiver.take('/', 1)
  const hasEnded = proxy.cutAt('before', /set lease = null/)
  answer()
  await hasEnded
  proxy.goAway()
  const later = await sent(world, `${receiver.url}/later`)
  proxy.comeBack()
  expect(await allAre(world, message.id, 'delivered')).toMatchObject([{ attempts: 1 }])
  await receiver.take('/later', 1)
  answer()
  await allAre(world, later.id, 'delivered')
  expect(receiver.calls).toHaveLength(2)
})
