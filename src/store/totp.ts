/** Second factors: the sealed secret, the last code used, and hashes of recovery codes. */
import type { Sealer } from '../lib/secrets.ts'
import type { Queryable } from './db.ts'

export type Totp = {
  secret: string
  isConfirmed: boolean
  lastStep: number
  recoveryCodesLeft: number
}

export async function readTotp(
  db: Queryable,
  sealer: Sealer,
  companyId: string,
  userId: string,
): Promise<Totp | undefined> {
  const [row] = await db.query<Omit<Totp, 'secret'> & { sealed: Buffer }>(
    `select secret_sealed as sealed, confirmed_at is not null as "isConfirmed", last_step as "lastStep",
        cardinality(recovery_hashes) as "recoveryCodesLeft" from user_totp where company_id = $1 and user_id = $2`,
    [companyId, userId],
  )
  if (row === undefined) return undefined
  const { sealed, ...totp } = row
  return { ...totp, secret: sealer.open(sealed) }
}

/** Begins; false when there is a confirmed one, which is removed first. */
export async function beginTotp(
  db: Queryable,
  sealer: Sealer,
  companyId: string,
  userId: string,
  secret: string,
): Promise<boolean> {
  const rows = await db.query(
    `insert into user_totp (user_id, company_id, secret_sealed) values ($2, $1, $3)
      on conflict (user_id) do update set secret_sealed = excluded.secret_sealed where user_totp.confirmed_at is null
      returning 1`,
    [companyId, userId, sealer.seal(secret)],
  )
  return rows.length > 0
}

/** Marks it confirmed, or gives new recovery codes to one that is. */
export async function saveRecoveryCodes(
  db: Queryable,
  companyId: string,
  userId: string,
  hashes: readonly Buffer[],
  now: Date,
): Promise<void> {
  await db.query(
    `update user_totp set confirmed_at = coalesce(confirmed_at, $3), recovery_hashes = $4 where company_id = $1 and user_id = $2`,
    [companyId, userId, now, hashes],
  )
}

/** A code is good once: false when this step or a later one was used already. */
export async function useTotpStep(
  db: Queryable,
  companyId: string,
  userId: string,
  step: number,
): Promise<boolean> {
  const rows = await db.query(
    'update user_totp set last_step = $3 where company_id = $1 and user_id = $2 and last_step < $3 returning 1',
    [companyId, userId, step],
  )
  return rows.length > 0
}

/** True when it was one of them; it is gone now. */
export async function useRecoveryCode(
  db: Queryable,
  companyId: string,
  userId: string,
  hash: Buffer,
): Promise<boolean> {
  const rows = await db.query(
    `update user_totp set recovery_hashes = array_remove(recovery_hashes, $3::bytea)
      where company_id = $1 and user_id = $2 and $3::bytea = any(recovery_hashes) returning 1`,
    [companyId, userId, hash],
  )
  return rows.length > 0
}

export async function removeTotp(db: Queryable, companyId: string, userId: string): Promise<boolean> {
  const rows = await db.query('delete from user_totp where company_id = $1 and user_id = $2 returning 1', [
    companyId,
    userId,
  ])
  return rows.length > 0
}
