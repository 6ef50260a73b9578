/** What the tests of callbacks share: receivers on real sockets, a worker that delivers, messages that move. */
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { Registry } from 'prom-client'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest'
import { queueCallbacks, queueReceived } from '../../../src/flows/queue-callbacks.ts'
import { recordReceipts } from '../../../src/flows/record-receipts.ts'
import { newId, parseId, showId } from '../../../src/lib/ids.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { createOutbound, type Exceptions } from '../../../src/lib/outbound/index.ts'
import type { Resolve } from '../../../src/lib/outbound/lookup.ts'
import { startCallbacks, type Callbacks } from '../../../src/worker/callbacks.ts'
import type { Db } from '../../../src/store/db.ts'
import { claimMessages, putBack, settleMessages, type Settlement } from '../../../src/store/outbox.ts'
import { createMovableClock, type MovableClock } from '../../harness/app.ts'
import { createTestDatabase, type TestDatabase } from '../../harness/database.ts'
import { makeCompany, testSealer, type TestCompany } from '../../harness/factories.ts'
import { until } from '../../harness/http.ts'
import { storeMessage, type MessageWish } from '../../harness/messages.ts'

export type Call = {
  path: string
  headers: Record<string, string>
  text: string
  body: { type: string; timestamp: string; data: Record<string, unknown> }
}

export type Reply =
  | number
  | { status: number; headers?: Record<string, string>; body?: string }
  | ((request: http.IncomingMessage, response: http.ServerResponse) => void)

export type Receiver = {
  url: string
  host: string
  port: number
  calls: Call[]
  /** What it answers; 200 unless told. */
  answer: (call: Call) => Reply
  /** Everything of one path, awaited until there are so many. */
  take(path: string, count: number): Promise<Call[]>
  close(): Promise<void>
}

