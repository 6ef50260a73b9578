/** The SQL of dispatching: claim what is due, settle what came of it. Both in one statement for many lanes. */
import type { MessageContent } from '../domain/message.ts'
import { happenedSql, queueSql, toldColumns } from './callbacks.ts'
import {
  booleans,
  columnNames,
  columnParameters,
  documents,
  instants,
  lists,
  numbers,
  writeColumns,
  texts,
  uuids,
  type Columns,
} from './columns.ts'
import type { Queryable } from './db.ts'
import { countParameters } from './statements.ts'

export type ClaimWish = {
  line_id: string
  epoch: number
  /** Free slots of the lane. */
  free: number
  /** Of these, how many go to each class below the first, whatever waits above. */
  single_share: number
  deferred_share: number
}

export type ClaimedMessage = {
  messageId: string
  companyId: string
  lineId: string
  contactId: string
  priority: number
  epoch: number
  /** How often it was marked, this time included: together with the epoch it names this very hand-over. */
  attempts: number
  isPinned: boolean
  /** Parts that an earlier attempt already handed over. */
  takenIds: (string | null)[] | null
  expiresAt: Date
  acceptedAt: Date
  recipient: string
  content: MessageContent
}

/*
 * Plans are made once and kept. One that was made just after the queue was vacuumed while it was empty would join it by
 * reading all of it, for every key (settling one message among 3,000 entries read 27,000, for as long as the plan was
 * kept). So entries are found by LATERAL with OFFSET 0, which leaves nothing but the index to find them by, and changed
 * by their place in the table (`ctid`).
 */

/**
 * The hand-over mark: written just before the provider is written to, for no more messages than there are free
 * slots. Each class is read through its own piece of the index, so that neither a million waiting messages nor
 * many in back-off are walked over; a lane whose epoch has moved on gets nothing. The lane's row is locked meanwhile:
 * a claim that commits after a new owner looked for orphans would leave marks that nobody ever sees again.
 */
const claimStatement = {
  name: 'outbox_claim',
  text: `
with wish as materialized (
  select w.* from json_to_recordset($1::json) as w(line_id uuid, epoch bigint, free int, single_share int, deferred_share int)
  join lane l on l.line_id = w.line_id and l.owner_id = $2 and l.epoch = w.epoch for share of l
), candidate as (
  select w.line_id, w.epoch, w.free, c.place, c.message_id, c.priority, c.due_at,
    c.rank > case c.priority when 0 then 0 when 1 then w.single_share else w.deferred_share end as is_over_share
  from wish w cross join lateral unnest(array[0, 1, 2]::smallint[]) as class(priority)
  cross join lateral (
    select o.*, row_number() over (order by o.due_at, o.message_id) as rank
    from (select ctid as place, message_id, priority, due_at from outbox
           where line_id = w.line_id and priority = class.priority and due_at <= $3 and handed_over_epoch is null and not is_deferred
           order by due_at, message_id limit w.free for update skip locked) o) c
), chosen as materialized (
  select epoch, place, message_id from (
    select *, row_number() over (partition by line_id order by is_over_share, priority, due_at, message_id) as number from candidate) c
  where number <= free
)
update outbox o set handed_over_epoch = chosen.epoch, attempts = least(o.attempts, 32000) + 1
from chosen cross join lateral (select accepted_at, recipient, content from message where id = chosen.message_id offset 0) m
where o.ctid = chosen.place
returning o.message_id as "messageId", o.company_id as "companyId", o.line_id as "lineId", o.contact_id as "contactId",
  o.priority, o.handed_over_epoch as epoch, o.attempts, o.is_pinned as "isPinned", o.taken_ids as "takenIds", o.expires_at as "expiresAt",
  m.accepted_at as "acceptedAt", m.recipient, m.content`,
}

export const claimMessages = (
  connection: Queryable,
  workerId: string,
  wishes: readonly ClaimWish[],
  now: Date,
): Promise<ClaimedMessage[]> =>
  connection.query<ClaimedMessage>(claimStatement, [JSON.stringify(wishes), workerId, now])

