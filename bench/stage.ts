/** A running Pombo with what a measurement needs of it: its database, a token, jobs for the load. */
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { runningUrl } from '../src/store/embedded/index.ts'
import { firstIdAt } from '../src/lib/ids.ts'
import { sendBodies } from './bodies.ts'
import { watchDone } from './done-watch.ts'
import type { LoadJob } from './load.ts'
import { logIn, startPombo, type Pombo, type Provider } from './programs.ts'

export type Stage = {
  pombo: Pombo
  url: string
  companyId: string
  query<T extends pg.QueryResultRow>(text: string, values?: unknown[]): Promise<T[]>
  /** A closed loop on POST /v1/sendmessage; WhatsApp's line is paused, SMS goes to the provider. */
  job(channel: 'whatsapp' | 'sms', durationMs: number): LoadJob
  /** Messages of a channel that were accepted since that moment. */
  countSince(channel: 'whatsapp' | 'sms', since: Date): Promise<number>
  stop(): Promise<void>
}

export const connections = 64
/** Until the load, a new process each time, is compiled as well. */
export const rampMs = 1_000

/** What the line to the lean provider may have under way at once, and more per second than anybody reaches. */
const lineWindow = 1_000
const lineRate = 1_000_000
/** A worker looks at its lines every few seconds. */
const bindMs = 60_000

export async function openStage(provider?: Provider): Promise<Stage> {
  const pombo = await startPombo(
    provider && { env: { POMBO_OUTBOUND_EXCEPTIONS: `brokers=127.0.0.1:${provider.port}` } },
  )
  const url = await runningUrl(pombo.dataDir)
  if (url === undefined) throw new Error('Pombo runs, but its database is not to be found.')
  const client = new pg.Client({ connectionString: url })
  // Stopping Pombo ends this connection too.
  client.on('error', () => {})
  await client.connect()
  const query = async <T extends pg.QueryResultRow>(text: string, values: unknown[] = []) =>
    (await client.query<T>(text, values)).rows
  await assertDurable(query)
  // Accepting is measured on WhatsApp, of which nothing leaves meanwhile.
  await query("update line set paused_at = now(), paused_reason = 'benchmark' where channel = 'whatsapp'")
  if (provider) await pointLine(query, provider)
  const token = await logIn(pombo)
  const [company] = await query<{ id: string }>('select id from company')
  const bodies = {
    whatsapp: sendBodies(pombo.quickstart, 'whatsapp'),
    sms: sendBodies(pombo.quickstart, 'sms'),
  }
  return {
    pombo,
    url,
    companyId: company!.id,
    query,
    job: (channel, durationMs) => ({
      port: pombo.port,
      path: '/v1/sendmessage',
      headers: { Authorization: `Bearer ${token}` },
      bodies: bodies[channel],
      connections,
      rampMs,
      durationMs,
      expectedStatus: 200,
    }),
    async countSince(channel, since) {
      const [row] = await query<{ count: string }>(
        'select count(*) from message where id >= $1 and company_id = $2 and channel = $3',
        [firstIdAt(since), company!.id, channel],
      )
      return Number(row!.count)
    },
    async stop() {
      await client.end().catch(() => {})
      await pombo.stop()
    },
  }
}

/** SMS goes to the lean provider from now on, and nowhere else: the sandbox would send receipts of its own. */
async function pointLine(query: Stage['query'], provider: Provider): Promise<void> {
  await query(
    `update line set settings = settings || jsonb_build_object('host', '127.0.0.1', 'port', $1::int, 'systemId', 'bench', 'window', $2::int),
      rate_per_second = $3, in_flight_limit = $2 where channel = 'sms'`,
    [provider.port, lineWindow, lineRate],
  )
  const watch = await watchDone(provider.countsPort)
  const giveUpAt = performance.now() + bindMs
  while (watch.counts().bound === 0) {
    if (performance.now() > giveUpAt) throw new Error('The line to the lean provider did not come up.')
    await wait(20)
  }
  watch.close()
}

/** The product's own durability, or the numbers mean nothing. */
async function assertDurable(query: Stage['query']): Promise<void> {
  for (const setting of ['fsync', 'synchronous_commit', 'full_page_writes']) {
    const [row] = await query<Record<string, string>>(`show ${setting}`)
    if (row![setting] !== 'on')
      throw new Error(`${setting} is not on: this would not measure durable accepts.`)
  }
}

/**
 * How often connections themselves waited for the log to reach the disk. With commits that do not wait, only a
 * background process would: this is how a session that switched its durability off would show.
 */
export async function countLogSyncs({ query }: Stage): Promise<number> {
  await query('select pg_stat_force_next_flush()')
  const [row] = await query<{ count: string }>(
    "select coalesce(sum(fsyncs), 0) as count from pg_stat_io where object = 'wal' and backend_type = 'client backend'",
  )
  return Number(row!.count)
}
