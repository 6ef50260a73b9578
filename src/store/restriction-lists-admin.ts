/** Restriction lists as people handle them: read, rename, remove, and search for entries. */
import { nameKey } from '../domain/channel.ts'
import { readRestrictionValue, restrictionFields } from '../domain/restriction.ts'
import { checkName, notSaved, saved, taken, type Saved } from '../domain/saved.ts'
import { isUniqueViolation, type Queryable } from './db.ts'
import type { RestrictionList } from './restriction-lists.ts'
import type { StoredEntry } from './restrictions.ts'

export async function getRestrictionList(
  db: Queryable,
  companyId: string,
  id: string,
): Promise<RestrictionList | undefined> {
  const rows = await db.query<RestrictionList>(
    'select id, name from restriction_list where company_id = $1 and id = $2',
    [companyId, id],
  )
  return rows[0]
}

export async function renameRestrictionList(
  db: Queryable,
  companyId: string,
  id: string,
  name: string,
): Promise<Saved<RestrictionList> | undefined> {
  const problems = checkName('name', name)
  if (problems.length > 0) return notSaved(...problems)
  try {
    const [list] = await db.query<RestrictionList>(
      'update restriction_list set name = $3, name_key = $4 where company_id = $1 and id = $2 returning id, name',
      [companyId, id, name.trim(), nameKey(name)],
    )
    return list && saved(list)
  } catch (error) {
    if (isUniqueViolation(error)) return notSaved(taken('name', name))
    throw error
  }
}

/** Names of the rules that look at it: while there are any, it stays. */
export async function rulesOfList(db: Queryable, companyId: string, id: string): Promise<string[]> {
  const rows = await db.query<{ name: string }>(
    `select name from rule where company_id = $1 and kind = 'restriction_list' and settings->>'listId' = $2 order by name limit 10`,
    [companyId, id],
  )
  return rows.map(({ name }) => name)
}

export async function removeRestrictionList(db: Queryable, companyId: string, id: string): Promise<boolean> {
  const rows = await db.query('delete from restriction_list where company_id = $1 and id = $2 returning 1', [
    companyId,
    id,
  ])
  return rows.length > 0
}

/** How many entries, counted up to a bound: "10000+" is enough for a page. */
export async function countEntries(db: Queryable, listId: string, upTo: number): Promise<number> {
  const [row] = await db.query<{ count: number }>(
    'select count(*)::int as count from (select 1 from restriction_entry where list_id = $1 limit $2) e',
    [listId, upTo],
  )
  return row!.count
}

/** Entries whose value is this one, in any of the fields and both as a whole and as a prefix. */
export function findEntriesByValue(db: Queryable, listId: string, value: string): Promise<StoredEntry[]> {
  const keys = restrictionFields.flatMap((field) =>
    [false, true].flatMap((isPrefix) => {
      const reading = readRestrictionValue(field, value, isPrefix)
      return reading.ok ? { field, isPrefix, value: reading.value } : []
    }),
  )
  return db.query<StoredEntry>(
    `select e.field, e.is_prefix as "isPrefix", e.value, e.expires_at as "expiresAt"
      from unnest($2::text[], $3::boolean[], $4::text[]) as k(field, is_prefix, value)
      join restriction_entry e on e.list_id = $1 and e.field = k.field and e.is_prefix = k.is_prefix and e.value = k.value
      order by e.field, e.is_prefix, e.value limit 100`,
    [
      listId,
      keys.map(({ field }) => field),
      keys.map(({ isPrefix }) => isPrefix),
      keys.map((key) => key.value),
    ],
  )
}

export type ListRule = { listId: string; id: string; name: string; isEnabled: boolean }

/** Rules that look at any list of the company. */
export const listRulesOfLists = (db: Queryable, companyId: string): Promise<ListRule[]> =>
  db.query<ListRule>(
    `select settings->>'listId' as "listId", id, name, is_enabled as "isEnabled" from rule
      where company_id = $1 and kind = 'restriction_list' order by position, id limit 10000`,
    [companyId],
  )

/** How many entries each of these has, counted up to a bound. */
export async function countEntriesOf(
  db: Queryable,
  listIds: readonly string[],
  upTo: number,
): Promise<Map<string, number>> {
  const rows = await db.query<{ id: string; count: number }>(
    `select l.id, e.count from unnest($1::uuid[]) as l(id) cross join lateral (
        select count(*)::int as count from (select 1 from restriction_entry where list_id = l.id limit $2) e) e`,
    [listIds, upTo],
  )
  return new Map(rows.map(({ id, count }) => [id, count]))
}
