/** The queue of callbacks: what is put into it, with the change it tells of, and what people see of it. */
import type { Queryable } from './db.ts'

export const callbackEvents = [
  'sent',
  'delivered',
  'read',
  'failed',
  'expired',
  'blocked',
  'unknown',
  'received',
] as const
export type CallbackEvent = (typeof callbackEvents)[number]

/**
 * How long later events of a message wait for an earlier one that is being tried again. Retries come after 5 s, 5 min,
 * 30 min and 2 h, so whoever is away for up to two and a half hours gets all events in order.
 */
const holdSql = `interval '3 hours'`

/** Columns of `message` that a callback tells; what queues one has to bring them along. */
export const toldColumns = `m.request_id, m.channel, m.recipient, m.template_id, m.segment_id, m.contract_code,
    m.document_number, m.callback`

/**
 * An INSERT that queues the events in the relation `source`: the told columns, and `id`, `company_id`, `state`, `at`,
 * `error_code`, `error_message`. Without callback and webhook it costs one look at rows that are at hand, and names of
 * templates and segments are looked up for those it queues only.
 */
export const queueSql = (source: string, order = ''): string => `
  insert into callback (company_id, target, endpoint, url, subject_id, event, at, due_at, holds_until, data)
  select e.company_id, e.target, coalesce(callback_lane(e.url), 'webhook'), e.url, e.id, e.state, e.at, e.at, e.at + ${holdSql},
    jsonb_build_object('requestId', e.request_id, 'channel', e.channel, 'recipient', e.recipient,
      'template_code', (select t.code from template t where t.id = e.template_id),
      'contract_code', e.contract_code, 'document_number', e.document_number,
      'segment', (select g.name from segment g where g.id = e.segment_id),
      'custom_fields', coalesce(e.callback->'customFields', '{}'))
    || case when e.state in ('failed', 'expired', 'blocked', 'unknown')
      then jsonb_build_object('error', jsonb_build_object('code', coalesce(e.error_code, e.state),
        'message', coalesce(nullif(e.error_message, ''), 'the provider gave no reason')))
      else '{}' end
  from (
    select 'request' as target, m.callback->>'url' as url, m.* from ${source} m where m.callback is not null and m.state <> 'queued'
    union all
    select 'webhook', null, m.* from ${source} m join webhook w on w.company_id = m.company_id
    where m.state <> 'queued' and w.disabled_at is null and (w.events = '{}' or 'message.' || m.state = any(w.events))
  ) e
  ${order}
  on conflict (subject_id, event, target) do nothing`

/**
 * A provider that answers "delivered" at once has also sent it: both are told. The rows of messages without callback are
 * left out where no company has a webhook, which is asked once per statement.
 */
export const happenedSql = (source: string): string => `
  select m.id, m.company_id, m.error_code, m.error_message, m.at, ${toldColumns}, e.state, e.position
  from ${source} m cross join lateral unnest(
    case when m.state = 'delivered' then array['sent', 'delivered'] else array[m.state] end) with ordinality as e(state, position)
  where m.callback is not null or exists (select 1 from webhook)`

export type QueuedChange = {
  /** Of several events of a message the earlier one is queued first. */
  position: number
  message_id: string
  state: CallbackEvent
  at: Date
  error_code: string | null
  error_message: string | null
}

const changesStatement = {
  name: 'callback_queue_changes',
  text: `
with c as materialized (
  select * from json_to_recordset($1::json) as c(position int, message_id uuid, state text, at timestamptz, error_code text, error_message text)
), event as materialized (
  select m.id, m.company_id, ${toldColumns}, c.state, c.at, c.position,
    coalesce(c.error_code, m.error_code) as error_code,
    case when c.error_code is null then m.error_message else c.error_message end as error_message
  from c join message m on m.id = c.message_id
)
${queueSql('event', 'order by e.position')}`,
}

