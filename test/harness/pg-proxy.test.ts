import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { silentLog } from '../../src/lib/log.ts'
import { createDb } from '../../src/store/db.ts'
import { createTestDatabase, type TestDatabase } from './database.ts'
import { startPgProxy } from './pg-proxy.ts'

describe('the proxy in front of PostgreSQL', () => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await createTestDatabase(2)
    await database.db.query('create table seen (what text)')
  })
  afterAll(() => database.drop())

  const rows = async () =>
    (await database.db.query<{ what: string }>('select what from seen')).map((row) => row.what)

  test.for([
    ['before', []],
    ['after', ['after']],
  ] as const)(
    'a connection cut %s COMMIT fails for the program, and the database has %j',
    async ([point, kept]) => {
      await database.db.query('truncate seen')
      await using proxy = await openThrough(database.url)
      const isCut = proxy.proxy.cutAt(point)
      const work = proxy.db.transaction((connection) =>
        connection.query({ name: 'note', text: 'insert into seen values ($1)' }, [point]),
      )
      await expect(work).rejects.toThrow(/terminated|ended|closed|ECONNRESET/i)
      await isCut
      expect(await rows()).toEqual(kept)
      await proxy.db.query("insert into seen values ('next')")
      expect(await rows()).toContain('next')
    },
  )

  test('a prepared statement can be the one that is cut', async () => {
    await database.db.query('truncate seen')
    await using proxy = await openThrough(database.url)
    const note = { name: 'note', text: 'insert into seen values ($1)' }
    await proxy.db.query(note, ['first'])
    const isCut = proxy.proxy.cutAt('after', /insert into seen/)
    await expect(proxy.db.query(note, ['second'])).rejects.toThrow()
    await isCut
    expect(await rows()).toEqual(['first', 'second'])
  })

  test('a database that is away refuses, and is there again when it comes back', async () => {
    await using proxy = await openThrough(database.url)
    await proxy.db.query('select 1')
    proxy.proxy.goAway()
    await expect(proxy.db.query('select 1')).rejects.toThrow()
    proxy.proxy.comeBack()
    expect(await proxy.db.query('select 1 as one')).toEqual([{ one: 1 }])
  })

  test('paused statements arrive when it is resumed', async () => {
    await using proxy = await openThrough(database.url)
    await proxy.db.query('select 1')
    proxy.proxy.pause()
    const answer = proxy.db.query<{ one: number }>('select 1 as one')
    proxy.proxy.resume()
    expect(await answer).toEqual([{ one: 1 }])
  })
})

async function openThrough(url: string) {
  const proxy = await startPgProxy(url)
  const db = createDb({ url: proxy.url, connections: 2, log: silentLog })
  return {
    proxy,
    db,
    async [Symbol.asyncDispose]() {
      await db.close()
      await proxy.close()
    },
  }
}
