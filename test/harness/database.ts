/**
 * A database per test file, cloned from a template that was migrated once per run: cloning takes about 50 ms,
 * migrating about half a second.
 */
import pg from 'pg'
import { inject, onTestFinished } from 'vitest'
import { silentLog } from '../../src/lib/log.ts'
import { createDb, type Db } from '../../src/store/db.ts'
import { migrate } from '../../src/store/migrate.ts'

declare module 'vitest' {
  interface ProvidedContext {
    databaseUrl: string
  }
}

export const withDatabase = (url: string, name: string): string => {
  const parsed = new URL(url)
  parsed.pathname = `/${name}`
  return parsed.toString()
}

async function admin<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: inject('databaseUrl') })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

const templateName = 'pombo_test_template'
const templateLock = 0x7465737400

/** Made by the first file that asks; the others wait on the lock and find it. */
async function ensureTemplate(client: pg.Client): Promise<void> {
  await client.query('select pg_advisory_lock($1)', [templateLock])
  try {
    const found = await client.query('select 1 from pg_database where datname = $1 and datistemplate', [
      templateName,
    ])
    if (found.rowCount) return
    await client.query(`drop database if exists ${templateName}`)
    await client.query(`create database ${templateName}`)
    const db = createDb({
      url: withDatabase(inject('databaseUrl'), templateName),
      connections: 2,
      log: silentLog,
    })
    await migrate(db, silentLog)
    await db.close()
    await client.query(`alter database ${templateName} is_template true`)
  } finally {
    await client.query('select pg_advisory_unlock($1)', [templateLock])
  }
}

export type TestDatabase = { db: Db; url: string; drop(): Promise<void> }

export async function createTestDatabase(connections = 8): Promise<TestDatabase> {
  const name = `pombo_test_${process.pid}_${Math.random().toString(36).slice(2, 10)}`
  await admin(async (client) => {
    await ensureTemplate(client)
    await client.query('select pg_advisory_lock($1)', [templateLock])
    try {
      await client.query(`create database ${name} template ${templateName}`)
    } finally {
      await client.query('select pg_advisory_unlock($1)', [templateLock])
    }
  })
  const url = withDatabase(inject('databaseUrl'), name)
  const db = createDb({ url, connections, log: silentLog })
  return {
    db,
    url,
    async drop() {
      await db.close()
      await admin((client) => client.query(`drop database if exists ${name} with (force)`))
    },
  }
}

/** For a single test: dropped when it ends. */
export async function testDatabase(connections?: number): Promise<TestDatabase> {
  const database = await createTestDatabase(connections)
  onTestFinished(() => database.drop())
  return database
}