/** What came of one hand-over. */
export type Settlement = {
  message_id: string
  line_id: string
  epoch: number
  attempt: number
  /** `queued`: goes back into the queue, due at `due_at`. */
  state: 'sent' | 'delivered' | 'failed' | 'unknown' | 'expired' | 'queued'
  at: Date
  /** Null keeps the time at which it was due. */
  due_at: Date | null
  /** One per part; null for a part that was not taken. */
  provider_ids: (string | null)[]
  error_code: string | null
  error_message: string | null
  /** The event of the timeline; null leaves no trace (a message put back untouched). */
  event: { kind: string; detail: object; exchange?: { request: string; response: string } } | null
  /** When an unknown outcome is given up waiting for a receipt. */
  resolve_at: Date | null
  /** Of `delivered`: the histogram bucket of the time since it was accepted. */
  latency_bucket: number | null
  /** The person wants nothing more on this channel. */
  is_opt_out: boolean
}

/** Given back as it was: nothing was handed over, and no time is lost. */
export const putBack = (message: ClaimedMessage, now: Date): Settlement => ({
  message_id: message.messageId,
  line_id: message.lineId,
  epoch: message.epoch,
  attempt: message.attempts,
  state: 'queued',
  at: now,
  due_at: null,
  provider_ids: [],
  error_code: null,
  error_message: null,
  event: null,
  resolve_at: null,
  latency_bucket: null,
  is_opt_out: false,
})

type SettlementRow = Omit<Settlement, 'event'> & { event_kind: string | null; event_detail: object | null }

const settlementColumns: Columns<SettlementRow> = {
  message_id: uuids,
  line_id: uuids,
  epoch: numbers,
  attempt: numbers,
  state: texts,
  at: instants,
  due_at: instants,
  provider_ids: lists,
  error_code: texts,
  error_message: texts,
  event_kind: texts,
  event_detail: documents,
  resolve_at: instants,
  latency_bucket: numbers,
  is_opt_out: booleans,
}

/**
 * Asked again of the entry that is changed: it may have been waited for, while a first try of this settlement put it
 * back and it was claimed anew. COALESCE, because a plain comparison would let the planner read all that are marked.
 */
const isStillMarked = 'coalesce(o.handed_over_epoch, 0) = s.epoch and o.attempts = s.attempt'

/**
 * Everything follows from the entries that still carry the mark of this very hand-over: an owner that was replaced in
 * the meantime, or that writes for the second time because the first answer was lost, changes nothing. Report deltas
 * are grouped here, one row per combination. A provider that gives an id a second time means the newer message by it.
 */
