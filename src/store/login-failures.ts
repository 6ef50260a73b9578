/** Refused logins, kept for the lock-out that holds over all processes and nodes. */
import type { Db, Queryable } from './db.ts'

/** Hashes of (company, user, address) and of the address. */
export type FailureKeys = { triple: Buffer; address: Buffer }

export type LockoutLimits = { perTriple: number; perAddress: number; windowMs: number }

/**
 * Until when logins are refused unseen. The lock lasts one window from the refusal that filled it, and nothing is
 * recorded while it lasts, so that refusal is the latest one: is the window before it full?
 */
export async function lockedUntil(
  db: Queryable,
  keys: FailureKeys,
  limits: LockoutLimits,
  now: Date,
): Promise<Date | undefined> {
  const [row] = await db.query<{ triple: Date | null; address: Date | null }>(
    `select
      (select case when count(*) >= $3 then max(failed_at) end from login_failure
        where triple_key = $1 and failed_at > (select max(failed_at) from login_failure
          where triple_key = $1 and failed_at > $5) - $6 * interval '1 millisecond') as triple,
      (select case when count(*) >= $4 then max(failed_at) end from login_failure
        where address_key = $2 and failed_at > (select max(failed_at) from login_failure
          where address_key = $2 and failed_at > $5) - $6 * interval '1 millisecond') as address`,
    [
      keys.triple,
      keys.address,
      limits.perTriple,
      limits.perAddress,
      new Date(now.getTime() - limits.windowMs),
      limits.windowMs,
    ],
  )
  const latest = Math.max(row?.triple?.getTime() ?? 0, row?.address?.getTime() ?? 0)
  return latest === 0 ? undefined : new Date(latest + limits.windowMs)
}

/**
 * Records a refusal, one at a time per address, unless it is locked by now: of any number of simultaneous guesses
 * only as many as the limit learn that they were wrong.
 */
export function recordFailure(
  db: Db,
  keys: FailureKeys,
  limits: LockoutLimits,
  now: Date,
): Promise<Date | undefined> {
  return db.transaction(async (connection) => {
    await connection.query(`select pg_advisory_xact_lock($1, $2)`, [lockSpace, keys.address.readInt32BE(0)])
    const until = await lockedUntil(connection, keys, limits, now)
    if (until !== undefined) return until
    await connection.query(
      'insert into login_failure (triple_key, address_key, failed_at) values ($1, $2, $3)',
      [keys.triple, keys.address, now],
    )
    await connection.query(
      `delete from login_failure where id in (select id from login_failure where failed_at < $1
        order by failed_at limit 1000 for update skip locked)`,
      [new Date(now.getTime() - 3 * limits.windowMs)],
    )
    return undefined
  })
}

/** Any constant: "logn" in hexadecimal, so that these locks meet no others. */
const lockSpace = 0x6c6f676e
