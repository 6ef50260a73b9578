/** The values of dimensions as people read them. */
import type { Report, ReportRow } from '../../outcomes.ts'
import { text } from '../../text/index.ts'

const words = text.reports
export type Dimension = keyof typeof words.dimensions

export const isDimension = (name: string): name is Dimension => Object.hasOwn(words.dimensions, name)

/** What the rows are grouped by, which may still be what was asked for before. */
export const groupsOf = (report: Report): Dimension[] =>
  Object.keys(report.rows[0]?.of ?? {}).filter(isDimension)

const days = new Intl.DateTimeFormat('en-GB', {
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  timeZone: 'UTC',
})
const hours = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
})

export function nameOf(report: Report, row: ReportRow, dimension: Dimension): string {
  const value = row.of[dimension]
  if (typeof value !== 'string') return words.none[dimension] ?? text.common.none
  switch (dimension) {
    case 'day':
      return days.format(new Date(`${value}T12:00:00Z`))
    case 'hour':
      return hours.format(new Date(value))
    case 'channel':
      return text.common.channels[value as keyof typeof text.common.channels]
    case 'api':
      return text.common.apis[value as keyof typeof text.common.apis]
    case 'outcome':
      return text.common.states[value as keyof typeof text.common.states]
    case 'line':
    case 'template':
    case 'segment':
      return report.names[value] ?? words.gone(`${value.slice(0, 12)}…`)
  }
}
