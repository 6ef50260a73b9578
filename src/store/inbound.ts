/** The SQL of what people write to lines: who it is, the message itself, and what it does to the contact. */
import type { Queryable } from './db.ts'

export type SenderProbe = {
  ref: number
  company_id: string
  phone_key: string | null
  user_id: string | null
}

/**
 * Who wrote: by number, or by the id under which the provider names somebody whose number it withholds. Locked in
 * the order of their ids, like everywhere, and waited for: a received message cannot be turned away.
 */
const lockStatement = {
  name: 'inbound_lock',
  text: `
with probe as materialized (
  select * from json_to_recordset($1::json) as p(ref int, company_id uuid, phone_key text, user_id text)
), seen as materialized (
  select p.ref, c.id from probe p join contact c on c.company_id = p.company_id and c.phone_key = p.phone_key
  union all
  select p.ref, u.contact_id from probe p join contact_user_id u on u.company_id = p.company_id and u.user_id = p.user_id
  where p.phone_key is null
), locked as materialized (
  select id from contact where id in (select id from seen) order by id for update
)
select s.ref, s.id from seen s join locked using (id)`,
}

export async function lockSenders(
  connection: Queryable,
  probes: readonly SenderProbe[],
): Promise<Map<number, string>> {
  const rows = await connection.query<{ ref: number; id: string }>(lockStatement, [JSON.stringify(probes)])
  return new Map(rows.map((row) => [row.ref, row.id]))
}

export type NewSender = {
  id: string
  company_id: string
  phone: string
  phone_key: string
  name: string | null
}

/**
 * Creates those that are not there, in the order of their keys, under the same locks by which an accepting batch
 * reserves an address that has no contact yet. Returns the id behind each address (`company phone_key`).
 */
export async function createSenders(
  connection: Queryable,
  senders: readonly NewSender[],
): Promise<Map<string, string>> {
  const rows = JSON.stringify(senders)
  await connection.query(
    {
      name: 'inbound_reserve',
      text: `select pg_advisory_xact_lock(hashtextextended(company_id || phone_key, 2)) from (
        select company_id, phone_key from json_to_recordset($1::json) as s(company_id uuid, phone_key text)
        order by company_id, phone_key) s`,
    },
    [rows],
  )
  await connection.query(
    {
      name: 'inbound_create',
      text: `
insert into contact (id, company_id, phone, phone_key, name)
select id, company_id, phone, phone_key, name
from json_to_recordset($1::json) as s(id uuid, company_id uuid, phone text, phone_key text, name text)
order by company_id, phone_key on conflict (company_id, phone_key) where phone_key is not null do nothing`,
    },
    [rows],
  )
  const found = await connection.query<{ id: string; company_id: string; phone_key: string }>(
    {
      name: 'inbound_created',
      text: `
select c.id, c.company_id, c.phone_key from contact c
join json_to_recordset($1::json) as s(company_id uuid, phone_key text) on c.company_id = s.company_id and c.phone_key = s.phone_key
order by c.id for update of c`,
    },
    [rows],
  )
  return new Map(found.map((row) => [`${row.company_id} ${row.phone_key}`, row.id]))
}

export type InboundLine = {
  id: string
  channel: string
  stopWords: string[] | null
  startWords: string[] | null
}

export const loadInboundLines = (connection: Queryable, lineIds: readonly string[]): Promise<InboundLine[]> =>
  connection.query<InboundLine>(
    {
      name: 'inbound_lines',
      text: `select l.id, l.channel, c.sms_stop_words as "stopWords", c.sms_start_words as "startWords"
        from line l join company c on c.id = l.company_id where l.id = any($1::uuid[])`,
    },
    [lineIds],
  )

export type InboundRow = {
  id: string
  company_id: string
  line_id: string
  contact_id: string | null
  provider_id: string
  sender: string | null
  user_id: string | null
  kind: string
  text: string
  replies_to: string | null
  profile_name: string | null
  effect: 'opted_out' | 'opted_in' | null
  at: Date
  received_at: Date
}

/** Stores those that are new and returns their ids; one with a provider's id that is known is a repetition. */
export async function insertInbound(
  connection: Queryable,
  rows: readonly InboundRow[],
): Promise<Set<string>> {
  const stored = await connection.query<{ id: string }>(
    {
      name: 'inbound_insert',
      text: `
insert into inbound_message (id, company_id, line_id, contact_id, provider_id, sender, user_id, kind, text, replies_to, profile_name, effect, at, received_at)
select * from json_to_recordset($1::json) as m(id uuid, company_id uuid, line_id uuid, contact_id uuid, provider_id text, sender text,
  user_id text, kind text, text text, replies_to text, profile_name text, effect text, at timestamptz, received_at timestamptz)
order by line_id, provider_id on conflict (line_id, provider_id) do nothing returning id`,
    },
    [JSON.stringify(rows)],
  )
  return new Set(stored.map((row) => row.id))
}

