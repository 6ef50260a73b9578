/** What pages show at a glance: alerts, lanes, and what happened since the last look. */
import type { Channel } from '../domain/channel.ts'
import { firstIdAt } from '../lib/ids.ts'
import { omit } from '../lib/omit.ts'
import type { AuditEntry } from './audit.ts'
import type { Queryable } from './db.ts'

export type AlertView = {
  id: string
  kind: string
  subject: string
  message: string
  raisedAt: Date
  clearedAt: Date | null
}

/** Of the company and of the whole installation; open ones, or all, newest first. */
export const listAlerts = (
  db: Queryable,
  companyId: string,
  page: { isOpen?: boolean; subject?: string; beforeId?: string; limit: number },
): Promise<AlertView[]> =>
  db.query<AlertView>(
    `select id, kind, subject, message, raised_at as "raisedAt", cleared_at as "clearedAt" from alert
      where (company_id = $1 or company_id is null) and ($2::boolean is null or (cleared_at is null) = $2)
        and ($3::uuid is null or id < $3) and ($5::text is null or subject = $5) order by id desc limit $4`,
    [companyId, page.isOpen, page.beforeId, page.limit, page.subject],
  )

/** Newest first. */
export const searchAudit = (
  db: Queryable,
  companyId: string,
  filter: {
    noun?: string
    nounId?: string
    actor?: string
    from?: Date
    to?: Date
    beforeId?: string
    limit: number
  },
): Promise<AuditEntry[]> =>
  db.query<AuditEntry>(
    `select id, company_id as "companyId", actor, action, noun, noun_id as "nounId", detail, at from audit_entry
      where company_id = $1 and ($2::text is null or noun = $2) and ($3::text is null or noun_id = $3)
        and ($4::text is null or actor = $4) and ($5::uuid is null or id < $5) and ($6::uuid is null or id >= $6)
        and ($7::uuid is null or id < $7) order by id desc limit $8`,
    [
      companyId,
      filter.noun,
      filter.nounId,
      filter.actor,
      filter.beforeId,
      filter.from && firstIdAt(filter.from),
      filter.to && firstIdAt(filter.to),
      filter.limit,
    ],
  )

export type LaneView = {
  lineId: string
  name: string
  channel: Channel
  isEnabled: boolean
  isPaused: boolean
  pausedReason: string | null
  ratePerSecond: number
  inFlightLimit: number
  /** Waits to leave now; counted up to 10,000. */
  depth: number
  oldestDueAt: Date | null
  inFlight: number
  /** Waits for a rule's moment; counted up to 10,000. */
  deferred: number
  /** Does a worker that is alive drive it? */
  isDriven: boolean
  /** Can its session take messages? Null where no worker drives it. */
  isUp: boolean | null
  /** In the driver's words: "bound as …", or why not. */
  healthDetail: string | null
  /** While the breaker is open: nothing is handed over before. */
  heldUntil: Date | null
  lastError: { kind: string; code: string; message: string; at: string } | null
}

export const listLanes = (
  db: Queryable,
  companyIds: readonly string[],
  now: Date,
): Promise<(LaneView & { companyId: string })[]> =>
  db.query<LaneView & { companyId: string }>(
    `select l.company_id as "companyId", l.id as "lineId", l.name, l.channel, l.is_enabled as "isEnabled", l.paused_at is not null as "isPaused",
        l.paused_reason as "pausedReason", l.rate_per_second as "ratePerSecond", l.in_flight_limit as "inFlightLimit",
        d.depth, d.oldest as "oldestDueAt", f.count as "inFlight", x.count as deferred,
        w.is_driven as "isDriven", case when w.is_driven then h.is_up end as "isUp", case when w.is_driven then h.detail end as "healthDetail",
        case when h.held_until > $2 then h.held_until end as "heldUntil", h.last_error as "lastError"
      from line l left join line_health h on h.line_id = l.id
      cross join lateral (select exists (select 1 from lane a join worker w on w.id = a.owner_id where a.line_id = l.id
        and w.beat_at > clock_timestamp() - interval '10 seconds') as is_driven) w
      cross join lateral (select count(*)::int as depth, min(due_at) as oldest from (
        select due_at from outbox where line_id = l.id and due_at <= $2 and handed_over_epoch is null and not is_deferred
        order by priority, due_at limit 10000) o) d
      cross join lateral (select count(*)::int as count from (
        select 1 from outbox where line_id = l.id and handed_over_epoch is not null limit 10000) o) f
      cross join lateral (select count(*)::int as count from (
        select 1 from outbox where line_id = l.id and handed_over_epoch is null and is_deferred limit 10000) o) x
      where l.company_id = any($1::uuid[]) order by l.company_id, l.channel, l.id limit 10000`,
    [companyIds, now],
  )

