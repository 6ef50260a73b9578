/** Choosing one file of the media library. */
import { Group, Modal, Skeleton, Stack, Text, TextInput, UnstyledButton } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { IconSearch } from '@tabler/icons-react'
import { useState } from 'react'
import { formatBytes } from '../format.ts'
import { useApiQuery } from '../queries.ts'
import { text } from '../text/index.ts'
import { LinkButton } from './app-link.tsx'
import { ErrorState } from './error-state.tsx'
import classes from './media-picker.module.css'
import { MediaThumb, type MediaItem } from './media-thumb.tsx'

type MediaPickerProps = {
  isOpen: boolean
  kind?: 'image' | 'video' | 'document' | undefined
  onClose(): void
  onChoose(item: MediaItem): void
}

export const MediaPicker = ({ isOpen, onClose, ...rest }: MediaPickerProps) => (
  <Modal
    opened={isOpen}
    onClose={onClose}
    title={text.media.chooseTitle}
    size="xl"
    closeButtonProps={{ 'aria-label': text.common.close }}
  >
    {isOpen && <Choice {...rest} onClose={onClose} />}
  </Modal>
)

function Choice({ kind, onClose, onChoose }: Omit<MediaPickerProps, 'isOpen'>) {
  const [typed, setTyped] = useState('')
  const [q] = useDebouncedValue(typed.trim(), 250)
  const query = useApiQuery(
    '/media',
    { query: { q, kind, sort: 'createdAt', order: 'desc', limit: 60 } },
    { keepsFormer: true },
  )
  if (query.error && !query.data) return <ErrorState error={query.error} onRetry={query.refetch} />
  return (
    <Stack gap="sm">
      <TextInput
        aria-label={text.media.search}
        placeholder={text.media.search}
        leftSection={<IconSearch size={16} aria-hidden />}
        value={typed}
        onChange={(event) => setTyped(event.currentTarget.value)}
        data-autofocus
      />
      {query.data === undefined && <Skeleton height={140} />}
      {query.data?.items.length === 0 && (
        <Group justify="space-between">
          <Text size="sm">{text.media.chooseEmpty}</Text>
          <LinkButton to="/media" variant="default" size="xs">
            {text.media.toLibrary}
          </LinkButton>
        </Group>
      )}
      <ul className={classes['grid']}>
        {(query.data?.items ?? []).map((item) => (
          <li key={item.id}>
            <UnstyledButton
              className={classes['tile']}
              onClick={() => {
                onChoose(item)
                onClose()
              }}
            >
              <MediaThumb item={item} />
              <span className={classes['name']} title={item.name}>
                {item.name}
              </span>
              <span className={classes['note']}>{formatBytes(item.size)}</span>
            </UnstyledButton>
          </li>
        ))}
      </ul>
    </Stack>
  )
}
