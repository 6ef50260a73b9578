/** The message log: every filter in the address, live while one looks, and never a count. */
import { ActionIcon, Button, Group, Switch, Text, Tooltip } from '@mantine/core'
import { IconAdjustments, IconDownload, IconMessages, IconRefresh } from '@tabler/icons-react'
import { useState } from 'react'
import { LinkButton } from '../components/app-link.tsx'
import { Can } from '../components/can.tsx'
import { DataTable } from '../components/data-table.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { FilterBar } from '../components/filter-bar.tsx'
import { Page } from '../components/page.tsx'
import { useListState } from '../hooks/use-list-state.ts'
import { useLive } from '../hooks/use-live.ts'
import { useSearchParam } from '../hooks/use-search-param.ts'
import { useThrottled } from '../hooks/use-throttled.ts'
import { useApiQuery } from '../queries.ts'
import { text } from '../text/index.ts'
import { columns } from './messages/columns.tsx'
import { ExportModal } from './messages/export-modal.tsx'
import { allFilters, firstFilters, initialFilters, isRare, rangeOf } from './messages/filters.ts'

const words = text.messages
/** A busy company has new messages all the time: this often is often enough to read along. */
const refreshMs = 2_000

export function Messages() {
  const list = useListState({ filters: initialFilters })
  const query = useApiQuery('/messages', { query: list.query }, { keepsFormer: true })
  const [live, setLive] = useSearchParam<'on' | 'off'>('live', 'on')
  const [isExporting, setIsExporting] = useState(false)
  // Older pages do not change at their top, and a list with an end has no new ones.
  const canBeLive = !list.hasPrevious && list.filters.to === ''
  const isLive = canBeLive && live === 'on'
  const refresh = useThrottled(() => void query.refetch(), refreshMs)
  const liveState = useLive({ message: refresh, outcome: refresh }, { isOn: isLive })
  const [isMore, setIsMore] = useState(() => isRare(list.filters))
  const actions = (
    <>
      <Tooltip label={isLive && liveState === 'waiting' ? words.liveWaiting : words.liveHint}>
        <Switch
          label={words.live}
          checked={isLive}
          disabled={!canBeLive}
          onChange={(event) => setLive(event.currentTarget.checked ? 'on' : 'off')}
        />
      </Tooltip>
      <Tooltip label={words.refresh}>
        <ActionIcon
          variant="default"
          size={36}
          aria-label={words.refresh}
          loading={query.isFetching && !isLive}
          onClick={() => void query.refetch()}
        >
          <IconRefresh size={16} aria-hidden />
        </ActionIcon>
      </Tooltip>
      <Can do="GET /messages/export">
        <Button
          variant="default"
          leftSection={<IconDownload size={16} aria-hidden />}
          onClick={() => setIsExporting(true)}
        >
          {words.export}
        </Button>
      </Can>
    </>
  )
  return (
    <Page title={words.title} lead={words.lead} needs="GET /messages" actions={actions}>
      <FilterBar list={list} filters={isMore ? allFilters : firstFilters}>
        <Button
          variant="subtle"
          leftSection={<IconAdjustments size={16} aria-hidden />}
          aria-expanded={isMore}
          onClick={() => setIsMore(!isMore)}
        >
          {isMore ? words.fewerFilters : words.moreFilters}
        </Button>
      </FilterBar>
      <Text size="xs" c="dimmed" mt={-8}>
        {rangeOf(list.filters)}
      </Text>
      <DataTable
        label={words.title}
        columns={columns}
        query={query}
        list={list}
        rowKey={({ id }) => id}
        empty={<Empty />}
      />
      <Further items={query.data?.items.length} nextCursor={query.data?.nextCursor} limit={50} />
      {isExporting && <ExportModal filters={list.filters} onClose={() => setIsExporting(false)} />}
    </Page>
  )
}

/** A page looks at a bounded number of rows: it may be short, or empty, and still not be the last. */
function Further({
  items,
  nextCursor,
  limit,
}: {
  items: number | undefined
  nextCursor: string | null | undefined
  limit: number
}) {
  if (items === undefined || !nextCursor || items >= limit) return null
  return (
    <Text size="sm" c="dimmed">
      {items === 0 ? words.nothingYet : words.fewYet}
    </Text>
  )
}

const Empty = () => (
  <EmptyState
    icon={IconMessages}
    title={words.emptyTitle}
    hint={words.emptyHint}
    action={
      <Group gap="xs" justify="center">
        <LinkButton to="/reference">{words.toReference}</LinkButton>
        <Can do="GET /sandbox">
          <LinkButton to="/sandbox" variant="default">
            {words.toSandbox}
          </LinkButton>
        </Can>
      </Group>
    }
  />
)
