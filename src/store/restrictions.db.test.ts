import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../test/harness/database.ts'
import { newId } from '../lib/ids.ts'
import { loadCatalogues } from './catalogue.ts'
import type { Queryable } from './db.ts'
import {
  addRestrictionEntries,
  anyContents,
  findRestrictionHits,
  findStatement,
  listRestrictionEntries,
  removeExpiredEntries,
  removeRestrictionEntries,
} from './restrictions.ts'

let database: TestDatabase
let companyId: string
const now = new Date('2026-05-01T12:00:00Z')

beforeAll(async () => {
  database = await createTestDatabase()
  companyId = newId()
  await database.db.query(
    `insert into company (id, name, name_key, private_token_sealed, private_token_hash, callback_secret_sealed)
      values ($1, 'c', $2, '', '', '')`,
    [companyId, companyId],
  )
})
afterAll(() => database.drop())

async function newList(): Promise<string> {
  const id = newId()
  await database.db.query(
    'insert into restriction_list (id, company_id, name, name_key) values ($1, $2, $3, $3)',
    [id, companyId, randomUUID()],
  )
  return id
}

const find = async (listIds: string[], values: Record<string, string>, at = now) =>
  (await findRestrictionHits(database.db, [{ ref: 7, lists: listIds.map(anyContents), ...values }], at)).get(
    7,
  ) ?? []

describe('what a list has entries of', () => {
  const version = async () =>
    (
      await database.db.query<{ version: number }>(
        'select catalogue_version as version from company where id = $1',
        [companyId],
      )
    )[0]!.version

  test('is known to senders from its first entry on, and more of the same is no news', async () => {
    const listId = await newList()
    const add = (value: string, isPrefix = false) =>
      addRestrictionEntries(database.db, listId, [{ field: 'phone', value, isPrefix }])
    const versions = [await version()]
    for (const [value, isPrefix] of [
      ['5531988881234', false],
      ['5531988881235', false],
      ['5531', true],
      ['5532', true],
    ] as const) {
      await add(value, isPrefix)
      versions.push(await version())
    }
    const [first] = versions
    expect(versions.map((at) => at - first!)).toEqual([0, 1, 1, 2, 2])
    const [catalogue] = await loadCatalogues(database.db, [companyId])
    expect(catalogue!.lists).toEqual([])
  })

  test('nothing else is looked up on it', async () => {
    const listId = await newList()
    await addRestrictionEntries(database.db, listId, [{ field: 'phone', value: '5531988881234' }])
    const asked: unknown[] = []
    const db: Queryable = {
      query(statement, values) {
        asked.push(values)
        return database.db.query(statement, values)
      },
    }
    const lists = [{ id: listId, exact: ['phone'], prefixed: [] }] as const
    const found = await findRestrictionHits(db, [{ ref: 0, lists, phone: '5531988881234' }], now)
    expect(found.get(0)).toHaveLength(1)
    await findRestrictionHits(db, [{ ref: 0, lists, email: 'ana@example.com', document: '1' }], now)
    expect(asked).toHaveLength(1)
  })
})

