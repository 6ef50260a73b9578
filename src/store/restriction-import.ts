/**
 * Imports a restriction list of any size from CSV. Each chunk is copied into a temporary table and merged in a
 * short transaction of its own: what is in stays in, and running the same file again changes nothing.
 */
import { finished } from 'node:stream/promises'
import { Client } from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { readRestrictionValue, restrictionFields, type RestrictionField } from '../domain/restriction.ts'
import { readCsv, type CsvRecord, type CsvSource } from '../lib/csv.ts'
import { mergeInto } from './restrictions.ts'

export type ImportProgress = {
  bytesRead: number
  linesRead: number
  added: number
  changed: number
  /** Lines that repeat an entry of the same chunk, or one that is there already. */
  unchanged: number
  bad: number
}

export type BadLine = { line: number; reason: string }

export type RestrictionImport = {
  databaseUrl: string
  listId: string
  /** The file's bytes. */
  source: CsvSource
  /** For files of bare values: what they are. */
  field?: RestrictionField
  onProgress?(progress: ImportProgress): void
  onBadLine?(bad: BadLine): void
  signal?: AbortSignal
}

/** 20,000 lines merge in about half a second: short enough to be in nobody's way, long enough to be quick. */
const linesPerMerge = 20_000
const mergeTimeoutMs = 60_000

type Entry = { field: RestrictionField; isPrefix: boolean; value: string; expiresAt: string }

export async function importRestrictions(options: RestrictionImport): Promise<ImportProgress> {
  const progress: ImportProgress = { bytesRead: 0, linesRead: 0, added: 0, changed: 0, unchanged: 0, bad: 0 }
  const client = new Client({
    connectionString: options.databaseUrl,
    application_name: 'pombo import',
    connectionTimeoutMillis: 10_000,
    statement_timeout: mergeTimeoutMs,
  })
  await client.connect()
  try {
    await client.query(createTemporaryTable)
    const columns = { current: undefined as Columns | undefined }
    let entries = new Map<string, Entry>()
    let lines = 0
    const merge = async () => {
      if (lines === 0) return
      const { added, changed } = await mergeEntries(client, options.listId, [...entries.values()])
      progress.added += added
      progress.changed += changed
      progress.unchanged += lines - added - changed
      lines = 0
      entries = new Map()
      options.onProgress?.({ ...progress })
    }
    for await (const records of readCsv(counted(options.source, progress))) {
      for (const record of records) {
        options.signal?.throwIfAborted()
        const read = readRecord(record, columns, options.field)
        if (read === 'header') continue
        progress.linesRead++
        if ('reason' in read) {
          progress.bad++
          options.onBadLine?.(read)
          continue
        }
        lines++
        entries.set(`${read.field} ${read.isPrefix} ${read.value}`, read)
        if (lines >= linesPerMerge) await merge()
      }
    }
    await merge()
    // The planner should know of a list of this size now, not when autovacuum comes by.
    if (progress.added >= linesPerMerge) await client.query('analyze restriction_entry, restriction_shape')
    options.onProgress?.({ ...progress })
    return progress
  } finally {
    await client.end()
  }
}

async function* counted(source: CsvSource, progress: ImportProgress): CsvSource {
  for await (const chunk of source) {
    progress.bytesRead += chunk.length
    yield chunk
  }
}

const createTemporaryTable = `
create temporary table given (field text not null, is_prefix boolean not null, value text not null, expires_at timestamptz)
on commit delete rows`

async function mergeEntries(client: Client, listId: string, entries: Entry[]) {
  await client.query('begin')
  try {
    const copy = client.query(copyFrom('copy given (field, is_prefix, value, expires_at) from stdin'))
    copy.end(entries.map(copyLine).join(''))
    await finished(copy)
    const { rows } = await client.query<{ added: string; changed: string }>(mergeInto('$1::uuid', 'given'), [
      listId,
    ])
    await client.query('commit')
    return { added: Number(rows[0]!.added), changed: Number(rows[0]!.changed) }
  } catch (error) {
    await client.query('rollback').catch(() => undefined)
    throw error
  }
}

