/** The door of one channel: besides a living token it wants the channel and the caller's address to be allowed. */
import type { Channel } from '../../domain/channel.ts'
import type { DirectCaller, TokenChecker } from '../../flows/check-tokens.ts'
import type { RateLimits } from '../../flows/limit-rates.ts'
import { addressSet, type AddressReader } from '../client-address.ts'
import { createDoor, type Door } from '../door.ts'
import { sendForbidden, sendUnauthorized } from './replies.ts'

export type DoorDeps = { tokens: TokenChecker; limits: RateLimits; addressOf: AddressReader }

export const createChannelDoor = (
  { tokens, limits, addressOf }: DoorDeps,
  channel: Channel,
): Door<DirectCaller> =>
  createDoor({
    callers: tokens.direct,
    limits,
    sendUnauthorized,
    refusalOf(caller, request) {
      const isAllowed =
        caller.suspendedAt === null &&
        caller.channels.includes(channel) &&
        isOnAllowList(caller.allowedAddresses, addressOf(request.raw))
      return isAllowed ? undefined : sendForbidden
    },
  })

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