/** Events of messages that this very transaction has moved. */
export async function queueChanges(connection: Queryable, changes: readonly QueuedChange[]): Promise<void> {
  await connection.query(changesStatement, [JSON.stringify(changes)])
}

const receivedStatement = {
  name: 'callback_queue_received',
  text: `
insert into callback (company_id, target, endpoint, subject_id, event, at, due_at, data)
select i.company_id, 'webhook', 'webhook', i.id, 'received', i.received_at, $2,
  jsonb_build_object('channel', l.channel, 'lineId', l.id, 'line', coalesce(l.email, concat(l.country_code, l.phone_number)),
    'from', i.sender, 'userId', i.user_id, 'kind', i.kind, 'text', i.text, 'repliesTo', i.replies_to, 'profileName', i.profile_name,
    'media', (select coalesce(jsonb_agg(jsonb_build_object('position', f.position, 'mimeType', f.mime_type, 'name', f.name)
      order by f.position), '[]') from inbound_media f where f.inbound_id = i.id))
from inbound_message i join webhook w on w.company_id = i.company_id join line l on l.id = i.line_id
where i.id = any($1::uuid[]) and w.disabled_at is null and (w.events = '{}' or 'message.received' = any(w.events))
order by i.id
on conflict (subject_id, event, target) do nothing`,
}

/** Messages that this very transaction has stored. */
export async function queueReceivedMessages(
  connection: Queryable,
  inboundIds: readonly string[],
  now: Date,
): Promise<void> {
  await connection.query(receivedStatement, [inboundIds, now])
}

export type CallbackView = {
  id: number
  target: 'request' | 'webhook'
  /** The lane it waits in: `webhook`, or the beginning of its address. */
  endpoint: string
  url: string | null
  /** The message, or the received message. */
  subjectId: string
  event: CallbackEvent
  at: Date
  state: 'waiting' | 'delivered' | 'given_up'
  /** When it is tried next; of no meaning once it is over. */
  dueAt: Date
  attempts: number
  lastStatus: number | null
  lastError: string | null
  replayedAt: Date | null
  finishedAt: Date | null
}

const viewColumns = `c.id, c.target, c.endpoint, coalesce(c.url, w.url) as url, c.subject_id as "subjectId", c.event, c.at, c.state,
  c.due_at as "dueAt", c.attempts, c.last_status as "lastStatus", c.last_error as "lastError", c.replayed_at as "replayedAt",
  c.finished_at as "finishedAt"`

export type CallbackFilter = {
  state?: CallbackView['state']
  event?: CallbackEvent
  subjectId?: string
  endpoint?: string
  /** Of a page before: its last id. */
  beforeId?: number
  limit: number
}

/** Written out, so that the indexes of these states fit; `delivered` is what nearly all of them are. */
const stateSql: Record<CallbackView['state'], string> = {
  waiting: "and c.state = 'waiting'",
  given_up: "and c.state = 'given_up'",
  delivered: "and c.state = 'delivered'",
}

/** Newest first. */
export const listCallbacks = (
  db: Queryable,
  companyId: string,
  filter: CallbackFilter,
): Promise<CallbackView[]> =>
  db.query<CallbackView>(
    `select ${viewColumns} from callback c left join webhook w on c.target = 'webhook' and w.company_id = c.company_id
     where c.company_id = $1 ${filter.state ? stateSql[filter.state] : ''} ${filter.subjectId ? 'and c.subject_id = $3' : ''}
       and ($2::text is null or c.event = $2) and ($3::uuid is null or c.subject_id = $3) and ($4::bigint is null or c.id < $4)
       and ($6::text is null or c.endpoint = $6)
     order by c.id desc limit $5`,
    [companyId, filter.event, filter.subjectId, filter.beforeId, filter.limit, filter.endpoint],
  )

export type CallbackDetails = CallbackView & {
  data: Record<string, unknown>
  /** Of its endpoint, when that is in trouble. */
  trouble: { failures: number; failingSince: Date; closedUntil: Date | null } | null
}

