/** `pombo doctor`: each thing that can be wrong is found and explained, and none hides another. */
import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { testDatabase, type TestDatabase } from '../../test/harness/database.ts'
import { makeCompany, type TestCompany } from '../../test/harness/factories.ts'
import { storeMessage } from '../../test/harness/messages.ts'
import { createDb } from '../store/db.ts'
import { silentLog } from '../lib/log.ts'
import { findHeldUp } from '../store/examination.ts'
import { pauseLine } from '../store/lines.ts'
import { prepareSealer } from '../store/sealing.ts'
import { commandLine } from './test-command-line.ts'

let folder: string
let dataDir: string
let database: TestDatabase
let company: TestCompany
const pombo = commandLine(() => ({ DATABASE_URL: database.url, POMBO_DATA_DIR: dataDir, POMBO_PORT: '0' }))

type Found = { state: string; detail: string; advice?: string }

async function doctor(env?: Record<string, string>): Promise<{ code: number; found: Record<string, Found> }> {
  const { code, out, err } = await pombo(['doctor', '--json'], { env })
  expect(err).toBe('')
  const { findings } = JSON.parse(out) as { findings: (Found & { check: string })[] }
  return { code, found: Object.fromEntries(findings.map(({ check, ...rest }) => [check, rest])) }
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pombo-doctor-'))
})
afterAll(() => rm(folder, { recursive: true }))
beforeEach(async () => {
  dataDir = await mkdtemp(join(folder, 'data-'))
  database = await testDatabase()
  company = await makeCompany(
    database.db,
    await prepareSealer(database.db, { sealingKey: undefined, dataDir }),
  )
})

test('a database that is well; the test server alone is not safe from a power cut, and that is said', async () => {
  const { code, found } = await doctor()
  const wrong = Object.entries(found).filter(([, { state }]) => state !== 'ok')
  const [server] = await database.db.query<{ fsync: string }>('show fsync')
  expect(wrong.map(([check]) => check)).toEqual(server!.fsync === 'off' ? ['database settings'] : [])
  expect(code).toBe(wrong.length)
  expect(Object.keys(found)).toEqual([
    'settings',
    'node',
    'data folder',
    'disk space',
    'port',
    'database',
    'database settings',
    'clock',
    'database disk',
    'migrations',
    'sealing key',
    'partitions',
    'locks',
    'workers',
    'lines',
    'waiting messages',
    'alerts',
  ])
  const table = await pombo(['doctor'])
  expect(table.out).toMatch(/^ok {4}settings +all readable\nok {4}node +v24/)
  expect(table.out).not.toContain('\u001b')
})

test('what has come to a stop is named: a paused line, a message that waits, an alert, a worker that is gone', async () => {
  const { db } = database
  await pauseLine(db, company.id, company.lines.sms[0]!.id, { at: new Date(), reason: 'credentials refused' })
  await storeMessage(db, company, {
    state: 'queued',
    outbox: { dueAt: new Date(Date.now() - 2 * 3_600_000) },
  })
  await db.query(
    `insert into alert (id, kind, subject, message, raised_at) values (gen_random_uuid(), 'disk_low', 'x', 'The disk is nearly full', now())`,
  )
  await db.query(
    `with gone as (insert into worker (id, name, beat_at, started_at) values (gen_random_uuid(), 'north', now() - interval '1 hour', now()) returning id)
      update lane set owner_id = (select id from gone)`,
  )
  await db.query(
    `insert into worker (id, name, beat_at, started_at) values (gen_random_uuid(), 'south', now(), now())`,
  )
  const { code, found } = await doctor()
  expect(code).toBe(1)
  expect(found['lines']).toMatchObject({
    state: 'warn',
    detail: `paused: SMS of ${company.name} (credentials refused)`,
    advice: expect.stringContaining('pombo line resume'),
  })
  expect(found['waiting messages']).toMatchObject({
    state: 'fail',
    detail: 'the oldest waits for 120 min on SMS',
  })
  expect(found['alerts']).toMatchObject({ state: 'warn', detail: 'disk_low: The disk is nearly full' })
  expect(found['workers']).toMatchObject({
    state: 'warn',
    detail: expect.stringMatching(/^north is silent for 36\d\d s and still has 5 lines$/),
  })
})

