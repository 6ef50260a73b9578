/** Users: list and creation. */
import { Button } from '@mantine/core'
import { IconPlus, IconUsers } from '@tabler/icons-react'
import { useState } from 'react'
import type { ItemOf } from '../api.ts'
import { AppLink } from '../components/app-link.tsx'
import { Can } from '../components/can.tsx'
import { DataTable, type Column } from '../components/data-table.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { FilterBar } from '../components/filter-bar.tsx'
import { FormModal } from '../components/form-modal.tsx'
import { Instant } from '../components/instant.tsx'
import { Page } from '../components/page.tsx'
import { Tag } from '../components/tag.tsx'
import { useListState } from '../hooks/use-list-state.ts'
import { useApiQuery } from '../queries.ts'
import { useSession } from '../session.ts'
import { text } from '../text/index.ts'
import { CreateUser } from './users/create-user.tsx'
import { roleOptions } from './users/roles.ts'

const words = text.users
type User = ItemOf<'GET /users'>

const filters = { q: '', role: '' }

export function Users() {
  const list = useListState({ filters, sort: { by: 'name' } })
  const query = useApiQuery('/users', { query: list.query }, { keepsFormer: true })
  const { userId } = useSession()
  const [isCreating, setIsCreating] = useState(false)
  const columns: readonly Column<User>[] = [
    {
      header: words.name,
      sort: 'name',
      isTitle: true,
      cell: ({ id, name }) => (
        <span>
          <AppLink to="/users/$id" params={{ id }} size="sm" fw={600}>
            {name}
          </AppLink>{' '}
          {id === userId && <Tag>{words.you}</Tag>}
        </span>
      ),
    },
    { header: words.role, cell: ({ role }) => words.roleNames[role] },
    {
      header: words.state,
      cell: ({ disabledAt }) =>
        disabledAt ? <Tag tone="bad">{words.suspended}</Tag> : <Tag tone="good">{words.active}</Tag>,
    },
    { header: words.since, sort: 'createdAt', cell: ({ createdAt }) => <Instant at={createdAt} /> },
  ]
  const add = (
    <Can do="POST /users">
      <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setIsCreating(true)}>
        {words.add}
      </Button>
    </Can>
  )
  return (
    <Page title={words.title} lead={words.lead} needs="GET /users" actions={add}>
      <FilterBar
        list={list}
        filters={[
          { name: 'q', kind: 'text', label: words.search },
          { name: 'role', kind: 'select', label: words.role, options: roleOptions, allLabel: words.anyRole },
        ]}
      />
      <DataTable
        label={words.title}
        columns={columns}
        query={query}
        list={list}
        rowKey={({ id }) => id}
        empty={<EmptyState icon={IconUsers} title={words.emptyTitle} hint={words.emptyHint} />}
      />
      <FormModal title={words.createTitle} isOpen={isCreating} onClose={() => setIsCreating(false)}>
        <CreateUser onDone={() => setIsCreating(false)} />
      </FormModal>
    </Page>
  )
}
