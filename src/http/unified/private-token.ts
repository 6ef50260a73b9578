import type { ApiCaller } from '../../flows/check-tokens.ts'
import { equalBytes } from '../../lib/secrets.ts'

/** The account's private token, or the one before it while the overlap of a rotation lasts. */
export function isPrivateToken(hash: Buffer, caller: ApiCaller, now: Date): boolean {
  if (equalBytes(hash, caller.privateTokenHash)) return true
  const { previousPrivateTokenHash: previous, previousPrivateTokenUntil: until } = caller
  return previous !== null && until !== null && until > now && equalBytes(hash, previous)
}
