/** The whole timeline of a message by its id: what was asked, decided, tried, said and reported, as plain data. */
import type { Api, Channel } from '../domain/channel.ts'
import type { MessageContent, MessageState } from '../domain/message.ts'
import type { Verdict } from '../domain/outcome.ts'
import type { Queryable } from './db.ts'

/** Everything that can stand in a timeline; each has its words in the console. */
export const timelineKinds = [
  'accepted',
  'blocked',
  'not_sent',
  'waits',
  'released',
  'attempt',
  'sent',
  'receipt',
  'unknown',
  'left_unknown',
  'sent_again',
  'failed_over',
  'expired',
  'resent',
  'unsubscribed',
  'callback',
] as const

export type TimelineEvent = {
  at: Date
  /** `attempt` carries the exchange with the provider. */
  kind: (typeof timelineKinds)[number]
  detail: Record<string, unknown>
}

export const waitingReasons = ['rules', 'retry', 'line_paused', 'line_disabled', 'queue'] as const

/** Why a message has not left yet. */
export type Waiting = {
  dueAt: Date
  reason: (typeof waitingReasons)[number]
  /** Of rules: what did not pass. */
  verdicts: Verdict[]
  attempts: number
}

export type Timeline = {
  id: string
  api: Api
  channel: Channel
  /** `sending` while the hand-over is marked and its answer not written. */
  state: MessageState
  contactId: string | null
  recipient: string
  lineId: string | null
  /** As they are called now; null when they are gone. */
  lineName: string | null
  templateId: string | null
  templateName: string | null
  segmentId: string | null
  segmentName: string | null
  contactName: string | null
  /** Who asked for it: a user, a direct token or a key of the admin API; null when they are gone. */
  sender: { kind: 'user' | 'token' | 'key'; id: string; name: string } | null
  requestId: string
  callId: string | null
  contractCode: string | null
  documentNumber: string | null
  content: MessageContent
  error: { code: string; message: string | null } | null
  reasons: Verdict[]
  acceptedAt: Date
  expiresAt: Date
  handedOverAt: Date | null
  settledAt: Date | null
  events: TimelineEvent[]
  /** What the provider calls its parts, in order. */
  providerIds: { part: number; providerId: string; state: string | null }[]
  waiting: Waiting | null
  /** Until when a receipt is waited for, of one whose outcome is not known. */
  unknownUntil: Date | null
}

type Row = Omit<Timeline, 'state' | 'error' | 'reasons' | 'events' | 'providerIds' | 'waiting'> & {
  state: MessageState
  errorCode: string | null
  errorMessage: string | null
  reasons: Verdict[] | null
  dueAt: Date | null
  attempts: number
  isDeferred: boolean
  isMarked: boolean
  isPaused: boolean
  isEnabled: boolean
}

/** Whose message it is, for an operator who knows only its id. */
export async function findMessageOwner(db: Queryable, messageId: string): Promise<string | undefined> {
  const rows = await db.query<{ companyId: string }>(
    'select company_id as "companyId" from message where id = $1',
    [messageId],
  )
  return rows[0]?.companyId
}

export async function readTimeline(
  db: Queryable,
  companyId: string,
  messageId: string,
): Promise<Timeline | undefined> {
  const [row] = await db.query<Row>(
    {
      name: 'timeline_message',
      text: `
select m.id, m.api, m.channel, m.state, m.contact_id as "contactId", m.recipient, m.line_id as "lineId", m.template_id as "templateId",
  m.segment_id as "segmentId", m.request_id as "requestId", m.call_id as "callId", m.contract_code as "contractCode",
  m.document_number as "documentNumber", m.content, m.error_code as "errorCode", m.error_message as "errorMessage", m.reasons,
  m.accepted_at as "acceptedAt", m.expires_at as "expiresAt", m.handed_over_at as "handedOverAt", m.settled_at as "settledAt",
  o.due_at as "dueAt", coalesce(o.attempts, 0) as attempts, coalesce(o.is_deferred, false) as "isDeferred",
  o.handed_over_epoch is not null as "isMarked", coalesce(l.paused_at is not null, false) as "isPaused",
  coalesce(l.is_enabled, true) as "isEnabled", u.resolve_at as "unknownUntil",
  (select name from line where id = m.line_id) as "lineName", (select name from template where id = m.template_id) as "templateName",
  (select name from segment where id = m.segment_id) as "segmentName", (select name from contact where id = m.contact_id) as "contactName",
  coalesce((select json_build_object('kind', 'user', 'id', id, 'name', name) from app_user where id = m.sender_id and company_id = $1),
    (select json_build_object('kind', 'token', 'id', id, 'name', name) from direct_token where id = m.sender_id and company_id = $1),
    (select json_build_object('kind', 'key', 'id', id, 'name', name) from admin_key where id = m.sender_id and company_id = $1)) as sender
from message m left join outbox o on o.message_id = m.id left join line l on l.id = o.line_id
left join unknown_message u on u.message_id = m.id
where m.id = $2 and m.company_id = $1`,
    },
    [companyId, messageId],
  )
  if (row === undefined) return undefined
  const events = await db.query<TimelineEvent>(
    {
      name: 'timeline_events',
      text: `select at, kind, coalesce(detail, '{}') as detail from message_history where message_id = $1 order by at, place`,
    },
    [messageId],
  )
  const callbacks = await readCallbackAttempts(db, companyId, messageId)
  const providerIds = row.lineId === null ? [] : await readProviderIds(db, row.lineId, events)
  const { errorCode, errorMessage, dueAt, attempts, isDeferred, isMarked, isPaused, isEnabled, ...message } =
    row
  return {
    ...message,
    state: isMarked && row.state === 'queued' ? 'sending' : row.state,
    error: errorCode === null ? null : { code: errorCode, message: errorMessage },
    reasons: row.reasons ?? [],
    // Sorting is stable: what happened at one moment stays in the order it was written.
    events: [...events, ...callbacks].toSorted((a, b) => a.at.getTime() - b.at.getTime()),
    providerIds,
    waiting:
      dueAt === null || isMarked
        ? null
        : {
            dueAt,
            reason: waitingReason({ isDeferred, isEnabled, isPaused, attempts }),
            verdicts: isDeferred ? (row.reasons ?? []) : [],
            attempts,
          },
  }
}

