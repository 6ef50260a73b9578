/** Counters of one contact, which caps and duplicates go by. */

/** For caps `at` is the start of the period counted, for duplicates the last time. */
export type CounterValue = { count: number; at: Date }

export type CounterRaise = { key: string; at: Date }

/**
 * A counter after a raise: a later `at` (the next period, a new sending) starts again at one; the same or an
 * earlier one, as from a node whose clock is behind, counts along. `store/counters.ts` says the same in SQL.
 */
export function raised(counter: CounterValue | undefined, raise: CounterRaise): CounterValue {
  if (counter === undefined || counter.at < raise.at) return { count: 1, at: raise.at }
  return { count: counter.count + 1, at: counter.at }
}