const settleStatement = {
  name: 'outbox_settle',
  text: `
with s as materialized (
  select message_id, line_id, epoch, attempt, state, at, due_at, provider_ids::text[] as provider_ids, error_code, error_message, event_kind,
    event_detail, resolve_at, latency_bucket, is_opt_out
  from unnest(${columnParameters(settlementColumns, countParameters())}) as s(${columnNames(settlementColumns)})
), marked as materialized (
  select s.*, o.* from s cross join lateral (
    select ctid as place, handed_over_epoch, attempts, company_id, contact_id, priority, expires_at, is_pinned
    from outbox where message_id = s.message_id offset 0) o
  where o.handed_over_epoch = s.epoch and o.attempts = s.attempt
), removed as (
  delete from outbox o using marked s where o.ctid = s.place and ${isStillMarked} and s.state <> 'queued' returning s.*
), requeued as (
  update outbox o set handed_over_epoch = null, due_at = coalesce(s.due_at, o.due_at),
    taken_ids = case when cardinality(s.provider_ids) > 0 then s.provider_ids else o.taken_ids end
  from marked s where o.ctid = s.place and ${isStillMarked} and s.state = 'queued' returning s.*
), d as materialized (
  select * from removed union all select * from requeued
), moved as (
  update message m set state = d.state, error_code = d.error_code, error_message = d.error_message,
    handed_over_at = case when d.state = 'expired' then m.handed_over_at else d.at end, settled_at = d.at
  from d where m.id = d.message_id and d.state <> 'queued' and m.state in ('queued', 'sending')
  returning m.id, m.company_id, m.api, m.line_id, m.contact_id, d.state, d.at, d.latency_bucket, d.is_opt_out, m.error_code, m.error_message,
    ${toldColumns}
), happened as (${happenedSql('moved')}
), called as (${queueSql('happened', 'order by e.position')}
), told as (
  insert into message_event (message_id, at, kind, detail)
  select message_id, at, event_kind, event_detail from d where event_kind is not null
), named as (
  insert into provider_reference as r (line_id, provider_id, message_id, part, parts, created_at)
  select distinct on (d.line_id, p.provider_id) d.line_id, p.provider_id, d.message_id, p.part, cardinality(d.provider_ids), d.at
  from d cross join lateral unnest(d.provider_ids) with ordinality as p(provider_id, part)
  where p.provider_id is not null order by d.line_id, p.provider_id, d.message_id desc, p.part
  on conflict (line_id, provider_id) do update set message_id = excluded.message_id, part = excluded.part, parts = excluded.parts,
    state = null, created_at = excluded.created_at where r.message_id < excluded.message_id
), doubted as (
  insert into unknown_message (message_id, company_id, line_id, contact_id, priority, expires_at, is_pinned, attempts, resolve_at)
  select message_id, company_id, line_id, contact_id, priority, expires_at, is_pinned, attempt, resolve_at from d where state = 'unknown'
  on conflict do nothing
), silenced as (
  update contact k set opted_out_channels = k.opted_out_channels || x.channel
  from (select distinct contact_id, channel from moved where is_opt_out) x
  where k.id = x.contact_id and x.channel <> all(k.opted_out_channels)
), counted as (
  -- Whatever was delivered has also been sent.
  insert into report_delta (company_id, hour, api, channel, line_id, template_id, segment_id, outcome, latency_bucket, count)
  select company_id, date_trunc('hour', at, 'UTC'), api, channel, line_id, template_id, segment_id, outcome,
    case when outcome = 'delivered' then latency_bucket end, count(*)
  from moved cross join lateral unnest(case when state = 'delivered' then array['sent', 'delivered'] else array[state] end) as outcome
  group by 1, 2, 3, 4, 5, 6, 7, 8, 9
)
select message_id as "messageId" from d`,
}

const rowOf = ({ event, ...settlement }: Settlement): SettlementRow => ({
  ...settlement,
  event_kind: event?.kind ?? null,
  event_detail: event?.exchange ? { ...event.detail, exchange: event.exchange } : (event?.detail ?? null),
})

/** Returns the messages that were settled; the others are no longer this owner's. */
export async function settleMessages(
  connection: Queryable,
  settlements: readonly Settlement[],
): Promise<Set<string>> {
  const rows = await connection.query<{ messageId: string }>(
    settleStatement,
    writeColumns(settlementColumns, settlements.map(rowOf)),
  )
  return new Set(rows.map((row) => row.messageId))
}

/** What was handed over and never settled may have left or not: it becomes `unknown`, and is never sent again blindly. */
const doubtSql = (orphanSql: string) => `
with orphan as (
  ${orphanSql} returning o.*
), moved as (
  update message m set state = 'unknown', handed_over_at = coalesce(m.handed_over_at, $2), settled_at = $2, error_code = 'worker_lost',
    error_message = 'the process that handed it over ended before it knew the answer'
  from orphan o where m.id = o.message_id and m.state in ('queued', 'sending')
  returning m.id, m.company_id, m.api, m.line_id, m.state, m.error_code, m.error_message, $2::timestamptz as at, ${toldColumns}
), called as (${queueSql('moved')}
), told as (
  insert into message_event (message_id, at, kind, detail)
  select message_id, $2, 'unknown', jsonb_build_object('code', 'worker_lost', 'attempt', attempts) from orphan
), counted as (
  insert into report_delta (company_id, hour, api, channel, line_id, template_id, segment_id, outcome, count)
  select company_id, date_trunc('hour', $2::timestamptz, 'UTC'), api, channel, line_id, template_id, segment_id, 'unknown', count(*)
  from moved group by 1, 2, 3, 4, 5, 6, 7
)
insert into unknown_message (message_id, company_id, line_id, contact_id, priority, expires_at, is_pinned, attempts, resolve_at)
select message_id, company_id, line_id, contact_id, priority, expires_at, is_pinned, attempts, $3 from orphan
on conflict do nothing
returning message_id as "messageId"`

