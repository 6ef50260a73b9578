/** Counters of contacts for caps and duplicates. Whoever raises them holds the contact's lock. */
import type { CounterRaise, CounterValue } from '../domain/counter.ts'
import type { Queryable } from './db.ts'

export type CounterOf = { contactId: string; key: string }

const loadStatement = {
  name: 'counter_load',
  text: `
select c.contact_id as "contactId", c.key, c.count, c.at
from unnest($1::uuid[], $2::text[]) as p(contact_id, key)
join contact_counter c on c.contact_id = p.contact_id and c.key = p.key`,
}

/** The counters asked for, by contact and key; one that was never raised is absent. */
export async function loadCounters(
  connection: Queryable,
  wanted: readonly CounterOf[],
): Promise<Map<string, Map<string, CounterValue>>> {
  const counters = new Map<string, Map<string, CounterValue>>()
  if (wanted.length === 0) return counters
  const rows = await connection.query<CounterOf & CounterValue>(loadStatement, [
    wanted.map((counter) => counter.contactId),
    wanted.map((counter) => counter.key),
  ])
  for (const { contactId, key, count, at } of rows) {
    const ofContact = counters.get(contactId) ?? new Map<string, CounterValue>()
    counters.set(contactId, ofContact.set(key, { count, at }))
  }
  return counters
}

/** As `raised` in domain/counter.ts. In key order, like every statement that locks counters. */
const raiseStatement = {
  name: 'counter_raise',
  text: `
insert into contact_counter as c (contact_id, key, count, at)
select * from unnest($1::uuid[], $2::text[], $3::int[], $4::timestamptz[]) as r(contact_id, key, count, at)
order by contact_id, key
on conflict (contact_id, key) do update set
  count = case when c.at < excluded.at then excluded.count else c.count + excluded.count end,
  at = greatest(c.at, excluded.at)`,
}

export async function raiseCounters(
  connection: Queryable,
  raises: readonly (CounterRaise & { contactId: string })[],
): Promise<void> {
  const rows = new Map<string, CounterOf & CounterValue>()
  for (const { contactId, key, at } of raises) {
    const id = `${contactId} ${key}`
    const row = rows.get(id)
    if (row === undefined || row.at < at) rows.set(id, { contactId, key, count: 1, at })
    else row.count++
  }
  if (rows.size === 0) return
  const values = [...rows.values()]
  await connection.query(raiseStatement, [
    values.map((row) => row.contactId),
    values.map((row) => row.key),
    values.map((row) => row.count),
    values.map((row) => row.at),
  ])
}

/** Removes up to `limit` marks of contents last sent before `before`, past the reach of every duplicate rule. */
export async function removeOldDuplicateMarks(
  connection: Queryable,
  before: Date,
  limit = 10_000,
): Promise<number> {
  const removed = await connection.query(
    `delete from contact_counter where ctid = any(array(
        select ctid from contact_counter where key like 'dup:%' and at < $1 order by at limit $2 for update skip locked))
      returning 1`,
    [before, limit],
  )
  return removed.length
}