export async function startReceiver(answer: (call: Call) => Reply = () => 200): Promise<Receiver> {
  const calls: Call[] = []
  const server = http.createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('error', () => {})
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString('utf8')
      const headers = Object.fromEntries(Object.entries(request.headers).map(([k, v]) => [k, String(v)]))
      const call = { path: request.url ?? '', headers, text, body: JSON.parse(text) as Call['body'] }
      calls.push(call)
      const reply = receiver.answer(call)
      if (typeof reply === 'function') return reply(request, response)
      const { status, headers: extra = {}, body = '' } = typeof reply === 'number' ? { status: reply } : reply
      response.writeHead(status, extra).end(body)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const receiver: Receiver = {
    url: `http://127.0.0.1:${port}`,
    host: `127.0.0.1:${port}`,
    port,
    calls,
    answer,
    take: (path, count) =>
      until(`${count} calls of ${path}`, () => {
        const found = calls.filter((call) => call.path === path)
        return found.length >= count && found
      }),
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return receiver
}

/** Of the running test, which closes it. */
export async function receiverOfTest(answer?: (call: Call) => Reply): Promise<Receiver> {
  const receiver = await startReceiver(answer)
  onTestFinished(() => receiver.close())
  return receiver
}

/** Receivers are on loopback, where nothing else may go. */
const loopback: Exceptions = {
  allows: (purpose, hostname) => purpose === 'callbacks' && hostname === '127.0.0.1',
}

export type World = {
  readonly db: Db
  readonly url: string
  readonly company: TestCompany
  readonly clock: MovableClock
}

export function useWorld(): World {
  let database: TestDatabase | undefined
  let company: TestCompany | undefined
  const clock = createMovableClock()
  beforeAll(async () => {
    database = await createTestDatabase()
    company = await makeCompany(database.db)
  })
  afterAll(() => database?.drop())
  return {
    get db() {
      return database!.db
    },
    get url() {
      return database!.url
    },
    get company() {
      return company!
    },
    clock,
  }
}

export type WorkerOptions = {
  timeoutMs?: number
  maxInFlight?: number
  exceptions?: Exceptions
  resolve?: Resolve
}

/** Delivers until the test ends. */
export function startWorker(world: World, options: WorkerOptions = {}): Callbacks {
  const outbound = createOutbound({
    exceptions: options.exceptions ?? loopback,
    ...(options.resolve && { resolve: options.resolve }),
  })
  const callbacks = startCallbacks({
    db: world.db,
    clock: world.clock,
    log: silentLog,
    sealer: testSealer,
    outbound,
    registry: new Registry(),
    pollMs: 15,
    timeoutMs: options.timeoutMs ?? 5_000,
    maxInFlight: options.maxInFlight,
  })
  onTestFinished(async () => {
    await callbacks.close()
    await outbound.close()
    // The next test's worker is to call nobody of this one.
    await world.db.query(`update callback set state = 'given_up' where state = 'waiting'`)
    await world.db.query('delete from callback_endpoint')
  })
  return callbacks
}

export type Sent = { id: string; shown: string; lineId: string; recipient: string; providerId: string }

/** A message that waits to leave, with this callback. */
export async function queued(
  world: World,
  url: string | null,
  wish: MessageWish & { customFields?: Record<string, string>; company?: TestCompany } = {},
): Promise<Sent> {
  const company = wish.company ?? world.company
  const now = world.clock.now()
  const message = await storeMessage(world.db, company, {
    state: 'queued',
    outbox: { dueAt: now },
    acceptedAt: now,
    ...wish,
  })
  const callback = url === null ? null : { url, customFields: wish.customFields ?? {} }
  await world.db.query(
    `update message set callback = $2, contract_code = 'CT-1', document_number = '123', request_id = 'req_1', api = 'direct' where id = $1`,
    [message.id, callback],
  )
  return { ...message, shown: showId('msg', message.id), providerId: newId() }
}

const workerId = newId()

/** What the dispatcher writes when a hand-over ended so; the other messages of the line stay where they are. */
export async function settle(
  { db, clock }: World,
  messages: readonly Sent[],
  result: Partial<Settlement> = { state: 'sent' },
): Promise<void> {
  const lineIds = [...new Set(messages.map(({ lineId }) => lineId))]
  await db.query('update lane set owner_id = $2, epoch = 7 where line_id = any($1::uuid[])', [
    lineIds,
    workerId,
  ])
  const wanted = new Map(messages.map((message) => [message.id, message]))
  const wishes = lineIds.map((lineId) => ({
    line_id: lineId,
    epoch: 7,
    free: 1_000,
    single_share: 0,
    deferred_share: 0,
  }))
  const claimed = await claimMessages(db, workerId, wishes, clock.now())
  const settled = claimed.map((message): Settlement => {
    const sent = wanted.get(message.messageId)
    if (sent === undefined) return putBack(message, clock.now())
    return {
      ...putBack(message, clock.now()),
      provider_ids: result.state === 'sent' ? [sent.providerId] : [],
      ...result,
    }
  })
  const done = await settleMessages(db, settled)
  expect([...wanted.keys()].filter((id) => !done.has(id))).toEqual([])
}

export async function sent(
  world: World,
  url: string | null,
  wish?: Parameters<typeof queued>[2],
): Promise<Sent> {
  const message = await queued(world, url, wish)
  await settle(world, [message])
  return message
}

/** What a provider reports, in this order, each in a transaction of its own or all in one. */
export async function report(
  { db, clock, company }: World,
  message: Sent,
  states: readonly ('sent' | 'delivered' | 'read' | 'failed' | 'expired')[],
  options: { isAtOnce?: boolean; error?: { code: string; message: string } } = {},
): Promise<void> {
  const entries = states.map((state) => ({
    lineId: message.lineId,
    companyId: company.id,
    receivedAt: clock.now(),
    receipt: { providerId: message.providerId, state, at: clock.now(), error: options.error },
  }))
  const context = { db, clock, log: silentLog, ...told }
  if (options.isAtOnce) await recordReceipts(context, entries)
  else for (const entry of entries) await recordReceipts(context, [entry])
}

export const told = { onChanged: queueCallbacks, onReceived: queueReceived }

export type Row = {
  id: number
  event: string
  target: string
  state: string
  attempts: number
  due_at: Date
  last_error: string | null
}

export const rowsOf = ({ db }: World, subjectId: string): Promise<Row[]> =>
  db.query<Row>('select * from callback where subject_id = $1 order by id', [subjectId])

/** Waits until every callback of the message is in this state. */
export const allAre = (world: World, subjectId: string, state: string): Promise<Row[]> =>
  until(`all callbacks are ${state}`, async () => {
    const rows = await rowsOf(world, subjectId)
    return rows.length > 0 && rows.every((row) => row.state === state) && rows
  })

/** Waits until an event of it has been tried so often and nobody is at it. */
export const tried = (world: World, subjectId: string, attempts: number): Promise<Row> =>
  until(`${attempts} attempts`, async () => {
    const [row] = await world.db.query<Row>(
      'select * from callback where subject_id = $1 and attempts = $2 and lease is null order by id limit 1',
      [subjectId, attempts],
    )
    return row
  })

/** By the library that receivers use, with time as it is. */
export const verify = (secret: string, call: Call): unknown =>
  new Webhook(secret).verify(call.text, call.headers)

export const messageIdOf = (call: Call): string | undefined =>
  parseId('msg', String(call.body.data['messageId']))
