/** `pombo …` as a person or a script calls it: outputs, sentences and exit codes. */
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, describe, expect, inject, test, vi } from 'vitest'
import { createTestDatabase, withDatabase, type TestDatabase } from '../../test/harness/database.ts'
import { settings } from '../config.ts'
import { runCommandLine } from './run.ts'

let database: TestDatabase
let dataDir: string
beforeAll(async () => {
  database = await createTestDatabase()
  dataDir = await mkdtemp(join(tmpdir(), 'pombo-command-'))
})
afterEach(() => vi.unstubAllEnvs())
afterAll(async () => {
  await database.drop()
  await rm(dataDir, { recursive: true })
})

type Ended = { code: number; out: string; err: string }

const environment = (): Record<string, string> => ({ DATABASE_URL: database.url, POMBO_DATA_DIR: dataDir })

/** In this process, which is ten times as quick as one of its own. */
async function pombo(
  args: string[],
  options: { env?: Record<string, string>; input?: string } = {},
): Promise<Ended> {
  for (const name of Object.keys(settings)) vi.stubEnv(name, undefined)
  for (const [name, value] of Object.entries({ ...environment(), ...options.env })) vi.stubEnv(name, value)
  const ended: Ended = { code: 0, out: '', err: '' }
  ended.code = await runCommandLine(args, {
    out: (text) => void (ended.out += `${text}\n`),
    err: (text) => void (ended.err += `${text}\n`),
    isTerminal: false,
    readInput: async () => options.input ?? '',
  })
  return ended
}

const json = async (...args: string[]): Promise<Record<string, unknown>> => {
  const { code, out, err } = await pombo([...args, '--json'])
  expect({ code, err }).toEqual({ code: 0, err: '' })
  return JSON.parse(out) as Record<string, unknown>
}

test('a company, its users, tokens, segments and templates from nothing to a listing', async () => {
  const company = await json('company', 'create', 'Shop', '--time-zone', 'America/Sao_Paulo')
  expect(company).toMatchObject({
    name: 'Shop',
    timeZone: 'America/Sao_Paulo',
    privateToken: expect.any(String),
    callbackSecret: expect.stringMatching(/^whsec_/),
  })
  expect(await json('company', 'private-token', 'shop')).toEqual({ privateToken: company['privateToken'] })
  const rotated = await json('company', 'private-token', 'shop', '--rotate')
  expect(rotated['privateToken']).not.toBe(company['privateToken'])

  expect(await json('user', 'create', 'SHOP', 'robot', '--role', 'api')).toMatchObject({
    name: 'robot',
    role: 'api',
    password: expect.stringMatching(/^.{20}$/),
  })
  const given = await pombo(['user', 'password', 'Shop', 'robot', '--password-stdin', '--json'], {
    input: 'from a pipe\n',
  })
  expect(given.code).toBe(0)
  expect(JSON.parse(given.out)).not.toHaveProperty('password')

  const token = await json(
    'token',
    'create',
    'Shop',
    'Website',
    '--channel',
    'sms',
    '--allow',
    '192.0.2.0/24',
  )
  expect(token).toMatchObject({ channels: ['sms'], allowedAddresses: ['192.0.2.0/24'] })
  const renewed = await json('token', 'renew', 'Shop', String(token['id']))
  expect(renewed['token']).not.toBe(token['token'])
  await json('token', 'revoke', 'Shop', String(renewed['id']))
  const tokens = (await json('token', 'list', 'Shop')) as unknown as { revokedAt: string | null }[]
  expect(tokens.map(({ revokedAt }) => revokedAt === null)).toEqual([false, false])

  await json('segment', 'create', 'Shop', 'Gold', '--client-code', 'G1')
  await writeFile(
    join(dataDir, 'template.yaml'),
    'name: Ready\ncode: ready\nchannel: sms\nbody: "Order @Order is ready."\nvariables: [Order]\n',
  )
  expect(await json('template', 'create', 'Shop', join(dataDir, 'template.yaml'))).toMatchObject({
    code: 'ready',
    variables: ['Order'],
  })
  expect(await json('template', 'disable', 'Shop', 'READY')).toMatchObject({ isEnabled: false })

  const table = await pombo(['user', 'list', 'Shop'])
  expect(table.out).toMatch(/^id +name +role +disabledAt\nusr_[0-9a-f]{32} {2}robot {2}api {3}-\n$/)
  expect(table.out).not.toContain('\u001b')

  const audit = await database.db.query<{ entry: string }>(
    "select action || ' ' || noun as entry from audit_entry order by id",
  )
  expect(audit.map(({ entry }) => entry)).toContain('rotate private token')
})

