import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../../test/harness/database.ts'
import { testSealer } from '../../../test/harness/factories.ts'
import { findDriver } from '../../drivers/registry.ts'
import { checkSettings } from '../../drivers/settings.ts'
import { silentLog } from '../../lib/log.ts'
import type { Sandbox } from '../../sandbox/sandbox.ts'
import { closeAttendance } from '../../store/attendances.ts'
import { findCompanyByName } from '../../store/companies.ts'
import { findContactByPhone } from '../../store/contacts.ts'
import { listLines, readLineSettings } from '../../store/lines.ts'
import { decideFirstStart } from '../first-start.ts'
import { digitsOf } from './create.ts'
import { readQuickstart } from './quickstart.ts'
import { findDemoPeers, startDemoSandbox } from './sandbox.ts'

let database: TestDatabase
let dataDir: string
let now = new Date('2030-01-07T12:00:00Z')
const clock = { now: () => now }
const running: Sandbox[] = []

beforeAll(async () => {
  database = await createTestDatabase()
  dataDir = await mkdtemp(join(tmpdir(), 'pombo-demo-'))
  const connection = await database.db.connect()
  const addresses = {
    unified: 'http://127.0.0.1:8080',
    direct: 'http://127.0.0.1:8080',
    console: 'http://127.0.0.1:8080',
  }
  await decideFirstStart(connection, {
    sealer: testSealer,
    clock,
    log: silentLog,
    dataDir,
    isDemo: true,
    addresses,
  })
  connection.release()
})
afterAll(async () => {
  for (const sandbox of running) await sandbox.stop()
  await database.drop()
  await rm(dataDir, { recursive: true })
})

async function start(folder = dataDir) {
  const config = {
    host: '127.0.0.1',
    port: 8080,
    directPort: undefined,
    consolePort: undefined,
    publicUrl: undefined,
    tls: undefined,
    dataDir: folder,
    sandboxPort: 0,
  }
  const sandbox = await startDemoSandbox({
    db: database.db,
    sealer: testSealer,
    clock,
    log: silentLog,
    config,
  })
  if (sandbox) running.push(sandbox)
  return sandbox
}

const windows = () =>
  database.db.query<{ at: Date }>('select received_at as at from contact_window order by line_id')

test('until the sandbox runs, lines wait and nobody knows its peers', async () => {
  const paused = await database.db.query('select 1 from line where paused_at is not null')
  expect(paused).toHaveLength(5)
  expect(await findDemoPeers(database.db, 0)).toEqual([])
})

test('lines lead to the sandbox with settings that their drivers accept, contacts are as promised', async () => {
  const { db } = database
  const sandbox = (await start())!
  const company = (await findCompanyByName(db, 'Pombo Demo'))!
  const lines = await listLines(db, company.id)
  expect(lines).toHaveLength(5)
  for (const line of lines) {
    const settings = await readLineSettings(db, testSealer, company.id, line.id)
    expect(checkSettings(findDriver(line.driver)!.settings, settings)).toMatchObject({ ok: true })
  }
  expect(lines.filter(({ isPaused }) => isPaused)).toEqual([])
  expect(await findDemoPeers(db)).toEqual([
    `127.0.0.1:${sandbox.smtp.port}`,
    `127.0.0.1:${sandbox.smpp.port}`,
    new URL(sandbox.graph.baseUrl).host,
  ])
  const stored = JSON.stringify(lines.map(({ settings }) => settings))
  for (const secret of [
    sandbox.smtp.password,
    sandbox.smpp.password,
    sandbox.graph.accessToken,
    sandbox.graph.appSecret,
  ])
    expect(stored).not.toContain(secret)
  expect((await readQuickstart(dataDir))!.sandbox).toEqual({ url: sandbox.url })
  expect(await windows()).toEqual(Array.from({ length: 3 }, () => ({ at: now })))
  await sandbox.stop()
})

test('a line that a person paused stays paused', async () => {
  const { db } = database
  await db.query("update line set paused_at = now(), paused_reason = 'by ana' where channel = 'sms'")
  await (await start())!.stop()
  expect(await db.query('select channel from line where paused_at is not null')).toEqual([{ channel: 'sms' }])
})

test('the next start opens the windows and the attendance again', async () => {
  const { db } = database
  const company = (await findCompanyByName(db, 'Pombo Demo'))!
  const quickstart = (await readQuickstart(dataDir))!
  const attended = (await findContactByPhone(db, company.id, digitsOf(quickstart.contacts.inAttendance)))!
  await closeAttendance(db, company.id, attended.id, { at: now, by: 'ana' })
  now = new Date('2030-01-09T12:00:00Z')
  const sandbox = (await start())!
  expect(await windows()).toEqual(Array.from({ length: 3 }, () => ({ at: now })))
  expect(
    await db.query('select 1 from attendance where contact_id = $1 and closed_at is null', [attended.id]),
  ).toHaveLength(1)
  await sandbox.stop()
})

test('a node without the quickstart file runs no sandbox', async () => {
  expect(await start(join(dataDir, 'elsewhere'))).toBeUndefined()
})
