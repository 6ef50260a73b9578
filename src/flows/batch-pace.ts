/**
 * When does the next batch start? A batch costs a millisecond of the processors before its first message, so few large
 * ones are better than many small ones: a process has one under way, and what arrives meanwhile forms the next. While
 * it waits for the database the other serving processes have the core. A lone request never waits.
 *
 * - Callers that a batch has just answered usually come right back. The next batch waits for them, for as long as the
 *   last one took, and starts as soon as as many are there.
 * - A batch that takes unusually long holds nobody up: others start beside it.
 */
export type BatchPace = {
  /** How long the next batch should wait: 0 is now, undefined until a batch has ended or more requests are there. */
  delayMs(waiting: number, inFlight: number): number | undefined
  started(): void
  ended(batch: { size: number; tookMs: number; waiting: number }): void
}

const maxDelayMs = 10
const unusuallyLongMs = 25

export function createBatchPace(
  maxInFlight: number,
  nowMs: () => number = () => performance.now(),
): BatchPace {
  let expected = 0
  let waitUntil = 0
  let lastStartedAt = 0
  return {
    delayMs(waiting, inFlight) {
      if (waiting === 0 || inFlight >= maxInFlight) return undefined
      if (inFlight > 0) return Math.max(0, lastStartedAt + unusuallyLongMs - nowMs())
      return waiting >= expected ? 0 : Math.max(0, waitUntil - nowMs())
    },
    started() {
      lastStartedAt = nowMs()
    },
    ended({ size, tookMs, waiting }) {
      // A batch of one: there is nobody to be expected.
      expected = size > 1 ? size + waiting : 0
      waitUntil = nowMs() + Math.min(maxDelayMs, tookMs)
    },
  }
}
