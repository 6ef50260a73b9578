/**
 * A message that was handed over without an answer waits for a receipt. When its time is up, the company's policy
 * decides: left to a person, or sent again, which may make it arrive twice.
 */
import type { Clock } from '../lib/clock.ts'
import type { Db } from '../store/db.ts'
import { resolveUnknownMessages } from '../store/unknown-messages.ts'
import type { OnChanged, StateChange } from './state-change.ts'

export type Resolved = {
  left: number
  sentAgain: number
  expired: number
  /** Lines that have new work. */
  lineIds: Set<string>
}

/** One bounded bite; when the three counts add up to `limit` there may be more. */
export async function resolveUnknown(
  { db, clock, onChanged }: { db: Db; clock: Clock; onChanged?: OnChanged },
  limit = 500,
): Promise<Resolved> {
  const now = clock.now()
  const rows = await db.transaction(async (connection) => {
    const resolved = await resolveUnknownMessages(connection, now, limit)
    const changes = resolved.flatMap(({ messageId, companyId, to }): StateChange[] =>
      to === 'unknown' ? [] : [{ messageId, companyId, from: 'unknown', to, at: now }],
    )
    if (changes.length > 0) await onChanged?.(connection, changes)
    return resolved
  })
  const count = (to: string) => rows.filter((row) => row.to === to).length
  return {
    left: count('unknown'),
    sentAgain: count('queued'),
    expired: count('expired'),
    lineIds: new Set(rows.flatMap((row) => (row.to === 'queued' ? [row.lineId] : []))),
  }
}
