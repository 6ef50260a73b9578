/** Companies: the account everything belongs to, its private token and its callback secret. */
import { randomBytes } from 'node:crypto'
import { nameKey } from '../domain/channel.ts'
import { checkName, checkTimeZone, notSaved, saved, taken, type Saved } from '../domain/saved.ts'
import { newId } from '../lib/ids.ts'
import { hashToken, newToken, type Sealer } from '../lib/secrets.ts'
import { isUniqueViolation, type Queryable } from './db.ts'

export type Company = {
  id: string
  name: string
  timeZone: string
  suspendedAt: Date | null
  tokenTtlSeconds: number
  attendanceIdleHours: number
  unknownPolicy: 'leave' | 'send_again'
  createdAt: Date
}

export type CompanyInput = {
  name: string
  timeZone?: string
  tokenTtlSeconds?: number
  attendanceIdleHours?: number
  unknownPolicy?: Company['unknownPolicy']
}

export type NewCompany = Company & { privateToken: string; callbackSecret: string }

const columns = `id, name, time_zone as "timeZone", suspended_at as "suspendedAt",
  token_ttl_seconds as "tokenTtlSeconds", attendance_idle_hours as "attendanceIdleHours",
  unknown_policy as "unknownPolicy", created_at as "createdAt"`

/** As Standard Webhooks wants it: 24 to 64 bytes in base64 behind `whsec_`. */
const newCallbackSecret = () => `whsec_${randomBytes(32).toString('base64')}`

function check(input: Partial<CompanyInput>) {
  const { name, timeZone, tokenTtlSeconds, attendanceIdleHours } = input
  const wholeNumber = (field: string, value: number | undefined, max: number) =>
    value === undefined || (Number.isInteger(value) && value >= 1 && value <= max)
      ? []
      : [{ field, message: `must be a whole number from 1 to ${max}` }]
  return [
    ...(name === undefined ? [] : checkName('name', name)),
    ...(timeZone === undefined ? [] : checkTimeZone('timeZone', timeZone)),
    ...wholeNumber('tokenTtlSeconds', tokenTtlSeconds, 2_000_000_000),
    ...wholeNumber('attendanceIdleHours', attendanceIdleHours, 8760),
  ]
}

export async function createCompany(
  db: Queryable,
  sealer: Sealer,
  input: CompanyInput,
): Promise<Saved<NewCompany>> {
  const problems = check(input)
  if (problems.length > 0) return notSaved(...problems)
  const privateToken = newToken()
  const callbackSecret = newCallbackSecret()
  const [company] = await db.query<Company>(
    `insert into company (id, name, name_key, time_zone, token_ttl_seconds, attendance_idle_hours, unknown_policy,
        private_token_sealed, private_token_hash, callback_secret_sealed)
      values ($1, $2, $3, coalesce($4, 'UTC'), coalesce($5, 287971200), coalesce($6, 24), coalesce($7, 'leave'), $8, $9, $10)
      on conflict do nothing returning ${columns}`,
    [
      newId(),
      input.name.trim(),
      nameKey(input.name),
      input.timeZone,
      input.tokenTtlSeconds,
      input.attendanceIdleHours,
      input.unknownPolicy,
      sealer.seal(privateToken),
      hashToken(privateToken),
      sealer.seal(callbackSecret),
    ],
  )
  return company ? saved({ ...company, privateToken, callbackSecret }) : notSaved(taken('name', input.name))
}

export async function getCompany(db: Queryable, id: string): Promise<Company | undefined> {
  return (await db.query<Company>(`select ${columns} from company where id = $1`, [id]))[0]
}

export async function findCompanyByName(db: Queryable, name: string): Promise<Company | undefined> {
  return (await db.query<Company>(`select ${columns} from company where name_key = $1`, [nameKey(name)]))[0]
}

export const listCompanies = (db: Queryable): Promise<Company[]> =>
  db.query<Company>(`select ${columns} from company order by name_key limit 10000`)

export async function hasAnyCompany(db: Queryable): Promise<boolean> {
  return (await db.query('select 1 from company limit 1')).length > 0
}

/** Changes what is given and leaves the rest; undefined when there is no such company. */
export async function changeCompany(
  db: Queryable,
  id: string,
  changes: Partial<CompanyInput>,
): Promise<Saved<Company> | undefined> {
  const problems = check(changes)
  if (problems.length > 0) return notSaved(...problems)
  try {
    const [company] = await db.query<Company>(
      `update company set name = coalesce($2, name), name_key = coalesce($3, name_key),
          time_zone = coalesce($4, time_zone), token_ttl_seconds = coalesce($5, token_ttl_seconds),
          attendance_idle_hours = coalesce($6, attendance_idle_hours), unknown_policy = coalesce($7, unknown_policy)
        where id = $1 returning ${columns}`,
      [
        id,
        changes.name?.trim(),
        changes.name === undefined ? undefined : nameKey(changes.name),
        changes.timeZone,
        changes.tokenTtlSeconds,
        changes.attendanceIdleHours,
        changes.unknownPolicy,
      ],
    )
    return company && saved(company)
  } catch (error) {
    if (isUniqueViolation(error)) return notSaved(taken('name', changes.name ?? ''))
    throw error
  }
}

/** A suspended company neither logs in nor sends, from the next request on. Null resumes it. */
export async function suspendCompany(
  db: Queryable,
  id: string,
  suspendedAt: Date | null,
): Promise<Company | undefined> {
  const [company] = await db.query<Company>(
    `update company set suspended_at = $2 where id = $1 returning ${columns}`,
    [id, suspendedAt],
  )
  return company
}

export async function readPrivateToken(
  db: Queryable,
  sealer: Sealer,
  id: string,
): Promise<string | undefined> {
  const [row] = await db.query<{ sealed: Buffer }>(
    'select private_token_sealed as sealed from company where id = $1',
    [id],
  )
  return row && sealer.open(row.sealed)
}

/** A new private token; the one it replaces stays good until `previousUntil`, the one before that is dead. */
export async function rotatePrivateToken(
  db: Queryable,
  sealer: Sealer,
  id: string,
  previousUntil: Date,
): Promise<string | undefined> {
  const privateToken = newToken()
  const rows = await db.query(
    `update company set previous_private_token_hash = private_token_hash, previous_private_token_until = $4,
        private_token_sealed = $2, private_token_hash = $3
      where id = $1 returning id`,
    [id, sealer.seal(privateToken), hashToken(privateToken), previousUntil],
  )
  return rows.length > 0 ? privateToken : undefined
}

export async function readCallbackSecret(
  db: Queryable,
  sealer: Sealer,
  id: string,
): Promise<string | undefined> {
  const [row] = await db.query<{ sealed: Buffer }>(
    'select callback_secret_sealed as sealed from company where id = $1',
    [id],
  )
  return row && sealer.open(row.sealed)
}

/** At once: no other secret signs along. With an overlap: flows/rotate-callback-secret.ts. */
export async function rotateCallbackSecret(
  db: Queryable,
  sealer: Sealer,
  id: string,
): Promise<string | undefined> {
  const secret = newCallbackSecret()
  const rows = await db.query(
    `update company set callback_secret_sealed = $2, previous_callback_secret_sealed = null, previous_callback_secret_until = null
      where id = $1 returning id`,
    [id, sealer.seal(secret)],
  )
  return rows.length > 0 ? secret : undefined
}
