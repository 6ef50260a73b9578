/** Tokens of the unified API: one living token per API user. */
import type { Queryable, Statement } from './db.ts'

/** Who a token belongs to, with all that the door needs to know, in one look. */
export type ApiTokenOwner = {
  tokenHash: Buffer
  userId: string
  companyId: string
  companyVersion: number
  suspendedAt: Date | null
  privateTokenHash: Buffer
  previousPrivateTokenHash: Buffer | null
  previousPrivateTokenUntil: Date | null
}

const lookUp: Statement = {
  name: 'look up api tokens',
  text: `select t.hash as "tokenHash", t.user_id as "userId", t.company_id as "companyId",
      c.catalogue_version as "companyVersion", c.suspended_at as "suspendedAt",
      c.private_token_hash as "privateTokenHash", c.previous_private_token_hash as "previousPrivateTokenHash",
      c.previous_private_token_until as "previousPrivateTokenUntil"
    from api_token t
    join app_user u on u.id = t.user_id and u.role = 'api' and u.disabled_at is null
    join company c on c.id = t.company_id
    where t.hash = any($1::bytea[]) and t.expires_at > $2`,
}

export const lookUpApiTokens = (db: Queryable, hashes: Buffer[], now: Date): Promise<ApiTokenOwner[]> =>
  db.query<ApiTokenOwner>(lookUp, [hashes, now])

export type ApiUser = {
  userId: string
  companyId: string
  passwordHash: string
  tokenTtlSeconds: number
  /** Of type API, not disabled, in a company that is not suspended. */
  canLogIn: boolean
}

/** By the keys of both names (trimmed, in lower case). */
export async function findApiUser(
  db: Queryable,
  companyKey: string,
  userKey: string,
): Promise<ApiUser | undefined> {
  const rows = await db.query<ApiUser>(
    `select u.id as "userId", c.id as "companyId", u.password_hash as "passwordHash",
        c.token_ttl_seconds as "tokenTtlSeconds",
        (u.role = 'api' and u.disabled_at is null and c.suspended_at is null) as "canLogIn"
      from company c join app_user u on u.company_id = c.id and u.name_key = $2
      where c.name_key = $1`,
    [companyKey, userKey],
  )
  return rows[0]
}

/**
 * Replaces the user's token, so that of simultaneous logins the last one stands alone. False when the user may
 * no longer log in, or got another password since it was checked.
 */
export async function replaceApiToken(
  db: Queryable,
  user: ApiUser,
  token: { hash: Buffer; issuedAt: Date; expiresAt: Date },
): Promise<boolean> {
  const rows = await db.query(
    `insert into api_token (user_id, company_id, hash, issued_at, expires_at)
      select u.id, u.company_id, $3, $4, $5
      from app_user u join company c on c.id = u.company_id
      where u.id = $1 and u.password_hash = $2 and u.role = 'api' and u.disabled_at is null
        and c.suspended_at is null
      on conflict (user_id) do update
        set hash = excluded.hash, issued_at = excluded.issued_at, expires_at = excluded.expires_at
      returning user_id`,
    [user.userId, user.passwordHash, token.hash, token.issuedAt, token.expiresAt],
  )
  return rows.length > 0
}
