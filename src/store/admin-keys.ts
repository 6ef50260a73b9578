/** Keys for programs that call the admin API. Only the hash is kept. */
import { checkName, notSaved, saved, type FieldProblem, type Saved } from '../domain/saved.ts'
import { newId } from '../lib/ids.ts'
import { hashToken, newToken } from '../lib/secrets.ts'
import type { Queryable } from './db.ts'

/** `messages:own`: the messages that one API user sent. `read`: what a viewer sees. `manage`: what an administrator may. */
export const keyScopes = ['messages:own', 'read', 'manage'] as const
export type KeyScope = (typeof keyScopes)[number]

export type AdminKey = {
  id: string
  name: string
  scopes: KeyScope[]
  /** Whose messages `messages:own` means. */
  userId: string | null
  createdBy: string
  createdAt: Date
  revokedAt: Date | null
}

export type AdminKeyInput = { name: string; scopes: KeyScope[]; userId?: string }

const columns = `id, name, scopes, user_id as "userId", created_by as "createdBy", created_at as "createdAt", revoked_at as "revokedAt"`

/** The key itself is shown once and never again. */
export async function createAdminKey(
  db: Queryable,
  companyId: string,
  input: AdminKeyInput,
  createdBy: string,
): Promise<Saved<AdminKey & { key: string }>> {
  const problems: FieldProblem[] = checkName('name', input.name)
  if (input.scopes.length === 0)
    problems.push({ field: 'scopes', message: `must name at least one of ${keyScopes.join(', ')}` })
  if (input.scopes.includes('messages:own') && input.userId === undefined)
    problems.push({ field: 'userId', message: 'must say whose messages, for the scope messages:own' })
  if (problems.length > 0) return notSaved(...problems)
  const key = newToken('pak_')
  const [record] = await db.query<AdminKey>(
    `insert into admin_key (id, company_id, name, hash, scopes, user_id, created_by)
      select $1, $2, $3, $4, $5, $6, $7 where $6::uuid is null or exists (select 1 from app_user where company_id = $2 and id = $6)
      returning ${columns}`,
    [newId(), companyId, input.name.trim(), hashToken(key), input.scopes, input.userId, createdBy],
  )
  return record
    ? saved({ ...record, key })
    : notSaved({ field: 'userId', message: 'is no user of this company' })
}

export const listAdminKeys = (db: Queryable, companyId: string): Promise<AdminKey[]> =>
  db.query<AdminKey>(
    `select ${columns} from admin_key where company_id = $1 order by revoked_at is not null, id limit 10000`,
    [companyId],
  )

/** True when there was a living key to revoke. */
export async function revokeAdminKey(
  db: Queryable,
  companyId: string,
  id: string,
  now: Date,
): Promise<boolean> {
  const rows = await db.query(
    'update admin_key set revoked_at = $3 where company_id = $1 and id = $2 and revoked_at is null returning 1',
    [companyId, id, now],
  )
  return rows.length > 0
}

export type KeyOwner = {
  keyId: string
  companyId: string
  name: string
  scopes: KeyScope[]
  userId: string | null
}

/** Looked up every time: a revoked key is dead on every node at once. */
export async function findAdminKey(db: Queryable, hash: Buffer): Promise<KeyOwner | undefined> {
  const rows = await db.query<KeyOwner>(
    {
      name: 'admin_key_find',
      text: `select k.id as "keyId", k.company_id as "companyId", k.name, k.scopes, k.user_id as "userId"
        from admin_key k join company c on c.id = k.company_id
        where k.hash = $1 and k.revoked_at is null and c.suspended_at is null`,
    },
    [hash],
  )
  return rows[0]
}
