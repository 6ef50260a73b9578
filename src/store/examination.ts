/** What `pombo doctor` asks the database about itself. */
import type { Queryable } from './db.ts'

export type ServerFacts = {
  version: string
  versionNumber: number
  encoding: string
  fsync: string
  fullPageWrites: string
  synchronousCommit: string
  autovacuum: string
  maxConnections: number
  reservedConnections: number
  isReadOnly: boolean
}

export async function readServerFacts(db: Queryable): Promise<ServerFacts> {
  const [facts] = await db.query<ServerFacts>(
    `select current_setting('server_version') as version, current_setting('server_version_num')::int as "versionNumber",
      current_setting('server_encoding') as encoding, current_setting('fsync') as fsync,
      current_setting('full_page_writes') as "fullPageWrites", current_setting('synchronous_commit') as "synchronousCommit",
      current_setting('autovacuum') as autovacuum, current_setting('max_connections')::int as "maxConnections",
      current_setting('superuser_reserved_connections')::int as "reservedConnections",
      pg_is_in_recovery() or current_setting('default_transaction_read_only')::bool as "isReadOnly"`,
  )
  return facts!
}

export async function readServerTime(db: Queryable): Promise<Date> {
  return (await db.query<{ at: Date }>('select clock_timestamp() as at'))[0]!.at
}

export async function hasSchema(db: Queryable): Promise<boolean> {
  const [row] = await db.query<{ isThere: boolean }>(
    `select to_regclass('schema_migration') is not null and to_regclass('company') is not null as "isThere"`,
  )
  return row!.isThere
}

export type HeldUp = { what: 'idle' | 'long' | 'waiting' | 'prepared'; who: string; seconds: number }

/** What keeps others waiting or old rows from being removed: forgotten transactions, and who waits for a lock. */
export const findHeldUp = (
  db: Queryable,
  after: { waitingSeconds: number; idleSeconds: number; longSeconds: number },
): Promise<HeldUp[]> =>
  db.query<HeldUp>(
    `select case when wait_event_type = 'Lock' then 'waiting' when state like 'idle in transaction%' then 'idle' else 'long' end as what,
        coalesce(nullif(application_name, ''), 'a program without a name') || ' (process ' || pid || ')' as who,
        extract(epoch from clock_timestamp() - case when wait_event_type = 'Lock' then query_start else xact_start end)::int as seconds
      from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and (
        (wait_event_type = 'Lock' and query_start < clock_timestamp() - make_interval(secs => $1))
        or (state like 'idle in transaction%' and state_change < clock_timestamp() - make_interval(secs => $2))
        or (xact_start < clock_timestamp() - make_interval(secs => $3) and backend_type = 'client backend'))
      union all
      select 'prepared', 'the prepared transaction ' || gid, extract(epoch from clock_timestamp() - prepared)::int
        from pg_prepared_xacts where database = current_database() and prepared < clock_timestamp() - make_interval(secs => $3)
      order by seconds desc, what limit 10`,
    [after.waitingSeconds, after.idleSeconds, after.longSeconds],
  )

export type WorkerFacts = { name: string; silentSeconds: number; lanes: number }

export const listWorkers = (db: Queryable): Promise<WorkerFacts[]> =>
  db.query<WorkerFacts>(
    `select w.name, extract(epoch from clock_timestamp() - w.beat_at)::int as "silentSeconds",
        (select count(*)::int from lane l where l.owner_id = w.id) as lanes
      from worker w order by w.beat_at desc limit 100`,
  )

export type PausedLine = { company: string; name: string; reason: string | null; pausedAt: Date }

export const listPausedLines = (db: Queryable): Promise<PausedLine[]> =>
  db.query<PausedLine>(
    `select c.name as company, l.name, l.paused_reason as reason, l.paused_at as "pausedAt"
      from line l join company c on c.id = l.company_id where l.paused_at is not null order by l.paused_at limit 100`,
  )

export const listOpenAlerts = (db: Queryable): Promise<{ kind: string; message: string }[]> =>
  db.query('select kind, message from alert where cleared_at is null order by raised_at limit 100')
