/** The media library: files with their pictures, uploads with their progress. */
import { Group, Skeleton, UnstyledButton } from '@mantine/core'
import { IconPhoto } from '@tabler/icons-react'
import { useState } from 'react'
import { Can } from '../components/can.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { ErrorState } from '../components/error-state.tsx'
import { FilterBar } from '../components/filter-bar.tsx'
import { FormModal } from '../components/form-modal.tsx'
import tiles from '../components/media-picker.module.css'
import { MediaThumb, type MediaItem } from '../components/media-thumb.tsx'
import { Page } from '../components/page.tsx'
import { Pager } from '../components/pager.tsx'
import { formatBytes } from '../format.ts'
import { useListState } from '../hooks/use-list-state.ts'
import { useApiQuery } from '../queries.ts'
import { text } from '../text/index.ts'
import { MediaDetail } from './media/detail.tsx'
import { Uploader } from './media/uploader.tsx'

const words = text.media
const filters = { q: '', kind: '' }

export function Media() {
  const list = useListState({ filters, sort: { by: 'createdAt', order: 'desc' }, limit: 48 })
  const [open, setOpen] = useState<MediaItem>()
  const close = () => setOpen(undefined)
  return (
    <Page title={words.title} lead={words.lead} needs="GET /media">
      <Can do="POST /media">
        <Uploader />
      </Can>
      <FilterBar
        list={list}
        filters={[
          { name: 'q', kind: 'text', label: words.search },
          {
            name: 'kind',
            kind: 'select',
            label: words.kind,
            allLabel: words.allKinds,
            options: (['image', 'video', 'document'] as const).map((value) => ({
              value,
              label: words.kinds[value],
            })),
          },
        ]}
      />
      <Files list={list} onOpen={setOpen} />
      <FormModal title={open?.name ?? ''} size="lg" isOpen={open !== undefined} onClose={close}>
        {open && <MediaDetail item={open} onRemoved={close} />}
      </FormModal>
    </Page>
  )
}

type FilesProps = {
  list: ReturnType<typeof useListState<typeof filters>>
  onOpen(item: MediaItem): void
}

function Files({ list, onOpen }: FilesProps) {
  const query = useApiQuery('/media', { query: list.query }, { keepsFormer: true })
  if (query.error && query.data === undefined)
    return <ErrorState error={query.error} onRetry={() => query.refetch()} />
  if (query.data === undefined)
    return (
      <Group gap="sm" aria-busy>
        {['a', 'b', 'c', 'd', 'e', 'f'].map((name) => (
          <Skeleton key={name} width={160} height={150} />
        ))}
      </Group>
    )
  if (query.data.items.length === 0 && !list.hasPrevious)
    return list.isFiltered ? (
      <EmptyState title={text.common.nothingFound} hint={text.common.nothingFoundHint} />
    ) : (
      <EmptyState icon={IconPhoto} title={words.emptyTitle} hint={words.emptyHint} />
    )
  return (
    <div>
      <ul className={tiles['grid']} aria-label={words.list} aria-busy={query.isPlaceholderData}>
        {query.data.items.map((item) => (
          <li key={item.id}>
            <UnstyledButton className={tiles['tile']} onClick={() => onOpen(item)}>
              <MediaThumb item={item} />
              <span className={tiles['name']} title={item.name}>
                {item.name}
              </span>
              <span className={tiles['note']}>{formatBytes(item.size)}</span>
            </UnstyledButton>
          </li>
        ))}
      </ul>
      <Pager list={list} nextCursor={query.data.nextCursor} />
    </div>
  )
}
