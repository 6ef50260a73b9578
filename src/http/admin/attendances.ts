/** Attendances: open, take, hand over, close. Replies: `POST /contacts/:id/messages`. */
import { Type } from 'typebox'
import { showId } from '../../lib/ids.ts'
import { getOpenAttendance } from '../../store/attendances.ts'
import {
  closeAttendanceById,
  getAttendance,
  giveAttendance,
  isAttendant,
  listAttendances,
  listWaiting,
  lockContact,
  type AttendanceView,
  type WaitingContact,
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
  PageQuery,
  pageOut,
  pageQuery,
  uuidOf,
} from './wire.ts'
import type { TObject } from 'typebox'

const ContactOut = Type.Object({
  id: idOf('con', 'The contact.'),
  name: nullable(Type.String()),
  phone: nullable(Type.String()),
  email: nullable(Type.String()),
})

const LastWordOut = Type.Object({
  text: Type.String({ description: 'The first 160 characters.' }),
  at: instant('When the person wrote it.'),
  lineId: idOf('lin', 'Where they wrote to.'),
})

const AttendanceOut = Type.Object({
  id: idOf('att', 'The attendance.'),
  contact: ContactOut,
  user: Type.Object({ id: idOf('usr', 'The attendant.'), name: Type.String() }),
  openedAt: instant('Since when.'),
  activeAt: instant('The last activity.'),
  closedAt: nullable(instant('When it ended.')),
  closedBy: nullable(Type.String()),
  windowClosesAt: nullable(instant('Until when free text may be sent on WhatsApp.')),
  lastWord: nullable(LastWordOut),
  isUnanswered: Type.Boolean({ description: 'Nothing was sent to the person since their last word.' }),
})

const WaitingOut = Type.Object({
  contact: ContactOut,
  windowClosesAt: AttendanceOut.properties.windowClosesAt,
  lastWord: LastWordOut,
})

const windowMs = 24 * 3_600_000

const showContact = (
  view: Pick<AttendanceView, 'contactId' | 'contactName' | 'contactPhone' | 'contactEmail'>,
) => ({
  id: showId('con', view.contactId),
  name: view.contactName,
  phone: view.contactPhone,
  email: view.contactEmail,
})

const closesAt = (lastReceivedAt: Date | null) =>
  lastReceivedAt && new Date(lastReceivedAt.getTime() + windowMs)

const show = (view: AttendanceView) => ({
  id: showId('att', view.id),
  contact: showContact(view),
  user: { id: showId('usr', view.userId), name: view.userName },
  openedAt: view.openedAt,
  activeAt: view.activeAt,
  closedAt: view.closedAt,
  closedBy: view.closedBy,
  windowClosesAt: closesAt(view.lastReceivedAt),
  lastWord: view.lastWord && {
    ...view.lastWord,
    at: new Date(view.lastWord.at),
    lineId: showId('lin', view.lastWord.lineId),
  },
  isUnanswered: view.isUnanswered,
})

const showWaiting = (view: WaitingContact) => ({
  contact: showContact(view),
  windowClosesAt: closesAt(view.lastReceivedAt),
  lastWord: { text: view.text, at: view.at, lineId: showId('lin', view.lineId) },
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
  const view = (await getAttendance(db, companyId, id, now))!
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
    async handle({ db, companyId, query, now }) {
      const limit = limitOf(query)
      const rows = await listAttendances(db, companyId, {
        isOpen: query.isOpen ?? true,
        userId: maybeUuid('usr', query.userId),
        contactId: maybeUuid('con', query.contactId),
        beforeId: cursorId(query.cursor),
        limit: limit + 1,
        now,
      })
      return done(pageOfRows(rows, limit, ({ id }) => [id], show))
    },
  }),
  read({
    method: 'GET',
    path: '/attendances/waiting',
    summary: 'List people who wrote and are with nobody',
    description:
      'Of the last 24 hours, by their last message, newest first. `POST /attendances` takes one. Who wrote before an attendance was closed is not here.',
    query: PageQuery,
    answer: pageOut(WaitingOut),
    async handle({ db, companyId, query, now }) {
      const limit = limitOf(query)
      const rows = await listWaiting(db, companyId, {
        since: new Date(now.getTime() - windowMs),
        beforeId: cursorId(query.cursor),
        limit: limit + 1,
      })
      return done(pageOfRows(rows, limit, ({ id }) => [id], showWaiting))
    },
  }),
  read({
    method: 'GET',
    path: '/attendances/:id',
    ids: ['att'],
    summary: 'Read an attendance',
    answer: AttendanceOut,
    async handle({ db, companyId, ids: [id = ''], now }) {
      const view = await getAttendance(db, companyId, id, now)
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
      const { body, caller, db, companyId, now } = call
      const attendant = maybeUuid('usr', body.userId) ?? (caller.kind === 'user' ? caller.userId : undefined)
      if (attendant === undefined) return invalid({ field: 'userId', message: 'is required' })
      const contactId = uuidOf('con', body.contactId)
      if (caller.role === 'attendant' && caller.kind === 'user' && attendant !== caller.userId) {
        const open = await getOpenAttendance(db, companyId, contactId, now)
        if (open !== undefined && open.userId !== caller.userId)
          return forbidden('attendants hand over their own attendances only')
      }
      return await give(call, contactId, attendant)
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
        now,
      } = call
      const view = await getAttendance(db, companyId, id, now)
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
      const view = await getAttendance(db, companyId, id, now)
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