export type InboundEffects = {
  contacts: { id: string; at: Date; effect: 'opted_out' | 'opted_in' | null }[]
  windows: { contact_id: string; line_id: string; at: Date }[]
  userIds: { company_id: string; user_id: string; contact_id: string; at: Date }[]
  media: {
    inbound_id: string
    position: number
    company_id: string
    line_id: string
    provider_media_id: string
    mime_type: string
    name: string | null
    try_at: Date
  }[]
}

/**
 * An older message shortens nothing. An attendance that was idle too long has ended, and is not brought back. What
 * came earlier under an id that nobody knew joins the conversation now.
 */
const effectsStatement = {
  name: 'inbound_effects',
  text: `
with t as materialized (
  select * from json_to_recordset($1::json) as t(id uuid, at timestamptz, effect text)
), touched as (
  update contact c set last_interaction_at = greatest(c.last_interaction_at, t.at),
    opted_out_channels = case t.effect
      when 'opted_out' then array_remove(c.opted_out_channels, 'sms') || 'sms'::text
      when 'opted_in' then array_remove(c.opted_out_channels, 'sms') else c.opted_out_channels end
  from t where c.id = t.id
), attended as (
  update attendance a set active_at = greatest(a.active_at, t.at)
  from t, company k where a.contact_id = t.id and a.closed_at is null and k.id = a.company_id
    and a.active_at > $5::timestamptz - make_interval(hours => k.attendance_idle_hours)
), opened as (
  insert into contact_window (contact_id, line_id, received_at)
  select contact_id, line_id, at from json_to_recordset($2::json) as w(contact_id uuid, line_id uuid, at timestamptz)
  order by contact_id, line_id
  on conflict (contact_id, line_id) do update set received_at = greatest(contact_window.received_at, excluded.received_at)
), u as materialized (
  select * from json_to_recordset($3::json) as u(company_id uuid, user_id text, contact_id uuid, at timestamptz)
), known as (
  insert into contact_user_id (company_id, user_id, contact_id, seen_at)
  select company_id, user_id, contact_id, at from u order by company_id, user_id
  on conflict (company_id, user_id) do update set contact_id = excluded.contact_id, seen_at = excluded.seen_at
), joined as (
  update inbound_message m set contact_id = u.contact_id
  from u where m.company_id = u.company_id and m.user_id = u.user_id and m.contact_id is null
)
insert into inbound_media (inbound_id, position, company_id, line_id, provider_media_id, mime_type, name, try_at)
select * from json_to_recordset($4::json) as f(inbound_id uuid, position smallint, company_id uuid, line_id uuid,
  provider_media_id text, mime_type text, name text, try_at timestamptz)`,
}

export async function writeInboundEffects(
  connection: Queryable,
  effects: InboundEffects,
  now: Date,
): Promise<void> {
  await connection.query(effectsStatement, [
    JSON.stringify(effects.contacts),
    JSON.stringify(effects.windows),
    JSON.stringify(effects.userIds),
    JSON.stringify(effects.media),
    now,
  ])
}

export type MarketingChoice = {
  place: number
  company_id: string
  phone_key: string | null
  user_id: string | null
  is_stop: boolean
  at: Date
}

/** The last choice of each contact counts; somebody we never wrote to needs no note. */
const marketingStatement = {
  name: 'inbound_marketing',
  text: `
with choice as materialized (
  select distinct on (contact_id) contact_id, is_stop, at from (
    select coalesce(c.id, u.contact_id) as contact_id, x.is_stop, x.at, x.place
    from json_to_recordset($1::json) as x(place int, company_id uuid, phone_key text, user_id text, is_stop boolean, at timestamptz)
    left join contact c on c.company_id = x.company_id and c.phone_key = x.phone_key
    left join contact_user_id u on u.company_id = x.company_id and u.user_id = x.user_id) x
  where contact_id is not null order by contact_id, place desc
), locked as materialized (
  select id from contact where id in (select contact_id from choice) order by id for update
)
update contact k set marketing_opted_out_at = case when choice.is_stop then choice.at end
from choice join locked on locked.id = choice.contact_id where k.id = choice.contact_id
returning k.id`,
}

/** How many contacts were found. */
export async function writeMarketingChoices(
  connection: Queryable,
  choices: readonly MarketingChoice[],
): Promise<number> {
  return (await connection.query(marketingStatement, [JSON.stringify(choices)])).length
}
