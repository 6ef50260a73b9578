/** Attendances: open, take, hand over, close. Replies: `POST /contacts/:id/messages`. */
import { Type } from 'typebox'
import { showId } from '../../lib/ids.ts'
import {
  closeAttendanceById,
  getAttendance,
  giveAttendance,
  isAttendant,
  listAttendances,
  lockContact,
  type AttendanceView,
} from '../../store/attendances-admin.ts'
import { changed, done, forbidden, invalid, notFound, type Changed } from './replies.ts'
import { change, read, type Call, type Route } from './route.ts'
import {
  cursorId,
  flag,
  idOf,
  instant,
  limitOf,
  maybeUuid,
  nullable,
  pageOfRows,
  pageOut,
  pageQuery,
  uuidOf,
} from './wire.ts'
import type { TObject } from 'typebox'

const AttendanceOut = Type.Object({
  id: idOf('att', 'The attendance.'),
  contact: Type.Object({
    id: idOf('con', 'The contact.'),
    name: nullable(Type.String()),
    phone: nullable(Type.String()),
    email: nullable(Type.String()),
  }),
  user: Type.Object({ id: idOf('usr', 'The attendant.'), name: Type.String() }),
  openedAt: instant('Since when.'),
  activeAt: instant('The last activity.'),
  closedAt: nullable(instant('When it ended.')),
  closedBy: nullable(Type.String()),
  windowClosesAt: nullable(instant('Until when free text may be sent on WhatsApp.')),
})

const windowMs = 24 * 3_600_000

const show = (view: AttendanceView) => ({
  id: showId('att', view.id),
  contact: {
    id: showId('con', view.contactId),
    name: view.contactName,
    phone: view.contactPhone,
    email: view.contactEmail,
  },
  user: { id: showId('usr', view.userId), name: view.userName },
  openedAt: view.openedAt,
  activeAt: view.activeAt,
  closedAt: view.closedAt,
  closedBy: view.closedBy,
  windowClosesAt: view.lastReceivedAt && new Date(view.lastReceivedAt.getTime() + windowMs),
})

/** Attendants take and give away what is theirs or nobody's; supervisors and administrators anything. */
async function give(
  call: Pick<Call<TObject, TObject>, 'db' | 'companyId' | 'caller' | 'now'>,
  contactId: string,
  userId: string,
): Promise<Changed> {
  const { db, companyId, now } = call
  if (!(await lockContact(db, companyId, contactId))) return notFound
  if (!(await isAttendant(db, companyId, userId)))
    return invalid({ field: 'userId', message: 'is no user who may attend' })
  const id = await giveAttendance(db, companyId, contactId, userId, now)
  const view = (await getAttendance(db, companyId, id))!
  return changed(show(view), {
    nounId: showId('att', id),
    detail: { contactId: showId('con', contactId), userId: showId('usr', userId) },
  })
}

const userId = Type.Optional(idOf('usr', 'The attendant; without it oneself.'))

export const attendanceRoutes: Route[] = [
  read({
    method: 'GET',
    path: '/attendances',
    summary: 'List attendances',
    query: Type.Object({
      ...pageQuery,
      isOpen: flag('Open ones unless told otherwise.'),
      userId: Type.Optional(idOf('usr', 'Only of this attendant.')),
      contactId: Type.Optional(idOf('con', 'Only of this contact.')),
    }),
    answer: pageOut(AttendanceOut),
    async handle({ db, companyId, query }) {
      const limit = limitOf(query)
      const rows = await listAttendances(db, companyId, {
        isOpen: query.isOpen ?? true,
        userId: maybeUuid('usr', query.userId),
        contactId: maybeUuid('con', query.contactId),
        beforeId: cursorId(query.cursor),
        limit: limit + 1,
      })
      return done(pageOfRows(rows, limit, ({ id }) => [id], show))
    },
  }),
  read({
    method: 'GET',
    path: '/attendances/:id',
    ids: ['att'],
    summary: 'Read an attendance',
    answer: AttendanceOut,
    async handle({ db, companyId, ids: [id = ''] }) {
      const view = await getAttendance(db, companyId, id)
      return view ? done(show(view)) : notFound
    },
  }),
  change({
    method: 'POST',
    path: '/attendances',
    noun: 'attendance',
    action: 'open',
    summary: 'Open an attendance, or take one over',
    body: Type.Object({ contactId: idOf('con', 'Who is attended.'), userId }),
    answer: AttendanceOut,
    status: 201,
    async handle(call) {
      const { body, caller } = call
      const attendant = maybeUuid('usr', body.userId) ?? (caller.kind === 'user' ? caller.userId : undefined)
      if (attendant === undefined) return invalid({ field: 'userId', message: 'is required' })
      return await give(call, uuidOf('con', body.contactId), attendant)
    },
  }),
  change({
    method: 'POST',
    path: '/attendances/:id/hand-over',
    ids: ['att'],
    noun: 'attendance',
    action: 'hand_over',
    summary: 'Hand an attendance over, or take it',
    body: Type.Object({ userId }),
    answer: AttendanceOut,
    async handle(call) {
      const {
        db,
        companyId,
        ids: [id = ''],
        body,
        caller,
      } = call
      const view = await getAttendance(db, companyId, id)
      if (view === undefined || view.closedAt !== null) return notFound
      const attendant = maybeUuid('usr', body.userId) ?? (caller.kind === 'user' ? caller.userId : undefined)
      if (attendant === undefined) return invalid({ field: 'userId', message: 'is required' })
      const isOwn = caller.kind === 'user' && (view.userId === caller.userId || attendant === caller.userId)
      if (caller.role === 'attendant' && !isOwn)
        return forbidden('attendants hand over their own attendances only')
      return await give(call, view.contactId, attendant)
    },
  }),
  change({
    method: 'POST',
    path: '/attendances/:id/close',
    ids: ['att'],
    noun: 'attendance',
    action: 'close',
    summary: 'Close an attendance',
    async handle({ db, companyId, ids: [id = ''], caller, actor, now }) {
      const view = await getAttendance(db, companyId, id)
      if (view === undefined) return notFound
      if (caller.role === 'attendant' && caller.kind === 'user' && view.userId !== caller.userId)
        return forbidden('attendants close their own attendances only')
      if (!(await lockContact(db, companyId, view.contactId))) return notFound
      if (!(await closeAttendanceById(db, companyId, id, { at: now, by: actor }))) return notFound
      return changed(undefined, {
        nounId: showId('att', id),
        detail: { contactId: showId('con', view.contactId) },
      })
    },
  }),
]
