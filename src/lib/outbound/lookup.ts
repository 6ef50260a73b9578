/**
 * Name resolution that judges every address on its way to the socket. There is no gap between judging and connecting,
 * so a name that changes its mind (DNS rebinding) gains nothing.
 */
import { lookup as systemLookup } from 'node:dns'
import type { LookupAddress, LookupOptions } from 'node:dns'
import type { LookupFunction } from 'node:net'
import { addressFault } from './addresses.ts'
import { OutboundError } from './errors.ts'

/** Resolves to all addresses, as `dns.lookup` with `all: true`. */
export type Resolve = (
  hostname: string,
  options: LookupOptions,
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void

export const systemResolve: Resolve = (hostname, options, callback) =>
  systemLookup(hostname, { ...options, all: true }, callback)

export const guardedLookup =
  (resolve: Resolve): LookupFunction =>
  (hostname, options, callback) => {
    resolve(hostname, options, (error, addresses) => {
      if (error) return callback(error, [])
      if (addresses.length === 0)
        return callback(new OutboundError('unreachable', `${hostname} has no address`), [])
      for (const { address } of addresses) {
        const fault = addressFault(address)
        // One bad address among good ones refuses all: which one the socket takes is not for the name to choose.
        if (fault !== undefined) {
          return callback(
            new OutboundError('refused', `${hostname} resolves to ${address}, which ${fault}`),
            [],
          )
        }
      }
      // Node asks for all of them (autoSelectFamily) or for one; both shapes are in use.
      if (options.all) return callback(null, addresses)
      const [first] = addresses
      return callback(null, first!.address, first!.family)
    })
  }
