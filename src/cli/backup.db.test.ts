/** `pombo backup` and `pombo restore`: the same company in another database, its tokens, login and secrets working. */
import { randomBytes } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from 'vitest'
import { createTestDatabase, withDatabase, type TestDatabase } from '../../test/harness/database.ts'
import { makeCompany, must, type TestCompany } from '../../test/harness/factories.ts'
import { storeMessage } from '../../test/harness/messages.ts'
import { createTokenChecker } from '../flows/check-tokens.ts'
import { createLogIn } from '../flows/log-in.ts'
import { systemClock } from '../lib/clock.ts'
import { firstIdAt } from '../lib/ids.ts'
import { silentLog } from '../lib/log.ts'
import { readCallbackSecret, readPrivateToken } from '../store/companies.ts'
import { listTables, withCopyConnection } from '../store/copying.ts'
import { createDb, type Db, type Queryable } from '../store/db.ts'
import { storeFile } from '../store/files.ts'
import { readLineSettings } from '../store/lines.ts'
import { createSchema, readMigrations } from '../store/migrate.ts'
import { ensureMonths } from '../store/partitions.ts'
import { createRestrictionList } from '../store/restriction-lists.ts'
import { addRestrictionEntries } from '../store/restrictions.ts'
import { openSealer, prepareSealer } from '../store/sealing.ts'
import { commandLine } from './test-command-line.ts'

let folder: string
let source: TestDatabase
let sourceDir: string
let company: TestCompany
let apiToken: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pombo-backup-'))
  sourceDir = join(folder, 'source')
  source = await createTestDatabase()
  const sealer = await prepareSealer(source.db, { sealingKey: undefined, dataDir: sourceDir })
  company = await makeCompany(source.db, sealer, { name: 'Ação & Cia "\\N' })
  const loggedIn = await logIn(source.db)
  apiToken = loggedIn.kind === 'logged_in' ? loggedIn.token : ''
  await fill(source.db)
})
afterAll(async () => {
  await source.drop()
  await rm(folder, { recursive: true })
})

const logIn = (db: Db) =>
  createLogIn({ db, clock: systemClock })({
    company: company.name,
    username: company.apiUser.name,
    password: company.apiUser.password,
    address: '192.0.2.1',
  })

/** Every kind of row that is copied in a way of its own. */
async function fill(db: Db): Promise<void> {
  await ensureMonths(db, [new Date('2026-02-01T00:00:00Z'), new Date('2026-03-01T00:00:00Z')])
  const list = must(await createRestrictionList(db, company.id, 'Do not call'))
  await addRestrictionEntries(db, list.id, [
    { field: 'phone', value: '5531999990000' },
    { field: 'phone', value: '5531', isPrefix: true },
  ] as never)
  await storeFile(db, company.id, randomBytes(600_000))
  for (const state of ['sent', 'failed', 'blocked', 'unknown'])
    await storeMessage(db, company, { state, providerIds: [`provider \\ ${state}`] })
  await storeMessage(db, company, {
    state: 'queued',
    outbox: {},
    content: { kind: 'text', text: 'Tab\t, line\nbreak, back\\slash, \\N, 🕊', files: [] },
  })
  // A month of its own, and one that no partition covers.
  for (const month of ['2026-02-11T00:00:00Z', '2019-05-05T00:00:00Z']) {
    await db.query(
      `insert into message (id, company_id, api, channel, state, recipient, request_id, content, priority, accepted_at, expires_at)
        values ($1, $2, 'unified', 'sms', 'failed', '5531', 'req', '{}', 1, now(), now())`,
      [firstIdAt(new Date(month)), company.id],
    )
    await db.query(
      `insert into message_event (message_id, at, kind, detail) values ($1, now(), 'accepted', '{"a": [1.5]}')`,
      [firstIdAt(new Date(month))],
    )
  }
  await db.query(
    `insert into report_delta (company_id, hour, api, channel, outcome, count) select $1, now(), 'unified', 'sms', 'sent', n from generate_series(1, 5) n`,
    [company.id],
  )
}

async function emptyDatabase(): Promise<{ url: string; db: Db }> {
  const name = `pombo_test_${process.pid}_${randomBytes(4).toString('hex')}`
  const admin = new pg.Client({ connectionString: inject('databaseUrl') })
  await admin.connect()
  await admin.query(`create database ${name}`)
  const url = withDatabase(inject('databaseUrl'), name)
  const db = createDb({ url, connections: 4, log: silentLog })
  onTestFinished(async () => {
    await db.close()
    await admin.query(`drop database ${name} with (force)`)
    await admin.end()
  })
  return { url, db }
}

