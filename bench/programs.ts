/** The programs of a run as child processes: Pombo whole, the baselines, the provider, the load. All end with the run. */
import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Quickstart } from './bodies.ts'
import type { LoadJob, LoadResult } from './load.ts'

const here = import.meta.dirname
const children = new Set<ChildProcess>()
const folders = new Set<string>()

/** A drain of Pombo takes at most the seconds that it is given here, and its database a few more. */
const drainSeconds = 5
const stopMs = 20_000

function start(args: string[], env: NodeJS.ProcessEnv = {}): ChildProcess {
  const child = spawn(process.execPath, args, {
    // The end of the input tells a lean child that we were killed.
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, ...env },
  })
  child.stdin?.on('error', () => {})
  children.add(child)
  child.once('exit', () => children.delete(child))
  return child
}

const ended = (child: ChildProcess) =>
  child.exitCode !== null || child.signalCode !== null
    ? Promise.resolve()
    : new Promise<void>((resolve) => child.once('exit', () => resolve()))

export async function stop(child: ChildProcess): Promise<void> {
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), stopMs)
  await ended(child)
  clearTimeout(timer)
}

/** Everything that was started and made, also after a failure. */
export async function cleanUp(): Promise<void> {
  await Promise.all([...children].map(stop))
  await Promise.all([...folders].map(removeFolder))
}

export async function newFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'pombo-bench-'))
  folders.add(folder)
  return folder
}

export async function removeFolder(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  folders.delete(folder)
}

async function output(child: ChildProcess): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of child.stdout!) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}

export async function load(job: LoadJob): Promise<LoadResult> {
  const child = start([path.join(here, 'load.ts'), 'run'])
  child.stdin!.end(JSON.stringify(job))
  const text = await output(child)
  await ended(child)
  if (child.exitCode !== 0) throw new Error(`The load ended with ${child.exitCode ?? child.signalCode}.`)
  const result = JSON.parse(text) as LoadResult
  if (result.firstUnexpected !== undefined)
    throw new Error(`Port ${job.port} answered otherwise than expected:\n${result.firstUnexpected}`)
  return result
}

async function firstLine<T>(child: ChildProcess, name: string): Promise<T> {
  const line = await new Promise<string>((resolve, reject) => {
    child.stdout!.once('data', (chunk: Buffer) => resolve(chunk.toString('utf8')))
    child.once('exit', () => reject(new Error(`The ${name} did not start.`)))
  })
  return JSON.parse(line) as T
}

export type Baseline = { port: number; stop(): Promise<void> }

export async function startBaseline(kind: 'echo' | 'one-insert', databaseUrl = ''): Promise<Baseline> {
  const child = start([path.join(here, 'baselines.ts'), kind, databaseUrl])
  const { port } = await firstLine<{ port: number }>(child, `${kind} baseline`)
  return { port, stop: () => stop(child) }
}

export type Provider = { port: number; countsPort: number; stop(): Promise<void> }

export async function startProvider(hasReceipts: boolean): Promise<Provider> {
  const child = start([path.join(here, 'provider.ts'), hasReceipts ? 'receipts' : 'plain'])
  const ports = await firstLine<{ port: number; countsPort: number }>(child, 'provider')
  return { ...ports, stop: () => stop(child) }
}

export type Pombo = {
  pid: number
  port: number
  quickstart: Quickstart
  dataDir: string
  /** From the start of the program to its being ready. */
  startSeconds: number
  stop(): Promise<void>
}

/**
 * The whole program as `npm start` runs it, with its default settings but for the log, of which only errors are kept.
 * Without a data folder it gets one of its own, which goes with it.
 */
export async function startPombo(
  options: { dataDir?: string; env?: NodeJS.ProcessEnv } = {},
): Promise<Pombo> {
  const dataDir = options.dataDir ?? (await newFolder())
  const port = await freePort()
  const startedAt = performance.now()
  const child = start([path.join(here, '../scripts/start.mjs')], {
    // With it the script watches its parent, and stops Pombo when we were killed.
    npm_lifecycle_event: 'bench',
    POMBO_PORT: String(port),
    POMBO_DATA_DIR: dataDir,
    POMBO_LOG_LEVEL: 'error',
    POMBO_DRAIN_SECONDS: String(drainSeconds),
    ...options.env,
  })
  child.stdout!.resume()
  await untilReady(child, port)
  const startSeconds = (performance.now() - startedAt) / 1000
  const quickstart = JSON.parse(await readFile(path.join(dataDir, 'quickstart.json'), 'utf8')) as Quickstart
  return {
    pid: child.pid!,
    dataDir,
    quickstart,
    port,
    startSeconds,
    async stop() {
      await stop(child)
      if (options.dataDir === undefined) await removeFolder(dataDir)
    },
  }
}

async function untilReady(child: ChildProcess, port: number): Promise<void> {
  const giveUpAt = performance.now() + 120_000
  for (;;) {
    if (child.exitCode !== null) throw new Error('Pombo did not start.')
    const isReady = await fetch(`http://127.0.0.1:${port}/health/ready`, {
      signal: AbortSignal.timeout(5_000),
    }).then(
      (response) => response.ok,
      () => false,
    )
    if (isReady) return
    if (performance.now() > giveUpAt) throw new Error('Pombo was not ready within two minutes.')
    await wait(20)
  }
}

function freePort(): Promise<number> {
  const server = createServer()
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() =>
        typeof address === 'object' && address ? resolve(address.port) : reject(new Error('no port')),
      )
    })
  })
}

export async function logIn({ quickstart: { unified } }: Pombo): Promise<string> {
  const response = await fetch(`${unified.baseUrl}/v1/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      Company: unified.company,
      Username: unified.username,
      Password: unified.password,
    }),
  })
  if (!response.ok) throw new Error(`The login was answered ${response.status}.`)
  return ((await response.json()) as { access_token: string }).access_token
}
