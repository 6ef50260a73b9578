/** The one HTTP client for addresses that somebody else chose: callbacks, files, brokers. */
import type { LookupFunction, Socket } from 'node:net'
import { Agent, buildConnector } from 'undici'
import { openSocket } from './connect.ts'
import type { ConnectTarget } from './connect.ts'
import { OutboundError } from './errors.ts'
import { purposes } from './exceptions.ts'
import type { Exceptions, Purpose } from './exceptions.ts'
import { exchange } from './exchange.ts'
import type { OutboundResponse } from './exchange.ts'
import { bareName, hostFault, readUrl } from './judge-url.ts'
import { guardedLookup, systemResolve } from './lookup.ts'
import type { Resolve } from './lookup.ts'

export type { ConnectTarget } from './connect.ts'
export { OutboundError } from './errors.ts'
export type { OutboundErrorKind } from './errors.ts'
export { purposes, readExceptions } from './exceptions.ts'
export type { Exceptions, Purpose } from './exceptions.ts'
export type { OutboundResponse } from './exchange.ts'
export { judgeUrl } from './judge-url.ts'

export type OutboundRequest = {
  method: string
  headers?: Record<string, string>
  body?: string | Buffer | FormData
  /** For everything: resolving, connecting, all redirects, the last byte of the body. */
  timeoutMs: number
  maxBytes: number
  /** Answers are given as far as they came once their status is known, instead of failing for their body. */
  canClip?: boolean
  /** Asked with every piece of the answer's body before it is kept; false ends the request as too large. */
  hold?(bytes: number): boolean
  /** How many to follow; only GET and HEAD are, others get the 3xx itself. Default: files 3, all others none. */
  redirects?: number
}

export type Outbound = {
  fetch(purpose: Purpose, url: string, request: OutboundRequest): Promise<OutboundResponse>
  /** A socket for protocols other than HTTP, under the same rules. */
  connect(purpose: Purpose, target: ConnectTarget): Promise<Socket>
  close(): Promise<void>
}

const defaultRedirects: Record<Purpose, number> = { callbacks: 0, files: 3, brokers: 0 }
const redirectStatuses = new Set([301, 302, 303, 307, 308])
/** Meant for the first host only. */
const droppedOnRedirect = new Set(['authorization', 'cookie', 'proxy-authorization'])
const connectTimeoutMs = 10_000

export function createOutbound(options: { exceptions: Exceptions; resolve?: Resolve }): Outbound {
  const { exceptions } = options
  const resolve = options.resolve ?? systemResolve
  const strictLookup = guardedLookup(resolve)
  // An exception is for a name and port: whatever it resolves to is meant.
  const freeLookup: LookupFunction = (hostname, asked, callback) =>
    resolve(hostname, asked, (error, addresses) => {
      if (error || asked.all) return callback(error, addresses)
      return callback(null, addresses[0]?.address ?? '', addresses[0]?.family)
    })
  const guarded = buildConnector({ timeout: connectTimeoutMs, lookup: strictLookup })
  const free = buildConnector({ timeout: connectTimeoutMs, lookup: freeLookup })

  /** The sockets of one purpose are never lent to another: an exception would travel with them. */
  const poolOf = (purpose: Purpose): Agent =>
    new Agent({
      // Our own deadline bounds both.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect(target, callback) {
        const { hostname } = target
        const port = Number(target.port) || (target.protocol === 'https:' ? 443 : 80)
        if (exceptions.allows(purpose, hostname, port)) return free(target, callback)
        const fault = hostFault(hostname)
        if (fault !== undefined) return callback(new OutboundError('refused', `${hostname} ${fault}`), null)
        return guarded(target, callback)
      },
    })
  const pools = new Map(purposes.map((purpose) => [purpose, poolOf(purpose)]))

  /** The literal address is judged here, since a socket never looks one up. */
  function admit(purpose: Purpose, text: string): URL {
    const reading = readUrl(text)
    if (!reading.ok) throw new OutboundError('refused', `the address ${reading.reason}`)
    const { url } = reading
    const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80)
    if (!exceptions.allows(purpose, bareName(url.hostname), port)) {
      const fault = hostFault(url.hostname)
      if (fault !== undefined) throw new OutboundError('refused', `the address ${fault}`)
    }
    return url
  }

  return {
    async fetch(purpose, text, request) {
      const deadline = AbortSignal.timeout(request.timeoutMs)
      const { headers: given = {}, method, maxBytes } = request
      let headers: Record<string, string> = { 'accept-encoding': 'identity', ...lowerCased(given) }
      let body = request.body
      if (body instanceof FormData) {
        // undici's own FormData is another class than Node's; Response writes Node's as multipart.
        const encoded = new Response(body)
        headers['content-type'] = encoded.headers.get('content-type') ?? ''
        body = Buffer.from(await encoded.arrayBuffer())
      }
      let left = request.redirects ?? defaultRedirects[purpose]
      const canFollow = left > 0 && (method === 'GET' || method === 'HEAD')
      let url = admit(purpose, text)
      for (;;) {
        const response = await exchange(pools.get(purpose)!, url, {
          method,
          headers,
          body,
          maxBytes,
          canClip: request.canClip,
          hold: request.hold,
          deadline,
        })
        const { location } = response.headers
        if (!canFollow || !redirectStatuses.has(response.status) || location === undefined) return response
        if (left-- === 0)
          throw new OutboundError('too_many_redirects', 'the address redirects too often', true)
        const next = URL.parse(location, url.href)
        if (next === null)
          throw new OutboundError('refused', 'the address redirects to something that is no URL', true)
        url = admit(purpose, next.href)
        headers = Object.fromEntries(Object.entries(headers).filter(([name]) => !droppedOnRedirect.has(name)))
      }
    },
    async connect(purpose, target) {
      const { hostname } = new URL(`http://${target.host.includes(':') ? `[${target.host}]` : target.host}/`)
      if (exceptions.allows(purpose, hostname, target.port)) return openSocket(target, freeLookup)
      const fault = hostFault(hostname)
      if (fault !== undefined) throw new OutboundError('refused', `${target.host} ${fault}`)
      return openSocket(target, strictLookup)
    },
    async close() {
      await Promise.all([...pools.values()].map((pool) => pool.destroy()))
    },
  }
}

const lowerCased = (headers: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
