/** Restriction lists by name; their entries are in restrictions.ts. */
import { nameKey } from '../domain/channel.ts'
import { checkName, notSaved, saved, taken, type Saved } from '../domain/saved.ts'
import { newId } from '../lib/ids.ts'
import type { Queryable } from './db.ts'

export type RestrictionList = { id: string; name: string }

export async function createRestrictionList(
  db: Queryable,
  companyId: string,
  name: string,
): Promise<Saved<RestrictionList>> {
  const problems = checkName('name', name)
  if (problems.length > 0) return notSaved(...problems)
  const [list] = await db.query<RestrictionList>(
    `insert into restriction_list (id, company_id, name, name_key) values ($1, $2, $3, $4)
      on conflict do nothing returning id, name`,
    [newId(), companyId, name.trim(), nameKey(name)],
  )
  return list ? saved(list) : notSaved(taken('name', name))
}
