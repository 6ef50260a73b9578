/** Contacts from CSV, in short transactions: what is in stays in, and running the same file again changes nothing. */
import { readDigits, readEmail } from '../domain/address.ts'
import { channels, nameKey, type Channel } from '../domain/channel.ts'
import { columnNamed, type ContactColumn } from '../domain/contact-columns.ts'
import { countCharacters } from '../domain/saved.ts'
import { readCsv, type CsvSource } from '../lib/csv.ts'
import { newId } from '../lib/ids.ts'
import type { Db, Queryable } from './db.ts'
import type { BadLine, ImportProgress } from './imports.ts'
import { listSegments } from './segments.ts'

export type ContactImport = {
  db: Db
  companyId: string
  source: CsvSource
  /** Overwrites what is stored of contacts that exist; else they stay as they are. */
  updateIfExists: boolean
  onProgress(progress: ImportProgress): Promise<void>
  onBadLine(bad: BadLine): void
}

/** Few enough that nobody who sends waits for a contact's lock for long. */
const rowsPerMerge = 500

const texts = {
  name: 255,
  tax_id: 255,
  custom_code: 255,
  tag: 1000,
  joker1: 300,
  joker2: 300,
  joker3: 300,
  joker4: 300,
  joker5: 3000,
} as const
type TextColumn = keyof typeof texts
const textColumns = Object.keys(texts) as TextColumn[]

type Row = {
  id: string
  phone: string | null
  phone_key: string | null
  email: string | null
  email_key: string | null
  name: string | null
  tax_id: string | null
  custom_code: string | null
  tag: string | null
  jokers: (string | null)[]
  segment_id: string | null
  opted_out: Channel[] | null
}

export async function importContacts(options: ContactImport): Promise<ImportProgress> {
  const { db, companyId } = options
  const progress: ImportProgress = { bytesRead: 0, linesRead: 0, added: 0, changed: 0, unchanged: 0, bad: 0 }
  const segments = new Map<string, string>()
  for (const segment of await listSegments(db, companyId)) {
    segments.set(nameKey(segment.name), segment.id)
    if (segment.clientCode) segments.set(nameKey(segment.clientCode), segment.id)
  }
  let places: Map<ContactColumn, number> | undefined
  let rows = new Map<string, Row>()
  let lines = 0
  const merge = async () => {
    if (lines > 0) {
      const { added, changed } = await mergeContacts(
        db,
        companyId,
        [...rows.values()],
        options.updateIfExists,
      )
      progress.added += added
      progress.changed += changed
      progress.unchanged += lines - added - changed
      lines = 0
      rows = new Map()
    }
    await options.onProgress({ ...progress })
  }
  const refuse = (line: number, reason: string) => {
    progress.bad++
    options.onBadLine({ line, reason })
  }
  for await (const records of readCsv(counted(options.source, progress))) {
    for (const record of records) {
      if (places === undefined) {
        places = 'cells' in record ? readHeader(record.cells) : undefined
        if (places === undefined)
          throw new ImportFault('The first line must name the columns; one of them must be phone or email.')
        continue
      }
      progress.linesRead++
      if ('problem' in record) {
        refuse(record.line, record.problem)
        continue
      }
      const read = readRow(record.cells, places, segments)
      if (typeof read === 'string') refuse(record.line, read)
      else {
        lines++
        rows.set(read.phone_key ?? read.email_key!, read)
      }
      if (lines >= rowsPerMerge) await merge()
    }
  }
  if (places === undefined) throw new ImportFault('The file is empty.')
  await merge()
  return progress
}

/** The file as a whole cannot be read; the message is for the person who sent it. */
export class ImportFault extends Error {}

async function* counted(source: CsvSource, progress: ImportProgress): CsvSource {
  for await (const chunk of source) {
    progress.bytesRead += chunk.length
    yield chunk
  }
}

function readHeader(cells: readonly string[]): Map<ContactColumn, number> | undefined {
  const places = new Map<ContactColumn, number>()
  for (const [index, cell] of cells.entries()) {
    const column = columnNamed(cell)
    if (column !== undefined && !places.has(column)) places.set(column, index)
  }
  return places.has('phone') || places.has('email') ? places : undefined
}

function readRow(
  cells: readonly string[],
  places: ReadonlyMap<ContactColumn, number>,
  segments: ReadonlyMap<string, string>,
): Row | string {
  const cell = (name: ContactColumn) => cells[places.get(name) ?? -1]?.trim() ?? ''
  const phone = cell('phone') === '' ? undefined : readDigits(cell('phone').replace(/[\s().-]/g, ''))
  const email = cell('email') === '' ? undefined : readEmail(cell('email'))
  if (phone === undefined && email === undefined) return 'phone and email are empty'
  if (phone && !phone.ok) return `phone ${phone.reason}`
  if (email && !email.ok) return `email ${email.reason}`
  for (const name of textColumns) {
    if (countCharacters(cell(name)) > texts[name])
      return `${name} must have at most ${texts[name]} characters`
    if (cell(name).includes('\0')) return `${name} must not contain a NUL character`
  }
  const segment = cell('segment')
  const segmentId = segment === '' ? null : segments.get(nameKey(segment))
  if (segmentId === undefined) return `segment "${segment.slice(0, 100)}" does not exist`
  const optedOut = readChannels(cell('opted_out'))
  if (optedOut === undefined) return `opted_out must name channels: ${channels.join(', ')}`
  const text = (name: TextColumn) => cell(name) || null
  return {
    id: newId(),
    phone: phone?.phone.e164 ?? null,
    phone_key: phone?.phone.key ?? null,
    email: email?.email.address ?? null,
    email_key: email?.email.key ?? null,
    name: text('name'),
    tax_id: text('tax_id'),
    custom_code: text('custom_code'),
    tag: text('tag'),
    jokers: [text('joker1'), text('joker2'), text('joker3'), text('joker4'), text('joker5')],
    segment_id: segmentId,
    opted_out: optedOut,
  }
}

