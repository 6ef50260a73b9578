/** Who calls, and may they: judged when the headers are here, before a byte of the body is read. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Channel } from '../../domain/channel.ts'
import type { DirectCaller, TokenChecker } from '../../flows/check-tokens.ts'
import type { RateLimits } from '../../flows/limit-rates.ts'
import { TooManyRequestsError } from '../../lib/unavailable.ts'
import { bearerToken } from '../bearer.ts'
import { addressSet, type AddressReader } from '../client-address.ts'
import { sendForbidden, sendUnauthorized } from './replies.ts'

export type AuthDeps = { tokens: TokenChecker; limits: RateLimits; addressOf: AddressReader }

const callerKey = Symbol('caller')
type WithCaller = FastifyRequest & { [callerKey]?: DirectCaller }

export const createAuth =
  ({ tokens, limits, addressOf }: AuthDeps, channel: Channel) =>
  async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> => {
    const token = bearerToken(request.headers.authorization)
    const caller = token === undefined ? undefined : await tokens.direct(token)
    if (caller === undefined) return sendUnauthorized(reply)
    const isAllowed =
      caller.suspendedAt === null &&
      caller.channels.includes(channel) &&
      isOnAllowList(caller.allowedAddresses, addressOf(request.raw))
    if (!isAllowed) return sendForbidden(reply)
    if (!limits.admitSender(caller.sender)) throw new TooManyRequestsError('too many requests', 1)
    ;(request as WithCaller)[callerKey] = caller
    return undefined
  }

export function callerOf(request: FastifyRequest): DirectCaller {
  const caller = (request as WithCaller)[callerKey]
  if (caller === undefined) throw new Error('The route has no auth in front of it.')
  return caller
}

/** An empty list allows every address. A set is built once per list, not once per request. */
const isOnAllowList = (allowed: readonly string[], address: string): boolean =>
  allowed.length === 0 || allowListOf(allowed)(address)

type AllowList = (address: string) => boolean
const allowLists = new Map<string, AllowList>()
const maxAllowLists = 1000

function allowListOf(items: readonly string[]): AllowList {
  const key = items.join(' ')
  let list = allowLists.get(key)
  if (list === undefined) {
    list = addressSet(items.map(withoutMapping).filter(isReadable))
    if (allowLists.size >= maxAllowLists) allowLists.clear()
    allowLists.set(key, list)
  }
  return list
}

/** `::ffff:192.0.2.1` is 192.0.2.1, as the caller's address is written. */
const withoutMapping = (item: string): string =>
  item.replace(/^::ffff:(\d+\.\d+\.\d+\.\d+)(?:\/128)?$/i, '$1')

/** What cannot be read allows nobody; it must not lock out those that the rest of the list allows. */
function isReadable(item: string): boolean {
  try {
    addressSet([item])
    return true
  } catch {
    return false
  }
}
