/**
 * Fills a database with a past: messages in their months with events and provider's ids, contacts, counters and
 * entries of a restriction list. Every row is a copy of one that Pombo itself wrote, with another key, time and
 * person, so that it is as wide as a real one and has every column that there is.
 */
import { statfs } from 'node:fs/promises'
import { silentLog } from '../src/lib/log.ts'
import { createDb } from '../src/store/db.ts'
import { ensureMonths } from '../src/store/partitions.ts'
import type { Stage } from './stage.ts'

export type Past = {
  messages: number
  /** Some of the messages, from all over the time. */
  samples: { id: string; recipient: string }[]
  templateId: string
  restrictions: { listId: string; phones: string[]; count: number }
}

const days = 40
const messagesPerContact = 5
const chunk = 250_000
/** Rows, indexes and the log: what a message takes at most while it is being filled in. */
const bytesPerMessage = 3_500

export async function fill(
  stage: Stage,
  size: { messages: number; restrictions: number },
  onPart: (done: number, part: number) => void,
): Promise<Past> {
  await assertRoom(stage.pombo.dataDir, size.messages * bytesPerMessage)
  const { query } = stage
  // Durable from the checkpoint below on; what is measured comes after it.
  await query('set synchronous_commit = off')
  await query(newId)
  const facts = await findFacts(stage, size.messages)
  const db = createDb({ url: stage.url, connections: 1, log: silentLog, applicationName: 'bench' })
  await ensureMonths(db, facts.months)
  await db.close()
  await fillContacts(stage, facts)
  for (let from = 0; from < size.messages; from += chunk) {
    const to = Math.min(size.messages, from + chunk)
    onPart(from, to - from)
    await fillMessages(stage, facts, from, to - 1)
  }
  await fillReports(stage, facts)
  const restrictions = await fillRestrictions(stage, size.restrictions)
  await query(
    'vacuum (analyze) message, message_event, contact, provider_reference, restriction_entry, report_hour',
  )
  await query('set synchronous_commit = on')
  await query('checkpoint')
  const samples = await query<{ id: string; recipient: string }>(
    `select ${idOf(facts)} as id, ${recipientOf(facts)} as recipient
      from (select floor(random() * $1)::bigint as n from generate_series(1, 1000)) g`,
    [size.messages],
  )
  return { messages: size.messages, samples, templateId: facts.otherTemplateId, restrictions }
}

async function assertRoom(folder: string, bytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(folder)
  if (bavail * bsize < bytes)
    throw new Error(
      `The large database needs up to ${(bytes / 1e9).toFixed(0)} GB under ${folder}, and ${((bavail * bsize) / 1e9).toFixed(0)} GB are free: set TMPDIR to a folder on another disk.`,
    )
}

/** A UUIDv7 of a moment; the same arguments give the same id. */
const newId = `
create or replace function pg_temp.id_at(ms bigint, seed text) returns uuid language sql immutable as $$
  select (lpad(to_hex(ms), 12, '0') || '7' || left(md5(seed), 3) || '8' || substr(md5(seed), 4, 15))::uuid $$`

type Facts = {
  sampleId: string
  contacts: number
  startMs: number
  spanMs: number
  total: number
  months: Date[]
  whatsappLineId: string
  otherTemplateId: string
}

async function findFacts({ query }: Stage, total: number): Promise<Facts> {
  const [sample] = await query<{ id: string; whatsappLineId: string; otherTemplateId: string }>(
    `select m.id, (select id from line where channel = 'whatsapp' and is_default) as "whatsappLineId",
        (select id from template t where t.channel = 'sms' and t.id <> m.template_id limit 1) as "otherTemplateId"
      from message m where m.channel = 'sms' and m.state = 'sent' limit 1`,
  )
  if (sample === undefined) throw new Error('There is no message yet that could be copied.')
  const endMs = Date.now() - 60_000
  const startMs = endMs - days * 86_400_000
  const months: Date[] = []
  for (let at = startMs; at < endMs + 31 * 86_400_000; at += 86_400_000 * 20) months.push(new Date(at))
  const { id: sampleId, whatsappLineId, otherTemplateId } = sample
  const contacts = Math.max(1, Math.floor(total / messagesPerContact))
  return {
    sampleId,
    whatsappLineId,
    otherTemplateId,
    contacts,
    startMs,
    spanMs: endMs - startMs,
    total,
    months,
  }
}

const msOf = ({ startMs, spanMs, total }: Facts) => `(${startMs} + ${spanMs} * g.n / ${total})::bigint`
const idOf = (facts: Facts) => `pg_temp.id_at(${msOf(facts)}, 'm' || g.n)`
/** A prime apart, so that the messages of one person are spread over the time. */
const personOf = ({ contacts }: Facts) => `(g.n * 7919 % ${contacts})`
const contactIdOf = ({ startMs, contacts }: Facts, person: string) =>
  `pg_temp.id_at(${startMs - contacts - 1000} + ${person}, 'c' || ${person})`
const digitsOf = (person: string) => `(5531970000000 + ${person})::text`
const recipientOf = (facts: Facts) => digitsOf(personOf(facts))
const atOf = (facts: Facts, afterMs = 0) => `to_timestamp((${msOf(facts)} + ${afterMs}) / 1000.0)`
const stateOf = "case when g.n % 100 = 0 then 'failed' when g.n % 100 < 60 then 'delivered' else 'sent' end"

