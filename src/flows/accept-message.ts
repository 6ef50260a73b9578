/**
 * Accepting. Requests that arrive while a batch is being committed form the next one; a batch costs six statements
 * in two round trips whatever its size; with one request in flight nothing waits.
 */
import type { Outcome } from '../domain/outcome.ts'
import { newId } from '../lib/ids.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { CatalogueCache } from '../store/catalogue.ts'
import { isConflictError, isConnectionError, isDataError, sqlState, type Db } from '../store/db.ts'
import { runBatch } from './accept-batch.ts'
import type { Entry } from './accept-entry.ts'
import { createBatchPace } from './batch-pace.ts'
import { dryRun } from './dry-run.ts'
import { findLostAnswers, LostCommitError } from './lost-commit.ts'
import type { AcceptMessage, Submission } from './submission.ts'

export type AcceptorOptions = {
  db: Db
  clock: Clock
  log: Log
  /** Requests that may wait for a batch; past it they are answered "unavailable". */
  queueDepth?: number
  batchesInFlight?: number
  batchSize?: number
  /** How long a request waits for a contact that somebody else holds, or for the database to come back. */
  patienceMs?: number
  random?: () => number
  /** Lines that have new work: wakes their lanes. */
  onQueued?(lineIds: Set<string>): void
}

export type Acceptor = {
  accept: AcceptMessage
  /** Resolves when everything that was taken has been answered. */
  drain(): Promise<void>
  stats(): { waiting: number; batchesInFlight: number; batches: number; accepted: number }
}

/** Out of disk, memory or connections, or cancelled by a time limit: nothing is wrong with the requests. */
const isShortage = (error: unknown): boolean => /^(53|57014|25P0[23])/.test(sqlState(error) ?? '')

/** The locks of a batch did not fit into PostgreSQL's table of them (53200): half of it may. */
const isTooManyLocks = (error: unknown): boolean => sqlState(error) === '53200'

/** A dry run is no part of a batch and takes connections by itself, which real sends must not wait for. */
const maxDryRuns = 64

/** Why a batch did not go through, as far as its requests are concerned. */
type Failure = 'data' | 'conflict' | 'unavailable'

