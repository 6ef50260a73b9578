/** The whole Pombo as a tree of processes on a port and a data folder of its own, any part of which can be killed. */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Quickstart } from '../../src/flows/demo/quickstart.ts'
import { findHome } from '../../src/store/embedded/home.ts'
import { isAlive, readPostmaster } from '../../src/store/embedded/postmaster.ts'
import { readLines, type LineReader } from './lines.ts'

export const root = fileURLToPath(new URL('../..', import.meta.url))

export type Part = 'supervisor' | 'serving' | 'worker' | 'postgres' | 'all'

export type Pids = { supervisor: number; serving: number[]; worker: number[]; postgres: number[] }

export type ProgramOptions = {
  /** Made, and removed again by `stop`, when not given. */
  dataDir?: string
  port?: number
  env?: Record<string, string>
  uid?: number
  gid?: number
  /** Instead of `node src/cli/main.ts start`. */
  command?: string[]
  /** It stops by itself when we are killed. */
  isLinked?: boolean
}

export type Program = {
  baseUrl: string
  port: number
  dataDir: string
  process: ChildProcess
  lines: LineReader
  quickstart(): Promise<Quickstart>
  pids(): Promise<Pids>
  /** kill -9, returning when the processes are gone. A part with several processes loses all of them. */
  kill(part: Part): Promise<void>
  waitUntilReady(): Promise<void>
  /** SIGTERM; returns the exit code. Kills everything that is left after 60 s. */
  stop(): Promise<number | null>
}

const READY_WITHIN_MS = 90_000
const STOP_WITHIN_MS = 60_000

/** Starts the program and returns when `/health/ready` answers 200. */
export async function startProgram(options: ProgramOptions = {}): Promise<Program> {
  const program = await launchProgram(options)
  try {
    await program.waitUntilReady()
    return program
  } catch (error) {
    await program.stop()
    throw error
  }
}

/** Starts the program without waiting, for starts that are expected to fail. */
export async function launchProgram(options: ProgramOptions = {}): Promise<Program> {
  const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), 'pombo-program-')))
  const port = options.port ?? (await freePort())
  const baseUrl = `http://127.0.0.1:${port}`
  const [file = '', ...args] = options.command ?? [process.execPath, join(root, 'src/cli/main.ts'), 'start']
  const child = spawn(file, args, {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe', ...(options.isLinked ? (['ipc'] as const) : [])],
    uid: options.uid,
    gid: options.gid,
    env: {
      PATH: process.env['PATH'],
      HOME: process.env['HOME'],
      NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/compile'),
      POMBO_DATA_DIR: dataDir,
      POMBO_PORT: String(port),
      ...options.env,
    },
  })
  const lines = readLines(child)
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null
  const ended = once(child, 'close')

  const program: Program = {
    baseUrl,
    port,
    dataDir,
    process: child,
    lines,
    quickstart: async () => JSON.parse(await readFile(join(dataDir, 'quickstart.json'), 'utf8')),
    pids: () => findPids(child.pid ?? 0, dataDir),
    async kill(part) {
      const pids = await program.pids()
      const all = [pids.supervisor, ...pids.serving, ...pids.worker, ...pids.postgres]
      const victims = part === 'all' ? all : [pids[part]].flat()
      for (const pid of victims) killNow(pid)
      await waitFor(() => victims.every((pid) => !isAlive(pid)), 20_000, `the death of ${part}`)
      if (part === 'supervisor' || part === 'all') await ended
    },
    async waitUntilReady() {
      await waitFor(
        async () => {
          if (hasEnded())
            throw new Error(
              `Pombo ended (${child.exitCode ?? child.signalCode}): ${JSON.stringify(lines.all.slice(-20))}`,
            )
          return isReadyAt(baseUrl)
        },
        READY_WITHIN_MS,
        `ready; it said: ${JSON.stringify(lines.all.slice(-20))}`,
      )
    },
    async stop() {
      if (!hasEnded()) {
        child.kill('SIGTERM')
        const killer = setTimeout(() => void program.kill('all'), STOP_WITHIN_MS)
        await ended
        clearTimeout(killer)
      }
      // After kill -9 of the supervisor the database lives on; nobody else will stop it.
      for (const pid of (await findPids(0, dataDir)).postgres) {
        killNow(pid)
        await waitFor(() => !isAlive(pid), 20_000, 'the death of PostgreSQL')
      }
      if (options.dataDir === undefined) {
        // Elsewhere when PostgreSQL's user cannot reach the temporary folder.
        await rm((await findHome(dataDir)).folder, { recursive: true, force: true })
        await rm(dataDir, { recursive: true, force: true })
      }
      return child.exitCode
    },
  }
  return program
}

export function isReadyAt(baseUrl: string): Promise<boolean> {
  return fetch(`${baseUrl}/health/ready`, { signal: AbortSignal.timeout(5_000) }).then(
    (answer) => answer.ok,
    () => false,
  )
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  return typeof address === 'object' && address ? address.port : 0
}

/** The supervisor may stand below a script that started it: its children tell which process it is. */
async function findPids(launched: number, dataDir: string): Promise<Pids> {
  const parents = new Map<number, number>()
  const kinds = new Map<number, string>()
  for (const pid of readdirSync('/proc').map(Number).filter(Number.isInteger)) {
    const facts = readProcess(pid)
    if (!facts) continue
    parents.set(pid, facts.parent)
    if (facts.environment.includes(`POMBO_DATA_DIR=${dataDir}`)) {
      const kind = facts.environment.find((entry) => entry.startsWith('POMBO_PROCESS='))
      if (kind) kinds.set(pid, kind.slice('POMBO_PROCESS='.length))
    }
  }
  const ofKind = (kind: string) => [...kinds].filter(([, found]) => found === kind).map(([pid]) => pid)
  const child = [...kinds.keys()].find((pid) => isBelow(pid, launched, parents))
  const postmaster = await readPostmaster((await findHome(dataDir)).data)
  return {
    supervisor: (child && parents.get(child)) ?? launched,
    serving: [...ofKind('serve'), ...ofKind('all')],
    worker: ofKind('worker'),
    postgres: postmaster && isAlive(postmaster.pid) ? [postmaster.pid] : [],
  }
}

function isBelow(pid: number, ancestor: number, parents: Map<number, number>): boolean {
  for (
    let current: number | undefined = pid;
    current !== undefined && current > 1;
    current = parents.get(current)
  ) {
    if (current === ancestor) return true
  }
  return false
}

function readProcess(pid: number): { parent: number; environment: string[] } | undefined {
  try {
    // The name in brackets may hold anything; what follows it does not.
    const parent = Number(
      readFileSync(`/proc/${pid}/stat`, 'utf8')
        .replace(/^.*\) /s, '')
        .split(' ')[1],
    )
    return { parent, environment: readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0') }
  } catch {
    return undefined
  }
}

function killNow(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has just ended by itself.
  }
}

export async function waitFor(
  condition: () => boolean | Promise<boolean>,
  withinMs: number,
  what: string,
): Promise<void> {
  const until = performance.now() + withinMs
  while (!(await condition())) {
    if (performance.now() > until) throw new Error(`waited ${withinMs} ms in vain for ${what}`)
    await delay(20)
  }
}