/** Null: nothing is said. */
function readChannels(text: string): Channel[] | null | undefined {
  if (text === '') return null
  const names = text
    .toLowerCase()
    .split(/[\s|/+]+/)
    .filter(Boolean)
  const known = names.filter((name): name is Channel => (channels as readonly string[]).includes(name))
  return known.length === names.length ? known : undefined
}

/**
 * The same order as everywhere: contacts that exist by id, then the addresses of those that do not, by the same locks
 * that accepting takes for them, so that nobody creates a contact twice.
 */
function mergeContacts(
  db: Db,
  companyId: string,
  rows: readonly Row[],
  updateIfExists: boolean,
): Promise<{ added: number; changed: number }> {
  const given = JSON.stringify(rows)
  return db.transaction(async (transaction) => {
    await transaction.query(
      `select id from contact where company_id = $1 and (phone_key = any($2::text[]) or email_key = any($3::text[])) order by id for update`,
      [companyId, keysOf(rows, 'phone_key'), keysOf(rows, 'email_key')],
    )
    await transaction.query(
      `select pg_advisory_xact_lock(hashtextextended($1::uuid || key, 2)) from (
          select distinct key from unnest($2::text[]) as k(key)
          where not exists (select 1 from contact where company_id = $1::uuid and (phone_key = key or email_key = key))
          order by key) k`,
      [companyId, [...keysOf(rows, 'phone_key'), ...keysOf(rows, 'email_key')].toSorted()],
    )
    return await write(transaction, companyId, given, updateIfExists)
  })
}

const keysOf = (rows: readonly Row[], name: 'phone_key' | 'email_key'): string[] =>
  rows.flatMap((row) => row[name] ?? [])

/** A row whose phone and e-mail belong to two contacts changes the one with the phone, and its e-mail stays out. */
async function write(
  transaction: Queryable,
  companyId: string,
  given: string,
  updateIfExists: boolean,
): Promise<{ added: number; changed: number }> {
  const [counts] = await transaction.query<{ added: number; changed: number }>(
    `with r as materialized (
        select r.*, coalesce(p.id, e.id) as known_id, p.id is not null and e.id is not null and p.id <> e.id as is_torn
        from json_to_recordset($2::json) as r(id uuid, phone text, phone_key text, email text, email_key text, name text, tax_id text,
          custom_code text, tag text, jokers text[], segment_id uuid, opted_out text[])
        left join contact p on p.company_id = $1 and p.phone_key = r.phone_key
        left join contact e on e.company_id = $1 and e.email_key = r.email_key
      ), once as materialized (select distinct on (coalesce(known_id, id)) * from r order by coalesce(known_id, id), phone_key
      ), made as (
        insert into contact (id, company_id, phone, phone_key, email, email_key, name, tax_id, custom_code, tag, jokers, segment_id, opted_out_channels)
        select id, $1, phone, phone_key, email, email_key, name, tax_id, custom_code, tag, jokers, segment_id, coalesce(opted_out, '{}')
        from once where known_id is null order by id on conflict do nothing returning 1
      ), wish as materialized (
        select c.id, coalesce(r.phone, c.phone) as phone, coalesce(r.phone_key, c.phone_key) as phone_key,
          case when is_torn then c.email else coalesce(r.email, c.email) end as email,
          case when is_torn then c.email_key else coalesce(r.email_key, c.email_key) end as email_key,
          coalesce(r.name, c.name) as name, coalesce(r.tax_id, c.tax_id) as tax_id, coalesce(r.custom_code, c.custom_code) as custom_code,
          coalesce(r.tag, c.tag) as tag, array[coalesce(r.jokers[1], c.jokers[1]), coalesce(r.jokers[2], c.jokers[2]),
            coalesce(r.jokers[3], c.jokers[3]), coalesce(r.jokers[4], c.jokers[4]), coalesce(r.jokers[5], c.jokers[5])] as jokers,
          coalesce(r.segment_id, c.segment_id) as segment_id, coalesce(r.opted_out, c.opted_out_channels) as opted_out
        from once r join contact c on c.id = r.known_id where $3
      ), changed as (
        update contact c set phone = w.phone, phone_key = w.phone_key, email = w.email, email_key = w.email_key, name = w.name,
          tax_id = w.tax_id, custom_code = w.custom_code, tag = w.tag, jokers = w.jokers, segment_id = w.segment_id,
          opted_out_channels = w.opted_out,
          email_bounced_at = case when c.email_key is distinct from w.email_key then null else c.email_bounced_at end
        from wish w where c.id = w.id and (c.phone, c.email, c.name, c.tax_id, c.custom_code, c.tag, c.jokers, c.segment_id, c.opted_out_channels)
          is distinct from (w.phone, w.email, w.name, w.tax_id, w.custom_code, w.tag, w.jokers, w.segment_id, w.opted_out)
        returning 1
      )
      select (select count(*) from made)::int as added, (select count(*) from changed)::int as changed`,
    [companyId, given, updateIfExists],
  )
  return counts!
}
