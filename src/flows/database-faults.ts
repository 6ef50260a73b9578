/** Faults of the database as the callers of a flow should hear of them. */
import { UnavailableError } from '../lib/unavailable.ts'
import { isConnectionError, sqlState } from '../store/db.ts'

/** Gone, out of room (53), or too slow (57014): "try again later". Anything else stays what it is. */
export function asUnavailable(error: unknown): unknown {
  if (error instanceof UnavailableError) return error
  const state = sqlState(error)
  return isConnectionError(error) || state?.startsWith('53') || state === '57014'
    ? new UnavailableError('the database does not answer', 2, { cause: error })
    : error
}
