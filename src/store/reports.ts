/** Delivery reports from counters: hours that were folded, and the deltas that wait for it. No message is read. */
import { latencyPercentileMs } from '../domain/latency.ts'
import type { Queryable } from './db.ts'

export const reportDimensions = [
  'day',
  'hour',
  'api',
  'channel',
  'line',
  'template',
  'segment',
  'outcome',
] as const
export type ReportDimension = (typeof reportDimensions)[number]

export type ReportQuery = {
  from: Date
  to: Date
  groupBy: readonly ReportDimension[]
  /** For days. */
  timeZone: string
  api?: string
  channel?: string
  lineId?: string
  templateId?: string
  segmentId?: string
}

export type ReportRow = {
  /** By dimension; null where a message had none (no template, no line). */
  of: Partial<Record<ReportDimension, string | null>>
  counts: Record<string, number>
  /** From accepting to delivered; absent without deliveries. */
  medianMs?: number
  p95Ms?: number
  p99Ms?: number
}

const expressions: Record<ReportDimension, string> = {
  day: `to_char(r.hour at time zone $4, 'YYYY-MM-DD')`,
  hour: `to_char(r.hour at time zone 'UTC', 'YYYY-MM-DD"T"HH24:00:00"Z"')`,
  api: 'r.api',
  channel: 'r.channel',
  line: 'r.line_id::text',
  template: 'r.template_id::text',
  segment: 'r.segment_id::text',
  outcome: 'r.outcome',
}

export const maxReportRows = 10_000

type Counted = { keys: (string | null)[]; outcome: string; bucket: number | null; count: number }

export type Report = { rows: ReportRow[]; total: ReportRow }

/** Undefined: more rows than anybody reads; narrow it down. */
export async function readReport(
  db: Queryable,
  companyId: string,
  query: ReportQuery,
): Promise<Report | undefined> {
  const rows = await db.query<Counted>(
    `with r as (
        select hour, api, channel, line_id, template_id, segment_id, outcome, latency_bucket, count from report_hour
        where company_id = $1 and hour >= $2 and hour < $3
        union all
        select hour, api, channel, line_id, template_id, segment_id, outcome, latency_bucket, count from report_delta
        where company_id = $1 and hour >= $2 and hour < $3)
      select array[${query.groupBy.map((name) => expressions[name]).join(', ')}]::text[] as keys,
        r.outcome, r.latency_bucket as bucket, sum(r.count)::bigint as count
      from r where ($4::text is not null) and ($5::text is null or r.api = $5) and ($6::text is null or r.channel = $6)
        and ($7::uuid is null or r.line_id = $7) and ($8::uuid is null or r.template_id = $8) and ($9::uuid is null or r.segment_id = $9)
      group by 1, 2, 3 limit 1000000`,
    [
      companyId,
      query.from,
      query.to,
      query.timeZone,
      query.api,
      query.channel,
      query.lineId,
      query.templateId,
      query.segmentId,
    ],
  )
  return gather(rows, query.groupBy)
}

type Group = { row: ReportRow; buckets: Map<number, number> }

function gather(rows: readonly Counted[], groupBy: readonly ReportDimension[]): Report | undefined {
  const groups = new Map<string, Group>()
  const total: Group = { row: { of: {}, counts: {} }, buckets: new Map() }
  for (const counted of rows) {
    const id = JSON.stringify(counted.keys)
    let group = groups.get(id)
    if (group === undefined) {
      if (groups.size >= maxReportRows) return undefined
      const of = Object.fromEntries(groupBy.map((name, index) => [name, counted.keys[index] ?? null]))
      group = { row: { of, counts: {} }, buckets: new Map() }
      groups.set(id, group)
    }
    add(group, counted)
    add(total, counted)
  }
  const sorted = [...groups.entries()].toSorted(([a], [b]) => (a < b ? -1 : 1))
  return { rows: sorted.map(([, group]) => finish(group)), total: finish(total) }
}

function add({ row, buckets }: Group, { outcome, bucket, count }: Counted): void {
  row.counts[outcome] = (row.counts[outcome] ?? 0) + count
  if (bucket !== null) buckets.set(bucket, (buckets.get(bucket) ?? 0) + count)
}

const finish = ({ row, buckets }: Group): ReportRow => ({ ...row, ...percentiles(buckets) })

const namedTables = { line: 'line', template: 'template', segment: 'segment' } as const

/** What lines, templates and segments of a report are called now, by their ids. */
export async function readReportNames(
  db: Queryable,
  companyId: string,
  rows: readonly ReportRow[],
): Promise<Map<string, string>> {
  const names = new Map<string, string>()
  for (const [dimension, table] of Object.entries(namedTables) as [keyof typeof namedTables, string][]) {
    const ids = [...new Set(rows.flatMap(({ of }) => of[dimension] ?? []))]
    if (ids.length === 0) continue
    const found = await db.query<{ id: string; name: string }>(
      `select id, name from ${table} where company_id = $1 and id = any($2::uuid[])`,
      [companyId, ids],
    )
    for (const { id, name } of found) names.set(id, name)
  }
  return names
}

/** A bucket's end stands for its messages; of the last, which has no end, a day is said. */
function percentiles(buckets: ReadonlyMap<number, number>): Pick<ReportRow, 'medianMs' | 'p95Ms' | 'p99Ms'> {
  const round = (ms: number | undefined) =>
    ms === undefined ? undefined : Math.round(Math.min(ms, 86_400_000))
  const medianMs = round(latencyPercentileMs(buckets, 0.5))
  if (medianMs === undefined) return {}
  return {
    medianMs,
    p95Ms: round(latencyPercentileMs(buckets, 0.95)),
    p99Ms: round(latencyPercentileMs(buckets, 0.99)),
  }
}
