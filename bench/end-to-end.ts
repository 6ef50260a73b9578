/**
 * Accepted, dispatched over SMPP and settled per second in steady state: the load holds back while the provider has
 * more than a little to catch up with, so that neither end runs ahead of the other; a first second is left out.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { firstIdAt } from '../src/lib/ids.ts'
import { watchDone } from './done-watch.ts'
import type { LoadResult } from './load.ts'
import { stageSeconds, withStage, type Context, type Measurement, type SharedStage } from './measurement.ts'
import { load, startBaseline } from './programs.ts'
import { rampMs, type Stage } from './stage.ts'
import { median, ratios } from './statistics.ts'
import type { Result } from './table.ts'

/** Twice the line's window: there is always something due, and little more. */
const backlogLimit = 2_000
/** Receipts come 0.6 s after the answer: at 5,000 per second that many are under way besides. */
const receiptBacklogLimit = 6_000
/** Until the code that a batch runs is compiled. */
const warmUpSeconds = 4
const drainSeconds = 3
const drainGiveUpMs = 60_000

const plannedSeconds: Measurement['plannedSeconds'] = ({ pairs, seconds }) =>
  stageSeconds +
  1 +
  warmUpSeconds +
  rampMs / 1000 +
  drainSeconds +
  pairs * (2 * seconds + (2 * rampMs) / 1000 + 1 + drainSeconds)

export const endToEnd: Measurement = {
  plannedSeconds,
  run: (context) =>
    withStage(context, { name: 'end-to-end' }, (shared) => measure(context, shared, 'end-to-end')),
}

export const receipts: Measurement = {
  plannedSeconds,
  run: (context) =>
    withStage(context, { name: 'receipts', hasReceipts: true }, (shared) =>
      measure(context, shared, 'receipts'),
    ),
}

async function measure(
  context: Context,
  shared: SharedStage,
  id: 'end-to-end' | 'receipts',
): Promise<Result[]> {
  const { plan, progress } = context
  const echo = await startBaseline('echo')
  const echoJob = { ...shared.stage.job('sms', plan.seconds * 1000), port: echo.port, headers: {} }
  const hasReceipts = id === 'receipts'
  progress.step(`${id}: warming up`, 1 + warmUpSeconds + rampMs / 1000 + drainSeconds)
  await load({ ...echoJob, durationMs: 1000 })
  await runThrough(shared, { seconds: warmUpSeconds, hasReceipts })
  const echoes: LoadResult[] = []
  const runs: Through[] = []
  for (let pair = 1; pair <= plan.pairs; pair++) {
    progress.step(`${id}: pair ${pair} of ${plan.pairs}, echo`, plan.seconds + rampMs / 1000 + 0.5)
    echoes.push(await load(echoJob))
    progress.step(
      `${id}: pair ${pair} of ${plan.pairs}, Pombo`,
      plan.seconds + rampMs / 1000 + 0.5 + drainSeconds,
    )
    runs.push(await runThrough(shared, { seconds: plan.seconds, hasReceipts }))
  }
  await echo.stop()
  const rates = runs.map((run) => run.perSecond)
  const echoRates = echoes.map((result) => result.perSecond)
  const middle = (pick: (run: Through) => number) => median(runs.map(pick))
  const accepted = runs.reduce((sum, run) => sum + run.accepted, 0)
  return [
    {
      id,
      values: ratios(rates, echoRates),
      details: [
        `${median(rates).toFixed(0)}/s over ${median(echoRates).toFixed(0)}/s; accepted meanwhile ${middle((run) => run.acceptedPerSecond).toFixed(0)}/s; the load itself used ${middle((run) => run.ownCores).toFixed(2)} cores`,
        `${accepted} accepted, submitted and settled${hasReceipts ? `, ${runs.reduce((sum, run) => sum + run.receiptEvents, 0)} receipts recorded` : ''}; all in the database and at the provider`,
      ],
    },
  ]
}

