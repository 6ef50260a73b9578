import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Client } from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  EmbeddedError,
  runningUrl,
  startEmbedded,
  type EmbeddedPostgres,
} from '../../src/store/embedded/index.ts'
import { isAlive } from '../../src/store/embedded/postmaster.ts'
import { startEmbeddedProcess } from '../harness/embedded.ts'

const quiet = { info: () => undefined, warn: () => undefined }
let folder: string
let dataDir: string
const running: EmbeddedPostgres[] = []

/** An initialised data folder that most tests copy: a tenth of the time that making one takes. */
let template: string

beforeAll(async () => {
  template = await mkdtemp(join(tmpdir(), 'pombo-faults-'))
  await chmod(template, 0o755)
  await (await startEmbedded({ dataDir: join(template, 'data'), log: quiet })).stop()
})

afterAll(() => rm(template, { recursive: true, force: true }))

function useInitialisedFolder(): void {
  execFileSync('cp', ['-a', join(template, 'data'), dataDir])
}

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pombo-faults-'))
  await chmod(folder, 0o755)
  dataDir = join(folder, 'data')
})

afterEach(async () => {
  for (const server of running.splice(0)) await server.stop()
  await rm(folder, { recursive: true, force: true, maxRetries: 10 })
})

async function start(options: { port?: number; dataDir?: string } = {}): Promise<EmbeddedPostgres> {
  const server = await startEmbedded({ dataDir, log: quiet, ...options })
  running.push(server)
  return server
}

async function query<Row extends object>(url: string, sql: string): Promise<Row[]> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query<Row>(sql)).rows
  } finally {
    await client.end()
  }
}

async function refusal(promise: Promise<unknown>): Promise<EmbeddedError> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(EmbeddedError)
  return error instanceof EmbeddedError ? error : new EmbeddedError('start_failed', '')
}

describe('first start', () => {
  test('makes a database with code point order, reachable by password over a private socket only', async () => {
    const server = await start()
    const [facts] = await query<Record<string, string>>(
      server.url,
      `SELECT current_setting('server_version_num')::int / 10000 AS major, current_setting('fsync') AS fsync,
         current_setting('synchronous_commit') AS commit, current_setting('listen_addresses') AS listen,
         datlocprovider AS provider, datlocale AS locale, lower('ÁÇ') AS lower
       FROM pg_database WHERE datname = current_database()`,
    )
    expect(facts).toEqual({
      major: 18,
      fsync: 'on',
      commit: 'on',
      listen: '',
      provider: 'b',
      locale: 'C.UTF-8',
      lower: 'áç',
    })
    const wrong = new URL(server.url)
    wrong.password = 'wrong'
    await expect(query(wrong.href, 'SELECT 1')).rejects.toThrow(/password authentication failed/)
    const data = join(dataDir, 'postgres', 'data')
    expect((await stat(join(data, 'pombo.password'))).mode & 0o777).toBe(0o600)
    expect((await stat(data)).mode & 0o777).toBe(0o700)
    expect(await readdir(join(dataDir, 'postgres'))).toEqual(['data', 'postgres.log', 'run'])
  })

  test('a clean stop leaves no process, and the next start finds the data', async () => {
    useInitialisedFolder()
    const first = await start()
    await query(first.url, 'CREATE TABLE kept AS SELECT 42 AS answer')
    expect(await runningUrl(dataDir)).toBe(first.url)
    await first.stop()
    await expect(first.exited).resolves.toEqual({ code: 0, signal: null })
    expect(isAlive(first.pid)).toBe(false)
    expect(await runningUrl(dataDir)).toBeUndefined()
    const second = await start()
    expect(await query(second.url, 'SELECT answer FROM kept')).toEqual([{ answer: 42 }])
  })

  test('settings are written anew at every start, and local.conf wins over them', async () => {
    useInitialisedFolder()
    const data = join(dataDir, 'postgres', 'data')
    await writeFile(join(data, 'pombo.conf'), 'max_connections = 7\n')
    await writeFile(join(data, 'local.conf'), "work_mem = '3MB'\n", { mode: 0o644 })
    const server = await start()
    const [facts] = await query(
      server.url,
      `SELECT current_setting('max_connections') AS connections, current_setting('work_mem') AS memory`,
    )
    expect(facts).toEqual({ connections: '100', memory: '3MB' })
  })

  test('a folder whose path is too long for a socket is reached by a short link that goes with the server', async () => {
    dataDir = join(folder, 'x'.repeat(60), 'y'.repeat(60))
    const server = await start()
    const socketDir = decodeURIComponent(new URL(server.url).hostname)
    expect(socketDir).toMatch(/^\/tmp\/pombo-/)
    expect(await query(server.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }])
    await server.stop()
    expect(existsSync(dirname(socketDir))).toBe(false)

    const victim = startEmbeddedProcess(dataDir)
    const { url } = await victim.lines.find((line) => line['kind'] === 'started')
    const left = decodeURIComponent(new URL(String(url)).hostname)
    victim.child.kill('SIGKILL')
    await once(victim.child, 'exit')
    expect(existsSync(left)).toBe(true)
    await start()
    expect(existsSync(dirname(left))).toBe(false)
  })

  test('a start that was killed while it made the database is taken up again', async () => {
    const victim = startEmbeddedProcess(dataDir)
    await victim.lines.find((line) => line['text'] === 'making a new database')
    await expect
      .poll(() => readdir(join(dataDir, 'postgres')))
      .toContainEqual(expect.stringMatching(/^initialising-/))
    victim.child.kill('SIGKILL')
    await once(victim.child, 'exit')
    const server = await start()
    expect(await query(server.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }])
    expect(await readdir(join(dataDir, 'postgres'))).toEqual(['data', 'postgres.log', 'run'])
  })
})

