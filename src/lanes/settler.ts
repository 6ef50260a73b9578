/** Writes what came of hand-overs, in batches: what is reported while one is being written forms the next. */
import { setTimeout } from 'node:timers/promises'
import type { Log } from '../lib/log.ts'
import { sqlState, type Queryable } from '../store/db.ts'
import { settleMessages, type Settlement } from '../store/outbox.ts'

const batchSize = 500
const batchesInFlight = 2

export type Settler = {
  add(settlement: Settlement): void
  /** Resolves when everything added has been written. */
  drain(): Promise<void>
  readonly waiting: number
}

/** What was said cannot be stored (class 22, 23, 21), or is too large for an index (54): no second try will help. */
const isDataFault = (error: unknown): boolean => /^(2[123]|54)/.test(sqlState(error) ?? '')

export function createSettler(options: {
  db: Queryable
  log: Log
  /** Called when a batch is written, with the messages that were still this owner's. */
  onSettled(batch: readonly Settlement[], ours: ReadonlySet<string>): void
}): Settler {
  const { db, log, onSettled } = options
  let waiting: Settlement[] = []
  let running = 0
  let isScheduled = false
  const idle: (() => void)[] = []

  function schedule() {
    if (isScheduled || running >= batchesInFlight || waiting.length === 0) return
    isScheduled = true
    // What the same turn of the event loop brings goes along.
    setImmediate(() => {
      isScheduled = false
      const batch = waiting.slice(0, batchSize)
      waiting = waiting.slice(batchSize)
      running++
      void write(batch).finally(() => {
        running--
        schedule()
        if (running === 0 && waiting.length === 0) for (const wake of idle.splice(0)) wake()
      })
      schedule()
    })
  }

  /** Never gives up: a hand-over that is not written down would be called unknown, or be repeated. */
  async function write(batch: Settlement[]): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        const ours = await settleMessages(db, batch)
        onSettled(batch, ours)
        return
      } catch (error) {
        if (isDataFault(error) && (batch.length > 1 || hasWords(batch[0]!)))
          return await writeApart(batch, error)
        log.error(
          { err: error, messages: batch.length, tries },
          'hand-overs could not be recorded; trying again',
        )
        await setTimeout(Math.min(2_000, 100 * tries))
      }
    }
  }

  /** Something a provider said cannot be stored: the others are, and this one without the words. */
  async function writeApart(batch: Settlement[], error: unknown): Promise<void> {
    const [only] = batch
    if (batch.length === 1) {
      log.error({ err: error, messageId: only!.message_id }, 'what a provider said cannot be stored')
      return await write([withoutWords(only!)])
    }
    const middle = batch.length >> 1
    await write(batch.slice(0, middle))
    await write(batch.slice(middle))
  }

  return {
    add(settlement) {
      waiting.push(settlement)
      schedule()
    },
    drain: () =>
      running === 0 && waiting.length === 0
        ? Promise.resolve()
        : new Promise((resolve) => idle.push(resolve)),
    get waiting() {
      return waiting.length
    },
  }
}

const hasWords = ({ event, provider_ids, error_message }: Settlement): boolean =>
  event !== null || provider_ids.length > 0 || error_message !== null

const withoutWords = (settlement: Settlement): Settlement => ({
  ...settlement,
  provider_ids: [],
  error_code: settlement.error_code === null ? null : 'unreadable',
  error_message: null,
  event: null,
})
