/** Monthly partitions of messages and events by the message's UUIDv7, made ahead of time. */
import { firstIdAt } from '../lib/ids.ts'
import type { Queryable } from './db.ts'

const partitionedTables = ['message', 'message_event'] as const
const monthsAhead = 3

const monthStart = (at: Date, offset: number) =>
  new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + offset, 1))

const suffix = (month: Date) =>
  `${month.getUTCFullYear()}_${String(month.getUTCMonth() + 1).padStart(2, '0')}`

export const partitionName = (table: (typeof partitionedTables)[number], month: Date): string =>
  `${table}_${suffix(month)}`

/**
 * Last month, this one and three ahead. The DEFAULT partition catches what a wrong clock or a missed
 * housekeeping would lose; rows in it raise an alert.
 */
export const ensurePartitions = (connection: Queryable, now: Date): Promise<void> =>
  ensureMonths(
    connection,
    Array.from({ length: monthsAhead + 2 }, (_, index) => monthStart(now, index - 1)),
  )

export async function ensureMonths(connection: Queryable, months: readonly Date[]): Promise<void> {
  const existing = new Set(await partitionNames(connection))
  for (const table of partitionedTables) {
    if (!existing.has(`${table}_default`))
      await connection.query(`create table ${table}_default partition of ${table} default`)
    for (const month of months) {
      if (!existing.has(partitionName(table, month))) await createMonth(connection, table, month)
    }
  }
}

/**
 * What a wrong clock has put into the DEFAULT partition moves into its month: while it lies there, PostgreSQL refuses
 * to make the month, and nothing would start any more. One string, so that it is one transaction.
 */
async function createMonth(
  connection: Queryable,
  table: (typeof partitionedTables)[number],
  month: Date,
): Promise<void> {
  const name = partitionName(table, month)
  const id = table === 'message' ? 'id' : 'message_id'
  const from = firstIdAt(monthStart(month, 0))
  const to = firstIdAt(monthStart(month, 1))
  const values = `for values from ('${from}') to ('${to}')`
  // Room in each page for the next version of its rows: state changes are then HOT and touch no index.
  const room = table === 'message' ? 'fillfactor = 50, ' : ''
  const storage = ` with (${room}autovacuum_analyze_threshold = 50000, autovacuum_analyze_scale_factor = 0.2)`
  const isOfMonth = `${id} >= '${from}' and ${id} < '${to}'`
  const strays = await connection.query(`select 1 from ${table}_default where ${isOfMonth} limit 1`)
  await connection.query(
    strays.length === 0
      ? `create table ${name} partition of ${table} ${values}${storage}`
      : `create table ${name} (like ${table} including defaults)${storage};
         with stray as (delete from ${table}_default where ${isOfMonth} returning *) insert into ${name} select * from stray;
         alter table ${table} attach partition ${name} ${values}`,
  )
  // No query looks into documents: PostgreSQL would sort them for its statistics, and partitions do not inherit this.
  const documents = await connection.query<{ name: string }>(
    `select attname as name from pg_attribute where attrelid = $1::regclass and atttypid = 'jsonb'::regtype`,
    [name],
  )
  const columns = documents.map((column) => `alter column ${column.name} set statistics 0`)
  await connection.query(`alter table ${name} ${columns.join(', ')}`)
}

async function partitionNames(connection: Queryable, condition = 'true'): Promise<string[]> {
  const rows = await connection.query<{ name: string }>(
    `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
      where i.inhparent = any(array['message'::regclass, 'message_event'::regclass]) and ${condition}`,
  )
  return rows.map((row) => row.name)
}

/** The first day of every month that has a partition. */
export async function partitionedMonths(connection: Queryable): Promise<Date[]> {
  const names = await partitionNames(connection)
  const months = new Set(names.flatMap((name) => /_(\d{4}_\d{2})$/.exec(name)?.[1] ?? []))
  return [...months].toSorted().map((month) => new Date(`${month.replace('_', '-')}-01T00:00:00Z`))
}

/**
 * A month that was analysed while it was empty (by a person, or after a restore) is planned for as empty, row by row,
 * until it has grown enough for the next analysis: 50,000 rows. A look at its first rows makes plans right.
 */
export async function analyzeNewlyFilled(connection: Queryable): Promise<void> {
  for (const name of await partitionNames(connection, 'c.reltuples = 0 and pg_relation_size(c.oid) > 0'))
    await connection.query(`analyze ${name}`)
}

/** For a database that was filled a moment ago. What is empty stays unknown, which plans better than known emptiness. */
export async function analyzeFilled(connection: Queryable): Promise<void> {
  const rows = await connection.query<{ name: string }>(
    `select relname as name from pg_class
      where relkind = 'r' and relnamespace = current_schema()::regnamespace and pg_relation_size(oid) > 0`,
  )
  if (rows.length > 0) await connection.query(`analyze ${rows.map(({ name }) => `"${name}"`).join(', ')}`)
}

/** Retention: whole months go at once, and with them what points into them. */
export async function dropPartitionsBefore(connection: Queryable, before: Date): Promise<string[]> {
  const limit = suffix(before)
  const old = (await partitionNames(connection)).filter(
    (name) => /_\d{4}_\d{2}$/.test(name) && name.slice(-7) < limit,
  )
  for (const name of old) await connection.query(`drop table ${name}`)
  return old
}

/** Bounded bites of the small tables that name messages; returns how many rows went. */
export async function forgetMessagesBefore(
  connection: Queryable,
  before: Date,
  limit: number,
): Promise<number> {
  const first = firstIdAt(monthStart(before, 0))
  const [row] = await connection.query<{ gone: number }>(
    `with trouble as (
       delete from message_trouble where (company_id, state, message_id) in (
         select company_id, state, message_id from message_trouble where message_id < $1 limit $2) returning 1
     ), reference as (
       delete from provider_reference where (line_id, provider_id) in (
         select line_id, provider_id from provider_reference where created_at < $3 order by created_at limit $2) returning 1
     ), entry as (
       -- Deferred for longer than messages are kept: without its message it would stand at the head of its queue.
       delete from outbox where message_id in (select message_id from outbox where message_id < $1 limit $2) returning 1
     )
     select ((select count(*) from trouble) + (select count(*) from reference) + (select count(*) from entry))::int as gone`,
    [first, limit, monthStart(before, 0)],
  )
  return row!.gone
}
