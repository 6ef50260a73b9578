/** The message log: pages, one message with its timeline, resending, and CSV. */
import { Readable } from 'node:stream'
import { Type, type Static } from 'typebox'
import { otherSpelling } from '../../domain/restriction.ts'
import { phoneKey } from '../../domain/address.ts'
import { states } from '../../domain/message.ts'
import { verdictKinds, type Verdict, type VerdictKind } from '../../domain/outcome.ts'
import { newId, parseId, showId } from '../../lib/ids.ts'
import { omit } from '../../lib/omit.ts'
import { recordAudit } from '../../store/audit.ts'
import type { Db } from '../../store/db.ts'
import {
  copyForResend,
  isSender,
  listMessages,
  needsNoRange,
  type MessageFilter,
  type MessageSummary,
} from '../../store/messages.ts'
import { readTimeline, timelineKinds, waitingReasons, type Timeline } from '../../store/timeline.ts'
import type { Caller } from './caller.ts'
import { csvLine } from './csv.ts'
import { changed, conflict, done, notFound } from './replies.ts'
import { change, read, type Route } from './route.ts'
import {
  api,
  channel,
  cursorId,
  encodeCursor,
  idOf,
  instant,
  instantIn,
  limitOf,
  maybeUuid,
  nullable,
  oneOf,
  optionalText,
  pageOut,
  pageQuery,
  readInstant,
  shown,
} from './wire.ts'

const senderPrefixes = ['usr', 'dtk', 'key'] as const

const filters = {
  recipient: optionalText('Number with country code, or e-mail address. Needs no dates.'),
  providerId: optionalText("The provider's id. Needs no dates.", 500),
  callId: optionalText('The id of a voice call. Needs no dates.'),
  requestId: optionalText('The request that sent it.', 100),
  contractCode: optionalText('Direct API.'),
  state: Type.Optional(oneOf(states, '`failed`, `blocked` and `unknown` need no dates.')),
  api: Type.Optional(api()),
  channel: Type.Optional(channel()),
  lineId: Type.Optional(idOf('lin', 'The line.')),
  templateId: Type.Optional(idOf('tpl', 'The template.')),
  segmentId: Type.Optional(idOf('seg', 'The segment.')),
  senderId: Type.Optional(
    Type.String({
      description: 'Who sent it: a user, a direct token, or a key of this API.',
      pattern: `^(?:${senderPrefixes.join('|')})_[0-9a-f]{32}$`,
      'x-says': 'must be the id of a user, a direct token or a key, like usr_0198…',
      maxLength: 40,
    }),
  ),
  from: instantIn('Accepted since then; 7 days ago unless told otherwise.'),
  to: instantIn('Accepted before then.'),
}
const Filters = Type.Object(filters)

export const MessageOut = Type.Object({
  id: idOf('msg', 'The message.'),
  api: api(),
  channel: channel(),
  state: oneOf(states, 'Where it stands.'),
  contactId: nullable(Type.String()),
  recipient: Type.String(),
  lineId: nullable(Type.String()),
  lineName: nullable(Type.String({ description: 'As it is called now; null when it is gone.' })),
  templateId: nullable(Type.String()),
  templateName: nullable(Type.String()),
  segmentId: nullable(Type.String()),
  segmentName: nullable(Type.String()),
  requestId: Type.String(),
  callId: nullable(Type.String()),
  contractCode: nullable(Type.String()),
  acceptedAt: instant('When it was accepted.'),
  handedOverAt: nullable(instant('When the provider got it.')),
  settledAt: nullable(instant('When its outcome was known.')),
})

export const ListedMessageOut = Type.Object({
  ...MessageOut.properties,
  errorCode: nullable(Type.String()),
  errorMessage: nullable(Type.String()),
  refusal: nullable(Type.String({ description: 'Why it was refused, or why it waits.' })),
  preview: Type.String({
    description: 'The first 160 characters of what the person reads: of an e-mail its subject.',
  }),
})

export const VerdictOut = Type.Object({
  rule: oneOf(verdictKinds, 'What was looked at: the kind of a rule, or the state of the contact.'),
  ruleId: Type.Optional(Type.String({ description: 'The rule; absent for what holds without one.' })),
  passed: Type.Boolean(),
  action: Type.Optional(oneOf(['block', 'defer'] as const, 'Of one that did not pass.')),
  reason: Type.Optional(Type.String()),
  matched: Type.Optional(Type.String({ description: 'What it matched.' })),
  nextAllowedAt: Type.Optional(instant('When it would pass.')),
})