export async function getCallback(
  db: Queryable,
  companyId: string,
  id: number,
): Promise<CallbackDetails | undefined> {
  const [row] = await db.query<
    CallbackDetails & { failures: number | null; failingSince: Date; closedUntil: Date | null }
  >(
    `select ${viewColumns}, c.data, e.failures, e.failing_since as "failingSince", e.closed_until as "closedUntil"
     from callback c left join webhook w on c.target = 'webhook' and w.company_id = c.company_id
       left join callback_endpoint e on e.company_id = c.company_id and e.endpoint = c.endpoint
     where c.company_id = $1 and c.id = $2`,
    [companyId, id],
  )
  if (row === undefined) return undefined
  const { failures, failingSince, closedUntil, ...callback } = row
  return { ...callback, trouble: failures === null ? null : { failures, failingSince, closedUntil } }
}

export type CallbackAttempt = {
  callbackId: number
  number: number
  at: Date
  durationMs: number
  status: number | null
  error: string | null
  answer: string | null
}

/** In the order they were made; nothing when the callback is another company's. */
export const listCallbackAttempts = (
  db: Queryable,
  companyId: string,
  callbackIds: readonly number[],
): Promise<CallbackAttempt[]> =>
  db.query<CallbackAttempt>(
    `select a.callback_id as "callbackId", a.number, a.at, a.duration_ms as "durationMs", a.status, a.error, a.answer
     from callback_attempt a join callback c on c.id = a.callback_id
     where c.company_id = $1 and a.callback_id = any($2::bigint[]) order by a.callback_id, a.number`,
    [companyId, callbackIds],
  )

export type ReplayFilter = {
  ids?: readonly number[]
  state?: CallbackView['state']
  event?: CallbackEvent
  since?: Date
  until?: Date
  limit: number
}

/**
 * Due again from now on, from the beginning of the schedule, with the same id outside. It neither waits for other
 * events of its message nor holds them: a person asked for it.
 */
export async function replayCallbacks(
  db: Queryable,
  companyId: string,
  filter: ReplayFilter,
  now: Date,
): Promise<number[]> {
  const rows = await db.query<{ id: number }>(
    `with chosen as (
       select id from callback where company_id = $1 and ($2::bigint[] is null or id = any($2)) and ($3::text is null or state = $3)
         and ($4::text is null or event = $4) and ($5::timestamptz is null or at >= $5) and ($6::timestamptz is null or at < $6)
       order by id limit $7 for update
     )
     update callback c set state = 'waiting', due_at = $8, step = 0, early = 0, holds_until = null, replayed_at = $8, finished_at = null
     from chosen where c.id = chosen.id returning c.id`,
    [companyId, filter.ids, filter.state, filter.event, filter.since, filter.until, filter.limit, now],
  )
  return rows.map((row) => row.id).toSorted((a, b) => a - b)
}

/** What waits (counted up to 10,000), and since when the oldest of it. */
export async function callbackDepth(
  db: Queryable,
): Promise<{ waiting: number; oldestAt: Date | null; failing: number }> {
  const [row] = await db.query<{ waiting: number; oldestAt: Date | null; failing: number }>(
    `select (select count(*) from (select 1 from callback where state = 'waiting' limit 10000) w) as waiting,
       (select min(at) from callback where state = 'waiting') as "oldestAt",
       (select count(*) from callback_endpoint) as failing`,
  )
  return row!
}

/** Removes what was over before `before`, looking at the oldest `limit` rows; returns how many went. */
export async function removeCallbacksBefore(db: Queryable, before: Date, limit: number): Promise<number> {
  const rows = await db.query(
    `delete from callback where id in (
       select id from (select id, finished_at from callback order by id limit $2) old where finished_at < $1) returning 1`,
    [before, limit],
  )
  return rows.length
}
