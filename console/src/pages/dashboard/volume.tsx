/** Numbers and the chart of a range. */
import { Skeleton, Text, Tooltip } from '@mantine/core'
import type { ReactNode } from 'react'
import { ErrorState } from '../../components/error-state.tsx'
import { OutcomeChart, type ChartBar } from '../../components/outcome-chart.tsx'
import { Panel } from '../../components/panel.tsx'
import { formatDuration, formatNumber, formatPercent } from '../../format.ts'
import {
  countOf,
  daysBetween,
  formatDay,
  hoursBetween,
  isEmpty,
  rangeStart,
  successOf,
  type Report,
} from '../../outcomes.ts'
import { useApiQuery } from '../../queries.ts'
import { text } from '../../text/index.ts'
import classes from './volume.module.css'

const words = text.dashboard
export type DashboardRange = keyof typeof words.ranges
const daysOf: Record<DashboardRange, number> = { day: 1, week: 7, month: 30 }

export function Volume({ range }: { range: DashboardRange }) {
  const isByHour = range === 'day'
  const timeZone = useApiQuery('/company').data?.timeZone
  const from = rangeStart(daysOf[range] ?? 1, new Date(), timeZone ?? 'UTC')
  const query = useApiQuery(
    '/reports',
    { query: { groupBy: isByHour ? 'hour' : 'day', from: from.toISOString() } },
    { keepsFormer: true, everyMs: 60_000, isEnabled: Boolean(timeZone) },
  )
  const report = query.data
  if (query.error && report === undefined)
    return <ErrorState error={query.error} onRetry={() => query.refetch()} />
  return (
    <>
      <Figures report={report} />
      <Panel title={words.volume}>
        <Text size="xs" c="dimmed" mb="xs">
          {isByHour ? words.volumeByHour : words.volumeByDay(report?.timeZone ?? '')}
        </Text>
        {report === undefined ? (
          <Skeleton height={240} />
        ) : isEmpty(report.total) ? (
          <Text c="dimmed" ta="center" py={60}>
            {words.nothingInRange}
          </Text>
        ) : (
          <OutcomeChart
            summary={words.volumeSummary(
              formatNumber(countOf(report.total, 'delivered')),
              formatNumber(countOf(report.total, 'failed', 'expired', 'unknown')),
              formatNumber(countOf(report.total, 'blocked')),
            )}
            bars={isByHour ? hourBars(report) : dayBars(report)}
          />
        )}
      </Panel>
    </>
  )
}

const hourLabel = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' })

/** The server's answer reaches an hour beyond now, so that the running hour is whole. */
const endOf = (report: Report): Date => new Date(Math.min(Date.parse(report.to), Date.now()))

const hourBars = (report: Report): ChartBar[] =>
  hoursBetween(new Date(report.from), endOf(report)).map((hour) => ({
    label: hourLabel.format(new Date(hour)),
    rows: report.rows.filter(({ of }) => of['hour'] === hour),
  }))

const dayBars = (report: Report): ChartBar[] =>
  daysBetween(new Date(report.from), endOf(report), report.timeZone).map((day) => ({
    label: formatDay(day),
    rows: report.rows.filter(({ of }) => of['day'] === day),
  }))

function Figures({ report }: { report: Report | undefined }) {
  const total = report?.total
  const success = total && successOf(total)
  const count = (...states: Parameters<typeof countOf> extends [unknown, ...infer S] ? S : never) =>
    total && formatNumber(countOf(total, ...states))
  const duration = (ms: number | null | undefined) =>
    ms === undefined || ms === null ? text.common.none : formatDuration(ms)
  return (
    <div className={classes['figures']}>
      <Figure label={words.accepted} value={count('queued')} />
      <Figure label={words.delivered} value={count('delivered')} />
      <Figure
        label={words.success}
        hint={words.successHint}
        value={total && (success === undefined ? text.common.none : formatPercent(success))}
      />
      <Figure label={words.failed} hint={words.failedHint} value={count('failed', 'expired', 'unknown')} />
      <Figure label={words.refused} hint={words.refusedHint} value={count('blocked')} />
      <Figure label={words.latency} hint={words.latencyHint} value={total && duration(total.medianMs)}>
        {total && (
          <>
            {words.median} · {words.p95} {duration(total.p95Ms)} · {words.p99} {duration(total.p99Ms)}
          </>
        )}
      </Figure>
    </div>
  )
}

type FigureProps = { label: string; hint?: string; value: string | undefined; children?: ReactNode }

function Figure({ label, hint, value, children }: FigureProps) {
  return (
    <div className={classes['figure']}>
      <Tooltip label={hint} disabled={hint === undefined} multiline maw={280}>
        <span className={classes['label']}>{label}</span>
      </Tooltip>
      {value === undefined ? <Skeleton height={26} width={70} my={4} /> : <strong>{value}</strong>}
      {children && <span className={classes['small']}>{children}</span>}
    </div>
  )
}