export type Through = {
  perSecond: number
  acceptedPerSecond: number
  accepted: number
  receiptEvents: number
  ownCores: number
}

/** One run of the load through to the provider and back, until nothing is under way; counts must agree at both ends. */
export async function runThrough(
  { stage, provider }: SharedStage,
  options: { seconds: number; hasReceipts: boolean },
): Promise<Through> {
  const watch = await watchDone(provider.countsPort)
  const before = watch.counts()
  const since = new Date()
  const job = stage.job('sms', options.seconds * 1000)
  const limit = options.hasReceipts ? receiptBacklogLimit : backlogLimit
  const result = await load({ ...job, backlog: { port: provider.countsPort, limit } })
  const giveUpAt = performance.now() + drainGiveUpMs
  for (;;) {
    const left = await unfinished(stage, since, options.hasReceipts)
    if (left === 0) break
    if (performance.now() > giveUpAt)
      throw new Error(`${left} messages were not settled within ${drainGiveUpMs / 1000} s after the load.`)
    await wait(100)
  }
  // The provider tells its numbers every few milliseconds: the last ones may still be on their way.
  const toldBy = performance.now() + 2000
  while (watch.counts().submitted - before.submitted < result.requests && performance.now() < toldBy)
    await wait(20)
  const after = watch.counts()
  watch.close()
  await verifyThrough(stage, since, {
    accepted: result.requests,
    submitted: after.submitted - before.submitted,
    hasReceipts: options.hasReceipts,
  })
  const from = new Date(result.startedAtMs)
  const to = new Date(from.getTime() + options.seconds * 1000)
  const settled = await countSettled(stage, since, from, to, options.hasReceipts)
  return {
    perSecond: settled / options.seconds,
    acceptedPerSecond: result.perSecond,
    accepted: result.requests,
    receiptEvents: after.receipts - before.receipts,
    ownCores: result.ownCores,
  }
}

const ofRun = "m.id >= $1 and m.company_id = $2 and m.channel = 'sms'"

async function unfinished(stage: Stage, since: Date, hasReceipts: boolean): Promise<number> {
  const [row] = await stage.query<{ count: string }>(
    `select count(*) from message m where ${ofRun} and m.state <> all($3::text[])`,
    [firstIdAt(since), stage.companyId, hasReceipts ? ['delivered'] : ['sent']],
  )
  return Number(row!.count)
}

async function verifyThrough(
  stage: Stage,
  since: Date,
  expected: { accepted: number; submitted: number; hasReceipts: boolean },
): Promise<void> {
  const stored = await stage.countSince('sms', since)
  if (stored !== expected.accepted || expected.submitted !== expected.accepted)
    throw new Error(
      `${expected.accepted} messages were answered 200, ${stored} are stored, the provider got ${expected.submitted}.`,
    )
  if (!expected.hasReceipts) return
  const [row] = await stage.query<{ count: string }>(
    `select count(*) from message m join message_event e on e.message_id = m.id where ${ofRun} and e.kind = 'receipt'`,
    [firstIdAt(since), stage.companyId],
  )
  if (Number(row!.count) !== 2 * stored)
    throw new Error(`${stored} messages have ${row!.count} recorded receipts instead of two each.`)
}

/** By the time that Pombo itself wrote down: of the settling, or of the last receipt. */
async function countSettled(
  stage: Stage,
  since: Date,
  from: Date,
  to: Date,
  hasReceipts: boolean,
): Promise<number> {
  const [row] = await stage.query<{ count: string }>(
    hasReceipts
      ? `select count(*) from message m join message_event e on e.message_id = m.id
          where ${ofRun} and e.kind = 'receipt' and e.detail->>'state' = 'delivered' and e.at >= $3 and e.at < $4`
      : `select count(*) from message m where ${ofRun} and m.settled_at >= $3 and m.settled_at < $4`,
    [firstIdAt(since), stage.companyId, from, to],
  )
  return Number(row!.count)
}
