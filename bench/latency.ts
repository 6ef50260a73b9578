/** The 99th percentile of accepting at half of the saturating load, over one INSERT at the same rate. */
import { verify } from './accept.ts'
import type { LoadJob, LoadResult } from './load.ts'
import { stageSeconds, withStage, type Context, type Measurement } from './measurement.ts'
import { load, startBaseline } from './programs.ts'
import type { Stage } from './stage.ts'
import { median, ratios } from './statistics.ts'
import type { Result } from './table.ts'

const names = ['oneInsert', 'pombo'] as const
type Name = (typeof names)[number]

const warmUpSeconds = 1.5

export const latency: Measurement = {
  plannedSeconds: ({ pairs, seconds }) =>
    stageSeconds + seconds + 1.5 + names.length * (warmUpSeconds + 1.5 + pairs * (seconds + 1.5)),
  run: (context) => withStage(context, { name: 'latency' }, ({ stage }) => measure(context, stage)),
}

async function measure(context: Context, stage: Stage): Promise<Result[]> {
  const { plan, progress } = context
  const oneInsert = await startBaseline('one-insert', stage.url)
  const closed = stage.job('whatsapp', plan.seconds * 1000)
  let saturating = context.acceptsPerSecond
  if (saturating === undefined) {
    progress.step('latency: finding the saturating load', plan.seconds + 1.5)
    await load({ ...closed, durationMs: warmUpSeconds * 1000 })
    saturating = (await load(closed)).perSecond
  }
  const ratePerSecond = saturating / 2
  const jobs: Record<Name, LoadJob> = {
    oneInsert: { ...closed, ratePerSecond, port: oneInsert.port, headers: {} },
    pombo: { ...closed, ratePerSecond },
  }
  progress.step('latency: warming up', names.length * (warmUpSeconds + 1.5))
  for (const name of names) await load({ ...jobs[name], durationMs: warmUpSeconds * 1000 })
  const since = new Date()
  const results: Record<Name, LoadResult[]> = { oneInsert: [], pombo: [] }
  for (let pair = 1; pair <= plan.pairs; pair++)
    for (const name of names) {
      progress.step(`latency: pair ${pair} of ${plan.pairs}, ${name}`, plan.seconds + 1.5)
      results[name].push(await load(jobs[name]))
    }
  await verify(stage, since, results.pombo)
  await oneInsert.stop()
  const middle = (name: Name, pick: (result: LoadResult) => number) => median(results[name].map(pick))
  const line = (name: Name) =>
    `p50 ${middle(name, ({ latency: l }) => l.p50).toFixed(1)}, p99 ${middle(name, ({ latency: l }) => l.p99).toFixed(1)}, longest ${Math.max(...results[name].map(({ latency: l }) => l.max)).toFixed(0)} ms`
  const p99 = (name: Name) => results[name].map((result) => result.latency.p99)
  return [
    {
      id: 'latency',
      values: ratios(p99('pombo'), p99('oneInsert')),
      details: [
        `at ${ratePerSecond.toFixed(0)}/s: Pombo ${line('pombo')}; one INSERT ${line('oneInsert')}`,
        `reached ${middle('pombo', (r) => r.perSecond).toFixed(0)}/s and ${middle('oneInsert', (r) => r.perSecond).toFixed(0)}/s; the load itself was late by at most ${middle('pombo', (r) => r.latenessP99).toFixed(1)} ms (p99), which counts on both sides`,
      ],
    },
  ]
}
