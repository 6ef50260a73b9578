/** The SQL of delivering callbacks: which endpoints have work, claim it fairly, record what came of it. */
import type { CallbackEvent } from './callbacks.ts'
import type { Queryable } from './db.ts'

export type BusyLane = {
  companyId: string
  endpoint: string
  /** Something is due and nobody is at it. */
  hasWork: boolean
  /** It was closed and may be tried with a single event. */
  isProbe: boolean
}

/** Failures in a row after which an endpoint is left alone for a while. */
export const failuresToClose = 10

/**
 * Every endpoint that has something waiting, read by leaps through the index: endpoints at rest cost nothing, and one
 * with a million events costs as much as one with a single one. At most `limit`, those after `after` first.
 */
const lanesStatement = {
  name: 'callback_lanes',
  text: `
with recursive lane as (
  (select company_id, endpoint from callback where state = 'waiting' and (company_id, endpoint) > ($2::uuid, $3::text)
   order by company_id, endpoint limit 1)
  union all
  select n.company_id, n.endpoint from lane l cross join lateral (
    select c.company_id, c.endpoint from callback c where c.state = 'waiting' and (c.company_id, c.endpoint) > (l.company_id, l.endpoint)
    order by c.company_id, c.endpoint limit 1) n
), seen as materialized (select * from lane limit $4)
select s.company_id as "companyId", s.endpoint, coalesce(e.failures >= ${failuresToClose}, false) as "isProbe",
  (e.closed_until is null or e.closed_until <= $1) and due.id is not null as "hasWork"
from seen s left join callback_endpoint e on e.company_id = s.company_id and e.endpoint = s.endpoint
left join lateral (
  select c.id from callback c where c.company_id = s.company_id and c.endpoint = s.endpoint and c.state = 'waiting'
  and c.due_at <= $1 and (c.leased_until is null or c.leased_until < now()) limit 1) due on true
order by 1, 2`,
}

export const listBusyLanes = (
  db: Queryable,
  now: Date,
  after: { companyId: string; endpoint: string } | undefined,
  limit: number,
): Promise<BusyLane[]> =>
  db.query<BusyLane>(lanesStatement, [
    now,
    after?.companyId ?? '00000000-0000-0000-0000-000000000000',
    after?.endpoint ?? '',
    limit,
  ])

export type CallbackWish = { company_id: string; endpoint: string; free: number }

export type ClaimedCallback = {
  id: number
  companyId: string
  target: 'request' | 'webhook'
  endpoint: string
  /** Null when the webhook is gone or switched off. */
  url: string | null
  subjectId: string
  event: CallbackEvent
  at: Date
  data: Record<string, unknown>
  step: number
  early: number
  /** This one included. */
  attempts: number
  secretSealed: Buffer | null
  previousSecretSealed: Buffer | null
  previousSecretUntil: Date | null
}

/**
 * A lease by the database's clock, so that a crash repeats at most what was in flight. An endpoint may have been closed
 * since its work was seen. An event whose message has an earlier one still waiting is put off until that one is due
 * again, so that it is not walked over in every round.
 */
