/** Attendances as the console shows them. */
import { newId } from '../lib/ids.ts'
import type { Queryable } from './db.ts'

export type AttendanceView = {
  id: string
  contactId: string
  contactName: string | null
  contactPhone: string | null
  contactEmail: string | null
  userId: string
  userName: string
  openedAt: Date
  activeAt: Date
  closedAt: Date | null
  closedBy: string | null
  /** The person's last message on WhatsApp; the window is open for 24 hours from it. */
  lastReceivedAt: Date | null
}

const view = `select a.id, a.contact_id as "contactId", k.name as "contactName", k.phone as "contactPhone", k.email as "contactEmail",
    a.user_id as "userId", u.name as "userName", a.opened_at as "openedAt", a.active_at as "activeAt", a.closed_at as "closedAt",
    a.closed_by as "closedBy", (select max(w.received_at) from contact_window w where w.contact_id = a.contact_id) as "lastReceivedAt"
  from attendance a join contact k on k.id = a.contact_id join app_user u on u.id = a.user_id`

export const listAttendances = (
  db: Queryable,
  companyId: string,
  filter: { isOpen: boolean; userId?: string; contactId?: string; beforeId?: string; limit: number },
): Promise<AttendanceView[]> =>
  db.query<AttendanceView>(
    `${view} where a.company_id = $1 and (a.closed_at is null) = $2 and ($3::uuid is null or a.user_id = $3)
      and ($4::uuid is null or a.contact_id = $4) and ($5::uuid is null or a.id < $5) order by a.id desc limit $6`,
    [companyId, filter.isOpen, filter.userId, filter.contactId, filter.beforeId, filter.limit],
  )

export async function getAttendance(
  db: Queryable,
  companyId: string,
  id: string,
): Promise<AttendanceView | undefined> {
  return (await db.query<AttendanceView>(`${view} where a.company_id = $1 and a.id = $2`, [companyId, id]))[0]
}

/** May attend: not disabled, of a role that does. */
export async function isAttendant(db: Queryable, companyId: string, userId: string): Promise<boolean> {
  const rows = await db.query(
    `select 1 from app_user where company_id = $1 and id = $2 and disabled_at is null
      and role in ('administrator', 'supervisor', 'attendant')`,
    [companyId, userId],
  )
  return rows.length > 0
}

/** The contact first, as everywhere: accepting a message opens attendances, too. */
export async function lockContact(
  transaction: Queryable,
  companyId: string,
  contactId: string,
): Promise<boolean> {
  const rows = await transaction.query('select 1 from contact where company_id = $1 and id = $2 for update', [
    companyId,
    contactId,
  ])
  return rows.length > 0
}

/** Ends the open one, if any, and opens another, so that each stretch with each attendant stays on record. */
export async function giveAttendance(
  transaction: Queryable,
  companyId: string,
  contactId: string,
  userId: string,
  now: Date,
): Promise<string> {
  const [open] = await transaction.query<{ id: string; userId: string }>(
    'select id, user_id as "userId" from attendance where company_id = $1 and contact_id = $2 and closed_at is null for update',
    [companyId, contactId],
  )
  if (open?.userId === userId) {
    await transaction.query('update attendance set active_at = greatest(active_at, $2) where id = $1', [
      open.id,
      now,
    ])
    return open.id
  }
  if (open)
    await transaction.query(`update attendance set closed_at = $2, closed_by = 'moved' where id = $1`, [
      open.id,
      now,
    ])
  const id = newId()
  await transaction.query(
    'insert into attendance (id, company_id, contact_id, user_id, opened_at, active_at) values ($1, $2, $3, $4, $5, $5)',
    [id, companyId, contactId, userId, now],
  )
  return id
}

export async function closeAttendanceById(
  db: Queryable,
  companyId: string,
  id: string,
  closed: { at: Date; by: string },
): Promise<boolean> {
  const rows = await db.query(
    `update attendance set closed_at = $3, closed_by = $4 where company_id = $1 and id = $2 and closed_at is null returning 1`,
    [companyId, id, closed.at, closed.by],
  )
  return rows.length > 0
}

export async function touchAttendance(
  db: Queryable,
  companyId: string,
  contactId: string,
  now: Date,
): Promise<void> {
  await db.query(
    'update attendance set active_at = greatest(active_at, $3) where company_id = $1 and contact_id = $2 and closed_at is null',
    [companyId, contactId, now],
  )
}
