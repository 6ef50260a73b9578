/**
 * The SQL of receipts. A batch of any size costs the same few round trips: look up and lock, the parts of messages
 * that have several, write. What most receipts have travels as columns, the rest as JSON.
 */
import type { Channel } from '../domain/channel.ts'
import type { MessageState } from '../domain/message.ts'
import type { ReceiptState } from '../domain/receipt.ts'
import {
  columnNames,
  columnParameters,
  documents,
  instants,
  numbers,
  texts,
  uuids,
  writeColumns,
  type Columns,
} from './columns.ts'
import type { Queryable } from './db.ts'
import { countParameters, createStatements } from './statements.ts'

/** A receipt as it is looked up: by the provider's id, or by our own where the provider echoes it. */
export type ReceiptProbe = {
  ref: number
  line_id: string
  company_id: string
  provider_id: string | null
  message_id: string | null
}

const probeColumns: Columns<ReceiptProbe> = {
  ref: numbers,
  line_id: uuids,
  company_id: uuids,
  provider_id: texts,
  message_id: uuids,
}
const probesSql = () =>
  `select * from unnest(${columnParameters(probeColumns, countParameters())}) as r(${columnNames(probeColumns)})`

export type LockedMessage = {
  id: string
  companyId: string
  api: string
  channel: Channel
  state: MessageState
  contactId: string | null
  lineId: string | null
  templateId: string | null
  segmentId: string | null
  acceptedAt: string
  settledAt: string | null
  /** It has no callback, and no company has a webhook. */
  isUnheard: boolean
}

/** `part` is null when the provider's id is not known yet, only ours. */
export type Named = { messageId: string; part: number | null; parts: number | null }

export type LockedReceipts = {
  named: Map<number, Named>
  messages: Map<string, LockedMessage>
  /** Messages that are still in the outbox: our own record of the hand-over is not written yet. */
  unsettled: Set<string>
}

/**
 * Messages are locked in the order of their ids. One that is in the outbox is not: its owner is about to settle it,
 * and the receipt waits for that. An id of ours counts only when it is of the line's own company.
 */
const lockStatement = {
  name: 'receipts_lock',
  text: `
with r as materialized (${probesSql()}
), known as materialized (
  select r.ref, p.message_id, p.part, p.parts from r cross join lateral (
    select * from provider_reference where line_id = r.line_id and provider_id = r.provider_id offset 0) p
), named as materialized (
  select ref, message_id, part, parts from known
  union all
  select r.ref, r.message_id, null, null from r join message m on m.id = r.message_id and m.company_id = r.company_id
  where r.ref not in (select ref from known)
), unsettled as materialized (
  -- By the index alone, also with a plan that was made while the queue was empty: see outbox.ts.
  select o.message_id from (select distinct message_id from named) n
  cross join lateral (select message_id from outbox where message_id = n.message_id offset 0) o
), locked as materialized (
  select m.id, m.company_id as "companyId", m.api, m.channel, m.state, m.contact_id as "contactId", m.line_id as "lineId",
    m.template_id as "templateId", m.segment_id as "segmentId", m.accepted_at as "acceptedAt", m.settled_at as "settledAt",
    m.callback is null and not exists (select 1 from webhook) as "isUnheard"
  from message m where m.id in (select message_id from named) and m.id not in (select message_id from unsettled)
  order by m.id for update
)
select
  (select json_agg(json_build_array(ref, message_id, part, parts)) from named) as named,
  (select json_agg(locked) from locked) as locked,
  (select json_agg(message_id) from unsettled) as unsettled`,
}

export async function lockReceipts(
  connection: Queryable,
  probes: readonly ReceiptProbe[],
): Promise<LockedReceipts> {
  type Answer = {
    named: [number, string, number | null, number | null][] | null
    locked: LockedMessage[] | null
    unsettled: string[] | null
  }
  const [answer] = await connection.query<Answer>(lockStatement, writeColumns(probeColumns, probes))
  return {
    named: new Map(answer!.named?.map(([ref, messageId, part, parts]) => [ref, { messageId, part, parts }])),
    messages: new Map(answer!.locked?.map((message) => [message.id, message])),
    unsettled: new Set(answer!.unsettled),
  }
}

