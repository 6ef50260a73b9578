/** A new secret for signing callbacks, while receivers that know the old one still find its signature for a while. */
import type { Clock } from '../lib/clock.ts'
import type { Sealer } from '../lib/secrets.ts'
import type { Queryable } from '../store/db.ts'
import { replaceSecret, type SecretOwner } from '../store/webhooks.ts'

export const defaultOverlapHours = 24
const maxOverlapHours = 24 * 30

/**
 * Undefined when there is no such company (or webhook). With an overlap of 0 hours the old secret is dead at once.
 * Of a rotation during an overlap the secret before the last one stops signing.
 */
export function rotateCallbackSecret(
  { db, sealer, clock }: { db: Queryable; sealer: Sealer; clock: Clock },
  companyId: string,
  overlapHours = defaultOverlapHours,
  owner: SecretOwner = 'callbacks',
): Promise<string | undefined> {
  if (!(overlapHours >= 0 && overlapHours <= maxOverlapHours))
    throw new RangeError(`The overlap must be 0 to ${maxOverlapHours} hours.`)
  const until = new Date(clock.now().getTime() + overlapHours * 3_600_000)
  return replaceSecret(db, sealer, companyId, owner, until)
}