/** COPY's text format. Values hold no control character, so a backslash is all there is to escape. */
const copyLine = (entry: Entry): string =>
  `${entry.field}\t${entry.isPrefix ? 't' : 'f'}\t${entry.value.replaceAll('\\', '\\\\')}\t${entry.expiresAt || '\\N'}\n`

type Columns = { field?: number; value: number; match?: number; expiresAt?: number }

const columnNames = { field: 'field', value: 'value', match: 'match', expiresAt: 'expires_at' } as const

/**
 * A first line that names a `value` column says which columns there are, in any order. Without one they are
 * `field,value,match,expires_at`, or `value,match,expires_at` when the field is said once for the whole file.
 */
function readRecord(
  record: CsvRecord,
  columns: { current: Columns | undefined },
  field: RestrictionField | undefined,
): Entry | BadLine | 'header' {
  if ('problem' in record) return { line: record.line, reason: record.problem }
  if (columns.current === undefined) {
    const header = readHeader(record.cells)
    columns.current =
      header ??
      (field ? { value: 0, match: 1, expiresAt: 2 } : { field: 0, value: 1, match: 2, expiresAt: 3 })
    if (header) return 'header'
  }
  const { current } = columns
  const cell = (column: number | undefined) =>
    (column === undefined ? undefined : record.cells[column]?.trim()) ?? ''
  const read = readEntry({
    field: cell(current.field) || (field ?? ''),
    value: cell(current.value),
    match: cell(current.match),
    expiresAt: cell(current.expiresAt),
  })
  return typeof read === 'string' ? { line: record.line, reason: read } : read
}

function readHeader(cells: string[]): Columns | undefined {
  const names = cells.map((cell) => cell.trim().toLowerCase())
  const value = names.indexOf(columnNames.value)
  if (value < 0) return undefined
  const find = (name: string) => (names.includes(name) ? names.indexOf(name) : undefined)
  return {
    value,
    field: find(columnNames.field),
    match: find(columnNames.match),
    expiresAt: find(columnNames.expiresAt),
  }
}

function readEntry(given: {
  field: string
  value: string
  match: string
  expiresAt: string
}): Entry | string {
  const field = restrictionFields.find((name) => name === given.field.toLowerCase())
  if (field === undefined)
    return `field is "${given.field}", but must be one of ${restrictionFields.join(', ')}`
  const match = given.match.toLowerCase()
  if (match !== '' && match !== 'exact' && match !== 'prefix')
    return `match is "${given.match}", but must be exact or prefix`
  const isPrefix = match === 'prefix'
  const expiresAt = readInstant(given.expiresAt)
  if (expiresAt === undefined)
    return `expires_at is "${given.expiresAt}", but must be a date (2026-12-31) or an instant with its zone (2026-12-31T23:59:59Z)`
  const reading = readRestrictionValue(field, given.value, isPrefix)
  return reading.ok ? { field, isPrefix, value: reading.value, expiresAt } : reading.reason
}

const instant = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?(?:Z|[+-]\d{2}:\d{2}))?$/i

/** Empty stays empty: no expiry. A bare date is the start of that day in UTC. */
function readInstant(text: string): string | undefined {
  if (text === '') return ''
  if (!instant.test(text)) return undefined
  const at = new Date(text.replace(' ', 'T'))
  if (Number.isNaN(at.getTime())) return undefined
  // JavaScript turns 31 February into March; a list should not.
  const day = Number(text.slice(8, 10))
  const lastDay = new Date(Date.UTC(Number(text.slice(0, 4)), Number(text.slice(5, 7)), 0)).getUTCDate()
  return day <= lastDay ? at.toISOString() : undefined
}
