import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { isAlive } from '../../src/store/embedded/postmaster.ts'
import {
  isReadyAt,
  launchProgram,
  root,
  startProgram,
  waitFor,
  type Part,
  type Program,
  type ProgramOptions,
} from '../harness/program.ts'

let folder: string
let dataDir: string
const running: Program[] = []

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pombo-program-'))
  // As root PostgreSQL runs as another user, who must be able to pass.
  await chmod(folder, 0o755)
  dataDir = join(folder, 'data')
})

afterEach(async () => {
  for (const program of running.splice(0)) await program.stop()
  await rm(folder, { recursive: true, force: true })
})

async function start(options: ProgramOptions = {}): Promise<Program> {
  const program = await startProgram({ dataDir, ...options })
  running.push(program)
  return program
}

/** What a start that is to fail says, and its exit code. */
async function refused(options: ProgramOptions): Promise<{ code: number | null; said: string }> {
  const program = await launchProgram({ dataDir, ...options })
  running.push(program)
  await once(program.process, 'close')
  return {
    code: program.process.exitCode,
    said: program.lines.all.map((line) => String(line['text'] ?? line['msg'])).join('\n'),
  }
}

test('a first start reaches ready, a second one refuses, a stop is clean, and the next start finds everything again', async () => {
  const first = await start()
  const quickstart = await first.quickstart()
  expect(quickstart.unified.baseUrl).toBe(first.baseUrl)
  expect((await stat(join(dataDir, 'quickstart.json'))).mode & 0o777).toBe(0o600)

  const second = await refused({})
  expect(second.code).toBe(1)
  expect(second.said).toMatch(
    /^Another Pombo uses the data folder .*: stop it first, or set POMBO_DATA_DIR to another folder\.$/m,
  )
  expect((await fetch(`${first.baseUrl}/health/ready`)).status).toBe(200)

  const pids = await first.pids()
  expect(await first.stop()).toBe(0)
  for (const pid of Object.values(pids).flat()) expect(isAlive(pid)).toBe(false)

  const again = await start({ port: first.port })
  expect(await again.quickstart()).toMatchObject({ unified: quickstart.unified, direct: quickstart.direct })
})

test('after each of ten kill -9 of the whole tree a start reaches ready', async () => {
  const first = await start()
  const { port } = first
  await first.kill('all')
  for (let round = 1; round < 10; round += 1) {
    const program = await start({ port })
    await program.kill('all')
  }
  const last = await start({ port })
  expect(await last.stop()).toBe(0)
}, 300_000)

test('kill -9 of the supervisor takes its children along, and the next start stops the database that was left', async () => {
  const first = await start()
  const { serving, worker, postgres } = await first.pids()
  await first.kill('supervisor')
  await waitFor(
    () => [...serving, ...worker].every((pid) => !isAlive(pid)),
    20_000,
    'the end of the children',
  )
  expect(postgres.map(isAlive)).toEqual([true])
  await start({ port: first.port })
  expect(postgres.map(isAlive)).toEqual([false])
})

test.each<Part>(['serving', 'worker', 'postgres'])(
  'kill -9 of %s: the tree mends itself and is ready again',
  async (part) => {
    const program = await start()
    const before = await program.pids()
    await program.kill(part)
    const isMended = async () => {
      const now = await program.pids()
      const isWhole =
        now.serving.length === before.serving.length && now.worker.length === 1 && now.postgres.length === 1
      return isWhole && isReadyAt(program.baseUrl)
    }
    await waitFor(isMended, 30_000, 'a whole tree')
    const after = await program.pids()
    expect(after.supervisor).toBe(before.supervisor)
    if (part !== 'supervisor' && part !== 'all')
      expect(after[part].some((pid) => before[part].includes(pid))).toBe(false)
    expect(await program.stop()).toBe(0)
  },
)

describe('what hinders a start is said in one sentence', () => {
  test('a taken port; nothing is made', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const address = other.address()
    const port = typeof address === 'object' && address ? address.port : 0
    const { code, said } = await refused({ port })
    expect(code).toBe(1)
    expect(said).toBe(
      `Port ${port} on 127.0.0.1 is taken: stop the program that listens there, or set POMBO_PORT to another port.`,
    )
    expect(await readdir(folder)).toEqual([])
    other.close()
  })

  test('a data folder of a newer PostgreSQL', async () => {
    const data = join(dataDir, 'postgres', 'data')
    await mkdir(data, { recursive: true })
    await writeFile(join(data, 'PG_VERSION'), '19\n')
    const { code, said } = await refused({})
    expect(code).toBe(1)
    expect(said).toContain('holds a database of PostgreSQL 19, and this Pombo brings PostgreSQL 18')
  })

  test.skipIf(process.getuid?.() !== 0)(
    'a data folder that may not be written (tried as another user, so only by root)',
    async () => {
      const { code, said } = await refused({ uid: 65534, gid: 65534 })
      expect(code).toBe(1)
      expect(said).toMatch(/^The data folder .* cannot be written \(EACCES\)/)
    },
  )

  test.each<{ what: string; env: Record<string, string>; says: RegExp }>([
    {
      what: 'an unreachable DATABASE_URL',
      env: { DATABASE_URL: 'postgresql://pombo:secret@127.0.0.1:1/pombo' },
      says: /127\.0\.0\.1/,
    },
    {
      what: 'a wrong setting',
      env: { POMBO_SERVING_PROCESSES: 'many' },
      says: /^POMBO_SERVING_PROCESSES is "many", but must be a whole number/,
    },
  ])('$what', async ({ env, says }) => {
    const { code, said } = await refused({ env })
    expect(code).toBeGreaterThan(0)
    expect(said).toMatch(says)
    expect(said).not.toContain('secret')
    expect(said.split('\n')).toHaveLength(1)
  })
})

describe('npm start', () => {
  const command = [process.execPath, join(root, 'scripts/start.mjs')]

  test('passes SIGTERM and the exit code on', async () => {
    const program = await start({ command })
    const pids = await program.pids()
    expect(pids.supervisor).not.toBe(program.process.pid)
    expect(await program.stop()).toBe(0)
    for (const pid of Object.values(pids).flat()) expect(isAlive(pid)).toBe(false)
  })

  test('kill -9 of the script stops the whole tree in order', async () => {
    const program = await start({ command })
    const pids = Object.values(await program.pids()).flat()
    program.process.kill('SIGKILL')
    await waitFor(() => pids.every((pid) => !isAlive(pid)), 30_000, 'the end of the tree')
    const next = await start({ port: program.port })
    expect(await next.stop()).toBe(0)
  })
})
