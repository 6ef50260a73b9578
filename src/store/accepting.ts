/** The SQL of the accept path: what a batch of any size locks and reads. What it writes: accept-writes.ts. */
import type { Channel } from '../domain/channel.ts'
import type { MediaFile } from '../domain/media.ts'
import { writeColumn, texts, uuids, type Column } from './columns.ts'
import type { Queryable } from './db.ts'
import { createStatements, type Parameter } from './statements.ts'

/** A contact that a batch wants, by the address of the channel used. */
export type ContactProbe = {
  ref: number
  company_id: string
  phone_key: string | null
  email_key: string | null
}

/** `key`: what two nodes must not answer at the same time (an idempotency key). */
export type KeyProbe = { ref: number; company_id: string; route: string; key: string }

export type ContactRow = {
  id: string
  phone: string | null
  email: string | null
  name: string | null
  tax_id: string | null
  custom_code: string | null
  tag: string | null
  jokers: readonly (string | null)[] | null
  segment_id: string | null
  last_interaction_at: Date | null
  /** Null: none. */
  opted_out_channels: Channel[] | null
  marketing_opted_out_at: Date | null
  email_bounced_at: Date | null
}

/** Lists as JSON, which the driver reads faster than PostgreSQL's own spelling of them. */
const contactColumns = `c.id, c.phone, c.email, c.name, c.tax_id, c.custom_code, c.tag, to_json(c.jokers) as jokers, c.segment_id,
    c.last_interaction_at, to_json(nullif(c.opted_out_channels, '{}')) as opted_out_channels, c.marketing_opted_out_at, c.email_bounced_at`

type LookParts = { hasPhones: boolean; hasEmails: boolean }

/** Each probe `p` with the contact `f` that it finds, or with none. */
function lookSql({ hasPhones, hasEmails }: LookParts, parameter: Parameter): string {
  const looks = [
    ...(hasPhones
      ? ['select id from contact where company_id = p.company_id and phone_key = p.phone_key']
      : []),
    ...(hasEmails
      ? ['select id from contact where company_id = p.company_id and email_key = p.email_key']
      : []),
  ]
  return `unnest(${parameter('uuid[]')}, ${parameter('text[]')}, ${parameter('text[]')}) with ordinality as p(company_id, phone_key, email_key, ref)
  left join lateral (${looks.join(' union all ')} limit 1) f on true`
}

function lookParameters(contacts: readonly ContactProbe[]) {
  const column = (type: Column, field: keyof ContactProbe) =>
    writeColumn(
      type,
      contacts.map((probe) => probe[field]),
    )
  const [phones, emails] = [column(texts, 'phone_key'), column(texts, 'email_key')]
  return {
    parts: { hasPhones: phones !== null, hasEmails: emails !== null },
    values: [column(uuids, 'company_id'), phones, emails],
  }
}

/**
 * Takes what is free and waits for nothing. A contact that exists is locked by its row; one that does not is
 * locked by the hash of its address, so that two nodes cannot both create it. Neither: somebody else has it now.
 * (Sorted by id: unsorted locks deadlocked 362 of 600 batches; and SKIP LOCKED never waits at all.)
 *
 * Here and below, LATERAL with LIMIT 1 keeps the planner to one probe of an index per row: with a few thousand
 * contacts it would rather hash the whole table, for every batch (seen: 17 ms instead of 0.3).
 */
const lockStatement = createStatements(
  'accept_lock',
  (parts: LookParts, parameter) => `
select s.ref, l.*,
  case when s.id is null then pg_try_advisory_xact_lock(hashtextextended(s.company_id || s.key, 2)) end as is_absent
from (
  select p.ref, p.company_id, coalesce(p.phone_key, p.email_key) as key, f.id
  from ${lookSql(parts, parameter)}
  order by f.id, p.company_id, coalesce(p.phone_key, p.email_key)) s
left join lateral (select ${contactColumns} from contact c where c.id = s.id for update skip locked) l on true`,
)

const lockKeysStatement = {
  name: 'accept_lock_keys',
  text: `
select k.ref, pg_try_advisory_xact_lock(hashtextextended(k.company_id || k.route || ' ' || k.key, 1)) as is_mine
from (select * from json_to_recordset($1::json) as k(ref int, company_id text, route text, key text)
      order by company_id, route, key) k`,
}

export type Locked = {
  /** Probe to contact. A probe in neither `found` nor `absent` is held elsewhere. */
  found: Map<number, ContactRow>
  absent: Set<number>
  heldKeys: Set<number>
}

