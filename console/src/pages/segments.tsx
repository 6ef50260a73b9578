/** Segments: the pattern of a page with a list and small forms. */
import { Button } from '@mantine/core'
import { IconPencil, IconPlus, IconTags, IconTrash } from '@tabler/icons-react'
import { useState } from 'react'
import type { ItemOf } from '../api.ts'
import { Can } from '../components/can.tsx'
import { ConfirmButton } from '../components/confirm-button.tsx'
import { DataTable, type Column } from '../components/data-table.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { FilterBar } from '../components/filter-bar.tsx'
import { FormModal } from '../components/form-modal.tsx'
import { IconAction } from '../components/icon-action.tsx'
import { Page } from '../components/page.tsx'
import { useListState } from '../hooks/use-list-state.ts'
import { useApiMutation, useApiQuery } from '../queries.ts'
import { text } from '../text/index.ts'
import { CreateSegmentForm, SegmentEditor } from './segment-form.tsx'

const words = text.segments
type Segment = ItemOf<'GET /segments'>

const columns: readonly Column<Segment>[] = [
  { header: words.name, cell: ({ name }) => name, sort: 'name', isTitle: true },
  { header: words.clientCode, cell: ({ clientCode }) => clientCode ?? text.common.none },
]

const filters = { q: '' }

export function Segments() {
  const list = useListState({ filters, sort: { by: 'name' } })
  const query = useApiQuery('/segments', { query: list.query }, { keepsFormer: true })
  const [open, setOpen] = useState<'new' | Segment>()
  const close = () => setOpen(undefined)
  const add = (
    <Can do="POST /segments">
      <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setOpen('new')}>
        {words.add}
      </Button>
    </Can>
  )
  return (
    <Page title={words.title} lead={words.lead} needs="GET /segments" actions={add}>
      <FilterBar list={list} filters={[{ name: 'q', kind: 'text', label: words.search }]} />
      <DataTable
        label={words.title}
        columns={columns}
        query={query}
        list={list}
        rowKey={({ id }) => id}
        empty={<EmptyState icon={IconTags} title={words.emptyTitle} hint={words.emptyHint} action={add} />}
        actions={(segment) => <RowActions segment={segment} onChange={() => setOpen(segment)} />}
      />
      <FormModal title={words.createTitle} isOpen={open === 'new'} onClose={close}>
        <CreateSegmentForm onDone={close} />
      </FormModal>
      {typeof open === 'object' && (
        <FormModal title={words.changeTitle(open.name)} isOpen onClose={close}>
          <SegmentEditor id={open.id} onDone={close} />
        </FormModal>
      )}
    </Page>
  )
}

function RowActions({ segment, onChange }: { segment: Segment; onChange(): void }) {
  const { id, name } = segment
  const remove = useApiMutation('DELETE /segments/:id', { success: words.removed })
  return (
    <>
      <Can do="PATCH /segments/:id">
        <IconAction
          label={words.changeOf(name)}
          icon={<IconPencil size={16} aria-hidden />}
          onClick={onChange}
        />
      </Can>
      <Can do="DELETE /segments/:id">
        <ConfirmButton
          label={words.removeOf(name)}
          icon={<IconTrash size={16} aria-hidden />}
          title={words.removeTitle(name)}
          confirmLabel={text.common.yesRemove}
          isWorking={remove.isPending}
          onConfirm={() => remove.mutateAsync({ path: { id } })}
        >
          {words.removeHint}
        </ConfirmButton>
      </Can>
    </>
  )
}
