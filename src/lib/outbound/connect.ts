/** Plain and TLS sockets under the same guard, for protocols other than HTTP (SMTP and SMPP lines). */
import { connect as connectPlain, isIP } from 'node:net'
import type { LookupFunction, Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { OutboundError } from './errors.ts'

export type ConnectTarget = {
  host: string
  port: number
  timeoutMs: number
  /** TLS from the first byte. */
  tls?: { canBeUnverified: boolean }
}

/** Resolves when the socket is ready for its first byte, the TLS handshake included. */
export function openSocket(target: ConnectTarget, lookup: LookupFunction): Promise<Socket> {
  const { host, port, timeoutMs } = target
  return new Promise((resolve, reject) => {
    const plain = connectPlain({ host, port, lookup, noDelay: true })
    const socket = target.tls
      ? connectTls({
          socket: plain,
          host,
          ...(isIP(host) === 0 ? { servername: host } : {}),
          rejectUnauthorized: !target.tls.canBeUnverified,
        })
      : plain
    const readyEvent = target.tls ? 'secureConnect' : 'connect'
    const timer = setTimeout(
      () => fail(new OutboundError('timed_out', `no connection in ${timeoutMs} ms`)),
      timeoutMs,
    )
    const settle = (): void => {
      clearTimeout(timer)
      socket.off('error', onError)
      plain.off('error', onError)
      socket.off('close', onClose)
    }
    const fail = (error: OutboundError): void => {
      settle()
      // A socket that fails again while it dies must not take the process with it.
      socket.on('error', () => {})
      plain.on('error', () => {})
      socket.destroy()
      plain.destroy()
      reject(error)
    }
    const onError = (error: Error): void => fail(readConnectFault(error))
    const onClose = (): void => fail(new OutboundError('unreachable', 'the connection was closed at once'))
    socket.on('error', onError)
    plain.on('error', onError)
    socket.on('close', onClose)
    socket.once(readyEvent, () => {
      settle()
      resolve(socket)
    })
  })
}

export function readConnectFault(error: Error): OutboundError {
  if (error instanceof OutboundError) return error
  const inner: unknown = error instanceof AggregateError ? error.errors[0] : undefined
  const code = 'code' in error ? String(error.code) : ''
  const isTlsFault = /CERT|SSL|TLS|SELF_SIGNED|UNABLE_TO/.test(code)
  return new OutboundError(
    isTlsFault ? 'untrusted' : 'unreachable',
    `no connection: ${inner instanceof Error ? inner.message : error.message}`,
  )
}
