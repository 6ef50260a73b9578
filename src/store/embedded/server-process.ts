import { spawn } from 'node:child_process'
import type { Binaries } from './binaries.ts'
import { serverFault } from './errors.ts'
import type { Home } from './home.ts'
import { readPostmaster, stopProcess } from './postmaster.ts'
import { serverEnv } from './run-tool.ts'
import type { ServerLog } from './server-log.ts'

export type EmbeddedLog = {
  info(facts: object, text: string): void
  warn(facts: object, text: string): void
}

export type EmbeddedExit = { code: number | null; signal: NodeJS.Signals | null }

export type Server = { pid: number; hasExited(): boolean; exited: Promise<EmbeddedExit> }

/** Recovery after a crash replays up to 2 GB of log; while the server lives and works, it is waited for. */
const READY_TIMEOUT_MS = 600_000
const STOP_FAST_MS = 20_000
const STOP_IMMEDIATE_MS = 10_000

export async function launch(home: Home, binaries: Binaries, serverLog: ServerLog): Promise<Server> {
  const child = spawn(binaries.postgres, ['-D', home.data], {
    uid: home.account?.uid,
    gid: home.account?.gid,
    cwd: home.data,
    env: serverEnv,
    stdio: ['ignore', serverLog.fd, serverLog.fd],
    // A group of its own: Ctrl-C in a terminal must not stop the database before those that use it.
    detached: true,
    windowsHide: true,
  })
  const exited = new Promise<EmbeddedExit>((resolve) =>
    child.once('exit', (code, signal) => resolve({ code, signal })),
  )
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve)
    child.once('error', reject)
  }).finally(() => serverLog.closeOurs())
  const hasExited = () => child.exitCode !== null || child.signalCode !== null
  return { pid: child.pid ?? 0, hasExited, exited }
}

/** Settles when the server takes connections; throws with what it said when it ends instead. */
export async function waitUntilReady(
  server: Server,
  facts: { home: Home; serverLog: ServerLog; log: EmbeddedLog; dataDir: string; port: number | undefined },
): Promise<void> {
  const startedAt = performance.now()
  for (let saidAt = startedAt; !server.hasExited();) {
    const postmaster = await readPostmaster(facts.home.data)
    if (postmaster?.pid === server.pid && postmaster.isReady) return
    const now = performance.now()
    if (now - startedAt > READY_TIMEOUT_MS) await stopServer(server)
    if (now - saidAt > 5_000) {
      saidAt = now
      facts.log.info(
        { seconds: Math.round((now - startedAt) / 1000) },
        'the database is recovering from a crash',
      )
    }
    await new Promise((resolve) => setTimeout(resolve, now - startedAt < 1_000 ? 5 : 50))
  }
  facts.serverLog.stop()
  throw serverFault(await facts.serverLog.sinceStart(), facts)
}

export async function stopServer(server: Server): Promise<void> {
  if (!server.hasExited()) {
    await stopProcess(server.pid, { fastMs: STOP_FAST_MS, immediateMs: STOP_IMMEDIATE_MS })
  }
  await server.exited
}