/** Contacts come before messages in the order of locks, so those of opt-outs are locked first. */
const lockContactsStatement = {
  name: 'receipts_lock_contacts',
  text: `
with r as materialized (${probesSql()}
), named as materialized (
  select p.message_id from r join provider_reference p on p.line_id = r.line_id and p.provider_id = r.provider_id
  union
  select message_id from r where message_id is not null
)
select id from contact where id in (select contact_id from message where id in (select message_id from named)) order by id for update`,
}

export async function lockReceiptContacts(
  connection: Queryable,
  probes: readonly ReceiptProbe[],
): Promise<void> {
  await connection.query(lockContactsStatement, writeColumns(probeColumns, probes))
}

export type PartState = { messageId: string; part: number; parts: number; state: ReceiptState | null }

/** After the messages are locked: the snapshot of a statement is older than the locks it waits for. */
export const loadParts = (connection: Queryable, messageIds: readonly string[]): Promise<PartState[]> =>
  connection.query<PartState>(
    {
      name: 'receipts_parts',
      text: `select message_id as "messageId", part, parts, state from provider_reference
        where message_id = any($1::uuid[]) and parts > 1`,
    },
    [messageIds],
  )

export type MessageMove = {
  id: string
  state: ReceiptState
  /** The state in which it was locked. */
  from_state: MessageState
  error_code: string | null
  error_message: string | null
  /** Null keeps what is there. */
  settled_at: Date | null
}

export type ReceiptEvent = { message_id: string; at: Date; detail: object }

export type ReportDelta = {
  company_id: string
  hour: Date
  api: string
  channel: string
  line_id: string | null
  template_id: string | null
  segment_id: string | null
  outcome: string
  latency_bucket: number | null
  /** Below zero where an earlier count turned out wrong. */
  count: number
}

export type EarlyWrite = {
  line_id: string
  provider_id: string
  receipt: object
  received_at: Date
  try_at: Date
}

export type ReceiptWrite = {
  moves: MessageMove[]
  events: ReceiptEvent[]
  parts: { message_id: string; part: number; state: ReceiptState }[]
  /** Provider's ids that only a receipt told us. */
  references: {
    line_id: string
    provider_id: string
    message_id: string
    part: number
    parts: number
    at: Date
  }[]
  deltas: ReportDelta[]
  early: EarlyWrite[]
  optOuts: { contact_id: string; channels: Channel[]; marketing_at: Date | null }[]
}

const moveColumns: Columns<MessageMove> = {
  id: uuids,
  state: texts,
  from_state: texts,
  error_code: texts,
  error_message: texts,
  settled_at: instants,
}

const eventColumns: Columns<ReceiptEvent> = { message_id: uuids, at: instants, detail: documents }

type WriteParts = { hasParts: boolean; hasEarly: boolean; hasOptOuts: boolean }