/** By an earlier owner of these lanes. */
const orphanStatement = {
  name: 'outbox_orphans',
  text: doubtSql(`delete from outbox o using json_to_recordset($1::json) as l(line_id uuid, epoch bigint)
  where o.line_id = l.line_id and o.handed_over_epoch is not null and o.handed_over_epoch < l.epoch`),
}

export const doubtOrphans = (
  connection: Queryable,
  lanes: readonly { line_id: string; epoch: number }[],
  now: Date,
  resolveAt: Date,
): Promise<{ messageId: string }[]> =>
  connection.query(orphanStatement, [JSON.stringify(lanes), now, resolveAt])

/** By the last owner of a line that is gone since: nobody will own it again, and its time is over. */
const abandonedStatement = {
  name: 'outbox_abandoned',
  text: doubtSql(`delete from outbox o where o.handed_over_epoch is not null and o.expires_at <= $1
  and not exists (select 1 from lane l where l.line_id = o.line_id)`),
}

export const doubtAbandoned = (connection: Queryable, now: Date): Promise<{ messageId: string }[]> =>
  connection.query(abandonedStatement, [now, now, now])

/** Expires what waited too long, also on lines that are paused or away. */
const expireStatement = {
  name: 'outbox_expire',
  text: `
with due as (
  delete from outbox where ctid = any(array(
    select ctid from outbox where expires_at <= $1 and handed_over_epoch is null order by expires_at limit 1000 for update skip locked))
  returning message_id
), moved as (
  update message m set state = 'expired', settled_at = $1, error_code = coalesce(m.error_code, 'expired'),
    error_message = coalesce(m.error_message, 'it could not be handed over in time')
  from due where m.id = due.message_id and m.state = 'queued'
  returning m.id, m.company_id, m.api, m.line_id, m.state, m.error_code, m.error_message, $1::timestamptz as at, ${toldColumns}
), called as (${queueSql('moved')}
), counted as (
  insert into report_delta (company_id, hour, api, channel, line_id, template_id, segment_id, outcome, count)
  select company_id, date_trunc('hour', $1::timestamptz, 'UTC'), api, channel, line_id, template_id, segment_id, 'expired', count(*)
  from moved group by 1, 2, 3, 4, 5, 6, 7
)
insert into message_event (message_id, at, kind, detail) select id, $1, 'expired', '{}' from moved
returning message_id as "messageId"`,
}

export const expireMessages = (connection: Queryable, now: Date): Promise<{ messageId: string }[]> =>
  connection.query(expireStatement, [now])

/** Messages that carry the mark of these very epochs. */
export const findMarked = (
  connection: Queryable,
  lanes: readonly { line_id: string; epoch: number }[],
): Promise<{ messageId: string }[]> =>
  connection.query(
    {
      name: 'outbox_marked_by',
      text: `select o.message_id as "messageId" from json_to_recordset($1::json) as l(line_id uuid, epoch bigint)
        join outbox o on o.line_id = l.line_id and o.handed_over_epoch = l.epoch`,
    },
    [JSON.stringify(lanes)],
  )

/** Takes off marks that were set but never acted upon. The count of attempts stays: it tells hand-overs apart. */
export async function unmark(
  connection: Queryable,
  messageIds: readonly string[],
  lanes: readonly { line_id: string; epoch: number }[],
): Promise<void> {
  await connection.query(
    `update outbox o set handed_over_epoch = null
     from json_to_recordset($1::json) as l(line_id uuid, epoch bigint)
     where o.line_id = l.line_id and o.handed_over_epoch = l.epoch and o.message_id = any($2::uuid[])`,
    [JSON.stringify(lanes), messageIds],
  )
}
