/**
 * Who is calling? Tokens are looked up in the database every time, so that a replaced or revoked one is dead on
 * every node at once; requests that arrive while a lookup is under way share the next one, and equal tokens in it
 * are one question.
 */
import { createBatcher } from '../lib/batch.ts'
import type { Clock } from '../lib/clock.ts'
import { rememberHashes } from '../lib/remember-hashes.ts'
import { lookUpApiTokens, type ApiTokenOwner } from '../store/api-tokens.ts'
import type { Db } from '../store/db.ts'
import { lookUpDirectTokens, type DirectTokenOwner } from '../store/direct-tokens.ts'
import { asUnavailable } from './database-faults.ts'
import type { Sender } from './submission.ts'

export type ApiCaller = ApiTokenOwner & { sender: Sender }
export type DirectCaller = DirectTokenOwner & { sender: Sender }

export type TokenChecker = {
  /** Undefined: no such token, expired, replaced, or its user may not call any more. */
  api(token: string): Promise<ApiCaller | undefined>
  direct(token: string): Promise<DirectCaller | undefined>
}

export function createTokenChecker(deps: { db: Db; clock: Clock; maxWaiting?: number }): TokenChecker {
  const { db, clock, maxWaiting = 20_000 } = deps
  const api = createLookUp(maxWaiting, async (hashes) =>
    (await lookUpApiTokens(db, hashes, clock.now())).map((owner): ApiCaller => ({
      ...owner,
      sender: { kind: 'api_user', id: owner.userId, companyId: owner.companyId, tokenHash: owner.tokenHash },
    })),
  )
  const direct = createLookUp(maxWaiting, async (hashes) =>
    (await lookUpDirectTokens(db, hashes)).map((owner): DirectCaller => ({
      ...owner,
      sender: {
        kind: 'direct_token',
        id: owner.tokenId,
        companyId: owner.companyId,
        tokenHash: owner.tokenHash,
      },
    })),
  )
  const hashOf = rememberHashes()
  return { api: (token) => api.ask(hashOf(token)), direct: (token) => direct.ask(hashOf(token)) }
}

function createLookUp<Caller extends { tokenHash: Buffer }>(
  maxWaiting: number,
  find: (hashes: Buffer[]) => Promise<Caller[]>,
) {
  return createBatcher<Buffer, Caller | undefined>({
    maxBatch: 1024,
    maxWaiting,
    async run(hashes) {
      const keys = hashes.map((hash) => hash.toString('latin1'))
      const distinct = new Map(keys.map((key, index) => [key, hashes[index]!]))
      try {
        const callers = await find([...distinct.values()])
        const byKey = new Map(callers.map((caller) => [caller.tokenHash.toString('latin1'), caller]))
        return keys.map((key) => byKey.get(key))
      } catch (error) {
        throw asUnavailable(error)
      }
    },
  })
}