const claimStatement = {
  name: 'callback_claim',
  text: `
with wish as materialized (
  select w.* from json_to_recordset($1::json) as w(company_id uuid, endpoint text, free int)
  left join callback_endpoint e on e.company_id = w.company_id and e.endpoint = w.endpoint
  where e.closed_until is null or e.closed_until <= $2
), candidate as materialized (
  select c.* from wish w cross join lateral (
    select id, company_id, subject_id, target, replayed_at from callback
    where company_id = w.company_id and endpoint = w.endpoint and state = 'waiting' and due_at <= $2
      and (leased_until is null or leased_until < now())
    order by due_at, id limit w.free for update skip locked) c
), held as materialized (
  select c.id, max(least(p.due_at + interval '1 millisecond', p.holds_until)) as until
  from candidate c join callback p on p.subject_id = c.subject_id and p.target = c.target and p.id < c.id and p.state = 'waiting' and p.holds_until > $2
  where c.replayed_at is null group by c.id
), put_off as (
  update callback c set due_at = greatest(h.until, $2::timestamptz + interval '500 milliseconds') from held h where c.id = h.id
), claimed as (
  update callback c set lease = $3, leased_until = now() + make_interval(secs => $4), attempts = c.attempts + 1
  from candidate k where c.id = k.id and k.id not in (select id from held)
  returning c.*
)
select c.id, c.company_id as "companyId", c.target, c.endpoint, c.subject_id as "subjectId", c.event, c.at, c.data, c.step, c.early, c.attempts,
  case c.target when 'request' then c.url else case when w.disabled_at is null then w.url end end as url,
  case c.target when 'request' then k.callback_secret_sealed else w.secret_sealed end as "secretSealed",
  case c.target when 'request' then k.previous_callback_secret_sealed else w.previous_secret_sealed end as "previousSecretSealed",
  case c.target when 'request' then k.previous_callback_secret_until else w.previous_secret_until end as "previousSecretUntil"
  , h.held
from (select count(*) as held from held) h left join claimed c on true
left join company k on k.id = c.company_id left join webhook w on w.company_id = c.company_id
order by c.id`,
}

export type Claim = {
  callbacks: ClaimedCallback[]
  /** How many were put off: they took up slots in which others may go now. */
  held: number
}

export async function claimCallbacks(
  db: Queryable,
  wishes: readonly CallbackWish[],
  now: Date,
  lease: { id: string; seconds: number },
): Promise<Claim> {
  const values = [JSON.stringify(wishes), now, lease.id, lease.seconds]
  const rows = await db.query<ClaimedCallback & { held: number }>(claimStatement, values)
  // One row comes back even when nothing was claimed.
  const callbacks = rows.filter(({ id }) => id !== null)
  return { callbacks, held: rows[0]?.held ?? 0 }
}

export type CallbackResult = {
  id: number
  lease: string
  company_id: string
  endpoint: string
  number: number
  state: 'waiting' | 'delivered' | 'given_up'
  started_at: Date
  at: Date
  duration_ms: number
  status: number | null
  error: string | null
  answer: string | null
  due_at: Date | null
  step: number
  early: number
  /** Later events of the message may go: this one is over, or the receiver is there and refuses it. */
  lets_go: boolean
  /** What it says of the endpoint: it works, it answers but refuses, it is in trouble. */
  health: 'works' | 'refuses' | 'troubled'
  /** The receiver says that the webhook is gone for good. */
  ends_webhook: boolean
}

/**
 * Attempts are recorded also when the lease was lost in the meantime: they were made. Endpoints are written in the
 * order of their keys; the pause of a closed one doubles with each failure, from 5 s to 5 min.
 */
