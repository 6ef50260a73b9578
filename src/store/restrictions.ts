/** Entries of restriction lists: lookups for a whole batch, adding, removing, expiring. Lists: restriction-lists.ts. */
import { nameKey } from '../domain/channel.ts'
import {
  otherSpelling,
  readRestrictionValue,
  restrictionFields,
  restrictionKey,
  type RestrictionField,
  type RestrictionHit,
} from '../domain/restriction.ts'
import {
  booleans,
  columnNames,
  columnParameters,
  numbers,
  writeColumns,
  texts,
  uuids,
  type Columns,
} from './columns.ts'
import type { Queryable } from './db.ts'
import { createStatements } from './statements.ts'

/** What a list has entries of: nothing else is looked up on it. */
export type ListContents = {
  id: string
  exact: readonly RestrictionField[]
  prefixed: readonly RestrictionField[]
}

/** For lists of which it is not known. */
export const anyContents = (id: string): ListContents => ({
  id,
  exact: restrictionFields,
  prefixed: restrictionFields,
})

/** What is looked up for one request: these values on these lists. */
export type RestrictionProbe = {
  ref: number
  lists: readonly ListContents[]
  phone?: string
  email?: string
  document?: string
  contract?: string
}

type ProbeRow = { ref: number; list_id: string; field: RestrictionField; value: string; is_exact: boolean }

const probeColumns: Columns<ProbeRow> = {
  ref: numbers,
  list_id: uuids,
  field: texts,
  value: texts,
  is_exact: booleans,
}

/** The lengths of prefixes in use: restriction_shape has a handful of rows per list. */
const prefixesSql = `join restriction_shape s on s.list_id = p.list_id and s.field = p.field
  and case when s.length = 0 then p.is_exact else s.length <= length(p.value) end
cross join lateral (select s.length > 0 as is_prefix, case when s.length = 0 then p.value else left(p.value, s.length) end as value offset 0) v`

/**
 * One index descent for everything that a list may hold about a value: the value itself, and its prefixes if there are
 * any. OFFSET 0 changes nothing but the plan: such a subquery is never turned into a join that reads the table,
 * whatever the statistics say.
 */
export const findStatement = createStatements(
  'restriction_find',
  ({ hasPrefixes }: { hasPrefixes: boolean }, parameter) => `
select p.ref, e.list_id as "listId", e.field, e.value, e.is_prefix as "isPrefix", e.expires_at as "expiresAt"
from unnest(${columnParameters(probeColumns, parameter)}) as p(${columnNames(probeColumns)})
${hasPrefixes ? prefixesSql : 'cross join lateral (select false as is_prefix, p.value) v'}
cross join lateral (
  select * from restriction_entry e
  where restriction_key(e.list_id, e.field, e.is_prefix, e.value) = restriction_key(p.list_id, p.field, v.is_prefix, v.value)
  offset 0) e
where e.list_id = p.list_id and e.field = p.field and e.is_prefix = v.is_prefix and e.value = v.value
  and (e.expires_at is null or e.expires_at > ${parameter('timestamptz')})`,
)

type FoundRow = {
  ref: number
  listId: string
  field: RestrictionField
  value: string
  isPrefix: boolean
  expiresAt: Date | null
}

/** The hits of each probe by its `ref`; a probe without hits is absent. One statement, however many probes. */
export async function findRestrictionHits(
  connection: Queryable,
  probes: readonly RestrictionProbe[],
  now: Date,
): Promise<Map<number, RestrictionHit[]>> {
  const hits = new Map<number, RestrictionHit[]>()
  const { asked, hasPrefixes } = probeRows(probes)
  if (asked.length === 0) return hits
  const rows = await connection.query<FoundRow>(findStatement({ hasPrefixes }), [
    ...writeColumns(probeColumns, asked),
    now,
  ])
  for (const { ref, expiresAt, ...row } of rows) {
    const ofProbe = hits.get(ref) ?? []
    hits.set(ref, ofProbe)
    // Both spellings of a Brazilian mobile start with the same area code, so a prefix may be found twice.
    if (ofProbe.some((hit) => isSameEntry(hit, row))) continue
    ofProbe.push(expiresAt === null ? row : { ...row, expiresAt })
  }
  return hits
}

const isSameEntry = (a: RestrictionHit, b: RestrictionHit): boolean =>
  a.isPrefix === b.isPrefix && a.value === b.value && a.field === b.field && a.listId === b.listId

function probeRows(probes: readonly RestrictionProbe[]): { asked: ProbeRow[]; hasPrefixes: boolean } {
  const rows: ProbeRow[] = []
  let isAnyPrefixed = false
  for (const probe of probes) {
    for (const field of restrictionFields) {
      if (probe[field] === undefined) continue
      for (const { id, exact, prefixed } of probe.lists) {
        const hasPrefixes = prefixed.includes(field)
        if (!hasPrefixes && !exact.includes(field)) continue
        isAnyPrefixed ||= hasPrefixes
        const value = restrictionKey(field, probe[field])
        // PostgreSQL has no text with a zero character, and no entry has one.
        if (value === '' || value.includes('\0')) continue
        rows.push({ ref: probe.ref, list_id: id, field, value, is_exact: true })
        // Of the other spelling only the beginnings are looked up: exact values are kept in one.
        const other = hasPrefixes && field === 'phone' ? otherSpelling(value) : undefined
        if (other !== undefined)
          rows.push({ ref: probe.ref, list_id: id, field, value: other, is_exact: false })
      }
    }
  }
  return { asked: rows, hasPrefixes: isAnyPrefixed }
}

