/**
 * When does the next batch start? A batch costs four milliseconds of the two processors before its first message, so
 * half as many batches of twice the size are worth a short wait; a lone request never waits.
 *
 * - While a batch is in flight, another starts only when there is enough for it: at 64 connections two batches side
 *   by side meant ten messages in each.
 * - Callers that a batch has just answered usually come right back. The next batch waits for them, for a quarter of
 *   the time that the last one took, and starts as soon as as many are there.
 */
export type BatchPace = {
  /** How long the next batch should wait: 0 is now, undefined until a batch has ended or more requests are there. */
  delayMs(waiting: number, inFlight: number): number | undefined
  ended(batch: { size: number; tookMs: number; waiting: number }): void
}

const enoughForAnother = 64
const maxDelayMs = 5

export function createBatchPace(
  maxInFlight: number,
  nowMs: () => number = () => performance.now(),
): BatchPace {
  let expected = 0
  let waitUntil = 0
  return {
    delayMs(waiting, inFlight) {
      if (waiting === 0 || inFlight >= maxInFlight) return undefined
      if (inFlight > 0) return waiting >= enoughForAnother ? 0 : undefined
      return waiting >= expected ? 0 : Math.max(0, waitUntil - nowMs())
    },
    ended({ size, tookMs, waiting }) {
      // A batch of one: there is nobody to be expected.
      expected = size > 1 ? size + waiting : 0
      waitUntil = nowMs() + Math.min(maxDelayMs, tookMs / 4)
    },
  }
}
