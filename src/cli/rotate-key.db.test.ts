/** `pombo rotate-key`: everything opens with the new key, nothing with the old one, and a crash on the way costs nothing. */
import { mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { testDatabase, type TestDatabase } from '../../test/harness/database.ts'
import { makeCompany, type TestCompany } from '../../test/harness/factories.ts'
import { createSealer, newSealingKey } from '../lib/secrets.ts'
import { silentLog } from '../lib/log.ts'
import { readCallbackSecret, readPrivateToken } from '../store/companies.ts'
import { createDb } from '../store/db.ts'
import { readLineSettings } from '../store/lines.ts'
import { openSealer, prepareSealer } from '../store/sealing.ts'
import { sealedColumns } from '../store/sealed-values.ts'
import { commandLine } from './test-command-line.ts'

let dataDir: string
let database: TestDatabase
let company: TestCompany
const source = () => ({ sealingKey: undefined, dataDir })
const pombo = commandLine(() => ({ DATABASE_URL: database.url, POMBO_DATA_DIR: dataDir }))
const readKey = async (name: string) => (await readFile(join(dataDir, name), 'utf8')).trim()

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'pombo-rotate-'))
  database = await testDatabase()
  company = await makeCompany(database.db, await prepareSealer(database.db, source()))
})
afterEach(() => rm(dataDir, { recursive: true }))

test('the list of sealed columns is the list of the schema', async () => {
  const columns = await database.db.query<{ name: string }>(
    `select table_name || '.' || column_name as name from information_schema.columns c
      where table_schema = 'public' and column_name like '%\\_sealed'
        and exists (select from pg_class k where k.oid = table_name::regclass and not k.relispartition) order by 1`,
  )
  const listed = sealedColumns.flatMap(({ table, columns: names }) => names.map((name) => `${table}.${name}`))
  expect(columns.map(({ name }) => name)).toEqual(listed.toSorted())
})

/** One of each, so that the test below sees every column change. */
async function fillSealedColumns(): Promise<Map<string, string>> {
  const sealer = await openSealer(database.db, source())
  await database.db.query('insert into webhook (company_id, url, secret_sealed) values ($1, $2, $3)', [
    company.id,
    'https://example.com',
    sealer.seal('to be replaced'),
  ])
  await database.db.query('insert into user_totp (user_id, company_id, secret_sealed) values ($1, $2, $3)', [
    company.attendant.id,
    company.id,
    sealer.seal('to be replaced'),
  ])
  const filled = new Map<string, string>()
  for (const { table, columns } of sealedColumns)
    for (const column of columns.filter((name) => /^previous|^secret_/.test(name))) {
      filled.set(`${table}.${column}`, `${table} ${column}`)
      await database.db.query(`update ${table} set ${column} = $1`, [sealer.seal(`${table} ${column}`)])
    }
  return filled
}

test('every value opens with the new key and none with the old one', async () => {
  const filled = await fillSealedColumns()
  const old = createSealer(await readKey('sealing.key'))
  const oldKey = await readKey('sealing.key')

  const rotated = await pombo(['rotate-key', '--json'])
  expect(rotated).toMatchObject({ code: 0, err: '' })
  // Two of the company, one per line, and those filled above.
  expect(JSON.parse(rotated.out)).toEqual({
    values: 2 + 4 + filled.size,
    file: join(dataDir, 'sealing.key'),
    mustBeSet: false,
  })
  expect(await readKey('sealing.key')).not.toBe(oldKey)
  expect(await readdir(dataDir)).toEqual(['sealing.key'])
  expect((await stat(join(dataDir, 'sealing.key'))).mode & 0o777).toBe(0o600)

  const sealer = await openSealer(database.db, source())
  expect(await readPrivateToken(database.db, sealer, company.id)).toBe(company.privateToken)
  expect(await readCallbackSecret(database.db, sealer, company.id)).toBe(company.callbackSecret)
  expect(await readLineSettings(database.db, sealer, company.id, company.lines.sms[0]!.id)).toMatchObject({
    password: 'secret',
  })
  for (const [place, text] of filled) {
    const [table, column] = place.split('.')
    const [row] = await database.db.query<{ value: Buffer }>(`select ${column} as value from ${table}`)
    expect(sealer.open(row!.value)).toBe(text)
    expect(() => old.open(row!.value)).toThrow()
  }
  expect(
    await database.db.query(`select from audit_entry where action = 'rotate' and noun = 'sealing key'`),
  ).toHaveLength(1)
})

