/**
 * When does the next batch start, and how large is it? A batch costs two milliseconds of the processors before its
 * first message, so few large ones are better than many small ones; but while one waits for the database, Node should
 * have another to work on. A lone request never waits.
 *
 * - Two batches share those who call: each takes half of all that are there, and a second one starts beside the first
 *   only when there is enough for it. (All 64 in one batch left Node idle for a third of the time.)
 * - Callers that a batch has just answered usually come right back. The next batch waits for them, for a quarter of
 *   the time that the last one took, and starts as soon as as many are there.
 */
export type BatchPace = {
  /** How long the next batch should wait: 0 is now, undefined until a batch has ended or more requests are there. */
  delayMs(waiting: number, inFlight: number): number | undefined
  /** How many of those who wait it takes; `underWay`: requests in the batches in flight. */
  size(waiting: number, underWay: number): number
  ended(batch: { size: number; tookMs: number; waiting: number }): void
}

const enoughForAnother = 24
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
    size: (waiting, underWay) =>
      Math.min(waiting, Math.max(enoughForAnother, Math.ceil((waiting + underWay) / maxInFlight))),
    ended({ size, tookMs, waiting }) {
      // A batch of one: there is nobody to be expected.
      expected = size > 1 ? size + waiting : 0
      waitUntil = nowMs() + Math.min(maxDelayMs, tookMs / 4)
    },
  }
}