const TimelineOut = Type.Object({
  ...MessageOut.properties,
  contactName: nullable(Type.String()),
  sender: nullable(
    Type.Object({
      kind: oneOf(['user', 'token', 'key'] as const, 'What it is.'),
      id: Type.String(),
      name: Type.String(),
    }),
  ),
  documentNumber: nullable(Type.String()),
  content: Type.Object({}, { description: 'What is sent: `kind` is `text` or `template`.' }),
  error: nullable(Type.Object({ code: Type.String(), message: nullable(Type.String()) })),
  reasons: Type.Array(VerdictOut, { description: 'What did not pass.' }),
  expiresAt: instant('When it is given up.'),
  waiting: nullable(
    Type.Object({
      dueAt: instant('When it may leave.'),
      reason: oneOf(waitingReasons, 'Why it has not left yet.'),
      verdicts: Type.Array(VerdictOut),
      attempts: Type.Integer(),
    }),
  ),
  unknownUntil: nullable(instant('Until when a receipt is waited for.')),
  providerIds: Type.Array(
    Type.Object({ part: Type.Integer(), providerId: Type.String(), state: nullable(Type.String()) }),
  ),
  events: Type.Array(
    Type.Object({
      at: instant('When.'),
      kind: oneOf(timelineKinds, 'What happened.'),
      detail: Type.Object({}),
    }),
  ),
})

export const showMessage = (message: MessageSummary) => ({
  ...message,
  id: showId('msg', message.id),
  contactId: shown('con', message.contactId),
  lineId: shown('lin', message.lineId),
  templateId: shown('tpl', message.templateId),
  segmentId: shown('seg', message.segmentId),
})

const senderPrefix = { user: 'usr', token: 'dtk', key: 'key' } as const

/** Some are kept as they were decided, some with the shown id, and those that passed as their name alone. */
function showVerdict(verdict: Verdict | VerdictKind): Verdict {
  if (typeof verdict === 'string') return { rule: verdict, passed: true }
  const { ruleId } = verdict
  return { ...verdict, ...(ruleId && { ruleId: ruleId.startsWith('rul_') ? ruleId : showId('rul', ruleId) }) }
}

const showTimeline = (timeline: Timeline) => ({
  ...timeline,
  sender: timeline.sender && {
    ...timeline.sender,
    id: showId(senderPrefix[timeline.sender.kind], timeline.sender.id),
  },
  id: showId('msg', timeline.id),
  contactId: shown('con', timeline.contactId),
  lineId: shown('lin', timeline.lineId),
  templateId: shown('tpl', timeline.templateId),
  segmentId: shown('seg', timeline.segmentId),
  reasons: timeline.reasons.map(showVerdict),
  waiting: timeline.waiting && {
    ...timeline.waiting,
    verdicts: timeline.waiting.verdicts.map(showVerdict),
  },
  events: timeline.events.map((event) =>
    Array.isArray(event.detail['verdicts'])
      ? { ...event, detail: { ...event.detail, verdicts: event.detail['verdicts'].map(showVerdict) } }
      : event,
  ),
})

const defaultRangeMs = 7 * 24 * 3_600_000

/** A number as people type it, in both spellings that a Brazilian mobile may have been sent to. */
function spellings(recipient: string): string[] {
  const trimmed = recipient.trim()
  const digits = trimmed.replace(/^\+|[\s().-]/g, '')
  if (!/^\d{6,15}$/.test(digits)) return [...new Set([trimmed, trimmed.toLowerCase()])]
  const key = phoneKey(digits)
  return [...new Set([digits, key, otherSpelling(key)].filter((item): item is string => item !== undefined))]
}

function filterOf(query: Static<typeof Filters>, caller: Caller, now: Date): MessageFilter {
  const { recipient, lineId, templateId, segmentId, senderId, from, to, ...rest } = query
  const filter: MessageFilter = {
    providerId: rest.providerId,
    callId: rest.callId,
    requestId: rest.requestId,
    contractCode: rest.contractCode,
    state: rest.state,
    api: rest.api,
    channel: rest.channel,
    recipients: recipient === undefined ? undefined : spellings(recipient),
    lineId: maybeUuid('lin', lineId),
    templateId: maybeUuid('tpl', templateId),
    segmentId: maybeUuid('seg', segmentId),
    from: readInstant(from),
    to: readInstant(to),
    senderId: ownSender(caller) ?? senderOf(senderId),
  }
  if (filter.from === undefined && !needsNoRange(filter))
    filter.from = new Date((filter.to ?? now).getTime() - defaultRangeMs)
  return filter
}

const senderOf = (shownId: string | undefined): string | undefined =>
  shownId && senderPrefixes.map((prefix) => parseId(prefix, shownId)).find((id) => id !== undefined)

/** A key that may read its own messages alone. */
const ownSender = (caller: Caller): string | undefined =>
  caller.kind === 'key' && caller.role === undefined ? (caller.ownUserId ?? newId()) : undefined

const csvHeader = [
  'id',
  'accepted_at',
  'api',
  'channel',
  'state',
  'recipient',
  'line',
  'template',
  'segment',
  'handed_over_at',
  'settled_at',
  'error_code',
  'error_message',
  'contract_code',
  'call_id',
  'request_id',
]