const settleStatement = {
  name: 'callback_settle',
  text: `
with r as materialized (
  select * from json_to_recordset($1::json) as r(id bigint, lease uuid, company_id uuid, endpoint text, number smallint, state text,
    started_at timestamptz, at timestamptz, duration_ms int, status smallint, error text, answer text, due_at timestamptz, step smallint, early smallint,
    lets_go boolean, health text, ends_webhook boolean)
), changed as (
  -- Asked for again while this attempt was under way: it stays due.
  update callback c set lease = null, leased_until = null, last_status = r.status, last_error = r.error,
    holds_until = case when r.lets_go then null else c.holds_until end,
    state = case when c.replayed_at > r.started_at then c.state else r.state end,
    due_at = case when c.replayed_at > r.started_at then c.due_at else coalesce(r.due_at, c.due_at) end,
    step = case when c.replayed_at > r.started_at then c.step else r.step end,
    early = case when c.replayed_at > r.started_at then c.early else r.early end,
    finished_at = case when c.replayed_at > r.started_at or r.state = 'waiting' then null else r.at end
  from r where c.id = r.id and c.lease = r.lease
), freed as (
  -- Those that were put off for it and never tried need not wait any longer.
  update callback n set due_at = least(n.due_at, $2)
  from r join callback c on c.id = r.id
  where r.lets_go and n.subject_id = c.subject_id and n.target = c.target and n.id > c.id and n.state = 'waiting' and n.attempts = 0
), recorded as (
  insert into callback_attempt (callback_id, number, at, duration_ms, status, error, answer)
  select r.id, r.number, r.started_at, r.duration_ms, r.status, r.error, r.answer from r
  where exists (select 1 from callback c where c.id = r.id)
  on conflict do nothing
), ended as (
  update webhook w set disabled_at = $2, disabled_reason = 'the receiver answered 410: gone' from (select distinct company_id from r where ends_webhook) x
  where w.company_id = x.company_id and w.disabled_at is null returning w.company_id
), lane as materialized (
  select company_id, endpoint, bool_or(health = 'works') as works, count(*) filter (where health = 'troubled') as failures,
    min(at) as at, max(coalesce(error, 'HTTP ' || status)) as error
  from r group by company_id, endpoint
), recovered as (
  delete from callback_endpoint e using lane l where l.works and e.company_id = l.company_id and e.endpoint = l.endpoint
  returning e.company_id, e.endpoint, e.alerted_at
), troubled as (
  insert into callback_endpoint as e (company_id, endpoint, failures, failing_since, last_error, changed_at, closed_until)
  select company_id, endpoint, failures, at, error, $2,
    case when failures >= ${failuresToClose} then $2::timestamptz + interval '5 seconds' end
  from lane where not works order by company_id, endpoint
  on conflict (company_id, endpoint) do update set failures = e.failures + excluded.failures, last_error = excluded.last_error,
    changed_at = excluded.changed_at,
    closed_until = case when excluded.failures > 0 and e.failures + excluded.failures >= ${failuresToClose}
      then $2::timestamptz + least(300, 5 * 2 ^ least(e.failures + excluded.failures - ${failuresToClose}, 10)) * interval '1 second'
      else e.closed_until end
)
select company_id as "companyId", endpoint, 'recovered' as what from recovered where alerted_at is not null
union all select company_id, 'webhook', 'ended' from ended`,
}

export type EndpointNews = { companyId: string; endpoint: string; what: 'recovered' | 'ended' }

export const settleCallbacks = (
  db: Queryable,
  results: readonly CallbackResult[],
  now: Date,
): Promise<EndpointNews[]> => db.query<EndpointNews>(settleStatement, [JSON.stringify(results), now])

export type DeadEndpoint = {
  companyId: string
  endpoint: string
  failingSince: Date
  lastError: string | null
}

/** Endpoints that have taken nothing since before `before` and of which nobody was told yet. */
export const takeDeadEndpoints = (db: Queryable, before: Date, now: Date): Promise<DeadEndpoint[]> =>
  db.query<DeadEndpoint>(
    `update callback_endpoint set alerted_at = $2 where (company_id, endpoint) in (
       select company_id, endpoint from callback_endpoint where failing_since < $1 and alerted_at is null
       order by company_id, endpoint limit 100 for update skip locked)
     returning company_id as "companyId", endpoint, failing_since as "failingSince", last_error as "lastError"`,
    [before, now],
  )

/** Endpoints that nobody has called since `before`: nothing is left that could tell whether they work. */
export const removeIdleEndpoints = (db: Queryable, before: Date): Promise<EndpointNews[]> =>
  db.query<EndpointNews>(
    `delete from callback_endpoint where (company_id, endpoint) in (
       select company_id, endpoint from callback_endpoint where changed_at < $1 order by company_id, endpoint limit 1000 for update skip locked)
     returning company_id as "companyId", endpoint, 'recovered' as what`,
    [before],
  )
