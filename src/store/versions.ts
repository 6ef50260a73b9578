/**
 * Which version of a record a person saw before changing it. PostgreSQL stamps every row with the transaction that
 * wrote it; where traffic writes the row too, only the columns that people change count.
 */
import type { Queryable } from './db.ts'

const versionOf = {
  company: `md5(row(t.name, t.time_zone, t.token_ttl_seconds, t.attendance_idle_hours, t.unknown_policy, t.sms_stop_words, t.sms_start_words)::text)`,
  app_user: 't.xmin::text',
  segment: 't.xmin::text',
  line: 't.xmin::text',
  template: 't.xmin::text',
  rule: 't.xmin::text',
  restriction_list: 't.xmin::text',
  direct_token: 't.xmin::text',
  contact: `md5(row(t.phone, t.email, t.name, t.tax_id, t.custom_code, t.tag, t.jokers, t.segment_id, t.opted_out_channels)::text)`,
} as const

export type VersionedTable = keyof typeof versionOf

const scope = (table: VersionedTable) =>
  table === 'company' ? 't.id = $1 and t.id = $2' : 't.company_id = $1 and t.id = $2'

export async function readVersion(
  db: Queryable,
  table: VersionedTable,
  companyId: string,
  id: string,
): Promise<string | undefined> {
  const rows = await db.query<{ version: string }>(
    `select ${versionOf[table]} as version from ${table} t where ${scope(table)}`,
    [companyId, id],
  )
  return rows[0]?.version
}

/** The same, and holds the row until the transaction ends, so that nobody comes in between. */
export async function lockVersion(
  transaction: Queryable,
  table: VersionedTable,
  companyId: string,
  id: string,
): Promise<string | undefined> {
  const rows = await transaction.query<{ version: string }>(
    `select ${versionOf[table]} as version from ${table} t where ${scope(table)} for update`,
    [companyId, id],
  )
  return rows[0]?.version
}

export async function readVersions(
  db: Queryable,
  table: VersionedTable,
  companyId: string,
  ids: readonly string[],
): Promise<Map<string, string>> {
  const rows = await db.query<{ id: string; version: string }>(
    `select t.id, ${versionOf[table]} as version from ${table} t
      where ${table === 'company' ? 't.id = $1' : 't.company_id = $1'} and t.id = any($2::uuid[])`,
    [companyId, ids],
  )
  return new Map(rows.map((row) => [row.id, row.version]))
}
