/** Messages that were handed over without an answer, and for which no receipt came in time. */
import type { Queryable } from './db.ts'

export type ResolvedMessage = {
  messageId: string
  companyId: string
  lineId: string
  to: 'unknown' | 'queued' | 'expired'
}

/**
 * Messages before their unknown_message rows, in the order of ids, as receipts do it: whoever has the message decides.
 * One that another node or a receipt holds is passed over. Its state is asked again under the lock: a receipt that
 * came before has won.
 */
const resolveStatement = {
  name: 'unknown_resolve',
  text: `
with due as materialized (
  select message_id from unknown_message where resolve_at <= $1 order by resolve_at limit $2
), locked as materialized (
  select id, state, company_id, api, channel, line_id, template_id, segment_id, settled_at from message
  where id in (select message_id from due) order by id for update skip locked
), taken as (
  delete from unknown_message u using locked where u.message_id = locked.id
  returning u.*
), decided as materialized (
  select t.*, case when c.unknown_policy = 'leave' then 'unknown' when t.expires_at <= $1 then 'expired' else 'queued' end as next_state
  from taken t join locked m on m.id = t.message_id and m.state = 'unknown' join company c on c.id = t.company_id
), moved as (
  update message m set state = d.next_state, settled_at = case when d.next_state = 'queued' then null else $1 end
  from decided d where m.id = d.message_id and m.state = 'unknown' and d.next_state <> 'unknown'
), queued as (
  -- Parts that are known to have been taken are not sent again.
  insert into outbox (message_id, company_id, line_id, contact_id, priority, due_at, expires_at, attempts, is_pinned, taken_ids)
  select message_id, company_id, line_id, contact_id, priority, $1, expires_at, attempts, is_pinned,
    (select array_agg(p.provider_id order by n.part) from generate_series(1, (
       select max(parts) from provider_reference where message_id = decided.message_id and parts > 1)) as n(part)
     left join provider_reference p on p.message_id = decided.message_id and p.parts > 1 and p.part = n.part)
  from decided where next_state = 'queued' on conflict (message_id) do nothing
), told as (
  insert into message_event (message_id, at, kind, detail)
  select message_id, $1, case next_state when 'unknown' then 'left_unknown' when 'queued' then 'sent_again' else 'expired' end,
    jsonb_build_object('attempt', attempts) from decided
), counted as (
  insert into report_delta (company_id, hour, api, channel, line_id, template_id, segment_id, outcome, count)
  select company_id, hour, api, channel, line_id, template_id, segment_id, outcome, sum(change) from (
    select m.company_id, date_trunc('hour', m.settled_at, 'UTC') as hour, m.api, m.channel, m.line_id, m.template_id, m.segment_id, 'unknown' as outcome, -1 as change
    from decided d join locked m on m.id = d.message_id where d.next_state <> 'unknown' and m.settled_at is not null
    union all
    select m.company_id, date_trunc('hour', $1::timestamptz, 'UTC'), m.api, m.channel, m.line_id, m.template_id, m.segment_id, 'expired', 1
    from decided d join locked m on m.id = d.message_id where d.next_state = 'expired') x
  group by 1, 2, 3, 4, 5, 6, 7, 8
)
select message_id as "messageId", company_id as "companyId", line_id as "lineId", next_state as "to" from decided`,
}

/** Up to `limit` of those whose wait is over. */
export const resolveUnknownMessages = (
  connection: Queryable,
  now: Date,
  limit: number,
): Promise<ResolvedMessage[]> => connection.query<ResolvedMessage>(resolveStatement, [now, limit])

/** Rows whose message is gone (its partition was dropped) have nobody to wait for. */
export async function removeLostUnknown(connection: Queryable, before: Date, limit: number): Promise<number> {
  const rows = await connection.query(
    `delete from unknown_message where message_id in (
       select u.message_id from unknown_message u left join message m on m.id = u.message_id
       where u.resolve_at < $1 and m.id is null order by u.resolve_at limit $2) returning 1`,
    [before, limit],
  )
  return rows.length
}
