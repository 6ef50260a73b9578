import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../test/harness/database.ts'
import { newId } from '../lib/ids.ts'
import { importRestrictions, type BadLine, type ImportProgress } from './restriction-import.ts'
import { anyContents, findRestrictionHits, listRestrictionEntries } from './restrictions.ts'

let database: TestDatabase
const companyId = newId()

beforeAll(async () => {
  database = await createTestDatabase()
  await database.db.query(
    `insert into company (id, name, name_key, private_token_sealed, private_token_hash, callback_secret_sealed)
      values ($1, 'c', 'c', '', '', '')`,
    [companyId],
  )
})
afterAll(() => database.drop())

async function run(text: string, field?: 'phone' | 'contract', listId?: string) {
  const id = listId ?? newId()
  if (listId === undefined)
    await database.db.query(
      'insert into restriction_list (id, company_id, name, name_key) values ($1, $2, $3, $3)',
      [id, companyId, `list ${id}`],
    )
  const bad: BadLine[] = []
  const steps: ImportProgress[] = []
  async function* source() {
    const bytes = Buffer.from(text)
    for (let at = 0; at < bytes.length; at += 50_000) yield bytes.subarray(at, at + 50_000)
  }
  const result = await importRestrictions({
    databaseUrl: database.url,
    listId: id,
    source: source(),
    field,
    onProgress: (progress) => steps.push(progress),
    onBadLine: (line) => bad.push(line),
  })
  const entries = await listRestrictionEntries(database.db, id, { limit: 100 })
  return { listId: id, result, bad, steps, entries }
}

describe('import of restriction lists', () => {
  test('columns by name in any order, values brought into the form in which they compare', async () => {
    const { entries, result, bad } = await run(
      'expires_at,match,value,field\n' +
        ',,+55 (31) 8888-1234,phone\n' +
        '2026-12-31,prefix,0011,contract\n' +
        '2026-12-31T23:59:59-03:00,exact,ANA@EXAMPLE.COM,Email\n' +
        ',EXACT,"12.345.678/0001-00",document\n' +
        ',,a\\b,contract\n',
    )
    expect(bad).toEqual([])
    expect(result).toMatchObject({ linesRead: 5, added: 5, changed: 0, unchanged: 0, bad: 0 })
    const byValue = Object.fromEntries(entries.map((entry) => [entry.value, entry]))
    expect(byValue).toEqual({
      '5531988881234': { field: 'phone', isPrefix: false, value: '5531988881234', expiresAt: null },
      '0011': {
        field: 'contract',
        isPrefix: true,
        value: '0011',
        expiresAt: new Date('2026-12-31T00:00:00Z'),
      },
      'ana@example.com': {
        field: 'email',
        isPrefix: false,
        value: 'ana@example.com',
        expiresAt: new Date('2027-01-01T02:59:59Z'),
      },
      '12345678000100': { field: 'document', isPrefix: false, value: '12345678000100', expiresAt: null },
      'a\\b': { field: 'contract', isPrefix: false, value: 'a\\b', expiresAt: null },
    })
  })

  test('bare values of one field need no header', async () => {
    const { entries } = await run('5531988881234\n+5531977771234\n', 'phone')
    expect(entries.map((entry) => entry.value)).toEqual(['5531977771234', '5531988881234'])
  })

  test('bad lines are reported by number and reason, and the good ones are taken', async () => {
    const { entries, bad, result } = await run(
      'field,value,match,expires_at\n' +
        'phone,abc,,\n' +
        'contract,good,,\n' +
        'fax,1,,\n' +
        'contract,x,suffix,\n' +
        'contract,x,,2026-02-30\n' +
        'contract,x,,tomorrow\n' +
        'contract,,,\n' +
        '"contract"x,1,,\n' +
        `contract,${'p'.repeat(65)},prefix,\n`,
    )
    expect(entries.map((entry) => entry.value)).toEqual(['good'])
    expect(result).toMatchObject({ linesRead: 9, added: 1, bad: 8 })
    expect(bad.map(({ line }) => line)).toEqual([2, 4, 5, 6, 7, 8, 9, 10])
    expect(bad.map(({ reason }) => reason)).toEqual([
      'phone number must be 8 to 15 digits with country code',
      'field is "fax", but must be one of phone, email, document, contract',
      'match is "suffix", but must be exact or prefix',
      expect.stringContaining('expires_at is "2026-02-30"'),
      expect.stringContaining('expires_at is "tomorrow"'),
      'value is empty',
      'a quote is left open or followed by text',
      'prefix is longer than 64 characters',
    ])
  })

  test('the same file again changes nothing, another expiry changes the entry', async () => {
    const { listId } = await run('a\nb\na\n', 'contract')
    expect((await run('a\nb\n', 'contract', listId)).result).toMatchObject({
      added: 0,
      changed: 0,
      unchanged: 2,
    })
    expect((await run('a,,2030-01-01\nb\n', 'contract', listId)).result).toMatchObject({
      changed: 1,
      unchanged: 1,
    })
  })

  test('prefixes that came by import are found', async () => {
    const { listId } = await run('value,match\nabc,prefix\n', 'contract')
    const hits = await findRestrictionHits(
      database.db,
      [{ ref: 0, lists: [anyContents(listId)], contract: 'ABCDE' }],
      new Date(),
    )
    expect(hits.get(0)).toHaveLength(1)
  })

  test('large files go in by steps, and progress only grows', async () => {
    const lines = Array.from({ length: 50_000 }, (_, index) => `c${index}`)
    const { result, steps } = await run(lines.join('\n'), 'contract')
    expect(result).toMatchObject({ linesRead: 50_000, added: 50_000 })
    expect(steps.length).toBeGreaterThanOrEqual(3)
    for (const [index, step] of steps.entries())
      expect(step.added).toBeGreaterThanOrEqual(steps[index - 1]?.added ?? 0)
    expect(steps.at(-1)!.bytesRead).toBe(lines.join('\n').length)
  })
})
