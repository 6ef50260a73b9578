/** Removing what people made, where nothing that happened refers to it any more, or where that does no harm. */
import type { Queryable } from './db.ts'

/** Contacts lose it, lines and rules that name it must let go of it first: their names. */
export async function usersOfSegment(db: Queryable, companyId: string, id: string): Promise<string[]> {
  const rows = await db.query<{ name: string }>(
    `select 'line ' || name as name from line where company_id = $1 and $2::uuid = any(segment_ids)
      union all select 'rule ' || name from rule where company_id = $1 and $2::uuid = any(segment_ids) order by 1 limit 10`,
    [companyId, id],
  )
  return rows.map(({ name }) => name)
}

export async function removeSegment(db: Queryable, companyId: string, id: string): Promise<boolean> {
  const rows = await db.query('delete from segment where company_id = $1 and id = $2 returning 1', [
    companyId,
    id,
  ])
  return rows.length > 0
}

/** Anything accepted for the line and not yet handed over or reported: then it can only be disabled. */
export async function isLineInUse(db: Queryable, companyId: string, id: string): Promise<boolean> {
  const rows = await db.query(
    `select 1 where exists (select 1 from outbox where line_id = $2 and company_id = $1)
      or exists (select 1 from unknown_message where line_id = $2 and company_id = $1)
      or exists (select 1 from provider_reference where line_id = $2)
      or exists (select 1 from inbound_message where line_id = $2 and company_id = $1)`,
    [companyId, id],
  )
  return rows.length > 0
}

/** Other lines that fail over to it forget it. */
export async function removeLine(transaction: Queryable, companyId: string, id: string): Promise<boolean> {
  await transaction.query(
    `update line set failover_line_ids = array_remove(failover_line_ids, $2::uuid)
      where company_id = $1 and $2::uuid = any(failover_line_ids)`,
    [companyId, id],
  )
  const rows = await transaction.query('delete from line where company_id = $1 and id = $2 returning 1', [
    companyId,
    id,
  ])
  return rows.length > 0
}

/** Messages keep what was rendered. */
export async function removeTemplate(db: Queryable, companyId: string, id: string): Promise<boolean> {
  const rows = await db.query('delete from template where company_id = $1 and id = $2 returning 1', [
    companyId,
    id,
  ])
  return rows.length > 0
}

/** Its file goes with housekeeping, once nothing that waits to leave needs it. */
export async function removeMediaItem(db: Queryable, companyId: string, id: string): Promise<boolean> {
  const rows = await db.query(
    `with gone as (delete from media_item where company_id = $1 and id = $2 returning company_id, hash)
      update file f set referenced_at = now() from gone where f.company_id = gone.company_id and f.hash = gone.hash returning 1`,
    [companyId, id],
  )
  return rows.length > 0
}
