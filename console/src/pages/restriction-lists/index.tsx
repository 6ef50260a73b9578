/** Restriction lists, looking a value up on all of them, and the words by which people opt out. */
import { Button, Stack, Tabs } from '@mantine/core'
import { IconPlus, IconShieldOff } from '@tabler/icons-react'
import { useState, type ReactNode } from 'react'
import type { ItemOf } from '../../api.ts'
import { AppLink } from '../../components/app-link.tsx'
import { Can } from '../../components/can.tsx'
import { DataTable, type Column } from '../../components/data-table.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { FilterBar } from '../../components/filter-bar.tsx'
import { FormModal } from '../../components/form-modal.tsx'
import { Instant } from '../../components/instant.tsx'
import { Page } from '../../components/page.tsx'
import { formatNumber } from '../../format.ts'
import { useListState } from '../../hooks/use-list-state.ts'
import { useTab } from '../../hooks/use-tab.ts'
import { useApiQuery } from '../../queries.ts'
import { text } from '../../text/index.ts'
import { CreateListForm } from './list-forms.tsx'
import { LookUp } from './look-up.tsx'
import { RuleTags } from './rule-tags.tsx'
import { StopWords } from './stop-words.tsx'

const words = text.restrictionLists
type List = ItemOf<'GET /restriction-lists'>

export function RestrictionLists() {
  const [tab, setTab] = useTab(['lists', 'stopWords'] as const)
  const [isOpen, setOpen] = useState(false)
  const add = (
    <Can do="POST /restriction-lists">
      <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setOpen(true)}>
        {words.add}
      </Button>
    </Can>
  )
  return (
    <Page
      title={words.title}
      lead={words.lead}
      needs="GET /restriction-lists"
      actions={tab === 'lists' && add}
    >
      <Tabs value={tab} onChange={setTab} keepMounted={false}>
        <Tabs.List mb="md">
          <Tabs.Tab value="lists">{words.tabs.lists}</Tabs.Tab>
          <Tabs.Tab value="stopWords">{words.tabs.stopWords}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="lists">
          <Stack gap="md">
            <LookUp />
            <Lists add={add} />
          </Stack>
        </Tabs.Panel>
        <Tabs.Panel value="stopWords">
          <StopWords />
        </Tabs.Panel>
      </Tabs>
      <FormModal title={words.createTitle} isOpen={isOpen} onClose={() => setOpen(false)}>
        <CreateListForm onDone={() => setOpen(false)} />
      </FormModal>
    </Page>
  )
}

const columns: readonly Column<List>[] = [
  {
    header: words.name,
    cell: ({ id, name }) => (
      <AppLink
        to="/restriction-lists/$id"
        params={{ id }}
        size="sm"
        fw={600}
        style={{ overflowWrap: 'anywhere' }}
      >
        {name}
      </AppLink>
    ),
    sort: 'name',
    isTitle: true,
  },
  {
    header: words.entries,
    cell: ({ entries, hasMoreEntries }) => words.count(formatNumber(entries), hasMoreEntries),
    align: 'right',
  },
  { header: words.rules, cell: (list) => <RuleTags rules={list.rules} /> },
  { header: words.created, cell: ({ createdAt }) => <Instant at={createdAt} />, sort: 'createdAt' },
]

const filters = { q: '' }

function Lists({ add }: { add: ReactNode }) {
  const list = useListState({ filters, sort: { by: 'name' } })
  const query = useApiQuery('/restriction-lists', { query: list.query }, { keepsFormer: true })
  return (
    <Stack gap="md">
      <FilterBar list={list} filters={[{ name: 'q', kind: 'text', label: words.search }]} />
      <DataTable
        label={words.title}
        columns={columns}
        query={query}
        list={list}
        rowKey={({ id }) => id}
        empty={
          <EmptyState icon={IconShieldOff} title={words.emptyTitle} hint={words.emptyHint} action={add} />
        }
      />
    </Stack>
  )
}