export function createAcceptor(options: AcceptorOptions): Acceptor {
  const { db, clock, log } = options
  const queueDepth = options.queueDepth ?? 4096
  const maxInFlight = options.batchesInFlight ?? 2
  const batchSize = options.batchSize ?? 256
  const patienceMs = options.patienceMs ?? 5_000
  const context = {
    db,
    clock,
    log,
    catalogues: new CatalogueCache(db),
    random: options.random ?? Math.random,
  }

  let queue: Entry[] = []
  let inFlight = 0
  let held = 0
  let dryRuns = 0
  const pace = createBatchPace(maxInFlight)
  let isScheduled = false
  let delay: NodeJS.Timeout | undefined
  let batches = 0
  let accepted = 0
  const idleWaiters: (() => void)[] = []

  const accept: AcceptMessage = (submission) => {
    const isFull = submission.isDryRun ? dryRuns >= maxDryRuns : queue.length + held >= queueDepth
    if (isFull) return Promise.resolve({ kind: 'unavailable', retryAfterSeconds: 1 })
    if (submission.isDryRun) {
      dryRuns++
      return dryRun(context, submission).finally(() => dryRuns--)
    }
    return new Promise<Outcome>((resolve) => {
      queue.push(createEntry(submission, patienceMs, resolve))
      schedule()
    })
  }

  /** One turn of the event loop collects what arrived together. */
  function schedule() {
    if (isScheduled || pace.delayMs(queue.length, inFlight) === undefined) return
    isScheduled = true
    setImmediate(() => {
      isScheduled = false
      start()
    })
  }

  function start() {
    clearTimeout(delay)
    for (;;) {
      const delayMs = pace.delayMs(queue.length, inFlight)
      if (delayMs === undefined) return
      if (delayMs > 0) {
        delay = setTimeout(start, delayMs)
        return
      }
      const entries = queue.slice(0, batchSize)
      queue = queue.slice(batchSize)
      void run(entries)
    }
  }

  async function run(entries: Entry[]): Promise<void> {
    inFlight++
    pace.started()
    const startedAt = performance.now()
    try {
      await runInHalves(entries)
    } finally {
      inFlight--
      pace.ended({
        size: entries.length,
        tookMs: performance.now() - startedAt,
        waiting: queue.length,
      })
      schedule()
      if (inFlight === 0 && queue.length === 0 && held === 0) for (const wake of idleWaiters.splice(0)) wake()
    }
  }

  /** One bad request costs the others nothing: a batch with bad data runs again in halves until it is alone. */
  async function runInHalves(entries: Entry[]): Promise<void> {
    const failure = await attempt(entries)
    if (failure === undefined) return
    if (failure === 'unavailable') return answerAll(entries, { kind: 'unavailable', retryAfterSeconds: 2 })
    if (failure === 'conflict') return putAside(entries)
    if (entries.length === 1) return answerAll(entries, { kind: 'failed' })
    const middle = entries.length >> 1
    await runInHalves(entries.slice(0, middle))
    await runInHalves(entries.slice(middle))
  }

  async function attempt(entries: Entry[]): Promise<Failure | undefined> {
    batches++
    try {
      const open = await answerStored(entries)
      if (open.length === 0) return undefined
      const result = await runBatch(context, open)
      for (const [entry, outcome] of result.answers) answer(entry, outcome)
      if (result.lineIds.size > 0) options.onQueued?.(result.lineIds)
      if (result.held.length > 0) putAside(result.held)
      return undefined
    } catch (error) {
      return judge(error, entries)
    }
  }

  function answer(entry: Entry, outcome: Outcome) {
    if (outcome.kind === 'accepted') accepted++
    entry.answer(outcome)
  }

  /** What a lost COMMIT stored after all is answered; what is left has to run. */
  async function answerStored(entries: Entry[]): Promise<Entry[]> {
    const doubtful = entries.filter((entry) => entry.isDoubtful)
    if (doubtful.length === 0) return entries
    const stored = await findLostAnswers(context, doubtful)
    for (const [entry, outcome] of stored) answer(entry, outcome)
    const done = new Set(stored.map(([entry]) => entry))
    return entries.filter((entry) => !done.has(entry))
  }

  function judge(error: unknown, entries: Entry[]): Failure {
    if (error instanceof LostCommitError) {
      for (const entry of entries) entry.isDoubtful = true
      return 'conflict'
    }
    // A contact that another node created in this very moment is found on the next try.
    if (isConflictError(error) || sqlState(error) === '23505') return 'conflict'
    if ((isDataError(error) || isTooManyLocks(error)) && entries.length > 1) return 'data'
    const requestIds = entries.slice(0, 20).map((entry) => entry.submission.requestId)
    log.error({ err: error, requests: entries.length, requestIds }, 'a batch of messages failed')
    if (!isConnectionError(error) && !isShortage(error)) return 'data'
    // A broken connection is worth one more try; a database that is away is not worth the caller's time.
    return entries.every((entry) => entry.tries === 0) ? 'conflict' : 'unavailable'
  }

  /**
   * The side queue: these wait for a contact that another node or person holds, and come back a little later, so
   * that nobody else waits with them. Their patience ends in "unavailable".
   */
  function putAside(entries: Entry[]) {
    const now = performance.now()
    const patient = entries.filter((entry) => entry.impatientAt > now)
    answerAll(
      entries.filter((entry) => entry.impatientAt <= now),
      { kind: 'unavailable', retryAfterSeconds: 1 },
    )
    if (patient.length === 0) return
    held += patient.length
    const tries = Math.max(...patient.map((entry) => ++entry.tries))
    setTimeout(
      () => {
        held -= patient.length
        queue.push(...patient)
        schedule()
      },
      Math.min(50, 2 * tries),
    )
  }

  return {
    accept,
    drain: () =>
      inFlight === 0 && queue.length === 0 && held === 0
        ? Promise.resolve()
        : new Promise((resolve) => idleWaiters.push(resolve)),
    stats: () => ({ waiting: queue.length + held, batchesInFlight: inFlight, batches, accepted }),
  }
}

function createEntry(submission: Submission, patienceMs: number, resolve: (outcome: Outcome) => void): Entry {
  return {
    submission,
    // Made before the transaction, so that a lost COMMIT can be looked up.
    messageId: newId(),
    impatientAt: performance.now() + patienceMs,
    tries: 0,
    isDoubtful: false,
    answer: resolve,
  }
}

const answerAll = (entries: Entry[], outcome: Outcome) => {
  for (const entry of entries) entry.answer(outcome)
}
