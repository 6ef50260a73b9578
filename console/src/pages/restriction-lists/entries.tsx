/** Entries of a list: page by page in the order of their key, or one value in any spelling; quick at millions. */
import { Stack } from '@mantine/core'
import { IconTrash } from '@tabler/icons-react'
import type { ItemOf } from '../../api.ts'
import { Can } from '../../components/can.tsx'
import { ConfirmButton } from '../../components/confirm-button.tsx'
import { DataTable, type Column } from '../../components/data-table.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { FilterBar } from '../../components/filter-bar.tsx'
import { Instant } from '../../components/instant.tsx'
import { Tag } from '../../components/tag.tsx'
import { useListState } from '../../hooks/use-list-state.ts'
import { useApiMutation, useApiQuery } from '../../queries.ts'
import { text } from '../../text/index.ts'

const words = text.restrictionLists
type Entry = ItemOf<'GET /restriction-lists/:id/entries'>

const columns: readonly Column<Entry>[] = [
  {
    header: words.shownValue,
    cell: ({ value }) => <span style={{ overflowWrap: 'anywhere' }}>{value}</span>,
    isTitle: true,
  },
  { header: words.field, cell: ({ field }) => words.fieldNames[field] },
  {
    header: words.match,
    cell: ({ isPrefix }) => (isPrefix ? <Tag tone="info">{words.prefix}</Tag> : words.exact),
  },
  {
    header: words.expires,
    cell: ({ expiresAt }) => (expiresAt ? <Instant at={expiresAt} /> : words.forGood),
  },
]

const filters = { value: '', field: '' }
const fieldOptions = Object.entries(words.fieldNames).map(([value, label]) => ({ value, label }))

export function Entries({ listId }: { listId: string }) {
  const list = useListState({ filters })
  const query = useApiQuery(
    '/restriction-lists/:id/entries',
    { path: { id: listId }, query: list.query },
    { keepsFormer: true },
  )
  return (
    <Stack gap="md">
      <FilterBar
        list={list}
        filters={[
          {
            name: 'value',
            kind: 'text',
            label: words.searchValue,
            placeholder: words.searchValueHint,
            width: 300,
          },
          { name: 'field', kind: 'select', label: words.field, options: fieldOptions },
        ]}
      />
      <DataTable
        label={words.entries}
        columns={columns}
        query={query}
        list={list}
        rowKey={({ field, value, isPrefix }) => `${field} ${isPrefix} ${value}`}
        empty={<EmptyState title={words.noEntriesTitle} hint={words.noEntriesHint} />}
        actions={(entry) => <RemoveEntry listId={listId} entry={entry} />}
      />
    </Stack>
  )
}

function RemoveEntry({ listId, entry }: { listId: string; entry: Entry }) {
  const { field, value, isPrefix } = entry
  const remove = useApiMutation('POST /restriction-lists/:id/entries/remove', { success: words.entryRemoved })
  return (
    <Can do="POST /restriction-lists/:id/entries/remove">
      <ConfirmButton
        label={words.removeEntry(value)}
        icon={<IconTrash size={16} aria-hidden />}
        title={words.removeEntryTitle(value)}
        confirmLabel={text.common.yesRemove}
        isWorking={remove.isPending}
        onConfirm={() =>
          remove.mutateAsync({ path: { id: listId }, body: { entries: [{ field, value, isPrefix }] } })
        }
      >
        {words.removeEntryHint}
      </ConfirmButton>
    </Can>
  )
}
