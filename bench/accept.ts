/** Durable accepts per second, over a bare echo and over one INSERT per request. */
import type { LoadJob, LoadResult } from './load.ts'
import { stageSeconds, withStage, type Context, type Measurement } from './measurement.ts'
import { load, startBaseline } from './programs.ts'
import { countLogSyncs, type Stage } from './stage.ts'
import { median, ratios } from './statistics.ts'
import type { Result } from './table.ts'

const names = ['echo', 'oneInsert', 'pombo'] as const
type Name = (typeof names)[number]

/** Until every contact is there and the code that a batch runs is compiled in every process: a steady state. */
const warmUpSeconds: Record<Name, number> = { echo: 2, oneInsert: 2, pombo: 8 }
const warmUpTotal = names.reduce((sum, name) => sum + warmUpSeconds[name] + 1.5, 0)

export const accept: Measurement = {
  plannedSeconds: ({ pairs, seconds }) => stageSeconds + warmUpTotal + names.length * pairs * (seconds + 1.5),
  run: (context) => withStage(context, { name: 'accept' }, ({ stage }) => measure(context, stage)),
}

async function measure(context: Context, stage: Stage): Promise<Result[]> {
  const { plan, progress } = context
  const echo = await startBaseline('echo')
  const oneInsert = await startBaseline('one-insert', stage.url)
  const job = stage.job('whatsapp', plan.seconds * 1000)
  const jobs: Record<Name, LoadJob> = {
    echo: { ...job, port: echo.port, headers: {} },
    oneInsert: { ...job, port: oneInsert.port, headers: {} },
    pombo: job,
  }
  progress.step('accept: warming up', warmUpTotal)
  for (const name of names) await load({ ...jobs[name], durationMs: warmUpSeconds[name] * 1000 })
  const since = new Date()
  const syncsBefore = await countLogSyncs(stage)
  const results: Record<Name, LoadResult[]> = { echo: [], oneInsert: [], pombo: [] }
  for (let pair = 1; pair <= plan.pairs; pair++)
    for (const name of names) {
      progress.step(`accept: pair ${pair} of ${plan.pairs}, ${name}`, plan.seconds + 1.5)
      results[name].push(await load(jobs[name]))
    }
  const stored = await verify(stage, since, results.pombo)
  const syncs = (await countLogSyncs(stage)) - syncsBefore
  if (syncs <= 0) throw new Error('No connection waited for the disk: this did not measure durable accepts.')
  await echo.stop()
  await oneInsert.stop()

  const rates = (name: Name) => results[name].map((result) => result.perSecond)
  context.acceptsPerSecond = median(rates('pombo'))
  const rate = (name: Name) => `${median(rates(name)).toFixed(0)}/s`
  const own = (name: Name) => median(results[name].map((result) => result.ownCores)).toFixed(2)
  const p99 = median(results.pombo.map((result) => result.latency.p99)).toFixed(1)
  return [
    {
      id: 'accept-over-echo',
      values: ratios(rates('pombo'), rates('echo')),
      details: [
        `${rate('pombo')} over ${rate('echo')}; p99 ${p99} ms with every connection busy`,
        `the load itself used ${own('pombo')} cores (echo: ${own('echo')}); ${stored} accepted, all stored; ${syncs} waits for the disk`,
      ],
    },
    {
      id: 'accept-over-insert',
      values: ratios(rates('pombo'), rates('oneInsert')),
      details: [
        `${rate('pombo')} over ${rate('oneInsert')}; the load itself used ${own('oneInsert')} cores there`,
      ],
    },
  ]
}

/** What was answered 200 is what is stored. */
export async function verify(stage: Stage, since: Date, results: readonly LoadResult[]): Promise<number> {
  const answered = results.reduce((sum, result) => sum + result.requests, 0)
  const stored = await stage.countSince('whatsapp', since)
  if (stored !== answered)
    throw new Error(`${answered} messages were answered 200, but ${stored} are stored.`)
  return stored
}
