/** Sends callbacks again because a person asks for it: one, or all that fit a filter. The `webhook-id` stays. */
import type { Clock } from '../lib/clock.ts'
import { replayCallbacks, type ReplayFilter } from '../store/callbacks.ts'
import type { Queryable } from '../store/db.ts'

/** False when the company has no such callback. */
export async function replayCallback(
  { db, clock }: { db: Queryable; clock: Clock },
  companyId: string,
  callbackId: number,
): Promise<boolean> {
  const ids = await replayCallbacks(db, companyId, { ids: [callbackId], limit: 1 }, clock.now())
  return ids.length > 0
}

const maxAtOnce = 10_000

/** How many; at most 10,000 at once, the oldest first. */
export async function replayAll(
  { db, clock }: { db: Queryable; clock: Clock },
  companyId: string,
  filter: Omit<ReplayFilter, 'ids' | 'limit'>,
): Promise<number> {
  const ids = await replayCallbacks(db, companyId, { ...filter, limit: maxAtOnce }, clock.now())
  return ids.length
}
