/** Attendances as the console shows them. */
import { firstIdAt, newId } from '../lib/ids.ts'
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
  /** The person's last word on any channel, of the last week. */
  lastWord: LastWord | null
  /** Nothing was sent to them since. */
  isUnanswered: boolean
}

export type LastWord = { text: string; at: string; lineId: string }

const view = (
  since: string,
) => `select a.id, a.contact_id as "contactId", k.name as "contactName", k.phone as "contactPhone", k.email as "contactEmail",
    a.user_id as "userId", u.name as "userName", a.opened_at as "openedAt", a.active_at as "activeAt", a.closed_at as "closedAt",
    a.closed_by as "closedBy", (select max(w.received_at) from contact_window w where w.contact_id = a.contact_id) as "lastReceivedAt",
    i.word as "lastWord", i.id is not null and not exists (select 1 from message m where m.company_id = a.company_id
      and m.recipient = any(array[ltrim(k.phone, '+'), k.phone_key, k.email, k.email_key]) and m.id > i.id) as "isUnanswered"
  from attendance a join contact k on k.id = a.contact_id join app_user u on u.id = a.user_id
  left join lateral (${lastWord('a.contact_id', since)}) i on true`

const lastWord = (contactId: string, since: string) =>
  `select id, json_build_object('text', left(text, 160), 'at', at, 'lineId', line_id) as word from inbound_message
    where contact_id = ${contactId} and id >= ${since}::uuid order by id desc limit 1`

/** Older words are not looked for: each would be asked for in every month's part of the messages. */
const wordsOfMs = 7 * 24 * 3_600_000
const sinceOf = (now: Date): string => firstIdAt(new Date(now.getTime() - wordsOfMs))

export const listAttendances = (
  db: Queryable,
  companyId: string,
  filter: {
    isOpen: boolean
    userId?: string
    contactId?: string
    beforeId?: string
    limit: number
    now: Date
  },
): Promise<AttendanceView[]> =>
  db.query<AttendanceView>(
    `${view('$7')} where a.company_id = $1 and (a.closed_at is null) = $2 and ($3::uuid is null or a.user_id = $3)
      and ($4::uuid is null or a.contact_id = $4) and ($5::uuid is null or a.id < $5) order by a.id desc limit $6`,
    [
      companyId,
      filter.isOpen,
      filter.userId,
      filter.contactId,
      filter.beforeId,
      filter.limit,
      sinceOf(filter.now),
    ],
  )

export async function getAttendance(
  db: Queryable,
  companyId: string,
  id: string,
  now: Date,
): Promise<AttendanceView | undefined> {
  const rows = await db.query<AttendanceView>(`${view('$3')} where a.company_id = $1 and a.id = $2`, [
    companyId,
    id,
    sinceOf(now),
  ])
  return rows[0]
}

export type WaitingContact = {
  /** Of the received message: the order of the list. */
  id: string
  contactId: string
  contactName: string | null
  contactPhone: string | null
  contactEmail: string | null
  text: string
  at: Date
  lineId: string
  lastReceivedAt: Date | null
}

/**
 * People who wrote since an instant and are with nobody, each by their last message, newest first. Who wrote before
 * an attendance was closed has been attended.
 */
export const listWaiting = (
  db: Queryable,
  companyId: string,
  page: { since: Date; beforeId?: string; limit: number },
): Promise<WaitingContact[]> =>
  db.query<WaitingContact>(
    `select m.id, m.contact_id as "contactId", k.name as "contactName", k.phone as "contactPhone", k.email as "contactEmail",
        left(m.text, 160) as text, m.at, m.line_id as "lineId",
        (select max(w.received_at) from contact_window w where w.contact_id = m.contact_id) as "lastReceivedAt"
      from inbound_message m join contact k on k.id = m.contact_id
      where m.company_id = $1 and m.id >= $2::uuid and ($3::uuid is null or m.id < $3)
        and not exists (select 1 from inbound_message n where n.contact_id = m.contact_id and n.id > m.id)
        and not exists (select 1 from attendance a where a.contact_id = m.contact_id
          and (a.closed_at is null or a.closed_at >= m.received_at))
      order by m.id desc limit $4`,
    [companyId, firstIdAt(page.since), page.beforeId, page.limit],
  )

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
