/** Direct tokens as administrators handle them: generate, renew, revoke, list. Only the hash is kept. */
import { isAddressOrRange } from '../domain/address-range.ts'
import { channels, type Channel } from '../domain/channel.ts'
import { checkName, notSaved, saved, type FieldProblem, type Saved } from '../domain/saved.ts'
import { newId } from '../lib/ids.ts'
import { hashToken, newToken } from '../lib/secrets.ts'
import type { Queryable } from './db.ts'

export type DirectToken = {
  id: string
  companyId: string
  name: string
  channels: Channel[]
  /** Addresses and ranges that may call; empty: any. */
  allowedAddresses: string[]
  createdAt: Date
  revokedAt: Date | null
}

export type DirectTokenInput = { name: string; channels?: Channel[]; allowedAddresses?: string[] }

/** The token itself is shown once and never again. */
export type NewDirectToken = DirectToken & { token: string }

const columns = `id, company_id as "companyId", name, channels, allowed_addresses as "allowedAddresses",
  created_at as "createdAt", revoked_at as "revokedAt"`

const maxAddresses = 1000

function check(input: Partial<DirectTokenInput>): FieldProblem[] {
  const problems = input.name === undefined ? [] : checkName('name', input.name)
  if (input.channels?.length === 0)
    problems.push({ field: 'channels', message: `must name at least one of ${channels.join(', ')}` })
  if ((input.allowedAddresses?.length ?? 0) > maxAddresses)
    problems.push({ field: 'allowedAddresses', message: `must have at most ${maxAddresses} items` })
  for (const address of input.allowedAddresses ?? [])
    if (!isAddressOrRange(address))
      problems.push({
        field: 'allowedAddresses',
        message: `"${address}" is neither an IP address nor a range`,
      })
  return problems
}

export async function createDirectToken(
  db: Queryable,
  companyId: string,
  input: DirectTokenInput,
): Promise<Saved<NewDirectToken>> {
  const problems = check(input)
  if (problems.length > 0) return notSaved(...problems)
  const token = newToken()
  const [record] = await db.query<DirectToken>(
    `insert into direct_token (id, company_id, name, hash, channels, allowed_addresses)
      values ($1, $2, $3, $4, $5, $6) returning ${columns}`,
    [
      newId(),
      companyId,
      input.name.trim(),
      hashToken(token),
      input.channels ?? channels,
      input.allowedAddresses ?? [],
    ],
  )
  return saved({ ...record!, token })
}

export const listDirectTokens = (db: Queryable, companyId: string): Promise<DirectToken[]> =>
  db.query<DirectToken>(
    `select ${columns} from direct_token where company_id = $1 order by revoked_at is not null, id limit 10000`,
    [companyId],
  )

export async function getDirectToken(
  db: Queryable,
  companyId: string,
  id: string,
): Promise<DirectToken | undefined> {
  return (
    await db.query<DirectToken>(`select ${columns} from direct_token where company_id = $1 and id = $2`, [
      companyId,
      id,
    ])
  )[0]
}

export async function changeDirectToken(
  db: Queryable,
  companyId: string,
  id: string,
  changes: Partial<DirectTokenInput>,
): Promise<Saved<DirectToken> | undefined> {
  const problems = check(changes)
  if (problems.length > 0) return notSaved(...problems)
  const [record] = await db.query<DirectToken>(
    `update direct_token set name = coalesce($3, name), channels = coalesce($4, channels),
        allowed_addresses = coalesce($5, allowed_addresses)
      where company_id = $1 and id = $2 and revoked_at is null returning ${columns}`,
    [companyId, id, changes.name?.trim(), changes.channels, changes.allowedAddresses],
  )
  return record && saved(record)
}

/**
 * A new token in the place of a living one, with the same name, channels and allow list. The old one is revoked
 * in the same statement, so that there is no moment in which both or neither are good.
 */
export async function renewDirectToken(
  db: Queryable,
  companyId: string,
  id: string,
  now: Date,
): Promise<NewDirectToken | undefined> {
  const token = newToken()
  const [record] = await db.query<DirectToken>(
    `with old as (
        update direct_token set revoked_at = $3 where company_id = $1 and id = $2 and revoked_at is null returning *
      )
      insert into direct_token (id, company_id, name, hash, channels, allowed_addresses)
      select $4, company_id, name, $5, channels, allowed_addresses from old returning ${columns}`,
    [companyId, id, now, newId(), hashToken(token)],
  )
  return record && { ...record, token }
}

/** True when there was a living token to revoke. */
export async function revokeDirectToken(
  db: Queryable,
  companyId: string,
  id: string,
  now: Date,
): Promise<boolean> {
  const rows = await db.query(
    'update direct_token set revoked_at = $3 where company_id = $1 and id = $2 and revoked_at is null returning id',
    [companyId, id, now],
  )
  return rows.length > 0
}
