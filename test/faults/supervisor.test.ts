import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client } from 'pg'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { isAlive } from '../../src/store/embedded/postmaster.ts'
import { readLines, type LineReader } from '../harness/lines.ts'

type Child = { kind: string; name: string; pid: number }
type Tree = {
  supervisor: ChildProcess
  lines: LineReader
  port: number
  children: Child[]
  ended: Promise<unknown>
}

const program = fileURLToPath(new URL('../harness/supervisor/run.ts', import.meta.url))
const external = { databaseUrl: 'postgresql://nobody@127.0.0.1:1/unused' }
let folder: string
const running: ChildProcess[] = []

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pombo-faults-'))
  await chmod(folder, 0o755)
})

afterEach(async () => {
  for (const child of running.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue
    child.kill('SIGTERM')
    await once(child, 'exit')
  }
  await rm(folder, { recursive: true, force: true })
})

function launch(
  config: object,
  env: Record<string, string> = {},
): { supervisor: ChildProcess; lines: LineReader } {
  const supervisor = spawn(process.execPath, [program, JSON.stringify(config)], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  })
  running.push(supervisor)
  return { supervisor, lines: readLines(supervisor) }
}

async function startTree(config: object, env?: Record<string, string>): Promise<Tree> {
  const { supervisor, lines } = launch(config, env)
  const ended = once(supervisor, 'exit')
  const ready = await lines.find((line) => line['kind'] === 'ready')
  return { supervisor, lines, ended, port: Number(ready['port']), children: childrenOf(ready['children']) }
}

function childrenOf(value: unknown): Child[] {
  return Array.isArray(value) ? value.map((child: Child) => child) : []
}

function get(tree: Tree, path: string): Promise<string> {
  return fetch(`http://127.0.0.1:${tree.port}${path}`, { headers: { connection: 'close' } }).then((answer) =>
    answer.text(),
  )
}

const pidOf = async (tree: Tree): Promise<number> => Number(JSON.parse(await get(tree, '/')).pid)

test('serving processes share a port, the worker stands beside them, and all metrics are summed', async () => {
  const tree = await startTree(external)
  expect(tree.children.map((child) => child.name).toSorted()).toEqual(['serve-1', 'serve-2', 'worker-1'])
  expect(tree.lines.all[0]).toEqual({ kind: 'prepared', databaseUrl: external.databaseUrl })
  const seen = new Set<number>()
  for (let index = 0; index < 10; index += 1) seen.add(await pidOf(tree))
  expect(seen.size).toBe(2)
  expect(await get(tree, '/state')).toBe('{"isReady":true,"reasons":[]}')
  const metrics = await get(tree, '/metrics')
  expect(metrics).toContain('fixture_processes 3')
  expect(metrics).toContain('pombo_process_restarts_total{process="worker-1"} 0')
})

test('a serving process that dies is replaced, and no new connection is refused meanwhile', async () => {
  const tree = await startTree(external)
  const victim = tree.children.find((child) => child.name === 'serve-1')?.pid ?? 0
  process.kill(victim, 'SIGKILL')
  await expect.poll(() => isAlive(victim)).toBe(false)
  const restarted = tree.lines.find((line) => line['text'] === 'a process died and is started again')
  for (let index = 0; index < 20; index += 1) expect(await pidOf(tree)).not.toBe(victim)
  expect(await restarted).toMatchObject({ name: 'serve-1', signal: 'SIGKILL', waitMs: 0 })
  await expect.poll(() => get(tree, '/metrics'), { timeout: 20_000 }).toContain('fixture_processes 3')
  expect(await get(tree, '/metrics')).toContain('pombo_process_restarts_total{process="serve-1"} 1')
})

test('connections on their way to a process that dies are dealt to another: none hangs, none is lost', async () => {
  const tree = await startTree(external)
  const victim = tree.children.find((child) => child.name === 'serve-1')?.pid ?? 0
  // Stopped, it is dealt one connection, which it never takes; the others go to its neighbour.
  process.kill(victim, 'SIGSTOP')
  let answered = 0
  const answers = Array.from({ length: 20 }, () => pidOf(tree).finally(() => (answered += 1)))
  await expect.poll(() => answered).toBe(19)
  process.kill(victim, 'SIGKILL')
  expect(await Promise.all(answers)).not.toContain(victim)
})

test('a process that keeps dying makes the tree not ready, with a reason, until it stays up', async () => {
  const brokenFile = join(folder, 'broken')
  const tree = await startTree(external, { FIXTURE_BROKEN_FILE: brokenFile })
  await writeFile(brokenFile, '')
  process.kill(tree.children.find((child) => child.kind === 'worker')?.pid ?? 0, 'SIGKILL')
  await expect
    .poll(() => get(tree, '/state'), { timeout: 20_000 })
    .toBe('{"isReady":false,"reasons":["worker-1 keeps dying"]}')
  expect(tree.lines.all.some((line) => String(line['text']).includes('has died 5 times in a row'))).toBe(true)
})

