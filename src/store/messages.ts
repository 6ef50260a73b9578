/**
 * The message log in pages, newest first. Recipient, id, provider id, call id and the states failed, blocked and
 * unknown have indexes of their own and need no dates; everything else is read within a range of time, a bounded
 * number of rows per page, so that a filter which nothing fits costs no more than one that everything fits.
 */
import type { Api, Channel } from '../domain/channel.ts'
import type { MessageState } from '../domain/message.ts'
import { firstIdAt } from '../lib/ids.ts'
import { omit } from '../lib/omit.ts'
import type { Queryable } from './db.ts'

export type MessageSummary = {
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
  requestId: string
  callId: string | null
  contractCode: string | null
  errorCode: string | null
  errorMessage: string | null
  /** Why it was refused, or why it waits. */
  refusal: string | null
  preview: string
  acceptedAt: Date
  handedOverAt: Date | null
  settledAt: Date | null
}

export type MessageFilter = {
  recipients?: readonly string[]
  providerId?: string
  callId?: string
  requestId?: string
  contractCode?: string
  state?: MessageState
  api?: Api
  channel?: Channel
  lineId?: string
  templateId?: string
  segmentId?: string
  /** Only what this user or token sent. */
  senderId?: string
  from?: Date
  to?: Date
}

export type MessagePage = {
  messages: MessageSummary[]
  /** Where the next page begins; undefined at the end. */
  nextBeforeId?: string
}

/** Rows that one page may look at: about 50 ms when none of them fits. */
const scannedPerPage = 20_000

const columns = `m.id, m.api, m.channel, m.state,
  m.contact_id as "contactId", m.recipient, m.line_id as "lineId", m.template_id as "templateId", m.segment_id as "segmentId",
  m.request_id as "requestId", m.call_id as "callId", m.contract_code as "contractCode", m.error_code as "errorCode",
  m.error_message as "errorMessage", m.reasons,
  left(coalesce(m.content->>'preview', m.content->>'subject', m.content->>'text', ''), 160) as preview,
  m.accepted_at as "acceptedAt", m.handed_over_at as "handedOverAt", m.settled_at as "settledAt"`

const troubleStates: readonly MessageState[] = ['failed', 'blocked', 'unknown']

/** May be looked for without a range of time. */
export const needsNoRange = (filter: MessageFilter): boolean =>
  filter.recipients !== undefined ||
  filter.providerId !== undefined ||
  filter.callId !== undefined ||
  (filter.state !== undefined && troubleStates.includes(filter.state))

export async function listMessages(
  db: Queryable,
  companyId: string,
  filter: MessageFilter,
  page: { beforeId?: string; limit: number },
): Promise<MessagePage> {
  const values: unknown[] = [companyId]
  const value = (given: unknown) => `$${values.push(given)}`
  /** What an index serves. */
  const bounds = ['m.company_id = $1']
  /** What is asked of each row that was found by it. */
  const tests: string[] = []
  let source = 'message m'
  if (filter.recipients !== undefined) bounds.push(`m.recipient = any(${value(filter.recipients)}::text[])`)
  if (filter.callId !== undefined) bounds.push(`m.call_id = ${value(filter.callId)}`)
  if (filter.providerId !== undefined)
    bounds.push(`m.id in (select r.message_id from provider_reference r
      where r.provider_id = ${value(filter.providerId)} and r.line_id in (select id from line where company_id = $1))`)
  const isTrouble = filter.state !== undefined && troubleStates.includes(filter.state)
  if (isTrouble) {
    source =
      'message_trouble t join message m on m.id = t.message_id and m.company_id = t.company_id and m.state = t.state'
    bounds.push('t.company_id = $1', `t.state = ${value(filter.state)}`)
    if (page.beforeId !== undefined) bounds.push(`t.message_id < ${value(page.beforeId)}`)
  }
  if (page.beforeId !== undefined) bounds.push(`m.id < ${value(page.beforeId)}`)
  if (filter.from !== undefined) bounds.push(`m.id >= ${value(firstIdAt(filter.from))}`)
  if (filter.to !== undefined) bounds.push(`m.id < ${value(firstIdAt(filter.to))}`)
  // Tests come after all bounds, so that the bounds alone are a statement, too: see below.
  if (filter.state === 'sending')
    tests.push(
      `s.state = 'queued' and exists (select 1 from outbox o where o.message_id = s.id and o.handed_over_epoch is not null)`,
    )
  else if (filter.state !== undefined && !isTrouble) tests.push(`s.state = ${value(filter.state)}`)
  if (filter.senderId !== undefined) tests.push(`s.sender_id = ${value(filter.senderId)}`)
  if (filter.api !== undefined) tests.push(`s.api = ${value(filter.api)}`)
  if (filter.channel !== undefined) tests.push(`s.channel = ${value(filter.channel)}`)
  if (filter.lineId !== undefined) tests.push(`s."lineId" = ${value(filter.lineId)}`)
  if (filter.templateId !== undefined) tests.push(`s."templateId" = ${value(filter.templateId)}`)
  if (filter.segmentId !== undefined) tests.push(`s."segmentId" = ${value(filter.segmentId)}`)
  if (filter.requestId !== undefined) tests.push(`s."requestId" = ${value(filter.requestId)}`)
  if (filter.contractCode !== undefined) tests.push(`s."contractCode" = ${value(filter.contractCode)}`)

  const where = bounds.join(' and ')
  const order = source === 'message m' ? 'm.id' : 't.message_id'
  const found = await db.query<MessageSummary & { sender_id: string; reasons: unknown }>(
    `select p.*, case when o.is_marked then 'sending' else p.state end as state,
        (select l.name from line l where l.id = p."lineId") as "lineName", (select t.name from template t where t.id = p."templateId") as "templateName",
        (select g.name from segment g where g.id = p."segmentId") as "segmentName",
        (select string_agg(r->>'reason', '; ') from jsonb_array_elements(p.reasons) r) as refusal from (
        select * from (select ${columns}, m.sender_id from ${source} where ${where} order by ${order} desc limit ${scannedPerPage}) s
        ${tests.length > 0 ? `where ${tests.join(' and ')}` : ''} order by s.id desc limit ${value(page.limit + 1)}) p
      left join lateral (select true as is_marked from outbox o
        where o.message_id = p.id and o.handed_over_epoch is not null limit 1) o on p.state = 'queued'
      order by p.id desc`,
    values,
  )
  const messages = found.slice(0, page.limit).map((row) => omit(omit(row, 'sender_id'), 'reasons'))
  if (found.length > page.limit) return { messages, nextBeforeId: messages.at(-1)!.id }
  if (tests.length === 0) return { messages }
  const [last] = await db.query<{ id: string }>(
    `select m.id from ${source} where ${where} order by ${order} desc offset ${scannedPerPage - 1} limit 1`,
    values.slice(0, highestPlace(where)),
  )
  return last ? { messages, nextBeforeId: last.id } : { messages }
}

