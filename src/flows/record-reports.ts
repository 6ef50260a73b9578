/**
 * Everything a provider reports, over a hook or a session: stored before the provider is told so. Reports that arrive
 * while others are being stored form the next batch, so that many small hooks share a transaction.
 */
import { setTimeout } from 'node:timers/promises'
import type { LineReport } from '../drivers/driver.ts'
import { createBatcher } from '../lib/batch.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { UnavailableError } from '../lib/unavailable.ts'
import { isConflictError, isConnectionError, isDataError, type Db } from '../store/db.ts'
import { cleanReport } from './clean-report.ts'
import {
  receiveInbound,
  recordMarketingChoices,
  type MarketingEntry,
  type OnReceived,
} from './receive-inbound.ts'
import type { InboundEntry } from './join-parts.ts'
import { recordReceipts, type ReceiptEntry } from './record-receipts.ts'
import type { OnChanged } from './state-change.ts'
import { recordApprovals, type TemplateEntry } from './sync-templates.ts'

export type ReportContext = {
  db: Db
  clock: Clock
  log: Log
  onChanged?: OnChanged
  onReceived?: OnReceived
}

export type ReportEntry = {
  lineId: string
  companyId: string
  report: LineReport
  /** Now, unless it waited. */
  receivedAt?: Date
}

/** A driver's hook may bring thousands at once; a transaction takes so many. */
const maxPerTransaction = 1_000

/**
 * Durable when it resolves. Each kind has a transaction of its own, because they lock different things; whatever is
 * stored twice after a failure in between has no effect the second time.
 */
export async function recordReports(context: ReportContext, batch: readonly ReportEntry[]): Promise<void> {
  for (let at = 0; at < batch.length; at += maxPerTransaction)
    await recordChunk(context, batch.slice(at, at + maxPerTransaction))
}

async function recordChunk(context: ReportContext, batch: readonly ReportEntry[]): Promise<void> {
  const now = context.clock.now()
  const receipts: ReceiptEntry[] = []
  const inbound: InboundEntry[] = []
  const templates: TemplateEntry[] = []
  const marketing: MarketingEntry[] = []
  for (const { lineId, companyId, report: given, receivedAt = now } of batch) {
    const report = cleanReport(given, receivedAt)
    switch (report.kind) {
      case 'receipt':
        receipts.push({ lineId, companyId, receivedAt, receipt: report.receipt })
        break
      case 'inbound':
        inbound.push({ lineId, companyId, receivedAt, message: report.message })
        break
      case 'template':
        templates.push({ companyId, report: report.report })
        break
      case 'marketing_opt_out': {
        const { from, userId, isStop } = report
        marketing.push({ companyId, receivedAt, from, userId, isStop })
      }
    }
  }
  if (inbound.length > 0) await again(() => receiveInbound(context, inbound))
  if (receipts.length > 0) await again(() => recordReceipts(context, receipts))
  if (marketing.length > 0) await again(() => recordMarketingChoices(context, marketing))
  if (templates.length > 0) await again(() => recordApprovals(context, templates))
}

const maxTries = 5

/** Conflicts and a lost connection are worth another try: a report that was stored after all has no second effect. */
async function again<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await work()
    } catch (error) {
      const isWorthIt = isConflictError(error) || (isConnectionError(error) && tries === 1)
      if (!isWorthIt || tries === maxTries) throw error
      await setTimeout(10 * tries * (1 + Math.random()))
    }
  }
}

export type ReportRecorderOptions = ReportContext & {
  /** Hooks and session reports that may wait; past it they are refused, and the provider repeats them. */
  queueDepth?: number
  batchesInFlight?: number
}

export type ReportRecorder = {
  /** Resolves when all of them are durable. Rejects when one is not: the provider is to repeat them. */
  report(line: { id: string; companyId: string }, reports: readonly LineReport[]): Promise<void>
  /** Resolves when everything that was taken is stored or refused. */
  drain(): Promise<void>
  stats(): { waiting: number; recorded: number; refused: number }
}

type Item = { line: { id: string; companyId: string }; reports: readonly LineReport[]; receivedAt: Date }

export function createReportRecorder(options: ReportRecorderOptions): ReportRecorder {
  const { clock, log } = options
  let underWay = 0
  let recorded = 0
  let refused = 0
  const idle: (() => void)[] = []

  const batcher = createBatcher<Item, Error | undefined>({
    maxBatch: 500,
    maxWaiting: options.queueDepth ?? 5_000,
    batchesInFlight: options.batchesInFlight ?? 2,
    run: record,
  })

  /** One that cannot be stored costs the others nothing: the batch runs again in halves until it is alone. */
  async function record(items: Item[]): Promise<(Error | undefined)[]> {
    try {
      await recordReports(options, items.flatMap(entriesOf))
      return items.map(() => undefined)
    } catch (error) {
      if (!isDataError(error)) {
        log.warn({ err: error, reports: items.length }, 'reports of providers could not be stored')
        const away = new UnavailableError('the report could not be stored; repeat it', 2, { cause: error })
        return items.map(() => away)
      }
      if (items.length === 1) {
        const [item] = items
        log.error({ err: error, lineId: item!.line.id }, 'a report of a provider cannot be stored')
        return [error instanceof Error ? error : new Error(String(error))]
      }
      const middle = items.length >> 1
      return [...(await record(items.slice(0, middle))), ...(await record(items.slice(middle)))]
    }
  }

  return {
    async report(line, reports) {
      if (reports.length === 0) return
      underWay++
      try {
        const error = await batcher.ask({ line, reports, receivedAt: clock.now() })
        if (error) throw error
        recorded += reports.length
      } catch (error) {
        refused += reports.length
        throw error
      } finally {
        if (--underWay === 0) for (const wake of idle.splice(0)) wake()
      }
    },
    drain: () => (underWay === 0 ? Promise.resolve() : new Promise((resolve) => idle.push(resolve))),
    stats: () => ({ waiting: batcher.waiting, recorded, refused }),
  }
}

const entriesOf = ({ line, reports, receivedAt }: Item): ReportEntry[] =>
  reports.map((report) => ({ lineId: line.id, companyId: line.companyId, report, receivedAt }))
