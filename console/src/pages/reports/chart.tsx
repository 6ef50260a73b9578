/** Over time every day or hour has its bar, also an empty one; by anything else the largest groups have theirs. */
import { Text } from '@mantine/core'
import { OutcomeChart, type ChartBar } from '../../components/outcome-chart.tsx'
import { formatNumber } from '../../format.ts'
import { countOf, daysBetween, endings, formatDay, hoursBetween, type Report } from '../../outcomes.ts'
import { text } from '../../text/index.ts'
import { nameOf, type Dimension } from './groups.ts'

const words = text.reports
const largest = 15
/** More bars than this are thinner than a pixel. */
const maxBars = 400

export function ReportChart({ report, by }: { report: Report; by: Dimension }) {
  const summary = words.chartSummary(
    words.dimensions[by].toLowerCase(),
    formatNumber(countOf(report.total, 'delivered')),
    formatNumber(countOf(report.total, 'failed', 'expired', 'unknown')),
  )
  if (by === 'day' || by === 'hour')
    return <OutcomeChart summary={summary} bars={barsOverTime(report, by)} height={280} />
  const groups = groupBars(report, by)
  const bars = groups.slice(0, largest)
  return (
    <>
      {groups.length > largest && (
        <Text size="xs" c="dimmed" mb="xs">
          {words.chartTop(largest)}
        </Text>
      )}
      <OutcomeChart summary={summary} bars={bars} isLying height={70 + bars.length * 34} />
    </>
  )
}

function barsOverTime(report: Report, by: 'day' | 'hour'): ChartBar[] {
  const from = new Date(report.from)
  const to = new Date(Math.min(Date.parse(report.to), Date.now()))
  const places = by === 'day' ? daysBetween(from, to, report.timeZone) : hoursBetween(from, to)
  const rows = Map.groupBy(report.rows, ({ of }) => of[by])
  return places.slice(-maxBars).map((place) => {
    const found = rows.get(place) ?? []
    return {
      label: by === 'day' ? formatDay(place) : nameOf(report, { of: { hour: place }, counts: {} }, by),
      rows: found,
    }
  })
}

function groupBars(report: Report, by: Dimension): ChartBar[] {
  const groups = Map.groupBy(report.rows, ({ of }) => of[by])
  const sizeOf = ({ rows }: ChartBar) => rows.reduce((sum, row) => sum + countOf(row, ...endings), 0)
  return [...groups.values()]
    .map((rows) => ({ label: nameOf(report, rows[0]!, by), rows }))
    .toSorted((a, b) => sizeOf(b) - sizeOf(a))
}
