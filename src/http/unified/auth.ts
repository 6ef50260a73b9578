/** Who calls: judged when the headers are here, before a byte of the body is read. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ApiCaller, TokenChecker } from '../../flows/check-tokens.ts'
import type { RateLimits } from '../../flows/limit-rates.ts'
import { equalBytes } from '../../lib/secrets.ts'
import { TooManyRequestsError } from '../../lib/unavailable.ts'
import { bearerToken } from '../bearer.ts'
import { sendUnauthorized } from './replies.ts'

const callerKey = Symbol('caller')
type WithCaller = FastifyRequest & { [callerKey]?: ApiCaller }

export const createAuth =
  ({ tokens, limits }: { tokens: TokenChecker; limits: RateLimits }) =>
  async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> => {
    const token = bearerToken(request.headers.authorization)
    const caller = token === undefined ? undefined : await tokens.api(token)
    if (caller === undefined) return sendUnauthorized(reply)
    if (!limits.admitSender(caller.sender)) throw new TooManyRequestsError('too many requests', 1)
    ;(request as WithCaller)[callerKey] = caller
    return undefined
  }

export function callerOf(request: FastifyRequest): ApiCaller {
  const caller = (request as WithCaller)[callerKey]
  if (caller === undefined) throw new Error('The route has no auth in front of it.')
  return caller
}

/** The account's private token, or the one before it while the overlap of a rotation lasts. */
export function isPrivateToken(hash: Buffer, caller: ApiCaller, now: Date): boolean {
  if (equalBytes(hash, caller.privateTokenHash)) return true
  const { previousPrivateTokenHash: previous, previousPrivateTokenUntil: until } = caller
  return previous !== null && until !== null && until > now && equalBytes(hash, previous)
}
