/** Callbacks: what receivers were told, every attempt, and telling them again. */
import { Type } from 'typebox'
import { bodyOf, webhookId } from '../../flows/deliver-callbacks.ts'
import { replayAll, replayCallback } from '../../flows/replay-callback.ts'
import { showId } from '../../lib/ids.ts'
import {
  callbackEvents,
  getCallback,
  listCallbackAttempts,
  listCallbacks,
  type CallbackView,
} from '../../store/callbacks.ts'
import { changed, done, invalid, notFound } from './replies.ts'
import { change, read, type Route } from './route.ts'
import {
  decodeCursor,
  idOf,
  instant,
  instantIn,
  limitOf,
  maybeUuid,
  nullable,
  oneOf,
  optionalText,
  pageOfRows,
  pageOut,
  pageQuery,
  readInstant,
  whole,
} from './wire.ts'

const callbackStates = ['waiting', 'delivered', 'given_up'] as const

const CallbackOut = Type.Object({
  id: Type.Integer(),
  event: oneOf(callbackEvents, 'Without the `message.` before it.'),
  state: oneOf(callbackStates, 'Where it stands.'),
  messageId: Type.String({ description: 'The message, or the received message.' }),
  target: oneOf(['request', 'webhook'], 'The address that came with the request, or the company webhook.'),
  endpoint: Type.String({ description: 'Callbacks of one endpoint share its fate.' }),
  url: nullable(Type.String({ description: 'Null: the webhook is no longer set.' })),
  at: instant('When it happened.'),
  dueAt: instant('When it is tried next; of no meaning once it is over.'),
  attempts: Type.Integer(),
  lastStatus: nullable(Type.Integer({ description: 'What the receiver answered last.' })),
  lastError: nullable(Type.String({ description: 'Why there was no answer.' })),
  replayedAt: nullable(instant('When somebody sent it again.')),
  finishedAt: nullable(instant('When it was over.')),
})

const AttemptOut = Type.Object({
  callbackId: Type.Integer(),
  number: Type.Integer(),
  at: instant('When it began.'),
  durationMs: Type.Integer(),
  status: nullable(Type.Integer()),
  error: nullable(Type.String({ description: 'Why there was no answer.' })),
  answer: nullable(Type.String({ description: 'The beginning of what the receiver answered.' })),
})

const TroubleOut = Type.Object({
  failures: Type.Integer({ description: 'In a row.' }),
  failingSince: instant('Since when.'),
  closedUntil: nullable(instant('Until then nothing is sent there.')),
})

const show = ({ subjectId, ...callback }: CallbackView) => ({
  ...callback,
  messageId: showId(callback.event === 'received' ? 'inb' : 'msg', subjectId),
})

const filters = {
  state: Type.Optional(oneOf(callbackStates, 'Only in this state.')),
  event: Type.Optional(oneOf(callbackEvents, 'Only of this event.')),
}

export const callbackRoutes: Route[] = [
  read({
    method: 'GET',
    path: '/callbacks',
    summary: 'List callbacks',
    description: 'Newest first.',
    query: Type.Object({
      ...pageQuery,
      ...filters,
      messageId: Type.Optional(idOf('msg', 'Only of this message.')),
      endpoint: optionalText('Only of this endpoint; `webhook` is that of the company.', 300),
    }),
    answer: pageOut(CallbackOut),
    async handle({ db, companyId, query }) {
      const limit = limitOf(query)
      const before = Number(decodeCursor(query.cursor, 1)?.[0])
      const rows = await listCallbacks(db, companyId, {
        state: query.state,
        event: query.event,
        subjectId: maybeUuid('msg', query.messageId),
        endpoint: query.endpoint,
        beforeId: Number.isSafeInteger(before) ? before : undefined,
        limit: limit + 1,
      })
      return done(pageOfRows(rows, limit, ({ id }) => [String(id)], show))
    },
  }),
  read({
    method: 'GET',
    path: '/callbacks/attempts',
    summary: 'Every attempt of a callback',
    description:
      'With the callback itself, and the request as it is sent; its time and signature are of each attempt.',
    query: Type.Object({ callbackId: whole('The callback.', 1, Number.MAX_SAFE_INTEGER) }),
    answer: Type.Object({
      callback: CallbackOut,
      webhookId: Type.String({ description: 'The same in every attempt.' }),
      body: Type.String({ description: 'The same bytes in every attempt.' }),
      trouble: nullable(TroubleOut),
      items: Type.Array(AttemptOut),
    }),
    async handle({ db, companyId, query }) {
      const found = await getCallback(db, companyId, query.callbackId)
      if (found === undefined) return notFound
      const { data, trouble, ...callback } = found
      return done({
        callback: show(callback),
        webhookId: webhookId(callback),
        body: bodyOf({ ...callback, data }),
        trouble,
        items: await listCallbackAttempts(db, companyId, [callback.id]),
      })
    },
  }),
  change({
    method: 'POST',
    path: '/callbacks/replay',
    noun: 'callback',
    action: 'replay',
    summary: 'Send callbacks again',
    description:
      'One by `id`, or all that fit `state`, `event` and a range; at most 10,000 at once. The `webhook-id` stays.',
    body: Type.Object({
      id: Type.Optional(whole('This one alone.', 1, Number.MAX_SAFE_INTEGER)),
      ...filters,
      since: instantIn('Of events since then.'),
      until: instantIn('Of events before then.'),
    }),
    answer: Type.Object({ replayed: Type.Integer() }),
    async handle({ deps, db, companyId, body }) {
      const { id, state, event } = body
      const context = { db, clock: deps.clock }
      if (id !== undefined)
        return (await replayCallback(context, companyId, id))
          ? changed({ replayed: 1 }, { nounId: String(id) })
          : notFound
      if (state === undefined && event === undefined && body.since === undefined)
        return invalid({ field: 'id', message: 'or state, event or since must be given' })
      const since = readInstant(body.since)
      const until = readInstant(body.until)
      const replayed = await replayAll(context, companyId, { state, event, since, until })
      return changed({ replayed }, { detail: { replayed, state, event, since, until } })
    },
  }),
]
