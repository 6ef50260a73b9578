/** Monthly partitions of messages and events by the message's UUIDv7, made ahead of time. */
import { firstIdAt } from '../lib/ids.ts'
import type { Queryable } from './db.ts'

const partitionedTables = ['message', 'message_event'] as const
const monthsAhead = 3

const monthStart = (at: Date, offset: number) =>
  new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + offset, 1))

const suffix = (month: Date) =>
  `${month.getUTCFullYear()}_${String(month.getUTCMonth() + 1).padStart(2, '0')}`

/**
 * Last month, this one and three ahead. The DEFAULT partition catches what a wrong clock or a missed
 * housekeeping would lose; rows in it raise an alert.
 */
export async function ensurePartitions(connection: Queryable, now: Date): Promise<void> {
  const existing = new Set(
    (
      await connection.query<{ name: string }>(
        `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
          where i.inhparent = any(array['message'::regclass, 'message_event'::regclass])`,
      )
    ).map((row) => row.name),
  )
  for (const table of partitionedTables) {
    if (!existing.has(`${table}_default`))
      await connection.query(`create table ${table}_default partition of ${table} default`)
    for (let offset = -1; offset <= monthsAhead; offset++) {
      const month = monthStart(now, offset)
      const name = `${table}_${suffix(month)}`
      if (existing.has(name)) continue
      const from = firstIdAt(month)
      const to = firstIdAt(monthStart(now, offset + 1))
      await connection.query(
        // Room in each page for the next version of its rows: state changes are then HOT and touch no index.
        `create table ${name} partition of ${table} for values from ('${from}') to ('${to}')${table === 'message' ? ' with (fillfactor = 75)' : ''}`,
      )
    }
  }
}

/** Retention: whole months go at once, and with them what points into them. */
export async function dropPartitionsBefore(connection: Queryable, before: Date): Promise<string[]> {
  const limit = suffix(before)
  const partitions = await connection.query<{ name: string }>(
    `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
      where i.inhparent = any(array['message'::regclass, 'message_event'::regclass])`,
  )
  const old = partitions
    .map((row) => row.name)
    .filter((name) => /_\d{4}_\d{2}$/.test(name) && name.slice(-7) < limit)
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
     )
     select ((select count(*) from trouble) + (select count(*) from reference))::int as gone`,
    [first, limit, monthStart(before, 0)],
  )
  return row!.gone
}