export async function lockContacts(
  connection: Queryable,
  contacts: readonly ContactProbe[],
  keys: readonly KeyProbe[],
): Promise<Locked> {
  const [heldKeys, rows] = await Promise.all([lockKeys(connection, keys), lockRows(connection, contacts)])
  const found = new Map<number, ContactRow>()
  const absent = new Set<number>()
  for (const row of rows) {
    // Counted from 1 by PostgreSQL.
    const ref = row.ref - 1
    if (isFound(row)) found.set(ref, row)
    else if (row.is_absent) absent.add(ref)
  }
  return { found, absent, heldKeys }
}

type LockedRow = { ref: number; is_absent: boolean | null } & (ContactRow | { id: null })

const isFound = (row: LockedRow): row is LockedRow & ContactRow => row.id !== null

function lockRows(connection: Queryable, contacts: readonly ContactProbe[]): Promise<LockedRow[]> {
  const { parts, values } = lookParameters(contacts)
  return connection.query<LockedRow>(lockStatement(parts), values)
}

async function lockKeys(connection: Queryable, keys: readonly KeyProbe[]): Promise<Set<number>> {
  if (keys.length === 0) return new Set()
  const rows = await connection.query<{ ref: number; is_mine: boolean }>(lockKeysStatement, [
    JSON.stringify(keys),
  ])
  return new Set(rows.flatMap((row) => (row.is_mine ? [] : row.ref)))
}

/** The same look without locks, for a dry run. */
const seeStatement = {
  name: 'accept_see',
  text: `select ${contactColumns} from contact c where c.company_id = $1 and (c.phone_key = $2 or c.email_key = $3) limit 1`,
}

export async function seeContact(
  connection: Queryable,
  probe: ContactProbe,
): Promise<ContactRow | undefined> {
  const [row] = await connection.query<ContactRow>(seeStatement, [
    probe.company_id,
    probe.phone_key,
    probe.email_key,
  ])
  return row
}

export type ContactNeeds = {
  /** For free texts by WhatsApp. */
  hasWindows: boolean
  hasAttendances: boolean
  /** For rules that count. */
  hasCounters: boolean
}

export const everyNeed: ContactNeeds = { hasWindows: true, hasAttendances: true, hasCounters: true }

export type FactsQuery = {
  companyIds: string[]
  apiTokenHashes: string[]
  directTokenHashes: string[]
  keys: readonly KeyProbe[]
  /** By their addresses: a batch asks before it knows what it could lock, in the same round trip. */
  contacts: readonly ContactProbe[] | { ids: readonly string[] }
  /** What of the contacts the decisions need: usually nothing. */
  needs: ContactNeeds
  media: { company_id: string; id: string }[]
  now: Date
}

/**
 * Everything else the decisions need, in one statement after the locks: its snapshot is younger than they are, so
 * what other nodes committed before giving a contact free is seen.
 */
type FactsParts = LookParts & ContactNeeds & { hasKeys: boolean; hasMedia: boolean }

const factsStatement = createStatements('accept_facts', (parts: FactsParts, parameter) => {
  const companies = parameter('uuid[]')
  const now = parameter('timestamptz')
  const apiTokens = parameter('text[]')
  const directTokens = parameter('text[]')
  const isAboutContacts = parts.hasWindows || parts.hasAttendances || parts.hasCounters
  const seen = () =>
    parts.hasPhones || parts.hasEmails
      ? `select array_agg(f.id) as ids from ${lookSql(parts, parameter)} where f.id is not null`
      : `select ${parameter('uuid[]')} as ids`
  const contacts = '(select ids from seen)::uuid[]'
  return `${
    isAboutContacts
      ? `
with seen as materialized (${seen()})`
      : ''
  }
select
  (select json_agg(json_build_array(id, catalogue_version, suspended_at is not null)) from company where id = any(${companies})) as companies,
  (select json_agg(encode(hash, 'hex')) from (
     select hash from api_token where hash = any(select decode(h, 'hex') from unnest(${apiTokens}) h) and expires_at > ${now}
     union all
     select hash from direct_token where hash = any(select decode(h, 'hex') from unnest(${directTokens}) h) and revoked_at is null) t) as tokens${
       !parts.hasWindows
         ? ''
         : `,
  (select json_agg(json_build_array(contact_id, line_id, received_at)) from contact_window
    where contact_id = any(${contacts}) and received_at > ${now} - interval '24 hours') as windows`
     }${
       !parts.hasAttendances
         ? ''
         : `,
  (select json_agg(json_build_object('contactId', contact_id, 'id', id, 'userId', user_id, 'openedAt', opened_at, 'activeAt', active_at))
     from attendance where contact_id = any(${contacts}) and closed_at is null) as attendances`
     }${
       !parts.hasKeys
         ? ''
         : `,
  (select json_agg(json_build_object('ref', k.ref, 'bodyHash', encode(i.body_hash, 'hex'), 'messageId', i.message_id,
       'requestId', i.request_id, 'answer', i.answer))
     from json_to_recordset(${parameter('json')}) as k(ref int, company_id uuid, route text, key text)
     cross join lateral (select * from idempotency where company_id = k.company_id and route = k.route and key = k.key limit 1) i
     where i.created_at > ${now} - interval '24 hours') as keys`
     }${
       !parts.hasCounters
         ? ''
         : `,
  (select json_agg(json_build_array(contact_id, key, count, at)) from contact_counter where contact_id = any(${contacts})) as counters`
     }${
       !parts.hasMedia
         ? ''
         : `,
  (select json_agg(json_build_object('companyId', m.company_id, 'id', m.id, 'name', m.name, 'extension', m.extension,
       'mimeType', m.mime_type, 'hash', encode(m.hash, 'hex'), 'size', m.size))
     from json_to_recordset(${parameter('json')}) as x(company_id uuid, id uuid)
     cross join lateral (select * from media_item where id = x.id and company_id = x.company_id limit 1) m) as media`
     }`
})

