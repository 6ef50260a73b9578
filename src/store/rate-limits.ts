/** Counters of configured request limits, one row per key and second, shared by all processes and nodes. */
import type { Queryable } from './db.ts'

export type WindowCount = { key: string; count: number }

/** Adds to the counters of one window and gives their totals over all processes. */
export const addToWindow = (
  db: Queryable,
  windowStart: Date,
  counts: WindowCount[],
): Promise<WindowCount[]> => {
  // Sorted, or two processes would lock the same rows in opposite orders.
  const sorted = counts.toSorted((a, b) => (a.key < b.key ? -1 : 1))
  return db.query<WindowCount>(
    `insert into rate_window (key, window_start, count)
      select key, $2, count from unnest($1::text[], $3::int[]) as given(key, count)
      on conflict (key, window_start) do update set count = rate_window.count + excluded.count
      returning key, count`,
    [sorted.map(({ key }) => key), windowStart, sorted.map(({ count }) => count)],
  )
}

export const removeWindowsBefore = async (db: Queryable, before: Date): Promise<void> => {
  await db.query(
    `delete from rate_window where (key, window_start) in
      (select key, window_start from rate_window where window_start < $1 limit 10000 for update skip locked)`,
    [before],
  )
}