const pombo = (url: string, dataDir: string) =>
  commandLine(() => ({ DATABASE_URL: url, POMBO_DATA_DIR: dataDir }))

const newFolder = () => join(folder, randomBytes(4).toString('hex'))

async function makeBackup(...options: string[]): Promise<string> {
  const file = `${newFolder()}.backup`
  expect(await pombo(source.url, sourceDir)(['backup', file, ...options])).toMatchObject({ code: 0 })
  return file
}

/** A digest of every table, and what keeps them together. */
async function picture(db: Queryable): Promise<unknown> {
  const tables = await listTables(db)
  const contents: Record<string, unknown> = {}
  for (const { name, columns } of tables) {
    const list = columns.map((column) => `"${column}"`).join(', ')
    const [row] = await db.query(
      `select count(*) as count, md5(string_agg(t::text, E'\\n' order by t::text)) as digest from (select ${list} from "${name}") t`,
    )
    contents[name] = row
  }
  const rules = await db.query(
    `select conrelid::regclass::text as "table", conname, pg_get_constraintdef(oid) as definition, convalidated from pg_constraint
      where connamespace = current_schema()::regnamespace order by 1, 2, 3`,
  )
  const triggers = await db.query(
    `select tgrelid::regclass::text as "table", tgname, tgenabled from pg_trigger where not tgisinternal order by 1, 2`,
  )
  return { contents, rules, triggers }
}

test('restored into another database everything is the same, and everything works', async () => {
  const file = await makeBackup()
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  const before = await picture(source.db)
  const { url, db } = await emptyDatabase()
  const dataDir = newFolder()

  const restored = await pombo(url, dataDir)(['restore', file, '--json'])
  expect(restored).toMatchObject({ code: 0 })
  expect(JSON.parse(restored.out)).toMatchObject({ waitingMessages: 1, skipped: [] })
  expect(await picture(db)).toEqual(before)

  const sealer = await openSealer(db, { sealingKey: undefined, dataDir })
  expect((await stat(join(dataDir, 'sealing.key'))).mode & 0o777).toBe(0o600)
  expect(await readPrivateToken(db, sealer, company.id)).toBe(company.privateToken)
  expect(await readCallbackSecret(db, sealer, company.id)).toBe(company.callbackSecret)
  expect(await readLineSettings(db, sealer, company.id, company.lines.sms[0]!.id)).toMatchObject({
    password: 'secret',
  })
  const tokens = createTokenChecker({ db, clock: systemClock })
  expect((await tokens.api.lookUp(apiToken))?.companyId).toBe(company.id)
  expect((await tokens.direct.lookUp(company.directToken.token))?.companyId).toBe(company.id)
  expect((await logIn(db)).kind).toBe('logged_in')

  // Identities go on where they were, triggers act again, months stand where they belong.
  const [delta] = await db.query<{ id: number }>(
    `insert into report_delta (company_id, hour, api, channel, outcome, count) values ($1, now(), 'direct', 'sms', 'sent', 1) returning id`,
    [company.id],
  )
  expect(delta!.id).toBe(6)
  const month = await db.query<{ name: string }>(
    'select tableoid::regclass::text as name from message where id = any($1) order by id',
    [[firstIdAt(new Date('2026-02-11T00:00:00Z')), firstIdAt(new Date('2019-05-05T00:00:00Z'))]],
  )
  expect(month.map(({ name }) => name)).toEqual(['message_default', 'message_2026_02'])

  expect(await pombo(url, dataDir)(['restore', file])).toEqual({
    code: 1,
    out: '',
    err: expect.stringMatching(/^The database is not empty: restore into a new one/),
  })
})

test('restored into a new data folder it starts a database there; with --pause-lines nothing leaves', async () => {
  const file = await makeBackup()
  const dataDir = newFolder()
  const embedded = commandLine(() => ({ POMBO_DATA_DIR: dataDir }))
  expect(await embedded(['restore', file, '--pause-lines'])).toMatchObject({ code: 0 })
  const lines = JSON.parse((await embedded(['line', 'list', company.name, '--json'])).out) as {
    isPaused: boolean
  }[]
  expect(lines.map(({ isPaused }) => isPaused)).toEqual([true, true, true, true, true])
  const token = await embedded(['company', 'private-token', company.name, '--json'])
  expect(JSON.parse(token.out)).toEqual({ privateToken: company.privateToken })
})

