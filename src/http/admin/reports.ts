/** Delivery reports: counts by any dimensions, with the time from accepting to delivered. */
import { Type } from 'typebox'
import { getCompany } from '../../store/companies.ts'
import { showId, type IdPrefix } from '../../lib/ids.ts'
import {
  maxReportRows,
  readReport,
  readReportNames,
  reportDimensions,
  type ReportDimension,
  type ReportRow,
} from '../../store/reports.ts'
import { states } from '../../domain/message.ts'
import { csvLine } from './csv.ts'
import { done, invalid } from './replies.ts'
import { read, type Route } from './route.ts'
import { api, channel, flag, idOf, instantIn, listOf, maybeUuid, oneOf, readInstant } from './wire.ts'

const Row = Type.Object({
  of: Type.Object(
    {},
    { description: 'The dimensions asked for; ids with their prefix, null where there is none.' },
  ),
  counts: Type.Object({}, { description: 'By outcome. `queued` counts what was accepted.' }),
  medianMs: Type.Optional(
    Type.Integer({ description: 'From accepting to delivered; at most 30 % too high.' }),
  ),
  p95Ms: Type.Optional(Type.Integer()),
  p99Ms: Type.Optional(Type.Integer()),
})

const prefixes: Partial<Record<ReportDimension, IdPrefix>> = { line: 'lin', template: 'tpl', segment: 'seg' }

const show = (row: ReportRow) => ({
  ...row,
  of: Object.fromEntries(
    Object.entries(row.of).map(([name, value]) => {
      const prefix = prefixes[name as ReportDimension]
      return [name, prefix && value ? showId(prefix, value) : value]
    }),
  ),
})

function showNames(rows: readonly ReportRow[], names: ReadonlyMap<string, string>): Record<string, string> {
  const shown: Record<string, string> = {}
  for (const [dimension, prefix] of Object.entries(prefixes) as [ReportDimension, IdPrefix][])
    for (const { of } of rows) {
      const id = of[dimension]
      const name = id ? names.get(id) : undefined
      if (id && name !== undefined) shown[showId(prefix, id)] = name
    }
  return shown
}

const dayMs = 86_400_000
const maxDays = 800

export const reportRoutes: Route[] = [
  read({
    method: 'GET',
    path: '/reports',
    summary: 'Delivery report',
    description: 'From counters, so that it is as quick for a year as for a day. Whole hours.',
    query: Type.Object({
      groupBy: Type.Optional(
        listOf(
          oneOf(reportDimensions, 'A dimension.'),
          'Separated by commas; `day` unless told otherwise.',
          5,
        ),
      ),
      from: instantIn('Since then; 7 days ago unless told otherwise.'),
      to: instantIn('Before then; now unless told otherwise.'),
      api: Type.Optional(api()),
      channel: Type.Optional(channel()),
      lineId: Type.Optional(idOf('lin', 'The line.')),
      templateId: Type.Optional(idOf('tpl', 'The template.')),
      segmentId: Type.Optional(idOf('seg', 'The segment.')),
      isCsv: flag('As a CSV file.'),
    }),
    answer: Type.Object({
      from: Type.String(),
      to: Type.String(),
      timeZone: Type.String(),
      rows: Type.Array(Row),
      total: Row,
      names: Type.Record(Type.String(), Type.String(), {
        description: 'What the lines, templates and segments of the rows are called, by their ids.',
      }),
    }),
    async handle({ db, companyId, query, now, reply }) {
      const to = readInstant(query.to) ?? new Date(now.getTime() + 3_600_000)
      const from =
        readInstant(query.from) ?? new Date(Math.floor((now.getTime() - 7 * dayMs) / 3_600_000) * 3_600_000)
      if (from >= to) return invalid({ field: 'from', message: 'must be before `to`' })
      if (to.getTime() - from.getTime() > maxDays * dayMs)
        return invalid({ field: 'from', message: `must be at most ${maxDays} days before \`to\`` })
      const timeZone = (await getCompany(db, companyId))?.timeZone ?? 'UTC'
      const groupBy = query.groupBy?.length ? [...new Set(query.groupBy)] : (['day'] as const)
      const report = await readReport(db, companyId, {
        from,
        to,
        groupBy,
        timeZone,
        api: query.api,
        channel: query.channel,
        lineId: maybeUuid('lin', query.lineId),
        templateId: maybeUuid('tpl', query.templateId),
        segmentId: maybeUuid('seg', query.segmentId),
      })
      if (report === undefined)
        return invalid({ field: 'groupBy', message: `gives more than ${maxReportRows} rows; narrow it down` })
      const names = await readReportNames(db, companyId, report.rows)
      const shownRows = report.rows.map(show)
      if (query.isCsv !== true)
        return done({
          from,
          to,
          timeZone,
          rows: shownRows,
          total: show(report.total),
          names: showNames(report.rows, names),
        })
      const named = groupBy.filter((name) => prefixes[name] !== undefined)
      const lines = report.rows.map((row, index) =>
        csvLine([
          ...groupBy.map((name) => shownRows[index]!.of[name]),
          ...named.map((name) => names.get(row.of[name] ?? '')),
          ...states.map((state) => row.counts[state] ?? 0),
          row.medianMs,
          row.p95Ms,
          row.p99Ms,
        ]),
      )
      await reply
        .header('content-type', 'text/csv; charset=utf-8')
        .header('content-disposition', 'attachment; filename="report.csv"')
        .header('cache-control', 'no-store')
        .send(
          csvLine([
            ...groupBy,
            ...named.map((name) => `${name}_name`),
            ...states,
            'median_ms',
            'p95_ms',
            'p99_ms',
          ]) + lines.join(''),
        )
      return { kind: 'sent' }
    },
  }),
]
