/**
 * Everything a soak needs: node `a` with the embedded database, node `b` that reaches the same database through a
 * proxy, a provider, a receiver of callbacks, a company with three lines, and the load. All of it ends with `close`.
 */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { silentLog } from '../../src/lib/log.ts'
import { createDb, type Db } from '../../src/store/db.ts'
import { findHome } from '../../src/store/embedded/home.ts'
import { runningUrl } from '../../src/store/embedded/index.ts'
import { makeCompany, testSealer, type TestCompany } from '../harness/factories.ts'
import { request } from '../harness/http.ts'
import { startPgProxy, type PgProxy } from '../harness/pg-proxy.ts'
import { freePort } from '../harness/program.ts'
import { startLoad, type Load } from './load.ts'
import { createNode, type SoakNode } from './node.ts'
import { startProvider, type Provider } from './provider.ts'
import type { Random } from './random.ts'
import { startReceiver, type Receiver } from './receiver.ts'

export type World = {
  a: SoakNode
  b: SoakNode
  /** Past every proxy. */
  db: Db
  databaseUrl: string
  /** Between node `b` and the database. */
  proxy: PgProxy
  provider: Provider
  receiver: Receiver
  load: Load
  random: Random
  /** By which the time that faults last is multiplied: below 1 where a test is in a hurry. */
  pace: number
  /** Milliseconds by which the clock of node `b` is ahead. */
  setClock(aheadMs: number): Promise<void>
  stopping: AbortSignal
  close(): Promise<void>
}

/** As `testSealer` has it. */
const sealingKey = '5'.repeat(64)

const linePhones = [31_987_650_001, 31_987_650_002, 31_987_650_003]

export async function openWorld(options: {
  random: Random
  ratePerSecond: number
  pace?: number
  stopping: AbortSignal
}): Promise<World> {
  const { random, stopping } = options
  const closers: (() => Promise<unknown>)[] = []
  const close = async () => {
    for (const closeOne of closers.splice(0).toReversed()) await closeOne()
  }
  try {
    const folder = await mkdtemp(join(tmpdir(), 'pombo-soak-'))
    closers.push(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
    const dataDirs = { a: join(folder, 'a'), b: join(folder, 'b') }
    for (const dataDir of Object.values(dataDirs)) await mkdir(dataDir)
    // Elsewhere when PostgreSQL's own user cannot reach the temporary folder.
    closers.push(async () => rm((await findHome(dataDirs.a)).folder, { recursive: true, force: true }))
    const provider = await startProvider(random)
    closers.push(provider.close)
    const receiver = await startReceiver()
    closers.push(receiver.close)

    const env = {
      POMBO_DEMO: 'false',
      POMBO_SEALING_KEY: sealingKey,
      POMBO_LOG_LEVEL: 'error',
      POMBO_DRAIN_SECONDS: '8',
      // The load asks five times a second whether a node is ready, on a machine that may be busy.
      POMBO_LEAVE_SECONDS: '2',
      // Small, so that a burst is an overload.
      POMBO_ACCEPT_QUEUE: '256',
      POMBO_OUTBOUND_EXCEPTIONS: [
        `brokers=127.0.0.1:${provider.smppPort}`,
        `brokers=127.0.0.1:${provider.httpPort}`,
        `callbacks=127.0.0.1:${receiver.port}`,
      ].join(','),
    }
    const a = createNode('a', { dataDir: dataDirs.a, port: await freePort(), env })
    closers.push(a.stop)
    await a.start()
    const databaseUrl = await runningUrl(dataDirs.a)
    if (databaseUrl === undefined) throw new Error('The embedded database is not to be found.')
    const proxy = await startPgProxy(databaseUrl)
    closers.push(proxy.close)
    const clockFile = join(folder, 'clock')
    const b = createNode('b', {
      dataDir: dataDirs.b,
      port: await freePort(),
      env: {
        ...env,
        DATABASE_URL: proxy.url,
        POMBO_SERVING_PROCESSES: '1',
        POMBO_SOAK_CLOCK_FILE: clockFile,
        NODE_OPTIONS: `--import=${new URL('clock-shift.ts', import.meta.url).href}`,
      },
    })
    closers.push(b.stop)
    await b.start()
    const db = createDb({ url: databaseUrl, connections: 2, log: silentLog })
    closers.push(() => db.close())
    const company = await makeCompany(db, testSealer, { lines: linesTo(provider) })
    const load = startLoad({
      nodes: { a: a.baseUrl, b: b.baseUrl },
      ratePerSecond: options.ratePerSecond,
      random,
      accessToken: await logIn(a.baseUrl, company),
      privateToken: company.privateToken,
      directToken: company.directToken.token,
      linePhones,
      callbackUrl: receiver.url,
    })
    return {
      a,
      b,
      db,
      databaseUrl,
      proxy,
      provider,
      receiver,
      load,
      random,
      pace: options.pace ?? 1,
      setClock: (aheadMs) => writeFile(clockFile, String(aheadMs)),
      stopping,
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

async function logIn(baseUrl: string, company: TestCompany): Promise<string> {
  const answer = await request(`${baseUrl}/v1/login`, {
    body: { Company: company.name, Username: company.apiUser.name, Password: company.apiUser.password },
  })
  const token = answer.body['access_token']
  if (typeof token !== 'string') throw new Error(`The login was answered ${answer.status} ${answer.text}.`)
  return token
}

/** Two lines over SMPP and one over HTTP; whoever does not answer within three seconds has not answered. */
function linesTo({ smppPort, httpPort }: Provider) {
  const [first, second, third] = linePhones
  const common = { channel: 'sms' as const, countryCode: 55, ratePerSecond: 500, inFlightLimit: 32 }
  const smpp = {
    host: '127.0.0.1',
    port: smppPort,
    password: 'secret',
    answerTimeoutSeconds: 3,
    enquireLinkSeconds: 2,
  }
  return [
    {
      ...common,
      name: 'SMPP 1',
      phoneNumber: first,
      driver: 'smpp',
      isDefault: true,
      settings: { ...smpp, systemId: 'one' },
    },
    {
      ...common,
      name: 'SMPP 2',
      phoneNumber: second,
      driver: 'smpp',
      settings: { ...smpp, systemId: 'two' },
    },
    {
      ...common,
      name: 'HTTP',
      phoneNumber: third,
      driver: 'sms-http',
      settings: {
        url: `http://127.0.0.1:${httpPort}/send`,
        body: '{"to":"{to}","text":"{text}","hook":"{hookUrl}"}',
        idPath: 'id',
        hookFormat: 'json',
        hookIdPath: 'id',
        hookStatusPath: 'status',
        deliveredStatuses: 'delivered',
        failedStatuses: 'failed',
        hookVerification: 'url',
        hookSecret: 'of the soak',
        answerTimeoutSeconds: 3,
      },
    },
  ]
}
