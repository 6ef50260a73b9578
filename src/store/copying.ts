/** Whole tables out of and into a database by COPY, for backups. */
import type { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import pg from 'pg'
import { from as copyFrom, to as copyTo } from 'pg-copy-streams'
import type { Queryable } from './db.ts'

export type TableFacts = { name: string; columns: string[]; estimatedBytes: number }
export type SequenceFacts = { table: string; column: string; value: number; isCalled: boolean }

/**
 * Not copied: heartbeats of workers that will not be there, and the list of migrations, which is made again.
 * Unlogged tables are left out as well: they are gone after a crash, so nobody relies on them.
 */
const leftOut = ['worker', 'schema_migration']

/** A connection of its own, without the limits that guard the daily work. */
export async function withCopyConnection<T>(
  url: string,
  applicationName: string,
  work: (connection: CopyConnection) => Promise<T>,
): Promise<T> {
  const client = new pg.Client({
    connectionString: url,
    application_name: applicationName,
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
    statement_timeout: 0,
    idle_in_transaction_session_timeout: 0,
  })
  // A connection that breaks is reported by what runs on it; unhandled, the event would end the process.
  client.on('error', () => {})
  await client.connect()
  try {
    // The text of a value must not depend on who writes or reads it.
    await client.query("set client_encoding = 'UTF8'; set timezone = 'UTC'; set datestyle = 'ISO, YMD'")
    await client.query("set intervalstyle = 'postgres'; set bytea_output = 'hex'; set extra_float_digits = 3")
    return await work({
      query: async <R>(statement: string | { text: string }, values?: readonly unknown[]) => {
        const text = typeof statement === 'string' ? statement : statement.text
        return (await client.query({ text, values: values as unknown[] })).rows as R[]
      },
      copyOut: (table) =>
        client.query(copyTo(`copy (select ${columnList(table)} from ${quoted(table.name)}) to stdout`)),
      async copyIn(table, chunks) {
        const stream = client.query(copyFrom(`copy ${quoted(table.name)} (${columnList(table)}) from stdin`))
        const ended = finished(stream)
        // Reported where `ended` is awaited; a refused row must not surface before that as an unhandled rejection.
        ended.catch(() => {})
        try {
          for await (const chunk of chunks) {
            if (stream.destroyed) break
            if (!stream.write(chunk)) await Promise.race([drained(stream), ended])
          }
        } catch (error) {
          stream.destroy(error instanceof Error ? error : undefined)
          throw error
        }
        stream.end()
        await ended
        return stream.rowCount
      },
    })
  } finally {
    await client.end().catch(() => {})
  }
}

export type CopyConnection = Queryable & {
  /** The rows in PostgreSQL's text form; `rowCount` is there at the end. */
  copyOut(table: Pick<TableFacts, 'name' | 'columns'>): Readable & { rowCount: number }
  /** Returns how many rows came in. */
  copyIn(table: Pick<TableFacts, 'name' | 'columns'>, chunks: AsyncIterable<Buffer>): Promise<number>
}

const drained = (stream: NodeJS.WritableStream) =>
  new Promise<void>((resolve) => void stream.once('drain', () => resolve()))

export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`

const columnList = (table: Pick<TableFacts, 'columns'>): string => table.columns.map(quoted).join(', ')

/** Every table that holds something to keep; a partitioned one stands for all of its partitions. */
export async function listTables(connection: Queryable): Promise<TableFacts[]> {
  return connection.query<TableFacts>(
    `select c.relname as name, array_agg(a.attname::text order by a.attnum) as columns,
        greatest(pg_total_relation_size(c.oid), (select coalesce(sum(pg_total_relation_size(i.inhrelid)), 0)
          from pg_inherits i where i.inhparent = c.oid))::float8 as "estimatedBytes"
      from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
      where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
        and c.relpersistence = 'p' and c.relname <> all($1)
        and not exists (select from pg_depend d where d.objid = c.oid and d.deptype = 'e')
      group by c.oid, c.relname order by c.relname`,
    [leftOut],
  )
}

/** True when nothing was ever made here. */
export async function hasNoTables(connection: Queryable): Promise<boolean> {
  const found = await connection.query(
    `select from pg_class c where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p', 'v', 'm')
      and not exists (select from pg_depend d where d.objid = c.oid and d.deptype = 'e') limit 1`,
  )
  return found.length === 0
}

export async function readSequences(connection: Queryable): Promise<SequenceFacts[]> {
  const columns = await connection.query<{ table: string; column: string; sequence: string }>(
    `select c.relname as "table", a.attname as "column",
        pg_get_serial_sequence(quote_ident(c.relname), a.attname) as sequence
      from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
      where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
        and pg_get_serial_sequence(quote_ident(c.relname), a.attname) is not null
      order by 1, 2`,
  )
  const found: SequenceFacts[] = []
  for (const { table, column, sequence } of columns) {
    const [row] = await connection.query<{ value: number; isCalled: boolean }>(
      `select last_value::float8 as value, is_called as "isCalled" from ${sequence}`,
    )
    found.push({ table, column, ...row! })
  }
  return found
}

export async function setSequence(connection: Queryable, sequence: SequenceFacts): Promise<void> {
  await connection.query('select setval(pg_get_serial_sequence($1, $2), $3, $4)', [
    quoted(sequence.table),
    sequence.column,
    sequence.value,
    sequence.isCalled,
  ])
}

/**
 * Takes foreign keys and triggers out of the way and returns how to put them back. Rows then come in any order, no
 * trigger adds rows that the backup holds already, and each key is verified once for the whole table. (The
 * server's own switch, session_replication_role, is for superusers, which a rented database does not give.)
 */
export async function suspendConstraints(transaction: Queryable): Promise<() => Promise<void>> {
  const keys = await transaction.query<{ table: string; name: string; definition: string }>(
    `select conrelid::regclass::text as "table", conname as name, pg_get_constraintdef(oid) as definition
      from pg_constraint where contype = 'f' and conparentid = 0 and connamespace = current_schema()::regnamespace`,
  )
  for (const key of keys)
    await transaction.query(`alter table ${key.table} drop constraint ${quoted(key.name)}`)
  const tables = await transaction.query<{ name: string }>(
    `select distinct tgrelid::regclass::text as name from pg_trigger t join pg_class c on c.oid = t.tgrelid
      where not t.tgisinternal and c.relnamespace = current_schema()::regnamespace`,
  )
  for (const { name } of tables) await transaction.query(`alter table ${name} disable trigger user`)
  return async () => {
    for (const { name } of tables) await transaction.query(`alter table ${name} enable trigger user`)
    for (const key of keys)
      await transaction.query(`alter table ${key.table} add constraint ${quoted(key.name)} ${key.definition}`)
  }
}