export type RestrictionEntryInput = {
  field: RestrictionField
  value: string
  isPrefix?: boolean
  expiresAt?: Date
}

export type EntriesAdded = {
  /** Entries that were not there before. */
  added: number
  /** Those that were, and have another expiry now. */
  changed: number
  /** What was not taken: its place in the input, and why. */
  problems: { index: number; reason: string }[]
}

/** Values are brought into the form in which they compare; an entry that is there takes the new expiry. */
export async function addRestrictionEntries(
  connection: Queryable,
  listId: string,
  entries: readonly RestrictionEntryInput[],
): Promise<EntriesAdded> {
  const problems: EntriesAdded['problems'] = []
  const byKey = new Map<
    string,
    { field: RestrictionField; isPrefix: boolean; value: string; at: Date | null }
  >()
  for (const [index, { field, value, isPrefix = false, expiresAt = null }] of entries.entries()) {
    const reading = readRestrictionValue(field, value, isPrefix)
    if (reading.ok)
      byKey.set(`${field} ${isPrefix} ${reading.value}`, {
        field,
        isPrefix,
        value: reading.value,
        at: expiresAt,
      })
    else problems.push({ index, reason: reading.reason })
  }
  const rows = [...byKey.values()]
  const [counts] = await connection.query<{ added: number; changed: number }>(mergeStatement, [
    listId,
    rows.map((row) => row.field),
    rows.map((row) => row.isPrefix),
    rows.map((row) => row.value),
    rows.map((row) => row.at),
  ])
  return { added: counts!.added, changed: counts!.changed, problems }
}

/** The rows to merge come as `given (field, is_prefix, value, expires_at)`, each key once. */
export const mergeInto = (listId: string, given: string): string => `
with merged as (
  insert into restriction_entry (list_id, field, is_prefix, value, expires_at)
  select ${listId}, field, is_prefix, value, expires_at from ${given} order by field, is_prefix, value
  on conflict (list_id, field, is_prefix, value) do update set expires_at = excluded.expires_at
    where restriction_entry.expires_at is distinct from excluded.expires_at
  returning xmax = 0 as is_new
)
select count(*) filter (where is_new) as added, count(*) filter (where not is_new) as changed from merged`

const mergeStatement = {
  name: 'restriction_merge',
  text: mergeInto(
    '$1::uuid',
    'unnest($2::text[], $3::boolean[], $4::text[], $5::timestamptz[]) as given(field, is_prefix, value, expires_at)',
  ),
}

/** How many were there. A value that could be no entry is not there. */
export async function removeRestrictionEntries(
  connection: Queryable,
  listId: string,
  entries: readonly Pick<RestrictionEntryInput, 'field' | 'value' | 'isPrefix'>[],
): Promise<number> {
  const rows = entries.flatMap(({ field, value, isPrefix = false }) => {
    const reading = readRestrictionValue(field, value, isPrefix)
    return reading.ok ? [{ field, isPrefix, value: reading.value }] : []
  })
  const removed = await connection.query(
    `delete from restriction_entry e using unnest($2::text[], $3::boolean[], $4::text[]) as g(field, is_prefix, value)
      where e.list_id = $1 and e.field = g.field and e.is_prefix = g.is_prefix and e.value = g.value returning 1`,
    [listId, rows.map((row) => row.field), rows.map((row) => row.isPrefix), rows.map((row) => row.value)],
  )
  return removed.length
}

/** Removes up to `limit` entries that hold no longer; a lookup never counts them anyway. Returns how many. */
export async function removeExpiredEntries(
  connection: Queryable,
  now: Date,
  limit = 10_000,
): Promise<number> {
  const removed = await connection.query(
    `delete from restriction_entry where ctid = any(array(
        select ctid from restriction_entry where expires_at <= $1 order by expires_at limit $2 for update skip locked))
      returning 1`,
    [now, limit],
  )
  return removed.length
}

export type StoredEntry = {
  field: RestrictionField
  isPrefix: boolean
  value: string
  expiresAt: Date | null
}

/** A page of a list in key order; `after` is the last entry of the page before. */
export const listRestrictionEntries = (
  connection: Queryable,
  listId: string,
  options: {
    field?: RestrictionField
    after?: Pick<StoredEntry, 'field' | 'isPrefix' | 'value'>
    limit: number
  },
): Promise<StoredEntry[]> =>
  connection.query<StoredEntry>(
    `select field, is_prefix as "isPrefix", value, expires_at as "expiresAt" from restriction_entry
      where list_id = $1 and ($2::text is null or (field, is_prefix, value) > ($2, $3::boolean, $4::text))
        ${options.field === undefined ? '' : 'and field = $6'} order by field, is_prefix, value limit $5`,
    [
      listId,
      options.after?.field,
      options.after?.isPrefix,
      options.after?.value,
      options.limit,
      ...(options.field === undefined ? [] : [options.field]),
    ],
  )

export const listRestrictionLists = (
  connection: Queryable,
  companyId: string,
): Promise<{ id: string; name: string; createdAt: Date }[]> =>
  connection.query(
    `select id, name, created_at as "createdAt" from restriction_list where company_id = $1 order by name_key limit 10000`,
    [companyId],
  )

export async function findRestrictionListByName(
  connection: Queryable,
  companyId: string,
  name: string,
): Promise<{ id: string; name: string } | undefined> {
  const rows = await connection.query<{ id: string; name: string }>(
    'select id, name from restriction_list where company_id = $1 and name_key = $2',
    [companyId, nameKey(name)],
  )
  return rows[0]
}