test('a backup of an older schema is brought up to date', async () => {
  const old = await emptyDatabase()
  const migrations = (await readMigrations(source.db)).slice(0, -1)
  await withCopyConnection(old.url, 'test', (connection) => createSchema(connection, migrations))
  await ensureMonths(old.db, [new Date()])
  const dataDir = newFolder()
  const sealer = await prepareSealer(old.db, { sealingKey: undefined, dataDir })
  const made = await makeCompany(old.db, sealer)
  const file = `${newFolder()}.backup`
  expect(await pombo(old.url, dataDir)(['backup', file])).toMatchObject({ code: 0 })
  expect(await old.db.query('select from schema_migration')).toHaveLength(migrations.length)

  const { url, db } = await emptyDatabase()
  const newDir = newFolder()
  expect(await pombo(url, newDir)(['restore', file])).toMatchObject({ code: 0 })
  const [counts] = await db.query<{ count: number }>('select count(*) as count from schema_migration')
  const [all] = await source.db.query<{ count: number }>('select count(*) as count from schema_migration')
  expect(counts).toEqual(all)
  const restored = await openSealer(db, { sealingKey: undefined, dataDir: newDir })
  expect(await readPrivateToken(db, restored, made.id)).toBe(made.privateToken)
})

test('under a passphrase nothing can be read without it', async () => {
  await writeFile(join(folder, 'passphrase'), 'correct horse\n')
  await writeFile(join(folder, 'another'), 'correct house\n')
  const file = await makeBackup('--passphrase-file', join(folder, 'passphrase'))
  const key = (await readFile(join(sourceDir, 'sealing.key'), 'utf8')).trim()
  expect((await readFile(file)).includes(key)).toBe(false)
  const { url, db } = await emptyDatabase()
  const target = pombo(url, newFolder())
  expect(await target(['restore', file])).toMatchObject({
    code: 1,
    err: expect.stringContaining('is protected by a passphrase'),
  })
  expect(await target(['restore', file, '--passphrase-file', join(folder, 'another')])).toMatchObject({
    code: 1,
    err: `The passphrase of ${file} is another one.\n`,
  })
  expect(await target(['restore', file, '--passphrase-file', '-'], { input: 'short' })).toMatchObject({
    code: 1,
  })
  const right = await target(['restore', file, '--passphrase-file', '-'], { input: 'correct horse\n' })
  expect(right.code).toBe(0)
  expect(await db.query('select from company')).toHaveLength(1)
})

test('a damaged file leaves an empty database and no key behind', async () => {
  const whole = await readFile(await makeBackup())
  const { url, db } = await emptyDatabase()
  const dataDir = newFolder()
  const target = pombo(url, dataDir)
  const bad = join(folder, 'bad.backup')
  const middle = Buffer.from(whole)
  middle.fill(0, whole.length - 300_000, whole.length - 299_000)
  for (const bytes of [whole.subarray(0, -40), whole.subarray(0, -200_000), middle, whole.subarray(0, 60)]) {
    await writeFile(bad, bytes)
    expect(await target(['restore', bad])).toEqual({
      code: 1,
      out: '',
      err: `${bad} is damaged or cut off: use another copy.\n`,
    })
    expect(await db.query(`select from pg_class where relnamespace = 'public'::regnamespace`)).toEqual([])
    expect((await readdir(dataDir).catch(() => [])).filter((name) => name === 'sealing.key')).toEqual([])
  }
  await writeFile(bad, 'something else entirely')
  expect(await target(['restore', bad])).toMatchObject({ err: `${bad} is not a backup of Pombo.\n` })
})

test('what cannot be backed up or restored is refused with a sentence', async () => {
  const file = await makeBackup()
  expect(await pombo(source.url, sourceDir)(['backup', file])).toMatchObject({
    code: 1,
    err: `${file} is there already: choose another name, or move it away.\n`,
  })
  const { url } = await emptyDatabase()
  expect(await pombo(url, newFolder())(['backup', `${newFolder()}.backup`])).toMatchObject({
    code: 1,
    err: expect.stringContaining('There is nothing to back up'),
  })
  expect(await pombo(source.url, newFolder())(['backup', `${newFolder()}.backup`])).toMatchObject({
    code: 1,
    err: expect.stringContaining('The sealing key here is not the one of the database'),
  })
  expect(
    await pombo(url, newFolder())(['restore', file], { env: { POMBO_SEALING_KEY: 'ab'.repeat(32) } }),
  ).toMatchObject({ code: 1, err: expect.stringContaining('POMBO_SEALING_KEY is another key') })
  expect((await readdir(folder)).filter((name) => name.includes('unfinished'))).toEqual([])
})
