/** The SQL of releasing deferred messages: contacts first, then the queue entries, as everywhere. */
import type { Api, Channel } from '../domain/channel.ts'
import type { MessageContent } from '../domain/message.ts'
import type { Queryable } from './db.ts'
import type { ReportDelta } from './receipts.ts'

export type DeferredMessage = {
  messageId: string
  companyId: string
  lineId: string
  contactId: string
  dueAt: Date
  expiresAt: Date
  api: Api
  channel: Channel
  recipient: string
  templateId: string | null
  segmentId: string | null
  documentNumber: string | null
  contractCode: string | null
  content: MessageContent
  optedOutChannels: Channel[]
  marketingOptedOutAt: Date | null
  emailBouncedAt: Date | null
  /** False when the contact was erased in the meantime. */
  hasContact: boolean
}

/**
 * Takes what is due and free, and waits for nobody: a contact that an accepting batch holds is free again in the next
 * round, and a row that another node works on is its own. A contact that was erased holds nothing up.
 */
const lockContactsStatement = {
  name: 'deferred_contacts',
  text: `
with due as materialized (
  select message_id, contact_id from outbox where is_deferred and due_at <= $1 and handed_over_epoch is null
  order by due_at, message_id limit $2
), locked as materialized (
  select id from contact where id in (select contact_id from due) order by id for update skip locked
)
select due.message_id as "messageId" from due
where contact_id in (select id from locked) or not exists (select 1 from contact c where c.id = due.contact_id)`,
}

const lockRowsStatement = {
  name: 'deferred_rows',
  text: `
with o as materialized (
  select * from outbox where message_id = any($1::uuid[]) and is_deferred and due_at <= $2 and handed_over_epoch is null
  order by message_id for update skip locked
)
select o.message_id as "messageId", o.company_id as "companyId", o.line_id as "lineId", o.contact_id as "contactId",
  o.due_at as "dueAt", o.expires_at as "expiresAt", m.api, m.channel, m.recipient, m.template_id as "templateId",
  m.segment_id as "segmentId", coalesce(m.document_number, c.tax_id) as "documentNumber", m.contract_code as "contractCode", m.content,
  coalesce(c.opted_out_channels, '{}') as "optedOutChannels", c.marketing_opted_out_at as "marketingOptedOutAt",
  c.email_bounced_at as "emailBouncedAt", c.id is not null as "hasContact"
from o join message m on m.id = o.message_id left join contact c on c.id = o.contact_id
order by o.due_at, o.message_id`,
}

/** Both locks; in the order in which they became due. */
export async function lockDeferred(
  connection: Queryable,
  now: Date,
  limit: number,
): Promise<DeferredMessage[]> {
  const candidates = await connection.query<{ messageId: string }>(lockContactsStatement, [now, limit])
  if (candidates.length === 0) return []
  return await connection.query<DeferredMessage>(lockRowsStatement, [
    candidates.map(({ messageId }) => messageId),
    now,
  ])
}

export type DeferredDecision = {
  message_id: string
  kind: 'released' | 'waits' | 'blocked'
  due_at: Date
  expires_at: Date
  /** What did not pass; null when everything did. */
  reasons: object | null
  /** Null leaves no trace. */
  event: object | null
}

const writeStatement = {
  name: 'deferred_write',
  text: `
with d as materialized (
  select * from json_to_recordset($1::json) as d(message_id uuid, kind text, due_at timestamptz, expires_at timestamptz, reasons jsonb, event jsonb)
), moved as (
  update outbox o set is_deferred = (d.kind = 'waits'), due_at = d.due_at, expires_at = d.expires_at
  from d where o.message_id = d.message_id and d.kind <> 'blocked'
), removed as (
  delete from outbox o using d where o.message_id = d.message_id and d.kind = 'blocked'
), changed as (
  update message m set state = case when d.kind = 'blocked' then 'blocked' else m.state end, reasons = d.reasons,
    expires_at = d.expires_at, settled_at = case when d.kind = 'blocked' then $2 else m.settled_at end
  from d where m.id = d.message_id and m.state = 'queued' and d.event is not null
), told as (
  insert into message_event (message_id, at, kind, detail) select message_id, $2, kind, event from d where event is not null
)
insert into report_delta (company_id, hour, api, channel, line_id, template_id, segment_id, outcome, latency_bucket, count)
select * from json_to_recordset($3::json) as r(company_id uuid, hour timestamptz, api text, channel text, line_id uuid,
  template_id uuid, segment_id uuid, outcome text, latency_bucket smallint, count int)`,
}

export async function writeDeferred(
  connection: Queryable,
  decisions: readonly DeferredDecision[],
  deltas: readonly ReportDelta[],
  now: Date,
): Promise<void> {
  await connection.query(writeStatement, [JSON.stringify(decisions), now, JSON.stringify(deltas)])
}
