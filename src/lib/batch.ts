/**
 * Joins single questions into batches: what arrives while a batch is being answered forms the next one. A lone
 * question starts at the end of the event loop's turn, so it is delayed by no timer.
 */
import { UnavailableError } from './unavailable.ts'

export type BatcherOptions<Item, Answer> = {
  /** Answers in the order of the items. A rejection is that of every item of the batch. */
  run(items: Item[]): Promise<Answer[]>
  maxBatch: number
  /** Items that may wait for a batch; past it `ask` rejects with UnavailableError. */
  maxWaiting: number
  batchesInFlight?: number
}

export type Batcher<Item, Answer> = {
  ask(item: Item): Promise<Answer>
  readonly waiting: number
}

type Entry<Item, Answer> = { item: Item; resolve(answer: Answer): void; reject(error: unknown): void }

export function createBatcher<Item, Answer>(options: BatcherOptions<Item, Answer>): Batcher<Item, Answer> {
  const maxInFlight = options.batchesInFlight ?? 1
  let waiting: Entry<Item, Answer>[] = []
  let inFlight = 0
  let isScheduled = false

  const schedule = () => {
    if (isScheduled || inFlight >= maxInFlight || waiting.length === 0) return
    isScheduled = true
    // After the poll phase: every request that this turn of the event loop read is in the batch.
    setImmediate(start)
  }

  const start = () => {
    isScheduled = false
    if (inFlight >= maxInFlight || waiting.length === 0) return
    const batch = waiting.length <= options.maxBatch ? waiting : waiting.slice(0, options.maxBatch)
    waiting = batch === waiting ? [] : waiting.slice(options.maxBatch)
    inFlight++
    void settle(batch)
    schedule()
  }

  const settle = async (batch: Entry<Item, Answer>[]) => {
    try {
      const answers = await options.run(batch.map((entry) => entry.item))
      if (answers.length !== batch.length)
        throw new Error(`A batch of ${batch.length} got ${answers.length} answers.`)
      for (let index = 0; index < batch.length; index++) batch[index]!.resolve(answers[index]!)
    } catch (error) {
      for (const entry of batch) entry.reject(error)
    } finally {
      inFlight--
      schedule()
    }
  }

  return {
    ask(item) {
      return new Promise((resolve, reject) => {
        if (waiting.length >= options.maxWaiting) {
          reject(new UnavailableError('too many requests are waiting'))
          return
        }
        waiting.push({ item, resolve, reject })
        schedule()
      })
    },
    get waiting() {
      return waiting.length
    },
  }
}