export type KeyRow = {
  ref: number
  bodyHash: string
  messageId: string
  requestId: string
  answer: { kind: 'accepted' | 'not_sent' }
}

export type AcceptFacts = {
  companies: Map<string, { version: number; isSuspended: boolean }>
  validTokens: Set<string>
  keys: Map<number, KeyRow>
  windows: Map<string, Map<string, Date>>
  attendances: Map<string, { id: string; userId: string; openedAt: Date; activeAt: Date }>
  counters: Map<string, Map<string, { count: number; at: Date }>>
  media: Map<string, MediaFile>
}

function lookFor({ contacts, needs }: FactsQuery) {
  const none = { hasPhones: false, hasEmails: false }
  if (!needs.hasWindows && !needs.hasAttendances && !needs.hasCounters) return { parts: none, values: [] }
  return 'ids' in contacts
    ? { parts: none, values: [writeColumn(uuids, contacts.ids)] }
    : lookParameters(contacts)
}

export async function loadFacts(connection: Queryable, query: FactsQuery): Promise<AcceptFacts> {
  type Attendance = { contactId: string; id: string; userId: string; openedAt: string; activeAt: string }
  type Answer = {
    companies: [string, number, boolean][] | null
    tokens: string[] | null
    keys?: KeyRow[] | null
    windows?: [string, string, string][] | null
    attendances?: Attendance[] | null
    counters?: [string, string, number, string][] | null
    media?: (MediaFile & { companyId: string })[] | null
  }
  const look = lookFor(query)
  const parts: FactsParts = {
    ...look.parts,
    ...query.needs,
    hasKeys: query.keys.length > 0,
    hasMedia: query.media.length > 0,
  }
  const [answer] = await connection.query<Answer>(factsStatement(parts), [
    writeColumn(uuids, query.companyIds),
    query.now,
    writeColumn(texts, query.apiTokenHashes),
    writeColumn(texts, query.directTokenHashes),
    ...look.values,
    ...(parts.hasKeys ? [JSON.stringify(query.keys)] : []),
    ...(parts.hasMedia ? [JSON.stringify(query.media)] : []),
  ])
  const { companies, tokens, keys, windows, attendances, counters, media } = answer!
  const nested = <V>(rows: [string, string, V][]) => {
    const outer = new Map<string, Map<string, V>>()
    for (const [first, second, value] of rows) {
      const inner = outer.get(first) ?? new Map<string, V>()
      outer.set(first, inner.set(second, value))
    }
    return outer
  }
  return {
    companies: new Map(companies?.map(([id, version, isSuspended]) => [id, { version, isSuspended }])),
    validTokens: new Set(tokens),
    keys: new Map(keys?.map((row) => [row.ref, row])),
    windows: nested((windows ?? []).map(([contact, line, at]) => [contact, line, new Date(at)])),
    attendances: new Map(
      attendances?.map((row) => [
        row.contactId,
        { ...row, openedAt: new Date(row.openedAt), activeAt: new Date(row.activeAt) },
      ]),
    ),
    counters: nested(
      (counters ?? []).map(([contact, key, count, at]) => [contact, key, { count, at: new Date(at) }]),
    ),
    media: new Map(media?.map((item) => [`${item.companyId} ${item.id}`, item])),
  }
}