/** All columns of a row, some with another value. */
async function copySql(stage: Stage, table: string, changes: Record<string, string>): Promise<string> {
  const columns = await stage.query<{ name: string }>(
    `select quote_ident(attname) as name from pg_attribute
      where attrelid = $1::regclass and attnum > 0 and not attisdropped and attidentity = '' and attgenerated = '' order by attnum`,
    [table],
  )
  const names = columns.map(({ name }) => name)
  const values = names.map((name) => changes[name] ?? `s.${name}`)
  return `insert into ${table} (${names.join(', ')}) select ${values.join(', ')}`
}

async function fillContacts(stage: Stage, facts: Facts): Promise<void> {
  const copy = await copySql(stage, 'contact', {
    id: contactIdOf(facts, 'g.n'),
    phone: `'+' || ${digitsOf('g.n')}`,
    phone_key: digitsOf('g.n'),
    name: "'Ana Souza ' || g.n",
    tax_id: '(20000000000 + g.n)::text',
    custom_code: "'F' || g.n",
  })
  await stage.query(
    `${copy} from contact s cross join generate_series(0, $2::bigint - 1) as g(n)
      where s.id = (select contact_id from message where id = $1)`,
    [facts.sampleId, facts.contacts],
  )
}

async function fillMessages(stage: Stage, facts: Facts, from: number, to: number): Promise<void> {
  const { query } = stage
  const range = `cross join generate_series($2::bigint, $3::bigint) as g(n)`
  const values = [facts.sampleId, from, to]
  const message = await copySql(stage, 'message', {
    id: idOf(facts),
    channel: "case when g.n % 10 < 4 then 'whatsapp' else s.channel end",
    line_id: `case when g.n % 10 < 4 then '${facts.whatsappLineId}' else s.line_id end`,
    template_id: `case when g.n % 10 = 9 then '${facts.otherTemplateId}' else s.template_id end`,
    state: stateOf,
    contact_id: contactIdOf(facts, personOf(facts)),
    recipient: recipientOf(facts),
    request_id: `'req_' || md5('r' || g.n)`,
    error_code: "case when g.n % 100 = 0 then 'rejected' end",
    accepted_at: atOf(facts),
    expires_at: `${atOf(facts)} + interval '1 day'`,
    handed_over_at: atOf(facts, 200),
    settled_at: atOf(facts, 200),
  })
  await query(`${message} from message s ${range} where s.id = $1`, values)
  const reference = await copySql(stage, 'provider_reference', {
    provider_id: "'f' || g.n",
    message_id: idOf(facts),
    created_at: atOf(facts, 200),
  })
  await query(
    `${reference} from provider_reference s ${range} where s.message_id = $1 and s.created_at = (select settled_at from message where id = $1)`,
    values,
  )
  await query(
    `insert into message_event (message_id, at, kind, detail)
      select ${idOf(facts)}, case s.kind when 'accepted' then ${atOf(facts)} else ${atOf(facts, 200)} end, s.kind,
        case s.kind when 'sent' then jsonb_set(s.detail, '{providerIds,0}', to_jsonb('f' || g.n)) else s.detail end
      from message_event s ${range} where s.message_id = $1`,
    values,
  )
  await query(
    `insert into message_event (message_id, at, kind, detail)
      select ${idOf(facts)}, ${atOf(facts, 3000)}, 'receipt',
        jsonb_build_object('state', 'delivered', 'at', ${atOf(facts, 2900)}, 'providerId', 'f' || g.n)
      from message s ${range} where s.id = $1 and ${stateOf} = 'delivered'`,
    values,
  )
}

/** What the counters would hold after these messages. */
const fillReports = ({ query }: Stage, { startMs, spanMs }: Facts) =>
  query(
    `insert into report_hour (company_id, hour, api, channel, line_id, template_id, segment_id, outcome, count)
      select company_id, date_trunc('hour', accepted_at, 'UTC'), api, channel, line_id, template_id, segment_id, outcome, count(*)
      from message cross join lateral unnest(array['queued', state]) as outcome
      where accepted_at < to_timestamp($1 / 1000.0) group by 1, 2, 3, 4, 5, 6, 7, 8 on conflict do nothing`,
    [startMs + spanMs],
  )

/** The list belongs to a rule of the demo company, so that accepting looks into it too. */
async function fillRestrictions({ query }: Stage, count: number): Promise<Past['restrictions']> {
  const [list] = await query<{ id: string }>('select id from restriction_list order by name_key limit 1')
  const phone = (n: string) => `(5511960000000 + ${n})::text`
  await query(
    `insert into restriction_entry (list_id, field, is_prefix, value)
      select $1, 'phone', false, ${phone('n')} from generate_series(0, $2::bigint - 1) as n`,
    [list!.id, count],
  )
  const phones = await query<{ phone: string }>(
    `select ${phone('floor(random() * $1)::bigint')} as phone from generate_series(1, 2000)`,
    [count],
  )
  return { listId: list!.id, phones: phones.map((row) => row.phone), count }
}
