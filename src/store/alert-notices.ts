/** Alerts on their way to the operator: which were told, and which are to be tried again. */
import type { Queryable } from './db.ts'

export type AlertEvent = 'raised' | 'cleared'
export type AlertWay = 'email' | 'webhook'

export type AlertNotice = {
  alertId: string
  event: AlertEvent
  way: AlertWay
  /** This one included. */
  tries: number
  companyId: string | null
  companyName: string | null
  kind: string
  subject: string
  message: string
  raisedAt: Date
  clearedAt: Date | null
}

/**
 * What is new since the last look becomes one notice for each way. An alert that was over before anybody was told is
 * not told at all; one whose end comes before its beginning could be told loses the latter.
 */
const makeStatement = {
  name: 'alert_notices_make',
  text: `
with untold as materialized (
  select id, told as was_told, case when cleared_at is null then 'raised' else 'cleared' end as event from alert
  where told is null or (told = 'raised' and cleared_at is not null)
  order by raised_at limit 500 for update skip locked
), marked as (
  update alert a set told = untold.event from untold where a.id = untold.id
)
insert into alert_notice (alert_id, event, way, try_at)
select untold.id, untold.event, way, $2 from untold cross join unnest($1::text[]) as way
where untold.event = 'raised' or untold.was_told = 'raised'
on conflict do nothing`,
}

export async function makeNotices(
  connection: Queryable,
  ways: readonly AlertWay[],
  now: Date,
): Promise<void> {
  await connection.query(makeStatement, [ways, now])
}

/** Leased until `againAt`: a worker that dies meanwhile leaves them to the next. */
export const claimNotices = (
  connection: Queryable,
  now: Date,
  againAt: Date,
  limit: number,
): Promise<AlertNotice[]> =>
  connection.query<AlertNotice>(
    {
      name: 'alert_notices_claim',
      text: `
with due as (
  select alert_id, event, way from alert_notice where try_at <= $1 order by try_at limit $3 for update skip locked
), claimed as (
  update alert_notice n set try_at = $2, tries = n.tries + 1 from due
  where n.alert_id = due.alert_id and n.event = due.event and n.way = due.way
  returning n.*
)
select c.alert_id as "alertId", c.event, c.way, c.tries, a.company_id as "companyId", k.name as "companyName", a.kind, a.subject,
  a.message, a.raised_at as "raisedAt", a.cleared_at as "clearedAt"
from claimed c join alert a on a.id = c.alert_id left join company k on k.id = a.company_id
order by a.raised_at, a.id`,
    },
    [now, againAt, limit],
  )

/** Told, or given up. */
export async function removeNotice(
  connection: Queryable,
  { alertId, event, way }: Pick<AlertNotice, 'alertId' | 'event' | 'way'>,
): Promise<void> {
  await connection.query('delete from alert_notice where alert_id = $1 and event = $2 and way = $3', [
    alertId,
    event,
    way,
  ])
}

export async function postponeNotice(
  connection: Queryable,
  { alertId, event, way }: Pick<AlertNotice, 'alertId' | 'event' | 'way'>,
  tryAt: Date,
): Promise<void> {
  await connection.query(
    'update alert_notice set try_at = $4 where alert_id = $1 and event = $2 and way = $3',
    [alertId, event, way, tryAt],
  )
}
