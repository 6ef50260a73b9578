/** What a database with millions of messages costs, beside one with few: two Pombos, measured in turn. */
import { silentLog } from '../src/lib/log.ts'
import { createDb, type Db } from '../src/store/db.ts'
import { runThrough } from './end-to-end.ts'
import { fill, type Past } from './fill.ts'
import { accept as acceptVerified } from './growth-accept.ts'
import { compareLookups } from './growth-lookups.ts'
import {
  closeShared,
  openShared,
  stageSeconds,
  type Context,
  type Measurement,
  type Plan,
  type SharedStage,
} from './measurement.ts'
import { median, ratios } from './statistics.ts'
import type { Result } from './table.ts'

/** What gates and goals are about. */
const judgedMessages = 5_000_000
const smallSize = { messages: 10_000, restrictions: 1_000 }
/** Guesses for the progress display. */
const filledPerSecond = 20_000
const lookupSecondsPerPair = 6
const settleSeconds = 60

const fillSeconds = ({ messages, restrictions }: Plan) =>
  messages / filledPerSecond + restrictions / 50_000 + settleSeconds * (messages / 5_000_000)

export type Side = { shared: SharedStage; db: Db; past: Past }
export type Sides = { small: Side; large: Side }

export const growth: Measurement = {
  plannedSeconds: (plan) =>
    2 * stageSeconds +
    fillSeconds(plan) +
    plan.pairs * (lookupSecondsPerPair + 2 * (plan.seconds + 1.5) + 2 * (plan.seconds + 4)) +
    10,
  async run(context) {
    context.progress.step('growth: starting two Pombos', 2 * stageSeconds)
    const small = await openSide(await openShared(), smallSize, () => {})
    const { messages, restrictions } = context.plan
    const shared = await openShared()
    const large = await openSide(shared, { messages, restrictions }, (done, part) =>
      context.progress.step(
        `growth: making messages, ${done} of ${messages}`,
        (part / messages) * fillSeconds(context.plan),
      ),
    )
    const results = await measure(context, { small, large })
    for (const side of [small, large]) {
      await side.db.close()
      await closeShared(side.shared)
    }
    if (messages === judgedMessages) return results
    const unjudged = `not judged: with ${messages} messages, not with ${judgedMessages}`
    return results.map((result) => ({ ...result, unjudged }))
  },
}

async function openSide(
  shared: SharedStage,
  size: { messages: number; restrictions: number },
  onPart: (done: number, part: number) => void,
): Promise<Side> {
  // A few real messages to copy, and the load's 10,000 contacts.
  await runThrough(shared, { seconds: 1, hasReceipts: false })
  const past = await fill(shared.stage, size, onPart)
  const db = createDb({ url: shared.stage.url, connections: 2, log: silentLog, applicationName: 'bench' })
  return { shared, past, db }
}

async function measure(context: Context, sides: Sides): Promise<Result[]> {
  const { plan, progress } = context
  const lookups = await compareLookups(sides, plan.pairs, (pair) =>
    progress.step(`growth: lookups, pair ${pair} of ${plan.pairs}`, lookupSecondsPerPair),
  )
  progress.step('growth: warming up', 10)
  for (const side of [sides.small, sides.large]) await acceptVerified(side.shared.stage, 2)
  const accepts: Rates = { small: [], large: [] }
  for (let pair = 1; pair <= plan.pairs; pair++)
    for (const name of ['small', 'large'] as const) {
      progress.step(`growth: accept, pair ${pair} of ${plan.pairs}, ${name}`, plan.seconds + 1.5)
      accepts[name].push(await acceptVerified(sides[name].shared.stage, plan.seconds))
    }
  const dispatches: Rates = { small: [], large: [] }
  for (let pair = 1; pair <= plan.pairs; pair++)
    for (const name of ['small', 'large'] as const) {
      progress.step(`growth: dispatch, pair ${pair} of ${plan.pairs}, ${name}`, plan.seconds + 4)
      const through = await runThrough(sides[name].shared, { seconds: plan.seconds, hasReceipts: false })
      dispatches[name].push(through.perSecond)
    }
  const size = `${sides.large.past.messages} messages`
  return [
    rateResult('growth-accept', accepts, size),
    rateResult('growth-dispatch', dispatches, size),
    ...lookups,
  ]
}

type Rates = { small: number[]; large: number[] }

const rateResult = (id: string, { small, large }: Rates, size: string): Result => ({
  id,
  values: ratios(large, small),
  details: [`${median(large).toFixed(0)}/s with ${size}, ${median(small).toFixed(0)}/s with 10000`],
})
