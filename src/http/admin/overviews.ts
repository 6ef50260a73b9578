/** What pages show at a glance: alerts, the audit log, lanes, received messages. */
import { Type } from 'typebox'
import { showId } from '../../lib/ids.ts'
import { omit } from '../../lib/omit.ts'
import { listReceived } from '../../store/conversations.ts'
import { listAlerts, listLanes, searchAudit } from '../../store/overviews.ts'
import { done } from './replies.ts'
import { read, type Route } from './route.ts'
import {
  channel,
  cursorId,
  flag,
  idOf,
  instant,
  instantIn,
  limitOf,
  maybeUuid,
  nullable,
  optionalText,
  PageQuery,
  pageOfRows,
  pageOut,
  pageQuery,
  readInstant,
  shown,
} from './wire.ts'

export const overviewRoutes: Route[] = [
  read({
    method: 'GET',
    path: '/alerts',
    summary: 'List alerts',
    query: Type.Object({
      ...pageQuery,
      isOpen: flag('Only open ones, or only closed ones.'),
      lineId: Type.Optional(idOf('lin', 'Only about this line.')),
    }),
    answer: pageOut(
      Type.Object({
        id: Type.String(),
        kind: Type.String(),
        subject: Type.String(),
        message: Type.String(),
        raisedAt: instant('Since when.'),
        clearedAt: nullable(instant('When the cause was gone.')),
      }),
    ),
    async handle({ db, companyId, query }) {
      const limit = limitOf(query)
      const rows = await listAlerts(db, companyId, {
        isOpen: query.isOpen,
        subject: maybeUuid('lin', query.lineId),
        beforeId: cursorId(query.cursor),
        limit: limit + 1,
      })
      return done(
        pageOfRows(
          rows,
          limit,
          ({ id }) => [id],
          (row) => ({ ...row, id: showId('alr', row.id) }),
        ),
      )
    },
  }),
  read({
    method: 'GET',
    path: '/audit',
    summary: 'Read the audit log',
    description: 'Newest first.',
    query: Type.Object({
      ...pageQuery,
      noun: optionalText('Only about this noun: `line`, `user` …', 50),
      nounId: optionalText('Only about this one.', 50),
      actor: optionalText('Only by this user.'),
      from: instantIn('Since then.'),
      to: instantIn('Before then.'),
    }),
    answer: pageOut(
      Type.Object({
        id: Type.String(),
        actor: Type.String(),
        action: Type.String(),
        noun: Type.String(),
        nounId: nullable(Type.String()),
        detail: nullable(Type.Object({})),
        at: instant('When.'),
      }),
    ),
    async handle({ db, companyId, query }) {
      const limit = limitOf(query)
      const rows = await searchAudit(db, companyId, {
        noun: query.noun,
        nounId: query.nounId,
        actor: query.actor,
        from: readInstant(query.from),
        to: readInstant(query.to),
        beforeId: cursorId(query.cursor),
        limit: limit + 1,
      })
      return done(
        pageOfRows(
          rows,
          limit,
          ({ id }) => [id],
          (row) => ({ ...omit(row, 'companyId'), id: showId('aud', row.id) }),
        ),
      )
    },
  }),
  read({
    method: 'GET',
    path: '/lanes',
    summary: 'How the lines are doing',
    answer: Type.Object({
      items: Type.Array(
        Type.Object({
          lineId: Type.String(),
          name: Type.String(),
          channel: channel(),
          isEnabled: Type.Boolean(),
          isPaused: Type.Boolean(),
          pausedReason: nullable(Type.String()),
          isDriven: Type.Boolean({ description: 'A worker that is alive drives it.' }),
          ratePerSecond: Type.Number(),
          inFlightLimit: Type.Integer(),
          depth: Type.Integer({ description: 'Waits to leave now; counted up to 10,000.' }),
          oldestDueAt: nullable(instant('Since when the oldest waits.')),
          inFlight: Type.Integer(),
          deferred: Type.Integer({ description: "Waits for a rule's moment; counted up to 10,000." }),
          isUp: nullable(
            Type.Boolean({ description: 'Its session can take messages; null where no worker drives it.' }),
          ),
          healthDetail: nullable(Type.String({ description: "In the driver's words." })),
          heldUntil: nullable(instant('While the breaker is open: nothing is handed over before.')),
          lastError: nullable(
            Type.Object({
              kind: Type.String({ description: '`unreachable`, `throttled`, `misconfigured` …' }),
              code: Type.String(),
              message: Type.String(),
              at: instant('When.'),
            }),
          ),
        }),
      ),
    }),
    async handle({ db, companyId, now }) {
      const lanes = await listLanes(db, [companyId], now)
      return done({
        items: lanes.map((lane) => ({ ...omit(lane, 'companyId'), lineId: showId('lin', lane.lineId) })),
      })
    },
  }),
  read({
    method: 'GET',
    path: '/received',
    summary: 'List received messages',
    description: 'Newest first; also those whose sender is not known.',
    query: PageQuery,
    answer: pageOut(Type.Object({ id: Type.String(), text: Type.String(), at: instant('When.') })),
    async handle({ db, companyId, query }) {
      const limit = limitOf(query)
      const rows = await listReceived(db, companyId, { beforeId: cursorId(query.cursor), limit: limit + 1 })
      return done(
        pageOfRows(
          rows,
          limit,
          ({ id }) => [id],
          (row) => ({
            ...row,
            id: showId('inb', row.id),
            lineId: showId('lin', row.lineId),
            contactId: shown('con', row.contactId),
          }),
        ),
      )
    },
  }),
]
