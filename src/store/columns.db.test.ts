import fc from 'fast-check'
import { expect, test } from 'vitest'
import { testDatabase } from '../../test/harness/database.ts'
import {
  booleans,
  columnNames,
  columnParameters,
  documents,
  instants,
  lists,
  numbers,
  writeColumns,
  texts,
  uuids,
  type Columns,
} from './columns.ts'
import type { Db } from './db.ts'
import { countParameters } from './statements.ts'

type Row = {
  id: string | null
  count: number | null
  is_on: boolean | null
  name: string | null
  at: Date | null
  content: object | null
  words: (string | null)[] | null
}

const columns: Columns<Row> = {
  id: uuids,
  count: numbers,
  is_on: booleans,
  name: texts,
  at: instants,
  content: documents,
  words: lists,
}

const readBack = (db: Db, rows: readonly Row[]): Promise<Row[]> =>
  db.query<Row>(
    `select id, count, is_on, name, at, content, words::text[] as words
     from unnest(${columnParameters(columns, countParameters())}) as r(${columnNames(columns)})`,
    writeColumns(columns, rows),
  )

/** PostgreSQL has no zero character, and UTF-8 no half of a pair. */
const text = fc.string({ unit: 'binary' }).filter((value) => !value.includes('\0') && value.isWellFormed())
const hard = fc.constantFrom(
  '',
  ' ',
  'NULL',
  'null',
  '{',
  '}',
  ',',
  '"',
  '\\',
  '\\"',
  '{"a",NULL}',
  'a\r\nb\t',
  "'; --",
)
const word = fc.oneof(hard, text)

test('what is written as columns is read back as the same rows', async () => {
  const { db } = await testDatabase(1)
  const rows = fc.array(
    fc.record<Row>({
      id: fc.option(fc.uuid()),
      count: fc.option(fc.maxSafeInteger()),
      is_on: fc.option(fc.boolean()),
      name: fc.option(word),
      at: fc.option(fc.date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true })),
      content: fc.option(fc.record({ a: word, b: fc.array(word, { maxLength: 3 }) })),
      words: fc.option(fc.array(fc.option(word), { maxLength: 4 })),
    }),
    { maxLength: 8 },
  )
  await fc.assert(
    fc.asyncProperty(rows, async (given) => {
      expect(await readBack(db, given)).toEqual(given.map((row) => ({ ...row })))
    }),
    { numRuns: 100 },
  )
})