const csvRow = (message: MessageSummary) =>
  csvLine([
    showId('msg', message.id),
    message.acceptedAt,
    message.api,
    message.channel,
    message.state,
    message.recipient,
    shown('lin', message.lineId),
    shown('tpl', message.templateId),
    shown('seg', message.segmentId),
    message.handedOverAt,
    message.settledAt,
    message.errorCode,
    message.errorMessage,
    message.contractCode,
    message.callId,
    message.requestId,
  ])

const exportPage = 1000
const maxExportRows = 1_000_000

/** Page after page, each a statement of its own: a long transaction would slow every claim down. */
async function* exportLines(db: Db, companyId: string, filter: MessageFilter): AsyncGenerator<string> {
  yield csvLine(csvHeader)
  let beforeId: string | undefined
  for (let rows = 0; rows < maxExportRows;) {
    const page = await listMessages(db, companyId, filter, { beforeId, limit: exportPage })
    if (page.messages.length > 0) yield page.messages.map(csvRow).join('')
    if (page.nextBeforeId === undefined) return
    rows += page.messages.length
    beforeId = page.nextBeforeId
  }
}

export const messageRoutes: Route[] = [
  read({
    method: 'GET',
    path: '/messages',
    summary: 'List messages',
    description:
      'Newest first. A page may hold fewer messages than asked for, or none, and still name a next one: each looks at a bounded number of rows.',
    query: Type.Object({ ...pageQuery, ...filters, id: optionalText('Its id: a page with this one.', 40) }),
    answer: pageOut(ListedMessageOut),
    async handle({ db, companyId, query, caller, now }) {
      const { cursor, limit: _, id, ...rest } = query
      const filter = filterOf(rest, caller, now)
      if (id !== undefined) {
        const messageId = parseId('msg', id.trim())
        const page =
          messageId &&
          (await listMessages(
            db,
            companyId,
            { ...filter, from: undefined },
            { beforeId: next(messageId), limit: 1 },
          ))
        const found = page ? page.messages.filter((message) => message.id === messageId) : []
        return done({ items: found.map(showMessage), nextCursor: null })
      }
      const page = await listMessages(db, companyId, filter, {
        beforeId: cursorId(cursor),
        limit: limitOf(query),
      })
      return done({
        items: page.messages.map(showMessage),
        nextCursor: page.nextBeforeId ? encodeCursor([page.nextBeforeId]) : null,
      })
    },
  }),
  read({
    method: 'GET',
    path: '/messages/export',
    summary: 'Messages as CSV',
    description: 'The same filters; at most a million rows. It is in the audit log.',
    query: Filters,
    async handle({ deps, companyId, actor, query, caller, now, reply }) {
      const filter = filterOf(query, caller, now)
      await recordAudit(deps.db, {
        companyId,
        actor,
        action: 'export',
        noun: 'message',
        detail: Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined)),
      })
      await reply
        .header('content-type', 'text/csv; charset=utf-8')
        .header('content-disposition', 'attachment; filename="messages.csv"')
        .header('cache-control', 'no-store')
        .header('x-content-type-options', 'nosniff')
        .send(Readable.from(exportLines(deps.db, companyId, filter)))
      return { kind: 'sent' }
    },
  }),
  read({
    method: 'GET',
    path: '/messages/:id',
    ids: ['msg'],
    summary: 'Read a message with its timeline',
    description: 'With the scope `messages:own`: what the user of the key has sent, without the exchange.',
    answer: TimelineOut,
    async handle({ db, companyId, ids: [id = ''], caller }) {
      const own = ownSender(caller)
      if (own !== undefined && !(await isSender(db, companyId, id, own))) return notFound
      const timeline = await readTimeline(db, companyId, id)
      if (timeline === undefined) return notFound
      if (own === undefined) return done(showTimeline(timeline))
      const events = timeline.events.map((event) => ({
        ...event,
        detail: omit(event.detail, 'exchange'),
      }))
      return done(showTimeline({ ...timeline, events }))
    },
  }),
  change({
    method: 'POST',
    path: '/messages/:id/resend',
    ids: ['msg'],
    noun: 'message',
    action: 'resend',
    summary: 'Send a message again',
    description:
      'A new message with the same content over the same line. The rules decide about it once more, within a second or two; the original keeps its own history.',
    answer: Type.Object({ messageId: idOf('msg', 'The new message.') }),
    status: 202,
    async handle({ db, companyId, ids: [id = ''], caller, actor, now, request }) {
      const copy = newId()
      const resent = await copyForResend(db, companyId, id, {
        id: copy,
        requestId: request.id,
        senderId: caller.kind === 'user' ? caller.userId : caller.keyId,
        now,
        actor,
        originalShown: showId('msg', id),
      })
      if (resent === undefined) return notFound
      if (!resent.ok) return conflict(resent.reason)
      return changed(
        { messageId: showId('msg', copy) },
        { nounId: showId('msg', id), detail: { messageId: showId('msg', copy) } },
      )
    },
  }),
]

/** The smallest id above this one: pages hold what is below. */
function next(id: string): string {
  const hex = (BigInt(`0x${id.replaceAll('-', '')}`) + 1n).toString(16).padStart(32, '0')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}
