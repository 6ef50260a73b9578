/** Users of a company: people of the console, attendants, and the API users that log in to send. */
import { nameKey } from '../domain/channel.ts'
import {
  checkName,
  countCharacters,
  notSaved,
  saved,
  taken,
  type FieldProblem,
  type Saved,
} from '../domain/saved.ts'
import { newId } from '../lib/ids.ts'
import { hashPassword } from '../lib/secrets.ts'
import { isUniqueViolation, type Queryable } from './db.ts'

export const userRoles = ['administrator', 'supervisor', 'attendant', 'viewer', 'api'] as const
export type UserRole = (typeof userRoles)[number]

/** Who may be given a contact to attend. */
export const attendingRoles: readonly UserRole[] = ['administrator', 'supervisor', 'attendant']

export type User = {
  id: string
  companyId: string
  name: string
  role: UserRole
  disabledAt: Date | null
  createdAt: Date
}

export type UserInput = { name: string; role: UserRole; password: string }

const columns = `id, company_id as "companyId", name, role, disabled_at as "disabledAt", created_at as "createdAt"`

function checkPassword(password: string): FieldProblem[] {
  const length = countCharacters(password)
  return length >= 8 && length <= 256
    ? []
    : [{ field: 'password', message: 'must have from 8 to 256 characters' }]
}

export async function createUser(db: Queryable, companyId: string, input: UserInput): Promise<Saved<User>> {
  const problems = [...checkName('name', input.name), ...checkPassword(input.password)]
  if (problems.length > 0) return notSaved(...problems)
  const [user] = await db.query<User>(
    `insert into app_user (id, company_id, name, name_key, role, password_hash) values ($1, $2, $3, $4, $5, $6)
      on conflict (company_id, name_key) do nothing returning ${columns}`,
    [
      newId(),
      companyId,
      input.name.trim(),
      nameKey(input.name),
      input.role,
      await hashPassword(input.password),
    ],
  )
  return user ? saved(user) : notSaved(taken('name', input.name))
}

export async function getUser(db: Queryable, companyId: string, id: string): Promise<User | undefined> {
  return (
    await db.query<User>(`select ${columns} from app_user where company_id = $1 and id = $2`, [companyId, id])
  )[0]
}

export async function findUserByName(
  db: Queryable,
  companyId: string,
  name: string,
): Promise<User | undefined> {
  return (
    await db.query<User>(`select ${columns} from app_user where company_id = $1 and name_key = $2`, [
      companyId,
      nameKey(name),
    ])
  )[0]
}

export const listUsers = (db: Queryable, companyId: string): Promise<User[]> =>
  db.query<User>(`select ${columns} from app_user where company_id = $1 order by name_key limit 10000`, [
    companyId,
  ])

export async function changeUser(
  db: Queryable,
  companyId: string,
  id: string,
  changes: { name?: string; role?: UserRole },
): Promise<Saved<User> | undefined> {
  const problems = changes.name === undefined ? [] : checkName('name', changes.name)
  if (problems.length > 0) return notSaved(...problems)
  try {
    // A user that stops being an API user has no use for its token; it must not come back to life later.
    const [user] = await db.query<User>(
      `with killed as (delete from api_token where user_id = $2 and company_id = $1 and $5 <> 'api')
        update app_user set name = coalesce($3, name), name_key = coalesce($4, name_key), role = coalesce($5, role)
        where company_id = $1 and id = $2 returning ${columns}`,
      [
        companyId,
        id,
        changes.name?.trim(),
        changes.name === undefined ? undefined : nameKey(changes.name),
        changes.role,
      ],
    )
    return user && saved(user)
  } catch (error) {
    if (isUniqueViolation(error)) return notSaved(taken('name', changes.name ?? ''))
    throw error
  }
}

/** A new password ends what was opened with the old one. */
export async function changePassword(
  db: Queryable,
  companyId: string,
  id: string,
  password: string,
): Promise<Saved<User> | undefined> {
  const problems = checkPassword(password)
  if (problems.length > 0) return notSaved(...problems)
  const [user] = await db.query<User>(
    `with killed as (delete from api_token where user_id = $2 and company_id = $1)
      update app_user set password_hash = $3 where company_id = $1 and id = $2 returning ${columns}`,
    [companyId, id, await hashPassword(password)],
  )
  return user && saved(user)
}

/** A disabled user cannot log in, and its token is gone for good. Null enables it again. */
export async function disableUser(
  db: Queryable,
  companyId: string,
  id: string,
  disabledAt: Date | null,
): Promise<User | undefined> {
  const [user] = await db.query<User>(
    `with killed as (delete from api_token where user_id = $2 and company_id = $1 and $3::timestamptz is not null)
      update app_user set disabled_at = $3 where company_id = $1 and id = $2 returning ${columns}`,
    [companyId, id, disabledAt],
  )
  return user
}

/** Ends the living token of an API user; true when there was one. */
export async function killUserToken(db: Queryable, companyId: string, id: string): Promise<boolean> {
  const rows = await db.query(
    'delete from api_token where user_id = $2 and company_id = $1 returning user_id',
    [companyId, id],
  )
  return rows.length > 0
}

export type UserAccess = {
  hasSecondFactor: boolean
  /** Living sessions of the console. */
  sessions: number
  lastSeenAt: Date | null
  /** Of the living token of an API user. */
  tokenIssuedAt: Date | null
  tokenExpiresAt: Date | null
}

/** How a user comes in; `idleSince` is before which a session has ended by itself. */
export async function readUserAccess(
  db: Queryable,
  companyId: string,
  id: string,
  { now, idleSince }: { now: Date; idleSince: Date },
): Promise<UserAccess | undefined> {
  const [access] = await db.query<UserAccess>(
    `select exists (select 1 from user_totp t where t.user_id = u.id and t.confirmed_at is not null) as "hasSecondFactor",
        (select count(*)::int from admin_session s where s.user_id = u.id and s.expires_at > $3 and s.seen_at > $4) as sessions,
        (select max(seen_at) from admin_session s where s.user_id = u.id) as "lastSeenAt",
        t.issued_at as "tokenIssuedAt", t.expires_at as "tokenExpiresAt"
      from app_user u left join api_token t on t.user_id = u.id and t.expires_at > $3
      where u.company_id = $1 and u.id = $2`,
    [companyId, id, now, idleSince],
  )
  return access
}
