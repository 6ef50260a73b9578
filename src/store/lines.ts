/** Lines: what messages leave through. Secrets of a line's settings are sealed apart from the plain ones. */
import { readEmail, readPhone } from '../domain/address.ts'
import type { Channel } from '../domain/channel.ts'
import type { Line } from '../domain/line.ts'
import { checkName, notSaved, saved, taken, type FieldProblem, type Saved } from '../domain/saved.ts'
import { newId } from '../lib/ids.ts'
import type { Sealer } from '../lib/secrets.ts'
import type { Queryable } from './db.ts'

export type LineSettings = Record<string, unknown>

export type LineRecord = Line & {
  companyId: string
  /** Plain settings only; secrets are read by `readLineSettings`. */
  settings: LineSettings
  pausedReason: string | null
  inFlightLimit: number
}

export type LineInput = {
  name: string
  channel: Channel
  countryCode?: number
  phoneNumber?: number
  email?: string
  driver: string
  settings: LineSettings
  isDefault?: boolean
  isProspect?: boolean
  isEnabled?: boolean
  ratePerSecond?: number
  inFlightLimit?: number
  segmentIds?: string[]
  failoverLineIds?: string[]
}

export type LineChanges = Partial<
  Pick<
    LineInput,
    'name' | 'isProspect' | 'isEnabled' | 'ratePerSecond' | 'inFlightLimit' | 'segmentIds' | 'failoverLineIds'
  >
>

const columns = `id, company_id as "companyId", name, channel, country_code as "countryCode",
  phone_number as "phoneNumber", email, driver, settings, is_default as "isDefault", is_prospect as "isProspect",
  is_enabled as "isEnabled", paused_at is not null as "isPaused", paused_reason as "pausedReason",
  rate_per_second as "ratePerSecond", in_flight_limit as "inFlightLimit", segment_ids as "segmentIds",
  failover_line_ids as "failoverLineIds"`

type LineRow = Omit<LineRecord, 'countryCode' | 'phoneNumber' | 'email'> & {
  countryCode: number | null
  phoneNumber: number | null
  email: string | null
}

const toRecord = (row: LineRow): LineRecord => ({
  ...row,
  countryCode: row.countryCode ?? undefined,
  phoneNumber: row.phoneNumber ?? undefined,
  email: row.email ?? undefined,
})

/** Digits with country code, or the e-mail address. */
export const lineAddress = (line: Pick<Line, 'countryCode' | 'phoneNumber' | 'email'>): string =>
  line.email ?? `${line.countryCode}${line.phoneNumber}`

function checkAddress(input: LineInput): FieldProblem[] {
  if (input.channel === 'email') {
    if (input.email === undefined) return [{ field: 'email', message: 'must be given for an e-mail line' }]
    const reading = readEmail(input.email)
    return reading.ok ? [] : [{ field: 'email', message: reading.reason }]
  }
  if (input.countryCode === undefined || input.phoneNumber === undefined)
    return [{ field: 'phoneNumber', message: 'and countryCode must be given for an SMS or WhatsApp line' }]
  const reading = readPhone(input.countryCode, input.phoneNumber)
  return reading.ok ? [] : [{ field: 'phoneNumber', message: reading.reason }]
}

function checkNumbers(input: LineChanges): FieldProblem[] {
  const problems: FieldProblem[] = []
  const { ratePerSecond, inFlightLimit } = input
  if (ratePerSecond !== undefined && !(ratePerSecond > 0 && ratePerSecond <= 100_000))
    problems.push({ field: 'ratePerSecond', message: 'must be above 0 and at most 100000' })
  if (
    inFlightLimit !== undefined &&
    !(Number.isInteger(inFlightLimit) && inFlightLimit >= 1 && inFlightLimit <= 10_000)
  )
    problems.push({ field: 'inFlightLimit', message: 'must be a whole number from 1 to 10000' })
  return problems
}

export function splitSecrets(settings: LineSettings, secretNames: readonly string[]) {
  const entries = Object.entries(settings).filter(([, value]) => value !== undefined)
  return {
    plain: Object.fromEntries(entries.filter(([name]) => !secretNames.includes(name))),
    secret: Object.fromEntries(entries.filter(([name]) => secretNames.includes(name))),
  }
}

const sealSecrets = (sealer: Sealer, secret: LineSettings): Buffer | null =>
  Object.keys(secret).length > 0 ? sealer.seal(JSON.stringify(secret)) : null

/** A second default line of a channel is refused: `makeDefaultLine` moves the mark. */
export async function createLine(
  db: Queryable,
  sealer: Sealer,
  companyId: string,
  input: LineInput,
  secretNames: readonly string[],
): Promise<Saved<LineRecord>> {
  const problems = [...checkName('name', input.name), ...checkAddress(input), ...checkNumbers(input)]
  if (problems.length > 0) return notSaved(...problems)
  const { plain, secret } = splitSecrets(input.settings, secretNames)
  const [row] = await db.query<LineRow>(
    `insert into line (id, company_id, name, channel, country_code, phone_number, email, driver, settings,
        secrets_sealed, is_default, is_prospect, is_enabled, rate_per_second, in_flight_limit, segment_ids,
        failover_line_ids)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)
      on conflict do nothing returning ${columns}`,
    [
      newId(),
      companyId,
      input.name.trim(),
      input.channel,
      input.channel === 'email' ? null : input.countryCode,
      input.channel === 'email' ? null : input.phoneNumber,
      input.channel === 'email' ? input.email?.trim() : null,
      input.driver,
      JSON.stringify(plain),
      sealSecrets(sealer, secret),
      input.isDefault ?? false,
      input.isProspect ?? false,
      input.isEnabled ?? true,
      input.ratePerSecond ?? 50,
      input.inFlightLimit ?? 32,
      input.segmentIds ?? [],
      input.failoverLineIds ?? [],
    ],
  )
  if (row) return saved(toRecord(row))
  const others = await listLines(db, companyId)
  const address = lineAddress(input).toLowerCase()
  const isAddressTaken = others.some(
    (line) => line.channel === input.channel && lineAddress(line).toLowerCase() === address,
  )
  return notSaved(
    isAddressTaken
      ? taken(input.channel === 'email' ? 'email' : 'phoneNumber', lineAddress(input))
      : { field: 'isDefault', message: `is already held by another ${input.channel} line` },
  )
}

