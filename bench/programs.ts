/** The programs of a run as child processes: Pombo whole, the baselines, the load. All end with the run. */
import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Quickstart } from './bodies.ts'
import type { LoadJob, LoadResult } from './load.ts'

const here = import.meta.dirname
const children = new Set<ChildProcess>()

function start(
  args: string[],
  env: NodeJS.ProcessEnv = {},
  stdin: 'pipe' | 'ignore' = 'ignore',
): ChildProcess {
  const child = spawn(process.execPath, args, {
    stdio: [stdin, 'pipe', 'inherit'],
    env: { ...process.env, ...env },
  })
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
  await ended(child)
}

export async function stopAll(): Promise<void> {
  await Promise.all([...children].map(stop))
}

async function output(child: ChildProcess): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of child.stdout!) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}

export async function load(job: LoadJob): Promise<LoadResult> {
  const child = start([path.join(here, 'load.ts'), 'run'], {}, 'pipe')
  child.stdin!.end(JSON.stringify(job))
  const text = await output(child)
  await ended(child)
  return JSON.parse(text) as LoadResult
}

export type Baseline = { port: number; child: ChildProcess }

export async function startBaseline(kind: 'echo' | 'one-insert', databaseUrl = ''): Promise<Baseline> {
  const child = start([path.join(here, 'baselines.ts'), kind, databaseUrl])
  const line = await new Promise<string>((resolve, reject) => {
    child.stdout!.once('data', (chunk: Buffer) => resolve(chunk.toString('utf8')))
    child.once('exit', () => reject(new Error(`the ${kind} baseline did not start`)))
  })
  return { child, port: (JSON.parse(line) as { port: number }).port }
}

export type Pombo = {
  child: ChildProcess
  port: number
  quickstart: Quickstart
  dataDir: string
  stop(): Promise<void>
}

/** The whole program with its default settings, on a data folder of its own. */
export async function startPombo(env: NodeJS.ProcessEnv = {}): Promise<Pombo> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'pombo-bench-'))
  const child = start([path.join(here, '../src/cli/main.ts'), 'start'], {
    POMBO_PORT: '0',
    POMBO_DATA_DIR: dataDir,
    POMBO_LOG_LEVEL: 'error',
    ...env,
  })
  child.stdout!.resume()
  const file = path.join(dataDir, 'quickstart.json')
  for (let tries = 0; ; tries++) {
    if (child.exitCode !== null) throw new Error('Pombo did not start')
    const quickstart = await readFile(file, 'utf8').then(
      (text) => JSON.parse(text) as Quickstart,
      () => undefined,
    )
    const ready =
      quickstart &&
      (await fetch(`${quickstart.unified.baseUrl}/health/ready`).then(
        (response) => response.ok,
        () => false,
      ))
    if (quickstart && ready) {
      return {
        child,
        dataDir,
        quickstart,
        port: Number(new URL(quickstart.unified.baseUrl).port),
        async stop() {
          await stop(child)
          await rm(dataDir, { recursive: true, force: true })
        },
      }
    }
    if (tries > 600) throw new Error('Pombo was not ready within a minute')
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
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
  return ((await response.json()) as { access_token: string }).access_token
}
