/** Writes what came of hand-overs, in batches: what is reported while one is being written forms the next. */
import { setTimeout } from 'node:timers/promises'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { isDataError, type Queryable } from '../store/db.ts'
import { settleMessages, type Settlement } from '../store/outbox.ts'

const batchSize = 500
const batchesInFlight = 2

export type Settler = {
  add(settlement: Settlement): void
  /** Resolves when everything added has been written. */
  drain(): Promise<void>
  readonly waiting: number
}

export function createSettler(options: {
  db: Queryable
  clock: Clock
  log: Log
  /** Called when written: `isOurs` is false when the lane had moved to another worker in the meantime. */
  onSettled(settlement: Settlement, isOurs: boolean): void
}): Settler {
  const { db, clock, log, onSettled } = options
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

  /** Never gives up: a hand-over that is not written down would be called unknown. */
  async function write(batch: Settlement[]): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        const ours = await settleMessages(db, batch, clock.now())
        for (const settlement of batch) onSettled(settlement, ours.has(settlement.message_id))
        return
      } catch (error) {
        if (isDataError(error)) return await writeInHalves(batch, error)
        log.error(
          { err: error, messages: batch.length, tries },
          'hand-overs could not be recorded; trying again',
        )
        await setTimeout(Math.min(2_000, 100 * tries))
      }
    }
  }

  /** Something a provider said cannot be stored: the others are, and this one without the words. */
  async function writeInHalves(batch: Settlement[], error: unknown): Promise<void> {
    if (batch.length === 1) {
      const [settlement] = batch
      log.error(
        { err: error, messageId: settlement!.message_id },
        'the exchange of a hand-over cannot be stored',
      )
      if (settlement!.event === null) return onSettled(settlement!, false)
      return await write([{ ...settlement!, event: null, error_message: null }])
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
