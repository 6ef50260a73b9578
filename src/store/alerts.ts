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
