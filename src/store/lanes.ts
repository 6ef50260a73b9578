/** Who drives which line. Leases are judged by the database's clock alone. */
import type { Queryable } from './db.ts'
import type { LineRecord } from './lines.ts'

export type OwnedLane = { lineId: string; companyId: string; epoch: number }

/** A worker whose heartbeat is older than this is taken for dead. */
export const leaseMs = 10_000

/**
 * The heartbeat. A node that starts again (the same name, held by the lock on its data folder) takes the place of
 * its former worker at once instead of waiting for its lease to end.
 */
export async function beat(connection: Queryable, worker: { id: string; name: string }): Promise<void> {
  await connection.query(
    {
      name: 'worker_beat',
      text: `
with gone as (delete from worker where (name = $2 and id <> $1) or beat_at < clock_timestamp() - interval '1 hour')
insert into worker (id, name, beat_at, started_at) values ($1, $2, clock_timestamp(), clock_timestamp())
on conflict (id) do update set beat_at = excluded.beat_at`,
    },
    [worker.id, worker.name],
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

export const loadDrivenLines = (connection: Queryable, lineIds: readonly string[]): Promise<DrivenLine[]> =>
  connection.query<DrivenLine>(
    {
      name: 'lane_lines',
      text: `
select id, company_id as "companyId", name, channel, country_code as "countryCode", phone_number as "phoneNumber", email, driver,
  settings, secrets_sealed as "secretsSealed", is_default as "isDefault", is_prospect as "isProspect", is_enabled as "isEnabled",
  paused_at is not null as "isPaused", paused_reason as "pausedReason", rate_per_second as "ratePerSecond",
  in_flight_limit as "inFlightLimit", segment_ids as "segmentIds", failover_line_ids as "failoverLineIds", xmin::text as version
from line where id = any($1::uuid[])`,
    },
    [lineIds],
  )

/** A fault of the line itself: it waits for a person. */
export async function pauseLineForFault(
  connection: Queryable,
  lineId: string,
  reason: string,
  now: Date,
): Promise<void> {
  await connection.query(
    'update line set paused_at = $2, paused_reason = $3 where id = $1 and paused_at is null',
    [lineId, now, reason],
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

/**
 * Moves what waits on a line that cannot send to the first line of its failover list that can: nothing that was
 * handed over or pinned, and free WhatsApp text only where that line's window is open.
 */
export const failOver = (
  connection: Queryable,
  from: string,
  to: string,
  now: Date,
  limit: number,
): Promise<{ messageId: string }[]> =>
  connection.query(
    {
      name: 'lane_fail_over',
      text: `
with chosen as (
  select o.message_id from outbox o join message m on m.id = o.message_id
  where o.line_id = $1 and o.handed_over_epoch is null and not o.is_pinned and not o.is_deferred and o.taken_ids is null
    and (m.channel <> 'whatsapp' or m.content->>'kind' = 'template' or exists (
      select 1 from contact_window w where w.contact_id = o.contact_id and w.line_id = $2 and w.received_at > $3::timestamptz - interval '24 hours'))
  order by o.priority, o.due_at limit $4 for update of o skip locked
), moved as (
  update outbox o set line_id = $2, due_at = least(o.due_at, $3) from chosen where o.message_id = chosen.message_id returning o.message_id
), told as (
  update message m set line_id = $2 from moved where m.id = moved.message_id
)
insert into message_event (message_id, at, kind, detail)
select message_id, $3, 'failed_over', jsonb_build_object('from', $1::text, 'to', $2::text) from moved returning message_id as "messageId"`,
    },
    [from, to, now, limit],
  )
