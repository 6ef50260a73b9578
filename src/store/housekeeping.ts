/** What is removed or folded in the background: every statement takes a bounded number of rows. */
import type { Queryable } from './db.ts'

/** Removes up to `limit` idempotency records made before `before`; returns how many. */
export async function removeIdempotencyBefore(db: Queryable, before: Date, limit: number): Promise<number> {
  const rows = await db.query(
    `delete from idempotency where (company_id, route, key) in (
        select company_id, route, key from idempotency where created_at < $1 order by created_at limit $2
        for update skip locked) returning 1`,
    [before, limit],
  )
  return rows.length
}

export async function removeLoginFailuresBefore(db: Queryable, before: Date, limit: number): Promise<number> {
  const rows = await db.query(
    `delete from login_failure where id in (
        select id from login_failure where failed_at < $1 order by failed_at limit $2 for update skip locked)
      returning 1`,
    [before, limit],
  )
  return rows.length
}

/** Folds up to `limit` deltas into the hourly counters, in one statement, so that no reader sees them twice. */
export async function foldReportDeltas(db: Queryable, limit: number): Promise<number> {
  const [row] = await db.query<{ folded: number }>(
    `with taken as (
        delete from report_delta where id in (select id from report_delta order by id limit $1 for update skip locked)
        returning company_id, hour, api, channel, line_id, template_id, segment_id, outcome, latency_bucket, count
      ), folded as (
        insert into report_hour (company_id, hour, api, channel, line_id, template_id, segment_id, outcome, latency_bucket, count)
        select company_id, hour, api, channel, line_id, template_id, segment_id, outcome, latency_bucket, sum(count)
        from taken where exists (select 1 from company where id = company_id)
        group by 1, 2, 3, 4, 5, 6, 7, 8, 9 order by 1, 2, 3, 4, 5, 6, 7, 8, 9
        on conflict (company_id, hour, api, channel, line_id, template_id, segment_id, outcome, latency_bucket)
        do update set count = report_hour.count + excluded.count
      )
      select count(*) as folded from taken`,
    [limit],
  )
  return row!.folded
}

/**
 * Looks at up to `limit` files that nobody stored or asked for since `before`, that are in no media library and that no
 * person sent, and removes those that no message carries which may still leave: queued, or without an answer and maybe
 * sent again. The others count as asked for now, or they would be looked at first for ever. Returns how many it did.
 */
export async function removeUnusedFiles(db: Queryable, before: Date, limit: number): Promise<number> {
  const rows = await db.query(
    `with old as materialized (
        select company_id, hash from file f where referenced_at < $1
        and not exists (select 1 from media_item m where m.company_id = f.company_id and m.hash = f.hash)
        and not exists (select 1 from inbound_media i where i.company_id = f.company_id and i.hash = f.hash)
        order by referenced_at limit $2
      ), leaving as (
        select company_id, message_id from outbox union all select company_id, message_id from unknown_message
      ), waiting as materialized (
        select o.company_id, decode(h #>> '{}', 'hex') as hash
        from leaving o join message m on m.id = o.message_id
        cross join lateral jsonb_path_query(m.content, '$.**.hash') as h
        where o.company_id in (select company_id from old)
      ), kept as (
        update file f set referenced_at = greatest(now(), $1) from old where f.company_id = old.company_id and f.hash = old.hash
        and exists (select 1 from waiting w where w.company_id = f.company_id and w.hash = f.hash)
        returning 1
      ), removed as (
        delete from file f using old where f.company_id = old.company_id and f.hash = old.hash
        and f.referenced_at < $1
        and not exists (select 1 from waiting w where w.company_id = f.company_id and w.hash = f.hash)
        returning 1
      )
      select 1 from kept union all select 1 from removed`,
    [before, limit],
  )
  return rows.length
}

/** Only one node at a time does a kind of work; the others find it done. Held for the transaction. */
export async function tryHousekeepingLock(transaction: Queryable, task: number): Promise<boolean> {
  const [row] = await transaction.query<{ isMine: boolean }>(
    'select pg_try_advisory_xact_lock($1, $2) as "isMine"',
    [lockSpace, task],
  )
  return row!.isMine
}

/** Any constant: "keep" in hexadecimal, so that these locks meet no others. */
const lockSpace = 0x6b656570
