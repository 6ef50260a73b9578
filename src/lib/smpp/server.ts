import { createServer } from 'node:net'
import type { Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import type { TlsOptions } from 'node:tls'
import { SmppSession } from './session.ts'
import type { SessionOptions } from './session.ts'

export type SmppListener = {
  host: string
  /** 0 takes a free one. */
  port: number
  tls?: TlsOptions
  maxConnections?: number
  onSession?: (session: SmppSession) => void
  onFault?: (error: Error) => void
}

export type SmppServer = {
  port: number
  /** The sessions that are open now. */
  sessions: ReadonlySet<SmppSession>
  /** Stops listening and cuts every session. Unbind them before for a kinder end. */
  close: () => Promise<void>
}

export async function listenSmpp(
  listener: SmppListener,
  options: Omit<SessionOptions, 'role'> = {},
): Promise<SmppServer> {
  const sessions = new Set<SmppSession>()
  const sockets = new Set<Socket>()
  const onConnection = (socket: Socket) => {
    const session = new SmppSession(socket, { ...options, role: 'server' })
    sessions.add(session)
    void session.closed.then(() => sessions.delete(session))
    listener.onSession?.(session)
  }
  const server = listener.tls ? createTlsServer(listener.tls, onConnection) : createServer(onConnection)
  server.maxConnections = listener.maxConnections ?? 1_000
  // Those that have not finished their TLS handshake are in no session yet, but must end with the server too.
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.once('error', reject)
  server.listen({ host: listener.host, port: listener.port }, resolve)
  await promise
  server.off('error', reject)
  server.on('error', (error) => listener.onFault?.(error))
  const address = server.address()
  return {
    port: typeof address === 'object' && address !== null ? address.port : listener.port,
    sessions,
    close: async () => {
      const stopped = new Promise<void>((done) => server.close(() => done()))
      for (const session of sessions) session.destroy('the server is closing')
      for (const socket of sockets) socket.destroy()
      await stopped
    },
  }
}
