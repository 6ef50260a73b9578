/** What an operator should know: one open alert per kind and subject, closed when the cause is gone. */
import { newId } from '../lib/ids.ts'
import type { Queryable } from './db.ts'

export type AlertInput = { companyId?: string; kind: string; subject: string; message: string }

export async function raiseAlert(connection: Queryable, alert: AlertInput, now: Date): Promise<void> {
  await connection.query(
    {
      name: 'alert_raise',
      text: `insert into alert (id, company_id, kind, subject, message, raised_at) values ($1, $2, $3, $4, $5, $6)
        on conflict (kind, subject) where cleared_at is null do nothing`,
    },
    [newId(), alert.companyId ?? null, alert.kind, alert.subject, alert.message, now],
  )
}

export async function clearAlert(
  connection: Queryable,
  kind: string,
  subject: string,
  now: Date,
): Promise<void> {
  await connection.query(
    'update alert set cleared_at = $3 where kind = $1 and subject = $2 and cleared_at is null',
    [kind, subject, now],
  )
}

/** Of one kind: these are open, and no others. */
export async function alignAlerts(
  connection: Queryable,
  kind: string,
  alerts: readonly Omit<AlertInput, 'kind'>[],
  now: Date,
): Promise<void> {
  for (const alert of alerts) await raiseAlert(connection, { ...alert, kind }, now)
  await connection.query(
    'update alert set cleared_at = $3 where kind = $1 and cleared_at is null and subject <> all($2::text[])',
    [kind, alerts.map(({ subject }) => subject), now],
  )
}

/** Cleared alerts are history; after a while nobody asks. */
export async function removeAlertsBefore(connection: Queryable, before: Date): Promise<void> {
  await connection.query(
    'delete from alert where id in (select id from alert where cleared_at < $1 order by id limit 10000)',
    [before],
  )
}

export type OldLane = {
  lineId: string
  companyId: string
  name: string
  oldestDueAt: Date
  isPaused: boolean
}

/** Lines with a message that could have left before this moment. Three looks into the index per line. */
export const findOldLanes = (connection: Queryable, dueBefore: Date): Promise<OldLane[]> =>
  connection.query<OldLane>(
    {
      name: 'alert_old_lanes',
      text: `
select l.id as "lineId", l.company_id as "companyId", l.name, min(o.due_at) as "oldestDueAt", l.paused_at is not null as "isPaused"
from line l cross join lateral unnest(array[0, 1, 2]::smallint[]) as class(priority) cross join lateral (
  select due_at from outbox where line_id = l.id and priority = class.priority and due_at <= $1
    and handed_over_epoch is null and not is_deferred
  order by due_at, message_id limit 1) o
where l.is_enabled group by l.id order by l.id`,
    },
    [dueBefore],
  )

/** Partitions that should be there, and DEFAULT ones that hold rows. */
export async function findPartitionFaults(
  connection: Queryable,
  expected: readonly string[],
): Promise<{ missing: string[]; filled: string[] }> {
  const missing = await connection.query<{ name: string }>(
    'select name from unnest($1::text[]) as name where to_regclass(name) is null',
    [expected],
  )
  const filled: string[] = []
  for (const name of ['message_default', 'message_event_default']) {
    const [row] = await connection.query<{ isFilled: boolean }>(
      `select exists (select 1 from ${name}) as "isFilled"`,
    )
    if (row!.isFilled) filled.push(name)
  }
  return { missing: missing.map(({ name }) => name), filled }
}

/** Where the database keeps its files, when that is on this machine and this user may know it. */
export async function databaseFolder(connection: Queryable): Promise<string | undefined> {
  const [row] = await connection.query<{ folder: string | null }>(
    `select case when (inet_server_addr() is null or inet_server_addr() = inet_client_addr())
        and pg_has_role(current_user, 'pg_read_all_settings', 'member') then current_setting('data_directory') end as folder`,
  )
  return row?.folder ?? undefined
}
