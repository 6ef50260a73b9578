import { chmod, lstat, mkdtemp, rm, rmdir, symlink, unlink } from 'node:fs/promises'
import { connect, createServer, type ListenOptions } from 'node:net'
import { dirname, join } from 'node:path'
import { portTaken } from './errors.ts'
import type { Home } from './home.ts'
import { SOCKET_PORT } from './settings.ts'

/** Where the server listens and how clients find it. */
export type Endpoint = { socketDir: string | undefined; port: number | undefined; close(): Promise<void> }

/** sockaddr_un holds 108 bytes with the closing zero on Linux, 104 on macOS. */
const MAX_SOCKET_PATH_BYTES = process.platform === 'darwin' ? 103 : 107

/**
 * A socket in the home's own `run` folder, so that a server in another container on the same volume can be seen
 * too; a path that is too long is reached through a short link in /tmp. Where sockets cannot be made (Windows,
 * some shared folders): a free loopback port.
 */
export async function openEndpoint(home: Home, wantedPort: number | undefined): Promise<Endpoint> {
  if (wantedPort !== undefined)
    return { socketDir: undefined, port: wantedPort, close: async () => undefined }
  const link = process.platform === 'win32' ? undefined : await shortPath(home)
  const close = async () => {
    if (link?.isLink) await removeShortPath(link.socketDir)
  }
  if (link && (await canListen({ path: join(link.socketDir, `probe-${process.pid}`) }))) {
    return { socketDir: link.socketDir, port: undefined, close }
  }
  await close()
  return { socketDir: undefined, port: await freePort(), close: async () => undefined }
}

export async function assertPortFree(port: number): Promise<void> {
  if (!(await canListen({ host: '127.0.0.1', port, exclusive: true }))) throw portTaken(port)
}

/** Whether some server answers on the socket: one that we cannot see as a process lives in another container. */
export function isAnswered(socketDir: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ path: join(socketDir, `.s.PGSQL.${SOCKET_PORT}`), timeout: 2_000 })
    const settle = (answered: boolean) => {
      socket.destroy()
      resolve(answered)
    }
    socket.on('connect', () => settle(true))
    socket.on('timeout', () => settle(true))
    socket.on('error', () => settle(false))
  })
}

/**
 * What a killed server left of its socket. PostgreSQL asks whether the process in the lock file lives, and takes a
 * dead one that nobody has looked at yet, or a stranger with the same id, for a server.
 */
export async function removeStaleSocket(socketDir: string): Promise<void> {
  const socket = join(socketDir, `.s.PGSQL.${SOCKET_PORT}`)
  await rm(socket, { force: true })
  await rm(`${socket}.lock`, { force: true })
}

export function databaseUrl(options: {
  socketDir: string | undefined
  port: number | undefined
  user: string
  password: string
  database: string
}): string {
  const host = options.socketDir ? encodeURIComponent(options.socketDir) : '127.0.0.1'
  return `postgresql://${options.user}:${options.password}@${host}:${options.port ?? SOCKET_PORT}/${options.database}`
}

async function shortPath(home: Home): Promise<{ socketDir: string; isLink: boolean }> {
  const socket = join(home.run, `.s.PGSQL.${SOCKET_PORT}`)
  if (Buffer.byteLength(socket) <= MAX_SOCKET_PATH_BYTES) return { socketDir: home.run, isLink: false }
  const folder = await mkdtemp('/tmp/pombo-')
  if (home.account) await chmod(folder, 0o711)
  const socketDir = join(folder, 'run')
  await symlink(home.run, socketDir)
  return { socketDir, isLink: true }
}

/** Removes the link and its folder, and nothing but a link: the socket's folder itself may stand under /tmp. */
export async function removeShortPath(socketDir: string): Promise<void> {
  const facts = await lstat(socketDir).catch(() => undefined)
  if (!facts?.isSymbolicLink()) return
  await unlink(socketDir)
  await rmdir(dirname(socketDir))
}

function canListen(where: ListenOptions): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.on('error', () => resolve(false))
    server.listen(where, () => server.close(() => resolve(true)))
  })
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.on('error', reject)
    server.listen({ host: '127.0.0.1', port: 0 }, () => {
      const address = server.address()
      server.close(() =>
        typeof address === 'object' && address ? resolve(address.port) : reject(new Error('no port')),
      )
    })
  })
}
