/** Contacts: search, filter, add; importing has a page of its own. */
import { Button, Group } from '@mantine/core'
import { IconAddressBook, IconFileImport, IconPlus } from '@tabler/icons-react'
import { useNavigate } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import type { ItemOf } from '../api.ts'
import { AppLink, LinkButton } from '../components/app-link.tsx'
import { Can } from '../components/can.tsx'
import { DataTable, type Column } from '../components/data-table.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { FilterBar } from '../components/filter-bar.tsx'
import { FormModal } from '../components/form-modal.tsx'
import { Instant } from '../components/instant.tsx'
import { Page } from '../components/page.tsx'
import { useListState } from '../hooks/use-list-state.ts'
import { useApiQuery } from '../queries.ts'
import { text } from '../text/index.ts'
import { CreateContactForm } from './contacts/contact-form.tsx'
import { ContactMarks } from './contacts/contact-marks.tsx'

const words = text.contacts
type Contact = ItemOf<'GET /contacts'>

const columnsWith = (segments: ReadonlyMap<string, string>): readonly Column<Contact>[] => [
  {
    header: words.name,
    isTitle: true,
    cell: ({ id, name }) => (
      <AppLink to="/contacts/$id" params={{ id }} size="sm" style={{ overflowWrap: 'anywhere' }}>
        {name ?? words.unnamed}
      </AppLink>
    ),
  },
  { header: words.phone, cell: ({ phone }) => phone ?? text.common.none },
  {
    header: words.email,
    cell: ({ email }) => <span style={{ overflowWrap: 'anywhere' }}>{email ?? text.common.none}</span>,
  },
  {
    header: words.segment,
    cell: ({ segmentId }) => (segmentId && segments.get(segmentId)) || text.common.none,
  },
  { header: words.marks, cell: (contact) => <ContactMarks contact={contact} none={text.common.none} /> },
  { header: words.lastInteraction, cell: ({ lastInteractionAt }) => <Instant at={lastInteractionAt} /> },
]

const filters = { q: '', segmentId: '' }

export function Contacts() {
  const navigate = useNavigate()
  const list = useListState({ filters })
  const query = useApiQuery('/contacts', { query: list.query }, { keepsFormer: true })
  const { data: segments } = useApiQuery('/segments', { query: { limit: 200, sort: 'name' } })
  const [isAdding, setIsAdding] = useState(false)
  const options = useMemo(
    () => (segments?.items ?? []).map(({ id, name }) => ({ value: id, label: name })),
    [segments],
  )
  const columns = useMemo(
    () => columnsWith(new Map(options.map(({ value, label }) => [value, label]))),
    [options],
  )
  const actions = (
    <Group gap="xs">
      <Can do="POST /contacts/import">
        <LinkButton
          to="/contacts/import"
          variant="default"
          leftSection={<IconFileImport size={16} aria-hidden />}
        >
          {words.import}
        </LinkButton>
      </Can>
      <Can do="POST /contacts">
        <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setIsAdding(true)}>
          {words.add}
        </Button>
      </Can>
    </Group>
  )
  return (
    <Page title={words.title} lead={words.lead} needs="GET /contacts" actions={actions}>
      <FilterBar
        list={list}
        filters={[
          { name: 'q', kind: 'text', label: words.search, placeholder: words.searchHint, width: 260 },
          {
            name: 'segmentId',
            kind: 'select',
            label: words.segment,
            options,
            allLabel: words.anySegment,
            width: 200,
          },
        ]}
      />
      <DataTable
        label={words.title}
        columns={columns}
        query={query}
        list={list}
        rowKey={({ id }) => id}
        empty={<EmptyState icon={IconAddressBook} title={words.emptyTitle} hint={words.emptyHint} />}
      />
      <FormModal title={words.createTitle} isOpen={isAdding} onClose={() => setIsAdding(false)} size="lg">
        <CreateContactForm
          onCancel={() => setIsAdding(false)}
          onDone={(id) => void navigate({ to: '/contacts/$id', params: { id } })}
        />
      </FormModal>
    </Page>
  )
}