const highestPlace = (text: string): number =>
  Math.max(...[...text.matchAll(/\$(\d+)/g)].map(([, place]) => Number(place)))

/** For callers that may see their own alone. */
export async function isSender(
  db: Queryable,
  companyId: string,
  messageId: string,
  senderId: string,
): Promise<boolean> {
  const rows = await db.query('select 1 from message where company_id = $1 and id = $2 and sender_id = $3', [
    companyId,
    messageId,
    senderId,
  ])
  return rows.length > 0
}

export type Resent = { ok: true; messageId: string } | { ok: false; reason: string } | undefined

/**
 * A copy that goes through the company's rules like a deferred message whose moment has come: the worker decides
 * about it, and blocks it with the reasons where they say no. The original keeps its own history.
 */
export async function copyForResend(
  transaction: Queryable,
  companyId: string,
  messageId: string,
  copy: { id: string; requestId: string; senderId: string; now: Date; actor: string; originalShown: string },
): Promise<Resent> {
  const [original] = await transaction.query<{
    state: MessageState
    isComplete: boolean
    isLineUsable: boolean
  }>(
    `select m.state, m.line_id is not null and exists (select 1 from contact c where c.id = m.contact_id) as "isComplete",
        exists (select 1 from line l where l.id = m.line_id and l.company_id = m.company_id and l.is_enabled) as "isLineUsable"
      from message m where m.company_id = $1 and m.id = $2 for update of m`,
    [companyId, messageId],
  )
  if (original === undefined) return undefined
  if (original.state === 'queued' || original.state === 'sending')
    return { ok: false, reason: 'it has not left yet' }
  if (!original.isComplete) return { ok: false, reason: 'it was refused before it had a line and a contact' }
  if (!original.isLineUsable) return { ok: false, reason: 'its line is disabled' }
  await transaction.query(
    `with m as (
        insert into message (id, company_id, api, channel, state, contact_id, recipient, line_id, template_id, segment_id, sender_id,
          request_id, call_id, contract_code, document_number, content, callback, priority, accepted_at, expires_at)
        select $3, company_id, api, channel, 'queued', contact_id, recipient, line_id, template_id, segment_id, $4,
          $5, call_id, contract_code, document_number, content, callback, greatest(priority, 1), $6::timestamptz,
          $6::timestamptz + greatest(expires_at - accepted_at, interval '10 minutes')
        from message where company_id = $1 and id = $2 returning *
      ), queued as (
        insert into outbox (message_id, company_id, line_id, contact_id, priority, due_at, expires_at, is_deferred, is_pinned)
        select id, company_id, line_id, contact_id, priority, $6, expires_at, true, false from m
      ), told as (
        insert into message_event (message_id, at, kind, detail)
        select id, $6, 'accepted', jsonb_build_object('requestId', $5::text, 'resentFrom', $7::text, 'by', $8::text, 'verdicts', '[]'::jsonb) from m
      )
      insert into report_delta (company_id, hour, api, channel, line_id, template_id, segment_id, outcome, count)
      select company_id, date_trunc('hour', $6::timestamptz, 'UTC'), api, channel, line_id, template_id, segment_id, 'queued', 1 from m`,
    [companyId, messageId, copy.id, copy.senderId, copy.requestId, copy.now, copy.originalShown, copy.actor],
  )
  await transaction.query(
    `insert into message_event (message_id, at, kind, detail) values ($1, $2, 'resent', jsonb_build_object('as', $3::text, 'by', $4::text))`,
    [messageId, copy.now, `msg_${copy.id.replaceAll('-', '')}`, copy.actor],
  )
  return { ok: true, messageId: copy.id }
}
