import { connect, isIP } from 'node:net'
import type { LookupFunction, Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { ConnectionOptions } from 'node:tls'
import { SmppSession } from './session.ts'
import type { SessionOptions } from './session.ts'

export type SmppTarget = {
  host: string
  port: number
  /** TLS with the certificate checked; options to change that, or to bring one's own. */
  tls?: boolean | ConnectionOptions
  connectTimeoutMs?: number
  /** How names become addresses, for a caller that must judge them. It is not asked for literal addresses. */
  lookup?: LookupFunction
  signal?: AbortSignal
}

/** Connects; binding is the caller's first request. Rejects when there is no connection in time. */
export async function connectSmpp(
  target: SmppTarget,
  options: Omit<SessionOptions, 'role'> = {},
): Promise<SmppSession> {
  const socket = openSocket(target)
  const connectTimeoutMs = target.connectTimeoutMs ?? 10_000
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const onAbort = () => reject(target.signal?.reason)
  const timer = setTimeout(
    () => reject(new Error(`no connection to ${target.host}:${target.port} within ${connectTimeoutMs} ms`)),
    connectTimeoutMs,
  )
  socket.once('error', reject)
  socket.once('close', () => reject(new Error('the connection was closed')))
  socket.once(target.tls ? 'secureConnect' : 'connect', resolve)
  target.signal?.addEventListener('abort', onAbort)
  if (target.signal?.aborted) onAbort()
  try {
    await promise
    return new SmppSession(socket, { ...options, role: 'client' })
  } catch (error) {
    socket.on('error', () => {})
    socket.destroy()
    throw error
  } finally {
    clearTimeout(timer)
    socket.off('error', reject)
    target.signal?.removeEventListener('abort', onAbort)
  }
}

function openSocket({ host, port, tls, lookup }: SmppTarget): Socket {
  const where = { host, port, ...(lookup && { lookup }) }
  if (!tls) return connect(where)
  const servername = isIP(host) ? {} : { servername: host }
  return connectTls({ ...where, ...servername, ...(tls === true ? {} : tls) })
}
