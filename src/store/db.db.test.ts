import net, { type AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
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