test('a crash after the commit: the next command finds the new key and finishes', async () => {
  const oldKey = await readKey('sealing.key')
  expect(await pombo(['rotate-key'])).toMatchObject({ code: 0 })
  // As if the power had gone before the new key took its place.
  await rename(join(dataDir, 'sealing.key'), join(dataDir, 'sealing.key.new'))
  await writeFile(join(dataDir, 'sealing.key'), `${oldKey}\n`)
  await writeFile(join(dataDir, 'sealing.key.old'), `${oldKey}\n`)
  const token = await pombo(['company', 'private-token', company.name, '--json'])
  expect(JSON.parse(token.out)).toEqual({ privateToken: company.privateToken })
  expect(await readdir(dataDir)).toEqual(['sealing.key'])
})

test('a crash before the commit: the present key stays, and the next change starts over', async () => {
  await writeFile(join(dataDir, 'sealing.key.new'), `${newSealingKey()}\n`)
  const before = await readKey('sealing.key')
  expect(await pombo(['company', 'list'])).toMatchObject({ code: 0 })
  expect(await readKey('sealing.key')).toBe(before)
  expect(await pombo(['rotate-key'])).toMatchObject({ code: 0 })
  expect(await readdir(dataDir)).toEqual(['sealing.key'])
})

test('while a Pombo runs nothing is changed', async () => {
  const before = await readKey('sealing.key')
  const running = createDb({
    url: database.url,
    connections: 1,
    log: silentLog,
    applicationName: 'pombo worker',
  })
  await running.query('select 1')
  try {
    expect(await pombo(['rotate-key'])).toEqual({
      code: 1,
      out: '',
      err: 'A Pombo works on this database (pombo worker): stop every node first, then change the key.\n',
    })
  } finally {
    await running.close()
  }
  await database.db.query(
    `insert into worker (id, name, beat_at, started_at) values (gen_random_uuid(), 'far away', now(), now())`,
  )
  expect((await pombo(['rotate-key'])).err).toContain('(worker far away)')
  expect(await readKey('sealing.key')).toBe(before)
})

test('a value that does not open is named, and everything stays as it was', async () => {
  const id = company.lines.sms[0]!.id
  await database.db.query('update line set secrets_sealed = $2 where id = $1', [id, Buffer.alloc(40, 1)])
  expect((await pombo(['rotate-key'])).err).toBe(
    `The value line.secrets_sealed of ${id} cannot be opened with the present key: nothing was changed.\n`,
  )
  expect(await readdir(dataDir)).toEqual(['sealing.key'])
  const sealer = await openSealer(database.db, source())
  expect(await readPrivateToken(database.db, sealer, company.id)).toBe(company.privateToken)
})

test('a key from the environment: the new one is left in a file for the person to set', async () => {
  const env = { POMBO_SEALING_KEY: await readKey('sealing.key') }
  await rm(join(dataDir, 'sealing.key'))
  const rotated = await pombo(['rotate-key'], { env })
  expect(rotated).toMatchObject({
    code: 0,
    err: expect.stringContaining('Set POMBO_SEALING_KEY to the content of'),
  })
  const key = await readKey('sealing.key.new')
  expect(rotated.out + rotated.err).not.toContain(key)
  expect(await pombo(['company', 'list'], { env })).toMatchObject({ code: 1 })
  expect(await pombo(['company', 'list'], { env: { POMBO_SEALING_KEY: key } })).toMatchObject({ code: 0 })
})