export async function getLine(db: Queryable, companyId: string, id: string): Promise<LineRecord | undefined> {
  const [row] = await db.query<LineRow>(`select ${columns} from line where company_id = $1 and id = $2`, [
    companyId,
    id,
  ])
  return row && toRecord(row)
}

export async function listLines(db: Queryable, companyId: string): Promise<LineRecord[]> {
  const rows = await db.query<LineRow>(
    `select ${columns} from line where company_id = $1 order by channel, id limit 10000`,
    [companyId],
  )
  return rows.map(toRecord)
}

/** All settings of a line, secrets opened: for its driver, never for an answer or a log. */
export async function readLineSettings(
  db: Queryable,
  sealer: Sealer,
  companyId: string,
  id: string,
): Promise<LineSettings | undefined> {
  const [row] = await db.query<{ settings: LineSettings; sealed: Buffer | null }>(
    'select settings, secrets_sealed as sealed from line where company_id = $1 and id = $2',
    [companyId, id],
  )
  return row && { ...row.settings, ...openSecrets(sealer, row.sealed) }
}

export const openSecrets = (sealer: Sealer, sealed: Buffer | null): LineSettings =>
  sealed ? (JSON.parse(sealer.open(sealed)) as LineSettings) : {}

/** Replaces the plain settings. A secret that is not given keeps its value (forms show a mask); null removes it. */
export async function changeLineSettings(
  db: Queryable,
  sealer: Sealer,
  companyId: string,
  id: string,
  settings: LineSettings,
  secretNames: readonly string[],
): Promise<LineRecord | undefined> {
  const [current] = await db.query<{ sealed: Buffer | null }>(
    'select secrets_sealed as sealed from line where company_id = $1 and id = $2',
    [companyId, id],
  )
  if (!current) return undefined
  const { plain, secret } = splitSecrets(settings, secretNames)
  const secrets = Object.fromEntries(
    Object.entries({ ...openSecrets(sealer, current.sealed), ...secret }).filter(
      ([name, value]) => value !== null && secretNames.includes(name),
    ),
  )
  const [row] = await db.query<LineRow>(
    `update line set settings = $3, secrets_sealed = $4 where company_id = $1 and id = $2 returning ${columns}`,
    [companyId, id, JSON.stringify(plain), sealSecrets(sealer, secrets)],
  )
  return row && toRecord(row)
}

export async function changeLine(
  db: Queryable,
  companyId: string,
  id: string,
  changes: LineChanges,
): Promise<Saved<LineRecord> | undefined> {
  const problems = [
    ...(changes.name === undefined ? [] : checkName('name', changes.name)),
    ...checkNumbers(changes),
  ]
  if (problems.length > 0) return notSaved(...problems)
  const [row] = await db.query<LineRow>(
    `update line set name = coalesce($3, name), is_prospect = coalesce($4, is_prospect),
        is_enabled = coalesce($5, is_enabled), rate_per_second = coalesce($6, rate_per_second),
        in_flight_limit = coalesce($7, in_flight_limit), segment_ids = coalesce($8, segment_ids),
        failover_line_ids = coalesce($9, failover_line_ids)
      where company_id = $1 and id = $2 returning ${columns}`,
    [
      companyId,
      id,
      changes.name?.trim(),
      changes.isProspect,
      changes.isEnabled,
      changes.ratePerSecond,
      changes.inFlightLimit,
      changes.segmentIds,
      changes.failoverLineIds,
    ],
  )
  return row && saved(toRecord(row))
}

/** Two statements, because the index allows no moment with two defaults: run it inside a transaction. */
export async function makeDefaultLine(
  transaction: Queryable,
  companyId: string,
  id: string,
): Promise<LineRecord | undefined> {
  await transaction.query(
    `update line set is_default = false where company_id = $1 and is_default and id <> $2
      and channel = (select channel from line where company_id = $1 and id = $2)`,
    [companyId, id],
  )
  const [row] = await transaction.query<LineRow>(
    `update line set is_default = true where company_id = $1 and id = $2 returning ${columns}`,
    [companyId, id],
  )
  return row && toRecord(row)
}

/** Its channel then has no default line. */
export async function clearDefaultLine(db: Queryable, companyId: string, id: string): Promise<void> {
  await db.query('update line set is_default = false where company_id = $1 and id = $2', [companyId, id])
}

/** Another provider for the same address; its settings follow by `changeLineSettings`. */
export async function changeLineDriver(
  db: Queryable,
  companyId: string,
  id: string,
  driver: string,
): Promise<void> {
  await db.query('update line set driver = $3 where company_id = $1 and id = $2', [companyId, id, driver])
}

/** Messages of a paused line wait. */
export async function pauseLine(
  db: Queryable,
  companyId: string,
  id: string,
  pause: { at: Date; reason: string } | null,
): Promise<LineRecord | undefined> {
  const [row] = await db.query<LineRow>(
    `update line set paused_at = $3, paused_reason = $4 where company_id = $1 and id = $2 returning ${columns}`,
    [companyId, id, pause?.at, pause?.reason],
  )
  return row && toRecord(row)
}