test('migrations to come, a month without partition, a key that is another one, a key that others can read', async () => {
  const { db } = database
  await db.query('delete from schema_migration where number = (select max(number) from schema_migration)')
  const month = new Date().toISOString().slice(0, 7).replace('-', '_')
  await db.query(`drop table message_event_${month}`)
  await chmod(join(dataDir, 'sealing.key'), 0o644)
  const { code, found } = await doctor()
  expect(code).toBe(1)
  expect(found['migrations']).toMatchObject({
    state: 'warn',
    detail: expect.stringMatching(/^1 to come, \d{4}_\w+\.sql first$/),
  })
  expect(found['partitions']).toMatchObject({ state: 'fail', detail: `message_event_${month} not there` })
  expect(found['data folder']).toMatchObject({
    state: 'warn',
    advice: `chmod 600 ${join(dataDir, 'sealing.key')}`,
  })
  const other = await doctor({ POMBO_SEALING_KEY: 'ab'.repeat(32) })
  expect(other.found['sealing key']).toMatchObject({
    state: 'fail',
    detail: "another one than the database's",
  })
  // It looks and changes nothing.
  expect((await doctor()).found['migrations']!.state).toBe('warn')
})

test('a transaction that somebody left open, and who waits for it', async () => {
  const forgotten = createDb({
    url: database.url,
    connections: 1,
    log: silentLog,
    applicationName: 'a report',
  })
  const waiting = createDb({
    url: database.url,
    connections: 1,
    log: silentLog,
    applicationName: 'pombo serve',
  })
  const connection = await forgotten.connect()
  await connection.query('begin')
  await connection.query('lock table alert in access exclusive mode')
  const blocked = waiting.query('select from alert').catch(() => [])
  await expect
    .poll(async () => (await database.db.query(`select from pg_locks where not granted`)).length)
    .toBe(1)
  const { found } = await doctor()
  expect(found['locks']!.state).toBe('ok')
  // What cannot be looked at is said, and keeps nobody waiting.
  expect(found['alerts']).toMatchObject({ state: 'fail', detail: expect.stringContaining('lock timeout') })
  // Without the usual patience both are found at once.
  const held = await findHeldUp(database.db, { waitingSeconds: 0, idleSeconds: 0, longSeconds: 3600 })
  expect(held.map(({ what, who }) => `${what} ${who.replace(/\d+/, 'N')}`).toSorted()).toEqual([
    'idle a report (process N)',
    'waiting pombo serve (process N)',
  ])
  await connection.query('rollback')
  connection.release()
  await blocked
  await forgotten.close()
  await waiting.close()
})

describe('ports', () => {
  async function serving(body: string): Promise<string> {
    const server: Server = createServer((_request, response) => response.end(body))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    return String((server.address() as AddressInfo).port)
  }

  test('taken by a Pombo or by somebody else', async () => {
    const ours = await serving('{"status":"live","requestId":"req_1"}')
    expect((await doctor({ POMBO_PORT: ours })).found[`port ${ours}`]).toMatchObject({
      state: 'ok',
      detail: 'a Pombo serves here',
    })
    const theirs = await serving('<html>')
    expect((await doctor({ POMBO_PORT: theirs })).found[`port ${theirs}`]).toMatchObject({
      state: 'fail',
      detail: expect.stringContaining(`Port ${theirs} on 127.0.0.1 is taken`),
    })
  })
})

test('no database in a new data folder: said, and nothing is made there', async () => {
  const missing = join(folder, 'not-there')
  const { code, found } = await doctor({ DATABASE_URL: '', POMBO_DATA_DIR: missing })
  expect(code).toBe(0)
  expect(found['data folder']).toMatchObject({ state: 'warn', advice: 'The first start makes it.' })
  expect(found['database']).toMatchObject({ state: 'warn' })
  expect(await readdir(folder)).not.toContain('not-there')
})

test('an unreachable database and a wrong setting', async () => {
  const away = await doctor({ DATABASE_URL: 'postgres://pombo:hunter2@127.0.0.1:1/pombo' })
  expect(away.code).toBe(1)
  expect(away.found['database']).toMatchObject({
    state: 'fail',
    detail: expect.stringContaining('cannot be reached'),
  })
  expect(JSON.stringify(away.found)).not.toContain('hunter2')
  const wrong = await doctor({ POMBO_PORT: 'x' })
  expect(wrong).toMatchObject({ code: 1, found: { settings: { state: 'fail' } } })
})
