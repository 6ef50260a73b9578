/** Attendances: which attendant a contact is with. At most one is open per contact; the index holds it. */
import type { OpenAttendance } from '../domain/contact.ts'
import { newId } from '../lib/ids.ts'
import type { Queryable } from './db.ts'

const columns = `id, user_id as "userId", opened_at as "openedAt", active_at as "activeAt"`

/** Opens one, or moves the open one to this user. */
export async function openAttendance(
  db: Queryable,
  companyId: string,
  attendance: { contactId: string; userId: string; at: Date },
): Promise<OpenAttendance> {
  const [row] = await db.query<OpenAttendance>(
    `insert into attendance (id, company_id, contact_id, user_id, opened_at, active_at) values ($1, $2, $3, $4, $5, $5)
      on conflict (contact_id) where closed_at is null
      do update set user_id = excluded.user_id, active_at = greatest(attendance.active_at, excluded.active_at)
      returning ${columns}`,
    [newId(), companyId, attendance.contactId, attendance.userId, attendance.at],
  )
  return row!
}

/** The open attendance, unless it has been idle for longer than the company allows. */
export async function getOpenAttendance(
  db: Queryable,
  companyId: string,
  contactId: string,
  now: Date,
): Promise<OpenAttendance | undefined> {
  return (
    await db.query<OpenAttendance>(
      `select ${columns} from attendance where company_id = $1 and contact_id = $2 and closed_at is null
        and active_at > $3::timestamptz - (select make_interval(hours => attendance_idle_hours) from company where id = $1)`,
      [companyId, contactId, now],
    )
  )[0]
}

/** True when there was one to close. */
export async function closeAttendance(
  db: Queryable,
  companyId: string,
  contactId: string,
  closed: { at: Date; by: string },
): Promise<boolean> {
  const rows = await db.query(
    `update attendance set closed_at = $3, closed_by = $4
      where company_id = $1 and contact_id = $2 and closed_at is null returning id`,
    [companyId, contactId, closed.at, closed.by],
  )
  return rows.length > 0
}

/** Closes up to `limit` attendances that nobody touched for the company's idle hours; returns how many. */
export async function closeIdleAttendances(db: Queryable, now: Date, limit: number): Promise<number> {
  const rows = await db.query(
    `update attendance set closed_at = $1, closed_by = 'idle' where id in (
        select a.id from attendance a join company c on c.id = a.company_id
        where a.closed_at is null and a.active_at <= $1::timestamptz - make_interval(hours => c.attendance_idle_hours)
        order by a.id limit $2 for update of a skip locked)
      returning id`,
    [now, limit],
  )
  return rows.length
}
