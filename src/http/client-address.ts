/** The caller's address: the socket's, or the one that trusted proxies vouch for in X-Forwarded-For. */
import type { IncomingMessage } from 'node:http'
import { BlockList, isIP, isIPv4 } from 'node:net'

export type AddressReader = (req: IncomingMessage) => string

const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i

const plain = (address: string): string => mapped.exec(address)?.[1] ?? address

/** Addresses and ranges as one set that addresses are looked up in; throws on text that is neither. */
export function addressSet(items: readonly string[]): (address: string) => boolean {
  const set = new BlockList()
  for (const item of items) {
    const [address = '', bits] = item.split('/')
    const family = isIP(address)
    const length = bits === undefined ? (family === 4 ? 32 : 128) : Number(bits)
    if (family === 0 || !Number.isInteger(length) || length > (family === 4 ? 32 : 128))
      throw new Error(`"${item}" is neither an address nor a range of addresses.`)
    set.addSubnet(address, length, family === 4 ? 'ipv4' : 'ipv6')
  }
  return (address) => set.check(address, isIPv4(address) ? 'ipv4' : 'ipv6')
}

/** With a port (`203.0.113.9:4711`, `[2001:db8::1]:4711`) as some proxies write it, or without. */
function forwardedAddress(text: string): string | undefined {
  const bare = /^\[(.+)\](?::\d+)?$/.exec(text)?.[1] ?? /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(text)?.[1] ?? text
  return isIP(bare) === 0 ? undefined : plain(bare)
}

export function createAddressReader(trustedProxies: readonly string[]): AddressReader {
  const socketAddress = (req: IncomingMessage) => plain(req.socket.remoteAddress ?? '')
  if (trustedProxies.length === 0) return socketAddress
  const isTrusted = addressSet(trustedProxies)
  return (req) => {
    let address = socketAddress(req)
    const header = req.headers['x-forwarded-for']
    if (header === undefined || isIP(address) === 0) return address
    // Each proxy appends whom it heard from: from the right, believe as long as the speaker is trusted.
    const forwarded = String(header).split(',')
    while (isTrusted(address)) {
      const next = forwardedAddress(forwarded.pop()?.trim() ?? '')
      if (next === undefined) break
      address = next
    }
    return address
  }
}
