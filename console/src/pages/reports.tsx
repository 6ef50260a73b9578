/** Delivery reports: counts by any two dimensions, drawn and in numbers. */
import { Button, Group, SegmentedControl, Select, Skeleton, Stack, Text } from '@mantine/core'
import { IconChartBar, IconDownload } from '@tabler/icons-react'
import { urlOf } from '../api.ts'
import { EmptyState } from '../components/empty-state.tsx'
import { ErrorState } from '../components/error-state.tsx'
import { FilterBar, type Filter } from '../components/filter-bar.tsx'
import { Page } from '../components/page.tsx'
import { Panel } from '../components/panel.tsx'
import { useListState } from '../hooks/use-list-state.ts'
import { useSearchParam } from '../hooks/use-search-param.ts'
import { isEmpty, rangeStart } from '../outcomes.ts'
import { useApiQuery } from '../queries.ts'
import { text } from '../text/index.ts'
import { ReportChart } from './reports/chart.tsx'
import { groupsOf, isDimension } from './reports/groups.ts'
import { ReportTable } from './reports/table.tsx'

const words = text.reports

const initialFilters = { channel: '', lineId: '', templateId: '', segmentId: '', api: '', from: '', to: '' }

const optionsOf = (names: Record<string, string>) =>
  Object.entries(names).map(([value, label]) => ({ value, label }))

const filters: readonly Filter<keyof typeof initialFilters>[] = [
  {
    name: 'channel',
    kind: 'select',
    label: words.channel,
    options: optionsOf(text.common.channels),
    allLabel: words.anyChannel,
    width: 150,
  },
  { name: 'lineId', kind: 'record', nouns: ['lines'], label: words.line, allLabel: words.anyLine },
  {
    name: 'templateId',
    kind: 'record',
    nouns: ['templates'],
    label: words.template,
    allLabel: words.anyTemplate,
  },
  {
    name: 'segmentId',
    kind: 'record',
    nouns: ['segments'],
    label: words.segment,
    allLabel: words.anySegment,
  },
  {
    name: 'api',
    kind: 'select',
    label: words.api,
    options: optionsOf(text.common.apis),
    allLabel: words.anyApi,
    width: 130,
  },
  { name: 'from', kind: 'instant', label: words.from },
  { name: 'to', kind: 'instant', label: words.to },
]

type Range = keyof typeof words.ranges
const daysOf: Record<Range, number> = { day: 1, week: 7, month: 30, quarter: 90 }

const { outcome: _, ...dimensions } = words.dimensions
const dimensionOptions = optionsOf(dimensions)

export function Reports() {
  const list = useListState({ filters: initialFilters })
  const [range, setRange] = useSearchParam<Range>('range', 'week')
  const [by, setBy] = useSearchParam<string>('by', 'day')
  const [then, setThen] = useSearchParam<string>('then', '')
  const groupBy = [...new Set([by, then])].filter(isDimension)
  const { from, to, ...chosen } = list.filters
  const timeZone = useApiQuery('/company').data?.timeZone
  const asked = {
    ...chosen,
    from: from || rangeStart(daysOf[range] ?? 7, new Date(), timeZone ?? 'UTC').toISOString(),
    to,
    groupBy,
  }
  const query = useApiQuery('/reports', { query: asked }, { keepsFormer: true, isEnabled: Boolean(timeZone) })
  const report = query.data
  const actions = (
    <Button
      component="a"
      variant="default"
      href={urlOf('GET /reports', { query: { ...asked, isCsv: true } })}
      download
      leftSection={<IconDownload size={16} aria-hidden />}
    >
      {words.csv}
    </Button>
  )
  return (
    <Page title={words.title} lead={words.lead} needs="GET /reports" actions={actions}>
      <Group gap="xs" align="flex-end">
        <Select
          label={words.groupBy}
          w={130}
          value={by}
          data={dimensionOptions}
          onChange={(value) => setBy(value ?? 'day')}
        />
        <Select
          label={words.thenBy}
          w={150}
          value={then}
          data={[
            { value: '', label: words.nothing },
            ...dimensionOptions.filter(({ value }) => value !== by),
          ]}
          onChange={(value) => setThen(value ?? '')}
        />
        {from === '' && to === '' && (
          <SegmentedControl
            aria-label={words.range}
            value={range}
            onChange={(value) => setRange(value as Range)}
            data={optionsOf(words.ranges)}
          />
        )}
      </Group>
      <FilterBar list={list} filters={filters} />
      {query.error && !query.isPlaceholderData ? (
        <ErrorState error={query.error} onRetry={() => query.refetch()} />
      ) : report === undefined ? (
        <Skeleton height={320} />
      ) : isEmpty(report.total) ? (
        <EmptyState icon={IconChartBar} title={words.emptyTitle} hint={words.emptyHint} />
      ) : (
        <Stack gap="md" aria-busy={query.isPlaceholderData}>
          <Panel title={words.chart}>
            <ReportChart report={report} by={groupsOf(report)[0] ?? 'day'} />
          </Panel>
          <ReportTable report={report} groupBy={groupsOf(report)} />
          <Text size="xs" c="dimmed">
            {words.timeZone(report.timeZone)} {words.latencyHint}
          </Text>
        </Stack>
      )}
    </Page>
  )
}
