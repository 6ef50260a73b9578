/** Durable accepts per second, over a bare echo and over one INSERT per request. */
import { runningUrl } from '../src/store/embedded/index.ts'
import pg from 'pg'
import { sendBodies } from './bodies.ts'
import type { LoadJob, LoadResult } from './load.ts'
import { load, logIn, startBaseline, startPombo, type Pombo } from './programs.ts'
import { median, progress, ratioRow, type Row } from './table.ts'

const connections = 64

export async function measureAccept(options: { pairs: number; seconds: number }): Promise<Row[]> {
  progress('starting Pombo and the baselines')
  const pombo = await startPombo()
  const url = await runningUrl(pombo.dataDir)
  const client = new pg.Client({ connectionString: url })
  // Stopping Pombo ends this connection too.
  client.on('error', () => {})
  await client.connect()
  // Accepting alone is measured here: nothing leaves meanwhile.
  await client.query("update line set paused_at = now(), paused_reason = 'benchmark'")
  const echo = await startBaseline('echo')
  const oneInsert = await startBaseline('one-insert', url)
  const token = await logIn(pombo)
  const bodies = sendBodies(pombo.quickstart, 'whatsapp')
  const job = {
    path: '/v1/sendmessage',
    bodies,
    connections,
    durationMs: options.seconds * 1000,
    expectedStatus: 200,
    headers: {},
  }
  const jobs: Record<'echo' | 'oneInsert' | 'pombo', LoadJob> = {
    echo: { ...job, port: echo.port },
    oneInsert: { ...job, port: oneInsert.port },
    pombo: { ...job, port: pombo.port, headers: { Authorization: `Bearer ${token}` } },
  }
  for (const warm of Object.values(jobs)) await load({ ...warm, durationMs: 2000 })
  const before = await countMessages(client)
  const results = { echo: [] as LoadResult[], oneInsert: [] as LoadResult[], pombo: [] as LoadResult[] }
  for (let pair = 1; pair <= options.pairs; pair++)
    for (const name of ['echo', 'oneInsert', 'pombo'] as const) {
      progress(`accept: pair ${pair} of ${options.pairs}, ${name}`)
      const result = await load(jobs[name])
      if (result.firstUnexpected) throw new Error(`${name} answered:\n${result.firstUnexpected}`)
      results[name].push(result)
    }
  progress('')
  await verify(client, before, results.pombo)
  await client.end()
  await stopAllOf(pombo)
  const rate = (name: keyof typeof results) => median(results[name].map((result) => result.perSecond))
  const ratios = (name: keyof typeof results) =>
    results.pombo.map((result, index) => result.perSecond / results[name][index]!.perSecond)
  const detail = (name: keyof typeof results) =>
    `${rate('pombo').toFixed(0)}/s over ${rate(name).toFixed(0)}/s; p99 ${median(results.pombo.map((result) => result.latency.p99)).toFixed(1)} ms; the load itself used ${median(results.pombo.map((result) => result.ownCores)).toFixed(2)} cores`
  return [
    ratioRow({
      name: 'accepts over echo',
      detail: detail('echo'),
      ratios: ratios('echo'),
      gate: 0.25,
      goal: 0.35,
    }),
    ratioRow({
      name: 'accepts over one INSERT',
      detail: detail('oneInsert'),
      ratios: ratios('oneInsert'),
      gate: 1,
      goal: 1.5,
    }),
  ]
}

const countMessages = async (client: pg.Client): Promise<number> =>
  Number((await client.query<{ count: string }>('select count(*) from message')).rows[0]!.count)

/** What was answered is what is stored, and with the product's own durability. */
async function verify(client: pg.Client, before: number, results: LoadResult[]): Promise<void> {
  const answered = results.reduce((sum, result) => sum + result.requests, 0)
  const stored = (await countMessages(client)) - before
  if (stored !== answered)
    throw new Error(`${answered} messages were answered 200, but ${stored} are stored.`)
  for (const setting of ['fsync', 'synchronous_commit']) {
    const { rows } = await client.query<Record<string, string>>(`show ${setting}`)
    if (rows[0]![setting] !== 'on')
      throw new Error(`${setting} is not on: this would not measure durable accepts.`)
  }
}

const stopAllOf = (pombo: Pombo): Promise<void> => pombo.stop()
