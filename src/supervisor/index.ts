/** The process tree: the supervisor owns the embedded database and keeps serving processes and a worker alive. */
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { fileURLToPath } from 'node:url'
import { openDataDir } from '../store/embedded/index.ts'
import { superviseDatabase } from './database.ts'
import type { ChildKind } from './messages.ts'
import { claimPort } from './ports.ts'
import type { SupervisorLog } from './slot.ts'
import { listenForStop } from './stop-signals.ts'
import { openTree, type ReadyChild } from './tree.ts'

export { PortError } from './ports.ts'
export { StartError, type ReadyChild } from './tree.ts'

/** The part of the configuration that is the supervisor's business. */
export type SupervisorConfig = {
  host: string
  port: number
  directPort: number | undefined
  consolePort: number | undefined
  dataDir: string
  databaseUrl: string | undefined
  roles: readonly string[]
  servingProcesses: number
  isFolded: boolean
  heapMib: number
  drainMs: number
}

export type SupervisorOptions = {
  config: SupervisorConfig
  log: SupervisorLog
  /** The environment for a child: our own, with these on top. */
  childEnv: (extra: Record<string, string>) => NodeJS.ProcessEnv
  /** Once, with the database up and before any child: migrations, the first company. */
  prepare?: (facts: { databaseUrl: string; port: number }) => Promise<void>
  /** When every process has said that it is ready, with what each of them told. */
  onReady?: (facts: { port: number; children: ReadyChild[] }) => void
  /** The program of the children; src/main.ts unless a test brings its own. */
  entry?: string
}

/** Runs until it is asked to stop, and returns the exit code. What hinders the start is thrown, with a sentence. */
export async function runSupervisor(options: SupervisorOptions): Promise<number> {
  const { config, log } = options
  const stop = listenForStop()
  try {
    const port = await claimPort('POMBO_PORT', config.host, config.port)
    if (config.directPort) await claimPort('POMBO_DIRECT_PORT', config.host, config.directPort)
    if (config.consolePort) await claimPort('POMBO_CONSOLE_PORT', config.host, config.consolePort)
    const dataDir = await openDataDir(config.dataDir)
    let onDatabaseChange: (() => void) | undefined
    const database = config.databaseUrl
      ? undefined
      : await superviseDatabase({ dataDir, log, onChange: () => onDatabaseChange?.() })
    const databaseUrl = () => database?.url() ?? config.databaseUrl ?? ''
    // Names this node to its workers: what an earlier worker of the same name held is free at once. With the embedded
    // database a lock on the folder makes the folder's name unique; elsewhere only chance is safe.
    const node = database ? `${hostname()}:${dataDir}` : `${hostname()}:${randomUUID()}`
    try {
      if (stop.isAsked()) return 0
      await options.prepare?.({ databaseUrl: databaseUrl(), port })
      if (stop.isAsked()) return 0
      const tree = openTree({
        kinds: kindsFor(config),
        entry: options.entry ?? fileURLToPath(new URL('../main.ts', import.meta.url)),
        envOf: (kind) =>
          options.childEnv({
            POMBO_PROCESS: kind,
            POMBO_NODE: node,
            POMBO_PORT: String(port),
            DATABASE_URL: databaseUrl(),
          }),
        isDatabaseUp: () => database?.isUp() ?? true,
        heapMib: config.heapMib,
        log,
      })
      let knownUrl = databaseUrl()
      onDatabaseChange = () => {
        tree.refresh()
        // A server that came back elsewhere (a port instead of a socket): children know only the old place.
        if (databaseUrl() !== knownUrl) tree.restartAll()
        knownUrl = databaseUrl()
      }
      stop.onAgain(() => {
        log.warn({}, 'asked again to stop: what is in flight is cut off')
        tree.kill()
      })
      try {
        void tree.started.then(
          (children) => options.onReady?.({ port, children }),
          () => undefined,
        )
        await Promise.race([stop.asked, tree.started])
        log.info({ reason: await stop.asked }, 'stopping')
      } finally {
        await tree.drain(config.drainMs)
      }
    } finally {
      await database?.stop()
    }
    return 0
  } finally {
    stop.close()
  }
}

function kindsFor(config: SupervisorConfig): ChildKind[] {
  if (config.isFolded) return ['all']
  const isServing = config.roles.some((role) => role !== 'worker')
  const serving = Array.from({ length: isServing ? config.servingProcesses : 0 }, (): ChildKind => 'serve')
  return config.roles.includes('worker') ? [...serving, 'worker'] : serving
}
