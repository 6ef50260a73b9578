/** Messages that wait to leave, as accepting leaves them, in any number: made by the database itself. */
import { randomBytes } from 'node:crypto'
import type { Queryable } from '../../src/store/db.ts'

export type Seed = {
  companyId: string
  lineId: string
  count: number
  /** How many people they go to, in turn; default: each to another. */
  contacts?: number
  priority?: number
  dueAt?: Date
  expiresAt?: Date
  acceptedAt?: Date
  isPinned?: boolean
  isDeferred?: boolean
  segmentId?: string
  channel?: string
  /** Instead of a free text that is the message's id. */
  content?: object
}

let next = randomBytes(3).readUIntBE(0, 3) * 10_000_000

/** Ids in the order in which they were accepted. Each message's text is its id. */
export async function seedMessages(db: Queryable, seed: Seed): Promise<string[]> {
  const acceptedAt = seed.acceptedAt ?? new Date()
  const first = next
  next += seed.count
  const rows = await db.query<{ id: string }>(
    `
with n as materialized (
  select i, (lpad(to_hex((extract(epoch from $3::timestamptz) * 1000)::bigint), 12, '0') || '70008' || lpad(to_hex($4::bigint + i), 15, '0'))::uuid as id,
    md5($4::text || (i % $5::int))::uuid as contact_id
  from generate_series(0, $6::int - 1) as i
), stored as (
  insert into message (id, company_id, api, channel, state, contact_id, recipient, line_id, segment_id, request_id, content, priority, accepted_at, expires_at)
  select id, $1, 'unified', $13, 'queued', contact_id, '55319' || lpad((i % $5::int)::text, 8, '0'), $2, $12, 'req_test',
    coalesce($14::jsonb, jsonb_build_object('kind', 'text', 'text', id::text, 'files', '[]'::jsonb)), $7, $3, $9 from n
)
insert into outbox (message_id, company_id, line_id, contact_id, priority, due_at, expires_at, is_pinned, is_deferred)
select id, $1, $2, contact_id, $7, $8, $9, $10, $11 from n returning message_id as id`,
    [
      seed.companyId,
      seed.lineId,
      acceptedAt,
      first,
      seed.contacts ?? seed.count,
      seed.count,
      seed.priority ?? 1,
      seed.dueAt ?? acceptedAt,
      seed.expiresAt ?? new Date(acceptedAt.getTime() + 86_400_000),
      seed.isPinned ?? false,
      seed.isDeferred ?? false,
      seed.segmentId,
      seed.channel ?? 'sms',
      seed.content && JSON.stringify(seed.content),
    ],
  )
  return rows.map(({ id }) => id).toSorted()
}

/** How many messages are in each state. */
export async function countStates(db: Queryable, lineId?: string): Promise<Record<string, number>> {
  const rows = await db.query<{ state: string; count: number }>(
    'select state, count(*)::int as count from message where $1::uuid is null or line_id = $1 group by state',
    [lineId],
  )
  return Object.fromEntries(rows.map(({ state, count }) => [state, count]))
}
