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

/** Undefined: more rows than anybody reads; narrow it down. */
export async function readReport(
  db: Queryable,
  companyId: string,
  query: ReportQuery,
): Promise<ReportRow[] | undefined> {
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

function gather(rows: readonly Counted[], groupBy: readonly ReportDimension[]): ReportRow[] | undefined {
  const groups = new Map<string, { row: ReportRow; buckets: Map<number, number> }>()
  for (const { keys, outcome, bucket, count } of rows) {
    const id = JSON.stringify(keys)
    let group = groups.get(id)
    if (group === undefined) {
      if (groups.size >= maxReportRows) return undefined
      const of = Object.fromEntries(groupBy.map((name, index) => [name, keys[index] ?? null]))
      group = { row: { of, counts: {} }, buckets: new Map() }
      groups.set(id, group)
    }
    group.row.counts[outcome] = (group.row.counts[outcome] ?? 0) + count
    if (bucket !== null) group.buckets.set(bucket, (group.buckets.get(bucket) ?? 0) + count)
  }
  return [...groups.entries()]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([, { row, buckets }]) => ({ ...row, ...percentiles(buckets) }))
}

/** A bucket's end stands for its messages; of the last, which has no end, a day is said. */
function percentiles(buckets: ReadonlyMap<number, number>): Pick<ReportRow, 'medianMs' | 'p99Ms'> {
  const round = (ms: number | undefined) =>
    ms === undefined ? undefined : Math.round(Math.min(ms, 86_400_000))
  const medianMs = round(latencyPercentileMs(buckets, 0.5))
  return medianMs === undefined ? {} : { medianMs, p99Ms: round(latencyPercentileMs(buckets, 0.99)) }
}
