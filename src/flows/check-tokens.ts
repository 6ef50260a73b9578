/**
 * Who is calling? Tokens are looked up in the database, so that a replaced or revoked one is dead on every node at
 * once; requests that arrive while a look-up is under way share the next one, and equal tokens in it are one question.
 *
 * A caller that was found is remembered with the version of its company. Whoever uses that memory has it proven by the
 * accepting transaction, which compares the version: everything a look-up tells besides the token itself raises it.
 */
import { createBatcher } from '../lib/batch.ts'
import type { Clock } from '../lib/clock.ts'
import { rememberHashes } from '../lib/remember-hashes.ts'
import { lookUpApiTokens, type ApiTokenOwner } from '../store/api-tokens.ts'
import type { Db } from '../store/db.ts'
import { lookUpDirectTokens, type DirectTokenOwner } from '../store/direct-tokens.ts'
import { asUnavailable } from './database-faults.ts'
import type { TokenSender } from './submission.ts'

export type ApiCaller = ApiTokenOwner & { sender: TokenSender }
export type DirectCaller = DirectTokenOwner & { sender: TokenSender }

export type CallerLook<Caller> = {
  /** Undefined: no such token, expired, replaced, or its user may not call any more. */
  lookUp(token: string): Promise<Caller | undefined>
  /** As it was last found by this process; to be proven. */
  recall(token: string): Caller | undefined
}

export type TokenChecker = { api: CallerLook<ApiCaller>; direct: CallerLook<DirectCaller> }

export function createTokenChecker(deps: { db: Db; clock: Clock; maxWaiting?: number }): TokenChecker {
  const { db, clock, maxWaiting = 20_000 } = deps
  const hashOf = rememberHashes()
  return {
    api: createLook(maxWaiting, hashOf, async (hashes) =>
      (await lookUpApiTokens(db, hashes, clock.now())).map((owner): ApiCaller => ({
        ...owner,
        sender: {
          kind: 'api_user',
          id: owner.userId,
          companyId: owner.companyId,
          tokenHash: owner.tokenHash.toString('hex'),
        },
      })),
    ),
    direct: createLook(maxWaiting, hashOf, async (hashes) =>
      (await lookUpDirectTokens(db, hashes)).map((owner): DirectCaller => ({
        ...owner,
        sender: {
          kind: 'direct_token',
          id: owner.tokenId,
          companyId: owner.companyId,
          tokenHash: owner.tokenHash.toString('hex'),
        },
      })),
    ),
  }
}

type Found = { tokenHash: Buffer; companyVersion: number; sender: TokenSender }

function createLook<Caller extends Found>(
  maxWaiting: number,
  hashOf: (token: string) => Buffer,
  find: (hashes: Buffer[]) => Promise<Caller[]>,
): CallerLook<Caller> {
  /** By the remembered hash itself, so that both are forgotten together. */
  const remembered = new WeakMap<Buffer, Caller>()
  const batcher = createBatcher<Buffer, Caller | undefined>({
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
  return {
    async lookUp(token) {
      const hash = hashOf(token)
      const caller = await batcher.ask(hash)
      if (caller === undefined) remembered.delete(hash)
      else remembered.set(hash, asRecalled(caller))
      return caller
    },
    recall: (token) => remembered.get(hashOf(token)),
  }
}

const asRecalled = <Caller extends Found>(caller: Caller): Caller => ({
  ...caller,
  sender: { ...caller.sender, recalledAtVersion: caller.companyVersion },
})
