/**
 * `npm run bench`: measures Pombo side by side with its baselines in one run. Timings of a shared machine are noise;
 * ratios of interleaved pairs are much less so: median and spread over the pairs.
 */
import { parseArgs } from 'node:util'
import { accept } from './accept.ts'
import { endToEnd, receipts } from './end-to-end.ts'
import { growth } from './growth.ts'
import { latency } from './latency.ts'
import {
  closeShared,
  openShared,
  stageSeconds,
  type Context,
  type Measurement,
  type Plan,
} from './measurement.ts'
import { memory } from './memory.ts'
import { createProgress } from './progress.ts'
import { cleanUp } from './programs.ts'
import { startTime } from './start-time.ts'
import { judge, tableLines, type Result, type Table } from './table.ts'
import { measurementNames, quickMeasurements, targets, type MeasurementName, type Target } from './targets.ts'
import { writeResults } from './write-results.ts'

const measurements: Record<MeasurementName, Measurement> = {
  accept,
  latency,
  'end-to-end': endToEnd,
  receipts,
  memory,
  start: startTime,
  growth,
}

const help = `npm run bench -- [options]

  --quick         accepting, end to end and latency alone, within three minutes
  --only NAME     one measurement: ${measurementNames.join(', ')}
  --pairs N       interleaved pairs of runs (7; quick: 5)
  --seconds N     length of one run of the load (6; quick: 2)
  --messages N    size of the large database of "growth" (5000000)
  --help`

const fullPlan: Plan = {
  pairs: 7,
  seconds: 6,
  messages: 5_000_000,
  restrictions: 1_000_000,
  memorySeconds: 90,
}
const quickPlan: Plan = { ...fullPlan, pairs: 5, seconds: 2 }

type Wish = { isQuick: boolean; names: readonly MeasurementName[]; only?: string; plan: Plan }

class UsageError extends Error {}

function readWish(args: string[]): Wish | 'help' {
  const { values } = parseArgs({
    args,
    options: {
      quick: { type: 'boolean', default: false },
      only: { type: 'string' },
      pairs: { type: 'string' },
      seconds: { type: 'string' },
      messages: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return 'help'
  const only = measurementNames.find((name) => name === values.only)
  if (values.only !== undefined && only === undefined)
    throw new UsageError(
      `There is no measurement named ${values.only}; there are ${measurementNames.join(', ')}.`,
    )
  const plan = values.quick ? quickPlan : fullPlan
  const number = (name: 'pairs' | 'seconds' | 'messages', fallback: number) => {
    const given = values[name]
    if (given === undefined) return fallback
    if (!/^[1-9]\d{0,8}$/.test(given))
      throw new UsageError(`--${name} is "${given}", but must be a whole number from 1 on.`)
    return Number(given)
  }
  const messages = number('messages', plan.messages)
  const seconds = number('seconds', plan.seconds)
  return {
    isQuick: values.quick,
    only,
    names: only ? [only] : values.quick ? quickMeasurements : measurementNames,
    plan: {
      pairs: number('pairs', plan.pairs),
      seconds,
      messages,
      restrictions: Math.max(1_000, Math.round((messages / fullPlan.messages) * fullPlan.restrictions)),
      memorySeconds: Math.max(15, 15 * seconds),
    },
  }
}

async function measure({ isQuick, only, names, plan }: Wish): Promise<Map<string, Result>> {
  const isShared = isQuick && only === undefined
  const planned = names.map((name) => measurements[name].plannedSeconds(plan))
  const surplus = isShared ? stageSeconds * (names.length - 1) : 0
  const progress = createProgress(planned.reduce((sum, seconds) => sum + seconds, 0) - surplus)
  const context: Context = { plan, progress }
  if (isShared) {
    progress.step('starting Pombo', stageSeconds)
    context.shared = await openShared()
  }
  const results = new Map<string, Result>()
  for (const name of names)
    for (const result of await measurements[name].run(context)) results.set(result.id, result)
  if (context.shared) await closeShared(context.shared)
  progress.done()
  return results
}

/** Why a row of the table has no value. */
const reasonFor =
  (wish: Wish) =>
  (target: Target): string => {
    if (target.measurement === 'tests') return 'see tests (test/faults)'
    return wish.only === undefined ? 'not measured (full run)' : `not measured (--only ${wish.only})`
  }

async function main(): Promise<number> {
  const wish = readWish(process.argv.slice(2))
  if (wish === 'help') {
    console.log(help)
    return 0
  }
  const startedAt = performance.now()
  const results = await measure(wish)
  const table: Table = { targets, results, reasonOf: reasonFor(wish) }
  console.log(`\n${tableLines(table).join('\n')}\n`)
  if (wish.plan.pairs < fullPlan.pairs)
    console.log(`Medians of ${wish.plan.pairs} pairs; a full run takes ${fullPlan.pairs}.`)
  const file = await writeResults(table, {
    plan: wish.plan,
    isQuick: wish.isQuick,
    only: wish.only,
    minutes: (performance.now() - startedAt) / 60_000,
  })
  console.log(`Written to ${file}.`)
  const verdicts = targets.map((target) => ({ target, verdict: judge(target, results.get(target.id)) }))
  const missed = verdicts.filter(({ verdict }) => verdict === 'missed').map(({ target }) => target.id)
  const gates = verdicts.filter(({ target }) => 'gate' in target)
  const held = gates.filter(({ verdict }) => verdict === 'gate' || verdict === 'goal')
  console.log(
    `Of ${gates.length} gates ${held.length} hold, ${missed.length} are missed${missed.length > 0 ? ` (${missed.join(', ')})` : ''}, ${gates.length - held.length - missed.length} were not measured.`,
  )
  return missed.length === 0 ? 0 : 1
}

let isInterrupted = false
for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const)
  process.on(signal, () => {
    if (isInterrupted) return
    isInterrupted = true
    process.stderr.write('\nStopping …\n')
    void cleanUp().finally(() => process.exit(code))
  })

try {
  process.exitCode = await main()
} catch (error) {
  // What was under way fails when its children are stopped; that is no news.
  if (!isInterrupted) {
    const isUsage = error instanceof UsageError || (error instanceof TypeError && 'code' in error)
    console.error(isUsage ? error.message : error)
    process.exitCode = isUsage ? 2 : 1
  }
} finally {
  if (!isInterrupted) await cleanUp()
}
