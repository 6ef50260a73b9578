/** Sessions of people in the console: found by the hash of the random id in their cookie. */
import { newId } from '../lib/ids.ts'
import type { Queryable } from './db.ts'
import type { UserRole } from './users.ts'

export type Session = {
  id: string
  createdAt: Date
  seenAt: Date
  expiresAt: Date
  address: string
  userAgent: string
}

export type SessionOwner = {
  sessionId: string
  companyId: string
  companyName: string
  userId: string
  userName: string
  role: UserRole
  seenAt: Date
}

const columns = `id, created_at as "createdAt", seen_at as "seenAt", expires_at as "expiresAt", address, user_agent as "userAgent"`

export async function createSession(
  db: Queryable,
  session: {
    companyId: string
    userId: string
    hash: Buffer
    now: Date
    expiresAt: Date
    address: string
    userAgent: string
  },
): Promise<string> {
  const id = newId()
  await db.query(
    `insert into admin_session (id, company_id, user_id, hash, created_at, seen_at, expires_at, address, user_agent)
      values ($1, $2, $3, $4, $5, $5, $6, $7, $8)`,
    [
      id,
      session.companyId,
      session.userId,
      session.hash,
      session.now,
      session.expiresAt,
      session.address,
      session.userAgent.slice(0, 300),
    ],
  )
  return id
}

/** Neither expired nor idle for too long, of a user that may still sign in. */
export async function findSession(
  db: Queryable,
  hash: Buffer,
  now: Date,
  idleMs: number,
): Promise<SessionOwner | undefined> {
  const rows = await db.query<SessionOwner>(
    {
      name: 'session_find',
      text: `select s.id as "sessionId", s.company_id as "companyId", c.name as "companyName", s.user_id as "userId", u.name as "userName",
          u.role, s.seen_at as "seenAt"
        from admin_session s join app_user u on u.id = s.user_id join company c on c.id = s.company_id
        where s.hash = $1 and s.expires_at > $2 and s.seen_at > $3 and u.disabled_at is null and u.role <> 'api'
          and c.suspended_at is null`,
    },
    [hash, now, new Date(now.getTime() - idleMs)],
  )
  return rows[0]
}

export async function touchSession(db: Queryable, sessionId: string, now: Date): Promise<void> {
  await db.query('update admin_session set seen_at = greatest(seen_at, $2) where id = $1', [sessionId, now])
}

export async function endSessionByHash(db: Queryable, hash: Buffer): Promise<boolean> {
  return (await db.query('delete from admin_session where hash = $1 returning 1', [hash])).length > 0
}

/** Newest first. */
export const listSessions = (
  db: Queryable,
  companyId: string,
  userId: string,
  now: Date,
): Promise<Session[]> =>
  db.query<Session>(
    `select ${columns} from admin_session where company_id = $1 and user_id = $2 and expires_at > $3
      order by id desc limit 200`,
    [companyId, userId, now],
  )

export async function endSession(
  db: Queryable,
  companyId: string,
  userId: string,
  id: string,
): Promise<boolean> {
  const rows = await db.query(
    'delete from admin_session where company_id = $1 and user_id = $2 and id = $3 returning 1',
    [companyId, userId, id],
  )
  return rows.length > 0
}

/** All of a user's, but for the one that is kept; returns how many. */
export async function endSessions(
  db: Queryable,
  companyId: string,
  userId: string,
  keptId?: string,
): Promise<number> {
  const rows = await db.query(
    'delete from admin_session where company_id = $1 and user_id = $2 and id is distinct from $3 returning 1',
    [companyId, userId, keptId],
  )
  return rows.length
}

/** Removes up to `limit` sessions that ended by themselves. */
export async function removeExpiredSessions(db: Queryable, now: Date, limit: number): Promise<number> {
  const rows = await db.query(
    `delete from admin_session where id in (
        select id from admin_session where expires_at < $1 order by expires_at limit $2 for update skip locked) returning 1`,
    [now, limit],
  )
  return rows.length
}

export type ConsoleUser = {
  userId: string
  companyId: string
  name: string
  passwordHash: string
  canSignIn: boolean
}

/** By the keys of both names (trimmed, in lower case). */
export async function findConsoleUser(
  db: Queryable,
  companyKey: string,
  userKey: string,
): Promise<ConsoleUser | undefined> {
  const rows = await db.query<ConsoleUser>(
    `select u.id as "userId", c.id as "companyId", u.name, u.password_hash as "passwordHash",
        (u.role <> 'api' and u.disabled_at is null and c.suspended_at is null) as "canSignIn"
      from company c join app_user u on u.company_id = c.id and u.name_key = $2 where c.name_key = $1`,
    [companyKey, userKey],
  )
  return rows[0]
}

export async function readPasswordHash(
  db: Queryable,
  companyId: string,
  userId: string,
): Promise<string | undefined> {
  const rows = await db.query<{ hash: string }>(
    'select password_hash as hash from app_user where company_id = $1 and id = $2',
    [companyId, userId],
  )
  return rows[0]?.hash
}
