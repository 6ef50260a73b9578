import net, { type AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../test/harness/database.ts'
import { silentLog } from '../lib/log.ts'
import { begin, commit, createDb, isConnectionError, isDataError, sqlState, type Db } from './db.ts'

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

test('instants are read in every zone, of every age', async () => {
  const connection = await database.db.connect()
  for (const zone of ['UTC', 'America/Sao_Paulo', 'Asia/Kolkata', 'Pacific/Chatham']) {
    await connection.query(`set timezone = '${zone}'`)
    for (const instant of [
      '2026-11-15T15:15:22.766Z',
      '2026-02-28T23:59:59.000Z',
      '1900-01-01T00:00:00.000Z',
      '0099-01-01T00:00:00.000Z',
      '+012026-01-01T00:00:00.000Z',
    ]) {
      const [row] = await connection.query<{ at: Date }>('select to_timestamp($1) as at', [
        Date.parse(instant) / 1000,
      ])
      expect(row!.at.toISOString()).toBe(instant)
    }
    expect(await connection.query(`select timestamptz 'infinity' as at`)).toEqual([{ at: Infinity }])
    expect(await connection.query(`select timestamptz '2026-11-15 15:15:22.766999+00' as at`)).toEqual([
      { at: new Date('2026-11-15T15:15:22.766Z') },
    ])
  }
  await connection.query('reset timezone')
  connection.release()
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

/** A way to the database that passes on what `relay` lets through; its address. */
async function startProxy(relay: (chunk: Buffer, client: net.Socket) => void): Promise<string> {
  const { hostname, searchParams, port } = new URL(database.url)
  const path = `${decodeURIComponent(searchParams.get('host') ?? hostname)}/.s.PGSQL.${port || 5432}`
  const server = net.createServer((client) => {
    const upstream = path.startsWith('/') ? net.connect(path) : net.connect(Number(port), hostname)
    for (const socket of [client, upstream]) socket.on('error', () => {})
    client.pipe(upstream)
    client.on('close', () => upstream.destroy())
    upstream.on('data', (chunk: Buffer) => relay(chunk, client))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const url = new URL(database.url)
  url.searchParams.delete('host')
  url.searchParams.delete('port')
  url.hostname = '127.0.0.1'
  url.port = String((server.address() as AddressInfo).port)
  return url.href
}

test('a server that falls silent is given up: what was asked fails as if the connection were lost', async () => {
  let isSilent = false
  const url = await startProxy((chunk, client) => {
    if (!isSilent) client.write(chunk)
  })
  const db = createDb({ url, connections: 1, log: silentLog, answerTimeoutMs: 200 })
  onTestFinished(() => db.close())
  expect(await db.query('select 1 as one')).toEqual([{ one: 1 }])
  isSilent = true
  const error: unknown = await db.query('select 2').catch((reason: unknown) => reason)
  expect(isConnectionError(error)).toBe(true)
  isSilent = false
  expect(await db.query('select 3 as three')).toEqual([{ three: 3 }])
})

/** What a server says that is stopping: FATAL 57P01. */
function farewell(): Buffer {
  const fields = Buffer.from('SFATAL\0VFATAL\0C57P01\0Mterminating connection\0\0')
  const head = Buffer.from('E\0\0\0\0')
  head.writeInt32BE(fields.length + 4, 1)
  return Buffer.concat([head, fields])
}

const readyForQuery = Buffer.from('Z\0\0\0\x05I')

test('a server that says farewell right behind its greeting costs that connection, and not the process', async () => {
  const url = await startProxy((chunk, client) => {
    const isGreeting = chunk.subarray(-readyForQuery.length).equals(readyForQuery)
    client.write(isGreeting ? Buffer.concat([chunk, farewell()]) : chunk)
    if (isGreeting) client.end()
  })
  const db = createDb({ url, connections: 2, log: silentLog })
  onTestFinished(() => db.close())
  const connection = await db.connect()
  const error: unknown = await connection.query('select 1').catch((reason: unknown) => reason)
  expect(isConnectionError(error)).toBe(true)
  connection.release(true)
})

describe('statements asked in the same breath', () => {
  const add = { name: 'add', text: 'select $1::int + $2::int as sum' }
  const divide = { name: 'divide', text: 'select $1::int / $2::int as quotient' }

  test('are one round trip, each with its own answer', async () => {
    const connection = await database.db.connect()
    const before = database.db.roundTrips
    const answers = await Promise.all([
      connection.query(add, [1, 2]),
      connection.query('select generate_series(1, $1::int) as n', [2]),
      connection.query(add, [3, 4]),
      connection.query({ name: 'nothing', text: 'select 1 as one where false' }),
    ])
    expect(answers).toEqual([[{ sum: 3 }], [{ n: 1 }, { n: 2 }], [{ sum: 7 }], []])
    expect(database.db.roundTrips - before).toBe(1)
    expect(await connection.query(add, [5, 6])).toEqual([{ sum: 11 }])
    connection.release()
  })

  test('fail together, by the fault of the first that does, and what follows it is not run', async () => {
    await database.db.query('create table tried (what text)')
    const note = { name: 'note', text: 'insert into tried values ($1)' }
    const connection = await database.db.connect()
    const outcomes = await Promise.allSettled([
      connection.query(begin),
      connection.query(note, ['before']),
      connection.query(divide, [1, 0]),
      connection.query(note, ['after']),
      connection.query(commit),
    ])
    for (const outcome of outcomes)
      expect(outcome).toMatchObject({ status: 'rejected', reason: { code: '22012' } })
    await connection.query('rollback')
    expect(await connection.query('select * from tried')).toEqual([])
    // It was prepared all the same, and is not prepared a second time under its name.
    expect(await connection.query(divide, [6, 3])).toEqual([{ quotient: 2 }])
    await connection.query(note, ['later'])
    expect(await connection.query('select * from tried')).toEqual([{ what: 'later' }])
    connection.release()
  })

  test('a second statement of the same name is refused instead of taken for the first', async () => {
    const connection = await database.db.connect()
    await connection.query(add, [1, 2])
    await expect(connection.query({ ...add, text: 'select 0 as sum' })).rejects.toThrow('have the name add')
    connection.release()
  })

  test('a value that cannot be written fails alone', async () => {
    const circular: { self?: object } = {}
    circular.self = circular
    const connection = await database.db.connect()
    const [bad, good] = await Promise.allSettled([
      connection.query({ name: 'echo', text: 'select $1::jsonb as value' }, [circular]),
      connection.query(add, [1, 1]),
    ])
    expect(bad.status).toBe('rejected')
    expect(good).toMatchObject({ value: [{ sum: 2 }] })
    connection.release()
  })

  test('a transaction sends its begin with its first statement', async () => {
    const before = database.db.roundTrips
    await database.db.transaction((connection) => connection.query(add, [1, 2]))
    expect(database.db.roundTrips - before).toBe(2)
  })
})
