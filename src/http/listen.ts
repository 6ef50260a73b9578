/** Opens the listeners: one port for all surfaces, or a port of its own for some. */
import type { AddressInfo } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import type { Config } from '../config.ts'
import { buildServer, type PomboServer, type ServerDeps, type Surface } from './server.ts'

export type Surfaces = {
  /** Both APIs' shared port: health, metrics, documentation, unified API, providers' hooks. */
  main: Surface[]
  direct: Surface[]
  /** The console and the admin API behind it. */
  console: Surface[]
}

export type ListenConfig = Pick<
  Config,
  'host' | 'port' | 'directPort' | 'consolePort' | 'tls' | 'leaveMs' | 'drainMs'
>

export type Listening = {
  /** Where each surface answers, without a trailing slash. */
  addresses: Record<keyof Surfaces, string>
  close(): Promise<void>
}

export async function listen(config: ListenConfig, deps: ServerDeps, surfaces: Surfaces): Promise<Listening> {
  const portOf: Record<keyof Surfaces, number> = {
    main: config.port,
    direct: config.directPort ?? config.port,
    console: config.consolePort ?? config.port,
  }
  const names = ['main', 'direct', 'console'] as const
  const ports = [...new Set(names.map((name) => portOf[name]))]
  const opened = new Map<number, { server: PomboServer; address: string }>()
  try {
    for (const port of ports) {
      const served = names.filter((name) => portOf[name] === port).flatMap((name) => surfaces[name])
      const server = await buildServer(deps, served)
      opened.set(port, { server, address: await open(server, config, port) })
    }
  } catch (error) {
    await Promise.all([...opened.values()].map(({ server }) => server.drain(0)))
    throw error
  }
  const addressOf = (name: keyof Surfaces) => opened.get(portOf[name])!.address
  return {
    addresses: { main: addressOf('main'), direct: addressOf('direct'), console: addressOf('console') },
    async close() {
      const servers = [...opened.values()].map(({ server }) => server)
      const startedAt = performance.now()
      deps.lifecycle.phase = 'leaving'
      await untilLeft(servers, Math.min(config.leaveMs, config.drainMs / 2))
      deps.lifecycle.phase = 'draining'
      const leftMs = config.drainMs - (performance.now() - startedAt)
      await Promise.all(servers.map((server) => server.drain(leftMs)))
    },
  }
}

/**
 * A connection that is closed while its next request is on the way costs that request. So for a moment all are served,
 * each for the last time on its connection, while readiness already sends new ones elsewhere.
 */
async function untilLeft(servers: readonly PomboServer[], withinMs: number): Promise<void> {
  const endsAt = performance.now() + withinMs
  while (performance.now() < endsAt && (await Promise.all(servers.map(countConnections))).some(Boolean))
    await wait(20)
}

const countConnections = ({ app }: PomboServer): Promise<number> =>
  new Promise((resolve) => app.server.getConnections((error, count) => resolve(error ? 0 : count)))

async function open({ app }: PomboServer, config: ListenConfig, port: number): Promise<string> {
  const { server } = app
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    // A backlog above the default of 511, or bursts of new connections wait for a SYN to be sent again.
    server.listen({ host: config.host, port, backlog: 4096 }, () => {
      server.off('error', reject)
      resolve()
    })
  })
  const bound = server.address() as AddressInfo
  const reachable = bound.address === '0.0.0.0' ? '127.0.0.1' : bound.address === '::' ? '::1' : bound.address
  const host = bound.family === 'IPv6' ? `[${reachable}]` : reachable
  return `${config.tls ? 'https' : 'http'}://${host}:${bound.port}`
}