export type NewMessage = {
  id: string
  companyId: string
  channel: Channel
  state: string
  recipient: string
  lineId: string | null
  acceptedAt: Date
}

/** The newest of each company since an instant; what many nodes commit out of order is asked for again and again. */
export const listNewMessages = (
  db: Queryable,
  companyIds: readonly string[],
  since: Date,
  perCompany: number,
): Promise<NewMessage[]> =>
  db.query<NewMessage>(
    `select m.* from unnest($1::uuid[]) as c(id) cross join lateral (
        select id, company_id as "companyId", channel, state, recipient, line_id as "lineId", accepted_at as "acceptedAt" from message
        where company_id = c.id and id >= $2::uuid order by id desc limit $3) m`,
    [companyIds, firstIdAt(since), perCompany],
  )

export type NewReceived = {
  id: string
  companyId: string
  contactId: string | null
  lineId: string
  kind: string
  at: Date
}

/** What people wrote since an instant. */
export const listNewReceived = (
  db: Queryable,
  companyIds: readonly string[],
  since: Date,
  perCompany: number,
): Promise<NewReceived[]> =>
  db.query<NewReceived>(
    `select m.* from unnest($1::uuid[]) as c(id) cross join lateral (
        select id, company_id as "companyId", contact_id as "contactId", line_id as "lineId", kind, at from inbound_message
        where company_id = c.id and id >= $2::uuid order by id desc limit $3) m`,
    [companyIds, firstIdAt(since), perCompany],
  )

export type WatchedState = { id: string; companyId: string; state: string }

export const readStates = (
  db: Queryable,
  watched: readonly { companyId: string; id: string }[],
): Promise<WatchedState[]> =>
  db.query<WatchedState>(
    `select m.id, m.company_id as "companyId", case when o.handed_over_epoch is not null and m.state = 'queued' then 'sending' else m.state end as state
      from unnest($1::uuid[], $2::uuid[]) as w(company_id, id) join message m on m.id = w.id and m.company_id = w.company_id
      left join outbox o on o.message_id = m.id`,
    [watched.map(({ companyId }) => companyId), watched.map(({ id }) => id)],
  )

export type OutcomeCount = {
  companyId: string
  channel: Channel
  lineId: string | null
  outcome: string
  count: number
}

/** What was counted since: the deltas that housekeeping has not folded yet. */
export async function readOutcomes(
  db: Queryable,
  companyIds: readonly string[],
  afterDeltaId: number,
): Promise<{ lastId: number; outcomes: OutcomeCount[] }> {
  const rows = await db.query<OutcomeCount & { lastId: number }>(
    `select company_id as "companyId", channel, line_id as "lineId", outcome, sum(count)::int as count, max(id) as "lastId" from report_delta
      where id > $2 and company_id = any($1::uuid[]) group by 1, 2, 3, 4`,
    [companyIds, afterDeltaId],
  )
  return {
    lastId: rows.reduce((last, row) => Math.max(last, row.lastId), afterDeltaId),
    outcomes: rows.map((row) => omit(row, 'lastId')),
  }
}

export async function lastDeltaId(db: Queryable): Promise<number> {
  const [row] = await db.query<{ id: number }>('select coalesce(max(id), 0) as id from report_delta')
  return row!.id
}
