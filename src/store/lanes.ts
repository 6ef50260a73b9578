/** Who drives which line. Leases are judged by the database's clock alone. */
import { raiseAlert } from './alerts.ts'
import type { Queryable } from './db.ts'
import type { LineRecord } from './lines.ts'

export type OwnedLane = { lineId: string; companyId: string; epoch: number }

/** A worker whose heartbeat is older than this is taken for dead. */
export const leaseMs = 10_000

/**
 * The heartbeat. With the first one a node that starts again (the same name, held by the lock on its data folder)
 * takes the place of its former worker at once instead of waiting for its lease to end. Only with the first: two nodes
 * that bear one name by mistake would otherwise take each other's lanes for ever.
 */
export async function beat(
  connection: Queryable,
  worker: { id: string; name: string },
  isFirst: boolean,
): Promise<void> {
  await connection.query(
    {
      name: 'worker_beat',
      text: `
with gone as (delete from worker where ($3 and name = $2 and id <> $1) or beat_at < clock_timestamp() - interval '1 hour')
insert into worker (id, name, beat_at, started_at) values ($1, $2, clock_timestamp(), clock_timestamp())
on conflict (id) do update set beat_at = excluded.beat_at`,
    },
    [worker.id, worker.name, isFirst],
  )
}

/**
 * Takes free lanes, and those of dead workers, up to a fair share. Taking one raises its epoch. Lanes that this
 * worker has keep theirs, so that what it handed over before a short absence can still be settled.
 */
const acquireStatement = {
  name: 'lane_acquire',
  text: `
with live as (select id from worker where beat_at > clock_timestamp() - $2 * interval '1 millisecond'),
tally as (
  select ceil((select count(*) from lane)::numeric / greatest(1, (select count(*) from live)))::int as share,
    (select count(*) from lane where owner_id = $1)::int as mine
), taken as (
  update lane set owner_id = $1, epoch = epoch + 1 where line_id in (
    select line_id from lane where owner_id is null or owner_id not in (select id from live)
    order by line_id limit (select greatest(0, share - mine) from tally) for update skip locked)
  returning line_id
)
select (select share from tally) as share, (select coalesce(json_agg(line_id), '[]') from taken) as taken`,
}

export async function acquireLanes(
  connection: Queryable,
  workerId: string,
): Promise<{ share: number; taken: string[] }> {
  const [row] = await connection.query<{ share: number; taken: string[] }>(acquireStatement, [
    workerId,
    leaseMs,
  ])
  return row!
}

export const ownedLanes = (connection: Queryable, workerId: string): Promise<OwnedLane[]> =>
  connection.query<OwnedLane>(
    {
      name: 'lane_owned',
      text: `select line_id as "lineId", company_id as "companyId", epoch from lane where owner_id = $1 order by line_id`,
    },
    [workerId],
  )

/** Gives lanes back; nothing of theirs may be in flight. */
export async function releaseLanes(
  connection: Queryable,
  workerId: string,
  lineIds: readonly string[],
): Promise<void> {
  await connection.query(
    'update lane set owner_id = null where owner_id = $1 and line_id = any($2::uuid[])',
    [workerId, lineIds],
  )
}

export async function forgetWorker(connection: Queryable, workerId: string): Promise<void> {
  await connection.query('delete from worker where id = $1', [workerId])
}

/** A line with its sealed secrets and a mark that changes with every change of its row. */
export type DrivenLine = LineRecord & { secretsSealed: Buffer | null; version: string }

/** These lines; where `versions` says which row is known already, only those that have another one now. */
export async function loadDrivenLines(
  connection: Queryable,
  lineIds: readonly string[],
  versions: readonly (string | null)[] = [],
): Promise<DrivenLine[]> {
  type Row = Omit<DrivenLine, 'countryCode' | 'phoneNumber' | 'email'> & {
    countryCode: number | null
    phoneNumber: number | null
    email: string | null
  }
  const rows = await connection.query<Row>(
    {
      name: 'lane_lines',
      text: `
select l.id, company_id as "companyId", name, channel, country_code as "countryCode", phone_number as "phoneNumber", email, driver,
  settings, secrets_sealed as "secretsSealed", is_default as "isDefault", is_prospect as "isProspect", is_enabled as "isEnabled",
  paused_at is not null as "isPaused", paused_reason as "pausedReason", rate_per_second as "ratePerSecond",
  in_flight_limit as "inFlightLimit", segment_ids as "segmentIds", failover_line_ids as "failoverLineIds", l.xmin::text as version
from unnest($1::uuid[], $2::text[]) as k(id, version) join line l on l.id = k.id and l.xmin::text is distinct from k.version`,
    },
    [lineIds, versions],
  )
  return rows.map((row) => ({
    ...row,
    countryCode: row.countryCode ?? undefined,
    phoneNumber: row.phoneNumber ?? undefined,
    email: row.email ?? undefined,
  }))
}

export async function findExistingLines(
  connection: Queryable,
  lineIds: readonly string[],
): Promise<Set<string>> {
  const rows = await connection.query<{ id: string }>('select id from line where id = any($1::uuid[])', [
    lineIds,
  ])
  return new Set(rows.map(({ id }) => id))
}

const pausedAlert = 'line_paused'

