/** Bars of outcomes stacked on one another, over time or by group. */
import { BarChart } from '@mantine/charts'
import { formatCompact, formatNumber } from '../format.ts'
import { countOf, endings, type ReportRow } from '../outcomes.ts'
import { text } from '../text/index.ts'
import { stateColors } from './state-badge.tsx'

export type ChartBar = { label: string; rows: readonly ReportRow[] }

type OutcomeChartProps = {
  /** For those who do not see it. */
  summary: string
  bars: readonly ChartBar[]
  /** Lying bars have room for long names. */
  isLying?: boolean
  height?: number
}

export function OutcomeChart({ summary, bars, isLying = false, height = 240 }: OutcomeChartProps) {
  const data = bars.map(({ label, rows }) => ({
    label,
    ...Object.fromEntries(
      endings.map((state) => [state, rows.reduce((sum, row) => sum + countOf(row, state), 0)]),
    ),
  }))
  const used = endings.filter((state) =>
    data.some((bar) => Number((bar as Record<string, unknown>)[state]) > 0),
  )
  return (
    <div role="img" aria-label={summary}>
      <BarChart
        h={height}
        data={data}
        dataKey="label"
        type="stacked"
        orientation={isLying ? 'vertical' : 'horizontal'}
        series={used.map((state) => ({
          name: state,
          label: text.reports.outcomes[state],
          color: stateColors[state],
        }))}
        withLegend
        legendProps={{ verticalAlign: 'bottom', height: 32 }}
        gridAxis={isLying ? 'y' : 'x'}
        tickLine="none"
        valueFormatter={(value) => (value < 10_000 ? formatNumber(value) : formatCompact(value))}
        xAxisProps={isLying ? {} : { minTickGap: 24 }}
        yAxisProps={isLying ? { width: 150 } : { allowDecimals: false, width: 48 }}
        maxBarWidth={36}
        // The table has the numbers for keyboards and screen readers.
        barChartProps={{ accessibilityLayer: false }}
        barProps={{ isAnimationActive: false }}
      />
    </div>
  )
}