describe('restriction entries', () => {
  test('each field is found by its own kind of value, and by no other', async () => {
    const listId = await newList()
    await addRestrictionEntries(database.db, listId, [
      { field: 'phone', value: '+55 (31) 98888-1234' },
      { field: 'email', value: 'Ana@Example.com' },
      { field: 'document', value: '123.456.789-09' },
      { field: 'contract', value: 'CT-9' },
    ])
    expect(await find([listId], { phone: '5531988881234' })).toEqual([
      { listId, field: 'phone', value: '5531988881234', isPrefix: false },
    ])
    expect(await find([listId], { email: 'ana@example.com' })).toHaveLength(1)
    expect(await find([listId], { document: '12345678909' })).toHaveLength(1)
    expect(await find([listId], { contract: ' ct-9 ' })).toHaveLength(1)
    expect(await find([listId], { document: 'CT-9', contract: '12345678909' })).toEqual([])
    expect(await find([], { phone: '5531988881234' })).toEqual([])
  })

  test('a Brazilian mobile is found with and without its ninth digit, exactly and by prefix', async () => {
    const listId = await newList()
    const prefixes = await newList()
    await addRestrictionEntries(database.db, listId, [{ field: 'phone', value: '553188881234' }])
    await addRestrictionEntries(database.db, prefixes, [
      { field: 'phone', value: '55318888', isPrefix: true },
    ])
    for (const phone of ['553188881234', '5531988881234']) {
      expect(await find([listId], { phone })).toHaveLength(1)
      expect(await find([prefixes], { phone })).toEqual([
        { listId: prefixes, field: 'phone', value: '55318888', isPrefix: true },
      ])
    }
    expect(await find([listId, prefixes], { phone: '551133334444' })).toEqual([])
  })

  test('a prefix of any length up to 64 is found once, a longer one is refused', async () => {
    const listId = await newList()
    const long = `${'a'.repeat(58)}@x.com`
    const { added, problems } = await addRestrictionEntries(database.db, listId, [
      { field: 'email', value: 'a', isPrefix: true },
      { field: 'email', value: long.slice(0, 64), isPrefix: true },
      { field: 'contract', value: 'c'.repeat(65), isPrefix: true },
      { field: 'phone', value: '55', isPrefix: true },
    ])
    expect(added).toBe(3)
    expect(problems).toEqual([{ index: 2, reason: 'prefix is longer than 64 characters' }])
    expect((await find([listId], { email: long })).map((hit) => hit.value)).toEqual(['a', long])
    // The area code is a prefix of both spellings, but one entry is one hit.
    expect(await find([listId], { phone: '5531988881234' })).toHaveLength(1)
  })

  test('an exact entry is no prefix and a prefix is no exact entry', async () => {
    const listId = await newList()
    await addRestrictionEntries(database.db, listId, [{ field: 'contract', value: 'abc' }])
    expect(await find([listId], { contract: 'abcd' })).toEqual([])
    expect(await find([listId], { contract: 'abc' })).toHaveLength(1)
  })

  test('an expired entry is not found, and can be removed in bounded steps', async () => {
    const listId = await newList()
    const expiresAt = new Date('2026-05-01T12:00:01Z')
    await addRestrictionEntries(database.db, listId, [
      { field: 'contract', value: 'x', expiresAt },
      { field: 'contract', value: 'y', expiresAt },
      { field: 'contract', value: 'z' },
    ])
    expect(await find([listId], { contract: 'x' })).toEqual([
      { listId, field: 'contract', value: 'x', isPrefix: false, expiresAt },
    ])
    expect(await find([listId], { contract: 'x' }, expiresAt)).toEqual([])
    expect(await removeExpiredEntries(database.db, expiresAt, 1)).toBe(1)
    expect(await removeExpiredEntries(database.db, expiresAt)).toBe(1)
    expect(await removeExpiredEntries(database.db, expiresAt)).toBe(0)
    expect((await listRestrictionEntries(database.db, listId, { limit: 10 })).map((e) => e.value)).toEqual([
      'z',
    ])
  })

  test('adding again changes the expiry and tells new from changed; removing tells how many', async () => {
    const listId = await newList()
    const entry = { field: 'contract', value: 'a' } as const
    expect(await addRestrictionEntries(database.db, listId, [entry, entry])).toMatchObject({
      added: 1,
      changed: 0,
    })
    expect(await addRestrictionEntries(database.db, listId, [entry])).toMatchObject({ added: 0, changed: 0 })
    const expiring = { ...entry, expiresAt: new Date('2030-01-01T00:00:00Z') }
    expect(await addRestrictionEntries(database.db, listId, [expiring])).toMatchObject({
      added: 0,
      changed: 1,
    })
    expect(await removeRestrictionEntries(database.db, listId, [{ field: 'contract', value: 'A' }])).toBe(1)
    expect(await removeRestrictionEntries(database.db, listId, [{ field: 'contract', value: 'A' }])).toBe(0)
  })

  test('pages follow each other in key order', async () => {
    const listId = await newList()
    const values = Array.from({ length: 25 }, (_, index) => `v${String(index).padStart(2, '0')}`)
    await addRestrictionEntries(
      database.db,
      listId,
      values.map((value) => ({ field: 'contract' as const, value })),
    )
    const seen: string[] = []
    for (;;) {
      const [last] = (await listRestrictionEntries(database.db, listId, { limit: 1_000 })).filter(
        (entry) => entry.value === seen.at(-1),
      )
      const page = await listRestrictionEntries(database.db, listId, { after: last, limit: 10 })
      if (page.length === 0) break
      seen.push(...page.map((entry) => entry.value))
    }
    expect(seen).toEqual(values)
  })

  test('values that PostgreSQL cannot hold are found nowhere and break nothing', async () => {
    const listId = await newList()
    expect(await find([listId], { document: 'a\0b', contract: '\ud800' })).toEqual([])
    const { added, problems } = await addRestrictionEntries(database.db, listId, [
      { field: 'document', value: 'a\0b' },
      { field: 'phone', value: 'abc' },
      { field: 'email', value: 'nobody' },
    ])
    expect(added).toBe(0)
    expect(problems.map((problem) => problem.index)).toEqual([0, 1, 2])
  })

  test('a batch is one statement, and each probe gets its own hits', async () => {
    const listId = await newList()
    await addRestrictionEntries(database.db, listId, [{ field: 'contract', value: 'c5' }])
    const before = database.db.roundTrips
    const hits = await findRestrictionHits(
      database.db,
      Array.from({ length: 256 }, (_, ref) => ({
        ref,
        lists: [anyContents(listId)],
        contract: `c${ref % 10}`,
      })),
      now,
    )
    expect(database.db.roundTrips - before).toBe(1)
    expect([...hits.keys()].every((ref) => ref % 10 === 5)).toBe(true)
    expect(hits.size).toBe(26)
  })

  test('the plan descends an index for every probe and reads no table, statistics or not', async () => {
    const listId = await newList()
    await database.db.query(
      `insert into restriction_entry (list_id, field, is_prefix, value)
        select $1, 'contract', n % 10 = 0, 'bulk' || n from generate_series(1, 20000) n`,
      [listId],
    )
    const names = Array.from({ length: 256 }, (_, index) => `bulk${index}`)
    const column = <T>(value: T) => names.map(() => value)
    const values = [column(1), column(listId), column('contract'), names, column(true), now]
    for (const isAnalysed of [false, true]) {
      if (isAnalysed) await database.db.query('analyze restriction_entry, restriction_shape')
      for (const hasPrefixes of [false, true]) {
        const { text } = findStatement({ hasPrefixes })
        const rows = await database.db.query<Record<string, string>>(`explain ${text}`, values)
        const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
        expect(plan).not.toContain('Seq Scan on restriction_entry')
        expect(plan).toMatch(/Index Scan (?:using|on) restriction_entry_key/)
      }
    }
  })
})
