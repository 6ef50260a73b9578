/** One file: large, with its address, where it is shown, and how to be rid of it. */
import { Anchor, Group, Stack, Text } from '@mantine/core'
import { IconExternalLink, IconTrash } from '@tabler/icons-react'
import { AppLink } from '../../components/app-link.tsx'
import { Can } from '../../components/can.tsx'
import { ConfirmButton } from '../../components/confirm-button.tsx'
import { CopyText } from '../../components/copy-text.tsx'
import { MediaThumb, mediaSource, type MediaItem } from '../../components/media-thumb.tsx'
import { formatBytes } from '../../format.ts'
import { useApiMutation, useApiQuery } from '../../queries.ts'
import { text } from '../../text/index.ts'
import classes from './media.module.css'

const words = text.media

export function MediaDetail({ item, onRemoved }: { item: MediaItem; onRemoved(): void }) {
  const { id, name, mimeType, size, url } = item
  const { data } = useApiQuery('/media/:id', { path: { id } })
  const usedBy = data?.usedBy
  return (
    <Stack gap="md">
      <div className={classes['large']}>
        {mimeType.startsWith('image/') ? (
          <img src={mediaSource(item)} alt={words.preview(name)} />
        ) : mimeType.startsWith('video/') ? (
          // The library holds no subtitles.
          // oxlint-disable-next-line jsx-a11y/media-has-caption
          <video src={mediaSource(item)} controls aria-label={words.preview(name)} />
        ) : (
          <MediaThumb item={item} />
        )}
      </div>
      <dl className={classes['facts']}>
        <dt>{words.address}</dt>
        <dd>
          <CopyText value={url} />
        </dd>
        <dt>{words.type}</dt>
        <dd>{mimeType}</dd>
        <dt>{words.size}</dt>
        <dd>{formatBytes(size)}</dd>
        <dt>{words.usedBy}</dt>
        <dd>
          {usedBy === undefined ? (
            text.common.loading
          ) : usedBy.length === 0 ? (
            <Text size="sm">{words.usedByNothing}</Text>
          ) : (
            <Group gap="xs">
              {usedBy.map((template) => (
                <AppLink key={template.id} to="/templates/$id" params={{ id: template.id }} size="sm">
                  {template.name}
                </AppLink>
              ))}
            </Group>
          )}
        </dd>
      </dl>
      <Group justify="space-between">
        <Anchor href={mediaSource(item)} target="_blank" rel="noreferrer" size="sm">
          <IconExternalLink size={14} aria-hidden /> {words.open}
        </Anchor>
        <Can do="DELETE /media/:id">
          <RemoveButton item={item} usedBy={usedBy?.length ?? 0} onRemoved={onRemoved} />
        </Can>
      </Group>
    </Stack>
  )
}

type RemoveButtonProps = { item: MediaItem; usedBy: number; onRemoved(): void }

function RemoveButton({ item: { id, name }, usedBy, onRemoved }: RemoveButtonProps) {
  const remove = useApiMutation('DELETE /media/:id', { success: words.removed, onSuccess: onRemoved })
  return (
    <ConfirmButton
      label={words.remove}
      leftSection={<IconTrash size={16} aria-hidden />}
      title={words.removeTitle(name)}
      confirmLabel={text.common.yesRemove}
      isWorking={remove.isPending}
      onConfirm={() => remove.mutateAsync({ path: { id } })}
    >
      {words.removeHint} {usedBy > 0 && <strong>{words.removeUsed(usedBy)}</strong>}
    </ConfirmButton>
  )
}
