/**
 * Numbered SQL files, each applied once, all under one advisory lock, each in a transaction of its own.
 * The schema records the oldest program version that can still work with it, so that an older node refuses
 * with a sentence instead of failing later.
 */
import { readdir, readFile } from 'node:fs/promises'
import type { Log } from '../lib/log.ts'
import type { Db, Queryable } from './db.ts'
import { ensurePartitions } from './partitions.ts'

const folder = new URL('./migrations/', import.meta.url)

/** Generation of the program. Raised when a migration removes what older programs still use. */
export const programGeneration = 1

/** Any constant: "pombo" in hexadecimal. */
const migrationLock = 0x706f6d626f

const createMigrationTable =
  'create table if not exists schema_migration (number int primary key, name text not null, applied_at timestamptz not null default now(), oldest_generation int not null)'

export class SchemaTooNewError extends Error {}

/** Brings the schema up to date, then runs `whileLocked` still under the lock (first-start decisions). */
export async function migrate(
  db: Db,
  log: Log,
  whileLocked?: (connection: Queryable) => Promise<void>,
): Promise<void> {
  // An index on a large table takes minutes, and so does waiting for another node that makes it.
  const connection = await db.connect({ isPatient: true })
  let isBroken = true
  try {
    await connection.query('select pg_advisory_lock($1)', [migrationLock])
    await connection.query(createMigrationTable)
    const applied = await connection.query<{ number: number; oldest_generation: number }>(
      'select number, oldest_generation from schema_migration',
    )
    const required = Math.max(0, ...applied.map((row) => row.oldest_generation))
    if (required > programGeneration)
      throw new SchemaTooNewError(
        `The database was upgraded by a newer Pombo that no longer supports this one (it asks for generation ${required}, this is ${programGeneration}). Install the newer version.`,
      )
    const done = new Set(applied.map((row) => row.number))
    for (const file of await migrationFiles()) {
      if (done.has(file.number)) continue
      await apply(connection, file)
      log.info({ migration: file.name }, 'migration applied')
    }
    await ensurePartitions(connection, new Date())
    await whileLocked?.(connection)
    await connection.query('select pg_advisory_unlock($1)', [migrationLock])
    isBroken = false
  } finally {
    connection.release(isBroken)
  }
}

export type AppliedMigration = { number: number; name: string }

/** In the order in which they were applied. */
export const readMigrations = (connection: Queryable): Promise<AppliedMigration[]> =>
  connection.query<AppliedMigration>('select number, name from schema_migration order by applied_at, number')

/** Of the database's migrations those that this program does not have, and the other way round. */
export async function compareMigrations(
  applied: readonly AppliedMigration[],
): Promise<{ unknown: string[]; pending: string[] }> {
  const files = await migrationFiles()
  const isApplied = new Set(applied.map(({ name }) => name))
  const isKnown = new Set(files.map(({ name }) => name))
  return {
    unknown: applied.map(({ name }) => name).filter((name) => !isKnown.has(name)),
    pending: files.map(({ name }) => name).filter((name) => !isApplied.has(name)),
  }
}

/** For a restore: the schema of an empty database as these migrations made it, in the caller's transaction. */
export async function createSchema(
  transaction: Queryable,
  migrations: readonly AppliedMigration[],
): Promise<void> {
  await transaction.query(createMigrationTable)
  for (const migration of migrations) await run(transaction, migration)
}

/** Held by everybody who changes the schema or decides what a database is. */
export async function withMigrationLock<T>(connection: Queryable, work: () => Promise<T>): Promise<T> {
  await connection.query('select pg_advisory_lock($1)', [migrationLock])
  try {
    return await work()
  } finally {
    await connection.query('select pg_advisory_unlock($1)', [migrationLock])
  }
}

type MigrationFile = { number: number; name: string }

async function migrationFiles(): Promise<MigrationFile[]> {
  const names = (await readdir(folder)).filter((name) => /^\d{4}_.*\.sql$/.test(name)).toSorted()
  return names.map((name) => ({ number: Number(name.slice(0, 4)), name }))
}

async function apply(connection: Queryable, file: MigrationFile): Promise<void> {
  await connection.query('begin')
  try {
    await run(connection, file)
    await connection.query('commit')
  } catch (error) {
    await connection.query('rollback')
    throw error
  }
}

async function run(transaction: Queryable, file: MigrationFile): Promise<void> {
  const sql = await readFile(new URL(file.name, folder), 'utf8')
  // A first line `-- oldest-generation: N` says which programs can still work after this migration.
  const oldest = Number(/^-- oldest-generation: (\d+)$/m.exec(sql)?.[1] ?? 1)
  try {
    await transaction.query(sql)
    await transaction.query(
      'insert into schema_migration (number, name, applied_at, oldest_generation) values ($1, $2, clock_timestamp(), $3)',
      [file.number, file.name, oldest],
    )
  } catch (error) {
    throw new Error(
      `Migration ${file.name} failed: ${error instanceof Error ? error.message : String(error)}`,
      { cause: error },
    )
  }
}