describe('wrong command lines: one sentence, exit code 2', () => {
  test.each([
    [['nonsense'], /^There is no command "nonsense": it is one of start, .*\.\n$/],
    [['company', 'erase'], /^There is no command "pombo company erase": it is one of create, list, .*\.\n$/],
    [['company', 'list', '--verbose'], /^There is no option --verbose: it is one of --json, --help\. .*\n$/],
    [['company', 'create'], /^NAME is missing\. See "pombo company create --help"\.\n$/],
    [['company', 'create', 'A', 'B'], /^"B" is one argument too many\. .*\n$/],
    [
      ['user', 'create', 'Shop', 'x', '--role', 'king'],
      /^--role is "king", but must be one of administrator, .*\.\n$/,
    ],
    [['token', 'renew', 'Shop', '17'], /^"17" is not an id: .*\n$/],
    [['company', 'create', 'A', '--time-zone'], /^Option '--time-zone <value>' argument missing\. .*\n$/],
  ])('%j', async (args, sentence) => {
    expect(await pombo(args)).toEqual({ code: 2, out: '', err: expect.stringMatching(sentence) })
  })
})

describe('what cannot be done: one sentence, exit code 1, no stack trace', () => {
  const nowhere = 'postgres://pombo:hunter2@127.0.0.1:1/pombo'
  const elsewhere = () => withDatabase(inject('databaseUrl'), 'pombo_nonesuch')
  test.each([
    [
      ['company', 'list'],
      { DATABASE_URL: nowhere },
      /^The database pombo at 127\.0\.0\.1:1 cannot be reached \(ECONNREFUSED\): start it, or correct DATABASE_URL\.\n$/,
    ],
    [
      ['company', 'list'],
      { POMBO_PORT: 'x' },
      /^POMBO_PORT is "x", but must be a whole number from 0 to 65535\.\n$/,
    ],
    [['user', 'list', 'Nobody'], {}, /^There is no company "Nobody": see "pombo company list"\.\n$/],
    [
      ['company', 'create', 'Moon', '--time-zone', 'Moon/Base'],
      {},
      /^The company was not saved: timeZone "Moon\/Base" is not a time zone.*\n$/,
    ],
    [['template', 'create', 'Shop', 'missing.yaml'], {}, /^There is no file .*missing\.yaml\.\n$/],
    [
      ['company', 'list'],
      { POMBO_SEALING_KEY: 'ab'.repeat(32) },
      /^The database was sealed with another key than POMBO_SEALING_KEY.*\n$/,
    ],
    [
      ['company', 'list'],
      { DATABASE_URL: '', POMBO_DATA_DIR: '/dev/null/data' },
      /^The data folder \/dev\/null\/data cannot be written \(ENOTDIR\).*\n$/,
    ],
  ])('%j %j', async (args, env, sentence) => {
    expect(await pombo(args, { env })).toEqual({ code: 1, out: '', err: expect.stringMatching(sentence) })
  })

  test('a database that does not exist, and a wrong password', async () => {
    expect(await pombo(['company', 'list'], { env: { DATABASE_URL: elsewhere() } })).toEqual({
      code: 1,
      out: '',
      err: expect.stringMatching(
        /^There is no database pombo_nonesuch at .*: create it, or correct DATABASE_URL\.\n$/,
      ),
    })
    const url = new URL(database.url)
    url.username = 'nobody'
    url.password = 'hunter2'
    const refused = await pombo(['company', 'list'], { env: { DATABASE_URL: url.toString() } })
    expect(refused).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^The user or password for the database .* is wrong.*\n$/),
    })
    expect(refused.err).not.toContain('hunter2')
  })
})

test('every command has help that names its options', async () => {
  const top = await pombo(['help'])
  expect(top.code).toBe(0)
  const names = [...top.out.matchAll(/^ {2}([a-z-]+) {2,}/gm)].map(([, name]) => name!)
  expect(names).toEqual(
    expect.arrayContaining(['start', 'company', 'line', 'template', 'sandbox', 'generate']),
  )
  for (const name of names.filter((candidate) => candidate !== 'help')) {
    const { code, out, err } = await pombo([name, '--help'])
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out).toContain(`Usage: pombo ${name}`)
  }
  const readme = await readFile(new URL('../../README.md', import.meta.url), 'utf8')
  // `generate` is for those who change Pombo.
  const missing = names.filter(
    (name) => !['help', 'generate'].includes(name) && !readme.includes(`\`${name}\``),
  )
  expect(missing).toEqual([])
})

test('as a process of its own: the exit code, both streams, and no colours in a pipe', async () => {
  const run = (args: string[]) =>
    promisify(execFile)(process.execPath, [fileURLToPath(new URL('./main.ts', import.meta.url)), ...args], {
      env: { PATH: process.env['PATH'], ...environment() },
      timeout: 60_000,
    })
  const { stdout, stderr } = await run(['company', 'list'])
  expect(stdout).toMatch(/^id +name +timeZone +suspendedAt\n/)
  expect(stdout + stderr).not.toContain('\u001b')
  await expect(run(['nonsense'])).rejects.toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringMatching(/^There is no command/),
  })
})