test('SIGTERM finishes what is in flight, takes nothing new, and ends with code 0', async () => {
  const tree = await startTree(external)
  const slow = await fetch(`http://127.0.0.1:${tree.port}/slow`, { headers: { connection: 'close' } })
  tree.supervisor.kill('SIGTERM')
  await tree.lines.find((line) => line['text'] === 'stopping')
  expect(await slow.text()).toBe('begun\nfinished\n')
  expect(await tree.ended).toEqual([0, null])
  await expect(fetch(`http://127.0.0.1:${tree.port}/`)).rejects.toThrow()
  for (const child of tree.children) expect(isAlive(child.pid)).toBe(false)
})

test('what does not finish in time is cut off', async () => {
  const tree = await startTree({ ...external, drainMs: 300 })
  const hanging = await fetch(`http://127.0.0.1:${tree.port}/hang`)
  tree.supervisor.kill('SIGTERM')
  await expect(hanging.text()).rejects.toThrow()
  expect(await tree.ended).toEqual([0, null])
})

test('who asks again to stop does not wait for what is in flight', async () => {
  const tree = await startTree({ ...external, drainMs: 600_000 })
  const hanging = await fetch(`http://127.0.0.1:${tree.port}/hang`)
  const cutOff = expect(hanging.text()).rejects.toThrow()
  // Signals within a second count as one, since a single Ctrl-C arrives several times.
  const asking = setInterval(() => tree.supervisor.kill('SIGTERM'), 200)
  await tree.lines.find((line) => line['text'] === 'asked again to stop: what is in flight is cut off')
  clearInterval(asking)
  await cutOff
  expect(await tree.ended).toEqual([0, null])
})

test('kill -9 of the supervisor ends every child', async () => {
  const tree = await startTree(external)
  tree.supervisor.kill('SIGKILL')
  for (const child of tree.children)
    await expect.poll(() => isAlive(child.pid), { timeout: 10_000 }).toBe(false)
})

test('a folded tree is one process', async () => {
  const tree = await startTree({ ...external, isFolded: true })
  expect(tree.children.map((child) => child.name)).toEqual(['all-1'])
  expect(await get(tree, '/metrics')).toContain('fixture_processes 1')
})

test('roles decide which processes there are', async () => {
  const { lines } = launch({ ...external, roles: ['worker'] })
  const ready = await lines.find((line) => line['kind'] === 'ready')
  expect(childrenOf(ready['children']).map((child) => child.name)).toEqual(['worker-1'])
})

test('a child that says it cannot start stops the start with its sentence', async () => {
  const { supervisor, lines } = launch(external, { FIXTURE_CANNOT: 'yes' })
  const failed = await lines.find((line) => line['kind'] === 'failed')
  expect(failed['message']).toBe('The fixture has been told not to start.')
  await once(supervisor, 'exit')
  expect(supervisor.exitCode).toBe(1)
})

test('a taken port is told before anything is started', async () => {
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  const address = other.address()
  const port = typeof address === 'object' && address ? address.port : 0
  const { lines } = launch({ ...external, port })
  const failed = await lines.find((line) => line['kind'] === 'failed')
  expect(failed['message']).toBe(
    `Port ${port} on 127.0.0.1 is taken: stop the program that listens there, or set POMBO_PORT to another port.`,
  )
  other.close()
})

test('the embedded database is brought back when it dies, and stops last', async () => {
  const dataDir = join(folder, 'data')
  const tree = await startTree({ dataDir, servingProcesses: 1 })
  const { url } = JSON.parse(await get(tree, '/'))
  const first = await serverPid(url)
  process.kill(first, 'SIGKILL')
  const back = await tree.lines.find((line) => line['text'] === 'the embedded PostgreSQL is back')
  expect(back['pid']).not.toBe(first)
  await expect.poll(() => get(tree, '/state')).toBe('{"isReady":true,"reasons":[]}')
  expect(await serverPid(url)).toBe(back['pid'])
  tree.supervisor.kill('SIGTERM')
  expect(await tree.ended).toEqual([0, null])
  expect(isAlive(Number(back['pid']))).toBe(false)
})

async function serverPid(url: string): Promise<number> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    const found = await client.query<{ pid: string }>(
      `SELECT split_part(pg_read_file('postmaster.pid'), E'\\n', 1) AS pid`,
    )
    return Number(found.rows[0]?.pid)
  } finally {
    await client.end()
  }
}
