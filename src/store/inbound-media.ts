/** Files that people sent: first only the provider's id of them, then stored like every other file. */
import type { Queryable } from './db.ts'

export type PendingMedia = {
  inboundId: string
  position: number
  companyId: string
  providerMediaId: string
  mimeType: string
  name: string | null
  /** This one included. */
  tries: number
}

/** Takes up to `limit` of a line's files that are due; whoever took one has until `againAt` before it is due again. */
export const claimMedia = (
  connection: Queryable,
  lineId: string,
  now: Date,
  againAt: Date,
  limit: number,
): Promise<PendingMedia[]> =>
  connection.query<PendingMedia>(
    {
      name: 'media_claim',
      text: `
update inbound_media f set tries = f.tries + 1, try_at = $3 from (
  select inbound_id, position from inbound_media where line_id = $1 and state = 'pending' and try_at <= $2
  order by try_at limit $4 for update skip locked) due
where f.inbound_id = due.inbound_id and f.position = due.position
returning f.inbound_id as "inboundId", f.position, f.company_id as "companyId", f.provider_media_id as "providerMediaId",
  f.mime_type as "mimeType", f.name, f.tries`,
    },
    [lineId, now, againAt, limit],
  )

/** Those of these lines that have files to fetch. One look into the index per line. */
export async function findLinesWithMedia(
  connection: Queryable,
  lineIds: readonly string[],
  now: Date,
): Promise<string[]> {
  const rows = await connection.query<{ lineId: string }>(
    {
      name: 'media_lines',
      text: `
select l.id as "lineId" from unnest($1::uuid[]) as l(id) where exists (
  select 1 from inbound_media where line_id = l.id and state = 'pending' and try_at <= $2)`,
    },
    [lineIds, now],
  )
  return rows.map(({ lineId }) => lineId)
}

export type MediaKey = { inboundId: string; position: number }

export async function markMediaStored(
  connection: Queryable,
  { inboundId, position }: MediaKey,
  file: { hash: string; size: number; mimeType: string; name: string | null },
): Promise<void> {
  await connection.query(
    `update inbound_media set state = 'stored', hash = decode($3, 'hex'), size = $4, mime_type = $5, name = $6, error = null
      where inbound_id = $1 and position = $2`,
    [inboundId, position, file.hash, file.size, file.mimeType, file.name],
  )
}

/** `tryAt` null: given up. */
export async function markMediaFailed(
  connection: Queryable,
  { inboundId, position }: MediaKey,
  error: string,
  tryAt: Date | null,
): Promise<void> {
  await connection.query(
    `update inbound_media set error = $3, state = case when $4::timestamptz is null then 'failed' else 'pending' end,
        try_at = coalesce($4, try_at) where inbound_id = $1 and position = $2`,
    [inboundId, position, error, tryAt],
  )
}
