/** Lines by channel, with how each is doing. */
import { Group, Stack, Text, Title } from '@mantine/core'
import { IconBroadcast, IconPlus } from '@tabler/icons-react'
import { AppLink, LinkButton } from '../../components/app-link.tsx'
import { Can } from '../../components/can.tsx'
import { DataTable, type Column } from '../../components/data-table.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { FilterBar } from '../../components/filter-bar.tsx'
import { Instant } from '../../components/instant.tsx'
import { Page } from '../../components/page.tsx'
import { Pager } from '../../components/pager.tsx'
import { ChannelLabel, type Channel } from '../../components/state-badge.tsx'
import { Tag } from '../../components/tag.tsx'
import { formatCompact, formatNumber } from '../../format.ts'
import { useListState } from '../../hooks/use-list-state.ts'
import { useApiQuery } from '../../queries.ts'
import { text } from '../../text/index.ts'
import { HealthTag } from './health-tag.tsx'
import { addressOf, useLanes, type Lane, type Line } from './lanes.ts'
import { PauseButton } from './pause-button.tsx'
import classes from './channels.module.css'

const words = text.channels
const filters = { q: '', channel: '' }
const order: readonly Channel[] = ['whatsapp', 'sms', 'email']
const channelOptions = order.map((value) => ({ value, label: text.common.channels[value] }))

export function Channels() {
  const list = useListState({ filters, sort: { by: 'channel' } })
  const query = useApiQuery('/lines', { query: list.query }, { keepsFormer: true })
  const lanes = useLanes()
  const add = (
    <Can do="POST /lines">
      <LinkButton to="/channels/new" leftSection={<IconPlus size={16} aria-hidden />}>
        {words.add}
      </LinkButton>
    </Can>
  )
  const lines = query.data?.items
  const shown =
    lines === undefined ? [] : order.filter((channel) => lines.some((line) => line.channel === channel))
  return (
    <Page title={words.title} lead={words.lead} needs="GET /lines" actions={add}>
      <FilterBar
        list={list}
        filters={[
          { name: 'q', kind: 'text', label: words.search },
          { name: 'channel', kind: 'select', label: words.channel, options: channelOptions },
        ]}
      />
      {shown.length === 0 ? (
        <DataTable
          label={words.allLines}
          columns={columnsOf(lanes)}
          query={query}
          list={list}
          rowKey={({ id }) => id}
          empty={
            <EmptyState icon={IconBroadcast} title={words.emptyTitle} hint={words.emptyHint} action={add} />
          }
        />
      ) : (
        shown.map((channel) => (
          <ChannelSection
            key={channel}
            channel={channel}
            lines={lines?.filter((line) => line.channel === channel) ?? []}
            lanes={lanes}
            isFaded={query.isPlaceholderData}
          />
        ))
      )}
      {shown.length > 0 && <Pager list={list} nextCursor={query.data?.nextCursor ?? null} />}
    </Page>
  )
}

type SectionProps = {
  channel: Channel
  lines: Line[]
  lanes: ReadonlyMap<string, Lane>
  isFaded: boolean
}

const ChannelSection = ({ channel, lines, lanes, isFaded }: SectionProps) => (
  <Stack component="section" gap={6}>
    <Group gap="xs" align="baseline">
      <Title order={2}>
        <ChannelLabel channel={channel} />
      </Title>
      <Text size="sm" c="dimmed">
        {words.lineCount(lines.length)}
      </Text>
    </Group>
    <DataTable
      label={text.common.channels[channel]}
      columns={columnsOf(lanes)}
      query={{ data: { items: lines }, error: null, isPlaceholderData: isFaded, refetch: () => undefined }}
      rowKey={({ id }) => id}
      actions={(line) => <PauseButton line={line} isPaused={(lanes.get(line.id) ?? line).isPaused} isIcon />}
    />
  </Stack>
)

const columnsOf = (lanes: ReadonlyMap<string, Lane>): Column<Line>[] => [
  { header: words.line, cell: (line) => <LineCell line={line} />, isTitle: true, width: '26%' },
  {
    header: words.health,
    cell: (line) => <HealthTag line={line} lane={lanes.get(line.id)} />,
    width: '36%',
  },
  { header: words.queue, cell: (line) => <QueueCell lane={lanes.get(line.id)} /> },
  { header: words.pace, cell: (line) => <PaceCell line={line} lane={lanes.get(line.id)} /> },
]

const LineCell = ({ line }: { line: Line }) => (
  <div>
    <Group gap={6}>
      <AppLink to="/channels/$id" params={{ id: line.id }} size="sm" fw={600} className={classes['name']}>
        {line.name}
      </AppLink>
      {line.isDefault && <Tag tone="info">{words.isDefault}</Tag>}
      {line.isProspect && <Tag>{words.isProspect}</Tag>}
    </Group>
    <Text size="xs" c="dimmed" fw={400}>
      {addressOf(line)}
    </Text>
  </div>
)

function QueueCell({ lane }: { lane: Lane | undefined }) {
  if (lane === undefined) return text.common.none
  return (
    <div>
      <Text size="sm">
        {lane.depth === 0 ? words.nothingWaits : words.waiting(formatCompact(lane.depth))}
      </Text>
      {lane.depth > 0 && lane.oldestDueAt && (
        <Text size="xs" c="dimmed">
          <Instant at={lane.oldestDueAt} />
        </Text>
      )}
      {lane.deferred > 0 && (
        <Text size="xs" c="dimmed">
          {words.deferred(formatCompact(lane.deferred))}
        </Text>
      )}
    </div>
  )
}

const PaceCell = ({ line, lane }: { line: Line; lane: Lane | undefined }) => (
  <div>
    <Text size="sm">{words.perSecond(formatNumber(lane?.ratePerSecond ?? line.ratePerSecond ?? 0))}</Text>
    <Text size="xs" c="dimmed">
      {words.inFlight(formatNumber(lane?.inFlight ?? 0), formatNumber(line.inFlightLimit ?? 0))}
    </Text>
  </div>
)
