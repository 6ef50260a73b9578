/** Parts of longer SMS, until all have come. */
import type { Queryable } from './db.ts'

export type PartKey = { lineId: string; sender: string; reference: number; total: number }

export type StoredPart = PartKey & {
  companyId: string
  number: number
  providerId: string
  text: string
  at: Date
  receivedAt: Date
  joinedAt: Date | null
}

const columns = `line_id as "lineId", company_id as "companyId", sender, reference, total, number, provider_id as "providerId",
  text, at, received_at as "receivedAt", joined_at as "joinedAt"`

/** One at a time per sender and line, since two parts may come to two nodes at once. */
export async function lockParts(connection: Queryable, keys: readonly PartKey[]): Promise<StoredPart[]> {
  const rows = JSON.stringify(keys)
  await connection.query(
    {
      name: 'parts_lock',
      text: `select pg_advisory_xact_lock(hashtextextended("lineId" || sender, 3)) from (
        select distinct "lineId", sender from json_to_recordset($1::json) as k("lineId" uuid, sender text) order by 1, 2) k`,
    },
    [rows],
  )
  return await connection.query<StoredPart>(
    {
      name: 'parts_load',
      text: `select ${columns} from inbound_part where (line_id, sender, reference, total) in (
        select "lineId", sender, reference, total
        from json_to_recordset($1::json) as k("lineId" uuid, sender text, reference int, total smallint))`,
    },
    [rows],
  )
}

/** Removes the sets named first, then stores the parts. */
export async function writeParts(
  connection: Queryable,
  removed: readonly PartKey[],
  parts: readonly StoredPart[],
): Promise<void> {
  await connection.query(
    {
      name: 'parts_remove',
      text: `delete from inbound_part where (line_id, sender, reference, total) in (
        select "lineId", sender, reference, total
        from json_to_recordset($1::json) as k("lineId" uuid, sender text, reference int, total smallint))`,
    },
    [JSON.stringify(removed)],
  )
  await connection.query(
    {
      name: 'parts_store',
      text: `
insert into inbound_part (line_id, company_id, sender, reference, total, number, provider_id, text, at, received_at, joined_at)
select * from json_to_recordset($1::json) as p("lineId" uuid, "companyId" uuid, sender text, reference int, total smallint,
  number smallint, "providerId" text, text text, at timestamptz, "receivedAt" timestamptz, "joinedAt" timestamptz)`,
    },
    [JSON.stringify(parts)],
  )
}

/** Sets whose first part came before `before`: whole ones are forgotten, the others will never be complete. */
export const findOldParts = (connection: Queryable, before: Date, limit: number): Promise<PartKey[]> =>
  connection.query<PartKey>(
    `select distinct line_id as "lineId", sender, reference, total from (
       select line_id, sender, reference, total from inbound_part where received_at < $1 order by received_at limit $2) p`,
    [before, limit],
  )
