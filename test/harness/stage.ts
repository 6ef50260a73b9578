/** Delivery on a stage: a database, a company with SMS lines, a provider, and as many workers as a test wants. */
import { Registry } from 'prom-client'
import type { Clock } from '../../src/lib/clock.ts'
import { silentLog } from '../../src/lib/log.ts'
import { createOutbound, readExceptions } from '../../src/lib/outbound/index.ts'
import { createReportRecorder } from '../../src/flows/record-reports.ts'
import { createDb, type Db } from '../../src/store/db.ts'
import { createLine, type LineInput, type LineRecord } from '../../src/store/lines.ts'
import { startDelivery, type Delivery } from '../../src/worker/delivery.ts'
import { createMovableClock, type MovableClock } from './app.ts'
import { createTestDatabase } from './database.ts'
import { makeCompany, must, testSealer, type TestCompany } from './factories.ts'
import { countStates, seedMessages, type Seed } from './outbox.ts'
import { startPgProxy, type PgProxy } from './pg-proxy.ts'
import { startSmsc, type Smsc } from './smsc.ts'

export type Stage = {
  db: Db
  databaseUrl: string
  company: TestCompany
  smsc: Smsc
  clock: MovableClock
  lines: LineRecord[]
  proxy: PgProxy
  addLine(changes?: LineChanges): Promise<LineRecord>
  seed(seed: Omit<Seed, 'companyId' | 'lineId'> & { lineId?: string }): Promise<string[]>
  startWorker(options?: WorkerOptions): Promise<TestWorker>
  states(lineId?: string): Promise<Record<string, number>>
  stateOf(messageId: string): Promise<{ state: string; errorCode: string | null; lineId: string }>
  events(messageId: string): Promise<{ kind: string; detail: Record<string, unknown> }[]>
  close(): Promise<void>
}

export type WorkerOptions = {
  name?: string
  clock?: Clock
  /** Past the proxy. */
  isDirect?: boolean
  /** Other peers on loopback that lines may reach, as `host:port`. */
  peers?: string[]
}

export type TestWorker = Delivery & { roundTrips(): number }

type LineChanges = Partial<LineInput> & { settings?: Record<string, unknown> }

export async function createStage(
  options: { lines?: number; line?: LineChanges; hasProxy?: boolean } = {},
): Promise<Stage> {
  const database = await createTestDatabase()
  const { db } = database
  const smsc = await startSmsc()
  const proxy = options.hasProxy ? await startPgProxy(database.url) : undefined
  const company = await makeCompany(db, testSealer, { lines: [] })
  const clock = createMovableClock()
  const lines: LineRecord[] = []
  const closers: (() => Promise<unknown>)[] = []
  let workers = 0

  const stage: Stage = {
    db,
    databaseUrl: database.url,
    company,
    smsc,
    clock,
    lines,
    get proxy() {
      if (!proxy) throw new Error('Made without `hasProxy`.')
      return proxy
    },
    async addLine(changes = {}) {
      const number = lines.length + 1
      const line = must(
        await createLine(
          db,
          testSealer,
          company.id,
          {
            name: `Line ${number}`,
            channel: 'sms',
            countryCode: 55,
            phoneNumber: 31_987_650_000 + number,
            driver: 'smpp',
            ratePerSecond: 10_000,
            ...changes,
            settings: {
              host: '127.0.0.1',
              port: smsc.port,
              systemId: `line${number}`,
              password: 'secret',
              ...changes.settings,
            },
          },
          ['password'],
        ),
      )
      lines.push(line)
      return line
    },
    seed: (seed) =>
      seedMessages(db, { companyId: company.id, lineId: lines[0]!.id, acceptedAt: clock.now(), ...seed }),
    async startWorker({
      name = `worker ${++workers}`,
      clock: own = clock,
      isDirect = false,
      peers = [],
    } = {}) {
      const pool = createDb({
        url: isDirect || !proxy ? database.url : proxy.url,
        connections: 4,
        isForLookups: true,
        log: silentLog,
        connectTimeoutMs: 1_000,
      })
      const exceptions = readExceptions([`127.0.0.1:${smsc.port}`, ...peers].map((peer) => `brokers=${peer}`))
      if (!exceptions.ok) throw new Error(exceptions.reason)
      const outbound = createOutbound(exceptions)
      const recorder = createReportRecorder({ db: pool, clock: own, log: silentLog })
      const delivery = await startDelivery({
        db: pool,
        clock: own,
        log: silentLog,
        sealer: testSealer,
        outbound,
        publicUrl: 'http://127.0.0.1:1',
        nodeName: name,
        registry: new Registry(),
        report: (line, reports) => recorder.report(line, reports),
      })
      let closing: Promise<void> | undefined
      const close = async () => {
        await delivery.close()
        await recorder.drain()
        await outbound.close()
        await pool.close()
      }
      const once = { ...delivery, close: () => (closing ??= close()), roundTrips: () => pool.roundTrips }
      closers.push(once.close)
      return once
    },
    states: (lineId) => countStates(db, lineId),
    async stateOf(messageId) {
      const [row] = await db.query<{ state: string; errorCode: string | null; lineId: string }>(
        'select state, error_code as "errorCode", line_id as "lineId" from message where id = $1',
        [messageId],
      )
      return row!
    },
    events: (messageId) =>
      db.query('select kind, detail from message_history where message_id = $1 order by at, place', [
        messageId,
      ]),
    async close() {
      proxy?.comeBack()
      proxy?.resume()
      for (const close of closers.toReversed()) await close()
      await smsc.close()
      await proxy?.close()
      await database.drop()
    },
  }
  for (let count = 0; count < (options.lines ?? 1); count++) await stage.addLine(options.line)
  return stage
}

/** Asks until the answer is yes; fails, saying what was waited for, after `withinMs`. */
export async function eventually(
  what: string,
  ask: () => boolean | Promise<boolean>,
  withinMs = 15_000,
): Promise<void> {
  const until = performance.now() + withinMs
  while (!(await ask())) {
    if (performance.now() > until) throw new Error(`Waited in vain: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}
