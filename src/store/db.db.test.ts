import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../test/harness/database.ts'
import { silentLog } from '../lib/log.ts'
import { createDb, isConnectionError, isDataError, sqlState, type Db } from './db.ts'

let database: TestDatabase
let hasty: Db

beforeAll(async () => {
  database = await createTestDatabase()
  const { url } = database
  hasty = createDb({ url, connections: 2, log: silentLog, statementTimeoutMs: 100, answerTimeoutMs: 150 })
})
afterAll(async () => {
  await hasty.close()
  await database.drop()
})

test('a statement that takes too long is ended, and one of a patient connection is not', async () => {
  const slow = 'select pg_sleep(0.4)'
  await expect(hasty.query(slow)).rejects.toMatchObject({ code: '57014' })
  const patient = await hasty.connect({ isPatient: true })
  await expect(patient.query(slow)).resolves.toHaveLength(1)
  patient.release()
  for (const connection of [await hasty.connect(), await hasty.connect()]) {
    expect(await connection.query('show statement_timeout')).toEqual([{ statement_timeout: '100ms' }])
    connection.release()
  }
})

test.each(['EPIPE', 'ECONNRESET', '08006', '57P01', '53300'])(
  'an error with the code %s says that the database did not answer',
  (code) => {
    const error = Object.assign(new Error('gone'), { code })
    expect(isConnectionError(error)).toBe(true)
    expect(isDataError(error)).toBe(false)
  },
)

test("so do the driver's own words, and a fault of ours does not", async () => {
  const closed = createDb({ url: database.url, connections: 1, log: silentLog })
  await closed.close()
  const error: unknown = await closed.query('select 1').catch((fault: unknown) => fault)
  expect(isConnectionError(error)).toBe(true)
  expect(isConnectionError(new Error('Connection terminated unexpectedly'))).toBe(true)
  expect(isConnectionError(new Error('cannot read the template'))).toBe(false)
})

test('what PostgreSQL refuses is its answer', async () => {
  const refused: unknown = await database.db.query('select 1/0').catch((error: unknown) => error)
  expect(sqlState(refused)).toBe('22012')
  expect(isDataError(refused)).toBe(true)
  expect(isConnectionError(refused)).toBe(false)
})