/** A fault of the line itself: it waits for a person, who is told. One that somebody paused before keeps their reason. */
export async function pauseLineForFault(
  connection: Queryable,
  line: { id: string; companyId: string; name: string },
  reason: string,
  now: Date,
): Promise<void> {
  await connection.query(
    'update line set paused_at = $2, paused_reason = $3 where id = $1 and paused_at is null',
    [line.id, now, reason],
  )
  const message = `Line ${line.name} is paused: ${reason}`
  await raiseAlert(
    connection,
    { companyId: line.companyId, kind: pausedAlert, subject: line.id, message },
    now,
  )
}

/** Of these lines, those that are not paused (any more, or are gone) need nobody's attention. */
export async function clearPauseAlerts(
  connection: Queryable,
  lineIds: readonly string[],
  now: Date,
): Promise<void> {
  await connection.query(
    `update alert a set cleared_at = $3 where kind = $1 and subject = any($2::text[]) and cleared_at is null
      and not exists (select 1 from line l where l.id = a.subject::uuid and l.paused_at is not null)`,
    [pausedAlert, lineIds, now],
  )
}

/** How much waits on each of these lanes, and since when: for metrics and alerts. Looks at 10,000 entries at most. */
export const laneDepths = (
  connection: Queryable,
  lineIds: readonly string[],
  now: Date,
): Promise<{ lineId: string; depth: number; oldestDueAt: Date | null }[]> =>
  connection.query(
    {
      name: 'lane_depths',
      text: `
select l.id as "lineId", d.depth, d.oldest as "oldestDueAt" from unnest($1::uuid[]) as l(id) cross join lateral (
  select count(*)::int as depth, min(due_at) as oldest from (
    select due_at from outbox where line_id = l.id and due_at <= $2 and handed_over_epoch is null and not is_deferred
    order by priority, due_at limit 10000) o) d`,
    },
    [lineIds, now],
  )

/** Where the last page of waiting messages ended. */
export type FailoverCursor = { priority: number; dueAt: string; messageId: string }

/**
 * Looks at one page of what waits on a line that cannot send, and moves each to the first line of the failover list
 * that can take it: nothing that is handed over, deferred, scheduled for later or pinned; free WhatsApp text only where
 * that line's window is open, templates only within the account that approved them; and never back to a line it left.
 * The page bounds what is looked at, because a million pinned messages may wait there.
 */
const failOverStatement = {
  name: 'lane_fail_over',
  text: `
with page as materialized (
  select message_id, priority, due_at from outbox
  where line_id = $1 and handed_over_epoch is null and not is_deferred and (priority, due_at, message_id) > ($4::smallint, $5::timestamptz, $6::uuid)
  order by priority, due_at, message_id limit $7
), held as materialized (
  select o.message_id, o.company_id, o.contact_id, o.left_line_ids from outbox o
  where o.message_id in (select message_id from page) and o.line_id = $1 and o.handed_over_epoch is null and not o.is_deferred
    and not o.is_pinned and o.taken_ids is null and (o.due_at <= $3 or o.attempts > 0)
  order by o.message_id for update skip locked
), chosen as materialized (
  select held.message_id, target.id as line_id from held join message m on m.id = held.message_id join line s on s.id = $1
  cross join lateral (
    select l.id from unnest($2::uuid[]) with ordinality as f(id, place) join line l on l.id = f.id
    where l.company_id = held.company_id and l.channel = m.channel and l.is_enabled and l.paused_at is null and l.id <> $1
      and l.id <> all(coalesce(held.left_line_ids, '{}')) and (l.segment_ids = '{}' or m.segment_id = any(l.segment_ids))
      and (m.channel <> 'whatsapp'
        or m.content->>'kind' = 'template' and l.driver = s.driver and l.settings->>'wabaId' is not distinct from s.settings->>'wabaId'
        or m.content->>'kind' = 'text' and exists (select 1 from contact_window w
          where w.contact_id = held.contact_id and w.line_id = l.id and w.received_at > $3::timestamptz - interval '24 hours'))
    order by f.place limit 1) target
), moved as (
  update outbox o set line_id = chosen.line_id, due_at = least(o.due_at, $3), left_line_ids = o.left_line_ids || $1::uuid
  from chosen where o.message_id = chosen.message_id returning o.message_id, o.line_id
), told as (
  update message m set line_id = moved.line_id from moved where m.id = moved.message_id
), noted as (
  insert into message_event (message_id, at, kind, detail)
  select message_id, $3, 'failed_over', jsonb_build_object('from', 'lin_' || replace($1::text, '-', ''), 'to', 'lin_' || replace(line_id::text, '-', ''))
  from moved
)
select (select count(*)::int from page) as seen, (select coalesce(json_agg(distinct line_id), '[]') from moved) as "toLineIds",
  (select json_build_object('priority', priority, 'dueAt', due_at, 'messageId', message_id) from page
    order by priority desc, due_at desc, message_id desc limit 1) as last`,
}

export async function failOver(
  connection: Queryable,
  from: { id: string; failoverLineIds: readonly string[] },
  after: FailoverCursor | undefined,
  limit: number,
  now: Date,
): Promise<{ seen: number; toLineIds: string[]; last: FailoverCursor | null }> {
  const start = after ?? {
    priority: -1,
    dueAt: '-infinity',
    messageId: '00000000-0000-0000-0000-000000000000',
  }
  const [row] = await connection.query<{ seen: number; toLineIds: string[]; last: FailoverCursor | null }>(
    failOverStatement,
    [from.id, from.failoverLineIds, now, start.priority, start.dueAt, start.messageId, limit],
  )
  return row!
}