const writeStatement = createStatements('receipts_write', (parts: WriteParts, parameter) => {
  const steps = [
    `c as materialized (
  select * from unnest(${columnParameters(moveColumns, parameter)}) as c(${columnNames(moveColumns)}))`,
    `moved as (
  update message m set state = c.state, error_code = c.error_code, error_message = c.error_message,
    settled_at = coalesce(c.settled_at, m.settled_at)
  from c where m.id = c.id and m.state = c.from_state returning m.id)`,
    `certain as (
  delete from unknown_message u using c where u.message_id = c.id)`,
    `told as (
  insert into message_event (message_id, at, kind, detail)
  select message_id, at, 'receipt', detail from unnest(${columnParameters(eventColumns, parameter)}) as e(${columnNames(eventColumns)}))`,
    `counted as (
  insert into report_delta (company_id, hour, api, channel, line_id, template_id, segment_id, outcome, latency_bucket, count)
  select * from json_to_recordset(${parameter('json')}) as d(company_id uuid, hour timestamptz, api text, channel text, line_id uuid,
    template_id uuid, segment_id uuid, outcome text, latency_bucket smallint, count int))`,
  ]
  if (parts.hasParts)
    steps.push(`part as materialized (
  select * from json_to_recordset(${parameter('json')}) as x(message_id uuid, part smallint, state text)
), advanced as (
  update provider_reference p set state = part.state from part
  where p.message_id = part.message_id and p.parts > 1 and p.part = part.part
), named as (
  insert into provider_reference (line_id, provider_id, message_id, part, parts, state, created_at)
  select x.line_id, x.provider_id, x.message_id, x.part, x.parts, p.state, x.at
  from json_to_recordset(${parameter('json')}) as x(line_id uuid, provider_id text, message_id uuid, part smallint, parts smallint, at timestamptz)
  left join part p on p.message_id = x.message_id and p.part = x.part
  order by x.line_id, x.provider_id on conflict (line_id, provider_id) do nothing)`)
  if (parts.hasEarly)
    steps.push(`kept as (
  insert into early_receipt (line_id, provider_id, receipt, received_at, try_at)
  select * from json_to_recordset(${parameter('json')}) as x(line_id uuid, provider_id text, receipt jsonb, received_at timestamptz, try_at timestamptz))`)
  if (parts.hasOptOuts)
    steps.push(`silenced as (
  update contact k set opted_out_channels = k.opted_out_channels || array(select unnest(x.channels) except select unnest(k.opted_out_channels)),
    marketing_opted_out_at = coalesce(k.marketing_opted_out_at, x.marketing_at)
  from json_to_recordset(${parameter('json')}) as x(contact_id uuid, channels text[], marketing_at timestamptz)
  where k.id = x.contact_id
    and (not x.channels <@ k.opted_out_channels or (x.marketing_at is not null and k.marketing_opted_out_at is null)))`)
  return `with ${steps.join(', ')} select count(*) as moved from moved`
})

/** How many messages moved. */
export async function writeReceipts(connection: Queryable, write: ReceiptWrite): Promise<number> {
  const parts: WriteParts = {
    hasParts: write.parts.length > 0 || write.references.length > 0,
    hasEarly: write.early.length > 0,
    hasOptOuts: write.optOuts.length > 0,
  }
  const [row] = await connection.query<{ moved: number }>(writeStatement(parts), [
    ...writeColumns(moveColumns, write.moves),
    ...writeColumns(eventColumns, write.events),
    JSON.stringify(write.deltas),
    ...(parts.hasParts ? [JSON.stringify(write.parts), JSON.stringify(write.references)] : []),
    ...(parts.hasEarly ? [JSON.stringify(write.early)] : []),
    ...(parts.hasOptOuts ? [JSON.stringify(write.optOuts)] : []),
  ])
  return row!.moved
}

export type EarlyReceipt = {
  lineId: string
  /** Null when the line is gone. */
  companyId: string | null
  receipt: StoredReceipt
  receivedAt: Date
}

/** As it comes back from JSON. */
export type StoredReceipt = {
  providerId?: string
  messageId?: string
  state: ReceiptState
  at: string
  error?: { code: string; message: string }
  isOptOut?: boolean
  isMarketingOptOut?: boolean
}

/** Takes what is due out of the table; what still finds no message is put back by whoever took it. */
export const takeEarlyReceipts = (connection: Queryable, now: Date, limit: number): Promise<EarlyReceipt[]> =>
  connection.query<EarlyReceipt>(
    {
      name: 'receipts_take_early',
      text: `
with taken as (
  delete from early_receipt where ctid = any(array(
    select ctid from early_receipt where try_at <= $1 order by try_at limit $2 for update skip locked))
  returning line_id, receipt, received_at
)
select t.line_id as "lineId", l.company_id as "companyId", t.receipt, t.received_at as "receivedAt"
from taken t left join line l on l.id = t.line_id`,
    },
    [now, limit],
  )