function waitingReason(row: Pick<Row, 'isDeferred' | 'isEnabled' | 'isPaused' | 'attempts'>) {
  if (row.isDeferred) return 'rules'
  if (!row.isEnabled) return 'line_disabled'
  if (row.isPaused) return 'line_paused'
  return row.attempts > 0 ? 'retry' : 'queue'
}

/** What receivers were told and what they said: the last leg of the message's road. */
const readCallbackAttempts = (
  db: Queryable,
  companyId: string,
  messageId: string,
): Promise<TimelineEvent[]> =>
  db.query<TimelineEvent>(
    {
      name: 'timeline_callbacks',
      text: `
select a.at, 'callback' as kind, jsonb_strip_nulls(jsonb_build_object('callbackId', c.id, 'event', c.event, 'target', c.target, 'url', c.url,
  'attempt', a.number, 'status', a.status, 'error', a.error, 'durationMs', a.duration_ms)) as detail
from callback c join callback_attempt a on a.callback_id = c.id
where c.company_id = $1 and c.subject_id = $2 order by a.at, a.number limit 200`,
    },
    [companyId, messageId],
  )

/** References of a single part have no index by message, so the ids come from the events and are looked up by key. */
async function readProviderIds(
  db: Queryable,
  lineId: string,
  events: readonly TimelineEvent[],
): Promise<Timeline['providerIds']> {
  const ids = new Set<string>()
  for (const { detail } of events) {
    const told = [
      detail['providerId'],
      ...(Array.isArray(detail['providerIds']) ? detail['providerIds'] : []),
    ]
    for (const id of told) if (typeof id === 'string') ids.add(id)
  }
  if (ids.size === 0) return []
  return await db.query(
    {
      name: 'timeline_provider_ids',
      text: `select part, provider_id as "providerId", state from provider_reference
        where line_id = $1 and provider_id = any($2::text[]) order by part`,
    },
    [lineId, [...ids]],
  )
}

export type InboundView = {
  id: string
  lineId: string
  channel: Channel
  kind: string
  text: string
  effect: string | null
  at: Date
  receivedAt: Date
  media: { mimeType: string; name: string | null; state: string; hash: string | null; size: number | null }[]
}

/** What a contact wrote, newest first; `beforeId` is the last id of the page before. */
export const listInbound = (
  db: Queryable,
  companyId: string,
  contactId: string,
  page: { beforeId?: string; limit: number },
): Promise<InboundView[]> =>
  db.query<InboundView>(
    `select m.id, m.line_id as "lineId", l.channel, m.kind, m.text, m.effect, m.at, m.received_at as "receivedAt",
       (select coalesce(json_agg(json_build_object('mimeType', f.mime_type, 'name', f.name, 'state', f.state,
          'hash', encode(f.hash, 'hex'), 'size', f.size) order by f.position), '[]') from inbound_media f where f.inbound_id = m.id) as media
     from inbound_message m join line l on l.id = m.line_id where m.company_id = $1 and m.contact_id = $2 and ($3::uuid is null or m.id < $3)
     order by m.id desc limit $4`,
    [companyId, contactId, page.beforeId, page.limit],
  )