describe('one Pombo per data folder', () => {
  test('a second start refuses with a sentence, from this process and from another', async () => {
    useInitialisedFolder()
    await start()
    const error = await refusal(startEmbedded({ dataDir, log: quiet }))
    expect(error.code).toBe('in_use')
    expect(error.message).toMatch(
      /^Another Pombo uses the data folder .*: stop it first, or set POMBO_DATA_DIR/,
    )
    const other = startEmbeddedProcess(dataDir)
    expect(await other.lines.find((line) => line['kind'] === 'refused')).toMatchObject({ code: 'in_use' })
  })

  test('a server that answers on the socket but is no process of ours is not trampled on', async () => {
    useInitialisedFolder()
    const stranger = createServer().listen(join(dataDir, 'postgres', 'run', '.s.PGSQL.5432'))
    await once(stranger, 'listening')
    const error = await refusal(startEmbedded({ dataDir, log: quiet }))
    expect(error.message).toMatch(/outside of this container still works on the data folder/)
    stranger.close()
  })

  test('a process that got the id of the old server is left alone', async () => {
    useInitialisedFolder()
    const stranger = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'])
    await once(stranger, 'spawn')
    const data = join(dataDir, 'postgres', 'data')
    await writeFile(
      join(data, 'postmaster.pid'),
      `${stranger.pid}\n${data}\n1\n5432\n${dataDir}\n\n  1 1\nready   \n`,
    )
    const server = await start()
    expect(await query(server.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }])
    expect(stranger.exitCode ?? stranger.signalCode).toBeNull()
    stranger.kill('SIGKILL')
  })
})

describe('after kill -9', () => {
  test('of PostgreSQL: its end is told, and the next start recovers what was committed', async () => {
    useInitialisedFolder()
    const first = await start()
    await query(first.url, 'CREATE TABLE kept AS SELECT 1 AS answer')
    process.kill(first.pid, 'SIGKILL')
    await expect(first.exited).resolves.toEqual({ code: null, signal: 'SIGKILL' })
    await first.stop()
    const second = await start()
    expect(await query(second.url, 'SELECT answer FROM kept')).toEqual([{ answer: 1 }])
  })

  test.each([
    { killed: 'Pombo', alsoServer: false },
    { killed: 'Pombo and PostgreSQL', alsoServer: true },
  ])('of $killed: the next start stops what is left and recovers', async ({ alsoServer }) => {
    useInitialisedFolder()
    const victim = startEmbeddedProcess(dataDir)
    const { url, pid } = await victim.lines.find((line) => line['kind'] === 'started')
    await query(String(url), 'CREATE TABLE kept AS SELECT 1 AS answer')
    const busy = new Client({ connectionString: String(url) })
    busy.on('error', () => undefined)
    await busy.connect()
    const cutOff = busy
      .query('SELECT count(*) FROM generate_series(1, 1e12)')
      .catch((error: unknown) => error)
    await expect
      .poll(() =>
        query(
          String(url),
          `SELECT 1 FROM pg_stat_activity WHERE query LIKE '%1e12%' AND pid <> pg_backend_pid()`,
        ),
      )
      .toHaveLength(1)
    victim.child.kill('SIGKILL')
    if (alsoServer) process.kill(Number(pid), 'SIGKILL')
    await once(victim.child, 'exit')
    const server = await start()
    expect(isAlive(Number(pid))).toBe(false)
    expect(await cutOff).toBeInstanceOf(Error)
    expect(await query(server.url, 'SELECT answer FROM kept')).toEqual([{ answer: 1 }])
  })
})

describe('what cannot work is said in a sentence', () => {
  test.each([
    { version: '19', holds: 'a database of PostgreSQL 19' },
    { version: '17', holds: 'a database of PostgreSQL 17' },
  ])('a data folder of PostgreSQL $version', async ({ version, holds }) => {
    const data = join(dataDir, 'postgres', 'data')
    await mkdir(data, { recursive: true, mode: 0o700 })
    await writeFile(join(data, 'PG_VERSION'), `${version}\n`)
    const error = await refusal(startEmbedded({ dataDir, log: quiet }))
    expect(error.code).toBe('other_version')
    expect(error.message).toContain(`holds ${holds}, and this Pombo brings PostgreSQL 18`)
    expect(await readFile(join(data, 'PG_VERSION'), 'utf8')).toBe(`${version}\n`)
  })

  test('a taken port', async () => {
    useInitialisedFolder()
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const address = other.address()
    const port = typeof address === 'object' && address ? address.port : 0
    const error = await refusal(startEmbedded({ dataDir, log: quiet, port }))
    expect(error.code).toBe('port_taken')
    expect(error.message).toContain(`Port ${port} on 127.0.0.1`)
    other.close()
    await once(other, 'close')
    const server = await start({ port })
    expect(new URL(server.url).port).toBe(String(port))
    expect(await query(server.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }])
  })

  test('a data folder that is a file', async () => {
    await writeFile(dataDir, '')
    const error = await refusal(startEmbedded({ dataDir, log: quiet }))
    expect(error.code).toBe('not_writable')
    expect(error.message).toContain(`The data folder ${dataDir} cannot be written`)
  })
})
