/** Restriction lists and their entries. */
import { nameKey } from '../domain/channel.ts'
import { checkName, notSaved, saved, taken, type Saved } from '../domain/saved.ts'
import { newId } from '../lib/ids.ts'
import type { Queryable } from './db.ts'

export type RestrictionList = { id: string; name: string }

export type RestrictionEntry = {
  field: 'phone' | 'email' | 'document' | 'contract'
  /** As compared: a phone's or e-mail's key (domain/address), else the text itself. */
  value: string
  isPrefix?: boolean
  expiresAt?: Date
}

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

/** An entry that is there already takes the new expiry. */
export async function addRestriction(db: Queryable, listId: string, entry: RestrictionEntry): Promise<void> {
  await db.query(
    `insert into restriction_entry (list_id, field, is_prefix, value, expires_at) values ($1, $2, $3, $4, $5)
      on conflict (list_id, field, is_prefix, value) do update set expires_at = excluded.expires_at`,
    [listId, entry.field, entry.isPrefix ?? false, entry.value, entry.expiresAt],
  )
}
