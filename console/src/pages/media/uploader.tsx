/** Files dropped or chosen, one after another; what the server refuses is said at the file. */
import { ActionIcon, Button, FileButton, Group, Progress, Text } from '@mantine/core'
import { IconUpload, IconX } from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState, type DragEvent } from 'react'
import { ApiError } from '../../api.ts'
import { explain } from '../../explain.ts'
import { Tag } from '../../components/tag.tsx'
import { text } from '../../text/index.ts'
import { uploadMedia, type Upload } from '../../upload.ts'
import classes from './media.module.css'

const words = text.media

type Entry = {
  key: string
  file: File
  state: 'waiting' | 'sending' | 'stored' | 'refused'
  share: number
  error?: string
}

const sentence = (words: string) => words.charAt(0).toUpperCase() + words.slice(1)

/** What the server says about the name or the content, in one sentence. */
function refusalOf(error: unknown): string {
  if (!(error instanceof ApiError)) return text.common.somethingBroke
  const said = Object.values(error.errors).flat()
  return said.length > 0 ? said.map(sentence).join('. ') : explain(error)
}

function useUploads() {
  const client = useQueryClient()
  const [entries, setEntries] = useState<Entry[]>([])
  const current = useRef<Upload>(undefined)
  const change = (key: string, changes: Partial<Entry>) =>
    setEntries((before) => before.map((entry) => (entry.key === key ? { ...entry, ...changes } : entry)))
  const next = entries.some(({ state }) => state === 'sending')
    ? undefined
    : entries.find(({ state }) => state === 'waiting')
  useEffect(() => {
    if (next === undefined) return
    const { key, file } = next
    change(key, { state: 'sending' })
    current.current = uploadMedia(file, (share) => change(key, { share }))
    current.current.done.then(
      () => {
        change(key, { state: 'stored', share: 1 })
        void client.invalidateQueries({ queryKey: ['media'] })
      },
      (error: unknown) => change(key, { state: 'refused', error: refusalOf(error) }),
    )
  }, [next, client])
  useEffect(() => () => current.current?.abort(), [])
  return {
    entries,
    add: (files: readonly File[]) =>
      setEntries((before) => [
        ...before.filter(({ state }) => state !== 'stored'),
        ...files.map((file): Entry => ({ key: crypto.randomUUID(), file, state: 'waiting', share: 0 })),
      ]),
    again: (key: string) => change(key, { state: 'waiting', share: 0, error: '' }),
    dismiss: (key: string) => setEntries((before) => before.filter((entry) => entry.key !== key)),
  }
}

export function Uploader() {
  const { entries, add, again, dismiss } = useUploads()
  const [isOver, setIsOver] = useState(false)
  const drop = (event: DragEvent) => {
    event.preventDefault()
    setIsOver(false)
    add([...event.dataTransfer.files])
  }
  return (
    <>
      <div
        className={classes['drop']}
        data-over={isOver || undefined}
        onDragOver={(event) => {
          event.preventDefault()
          setIsOver(true)
        }}
        onDragLeave={() => setIsOver(false)}
        onDrop={drop}
      >
        <FileButton multiple accept="image/png,image/jpeg,video/mp4,application/pdf" onChange={add}>
          {(props) => (
            <Button {...props} leftSection={<IconUpload size={16} aria-hidden />}>
              {words.upload}
            </Button>
          )}
        </FileButton>
        <div>
          <Text size="sm">{words.dropHere}</Text>
          <Text size="xs" c="dimmed">
            {words.limits}
          </Text>
        </div>
      </div>
      {entries.length > 0 && (
        <ul className={classes['uploads']} aria-label={words.uploads} aria-live="polite">
          {entries.map((entry) => (
            <UploadRow
              key={entry.key}
              entry={entry}
              onAgain={() => again(entry.key)}
              onDismiss={() => dismiss(entry.key)}
            />
          ))}
        </ul>
      )}
    </>
  )
}

type UploadRowProps = { entry: Entry; onAgain(): void; onDismiss(): void }

function UploadRow({ entry: { file, state, share, error }, onAgain, onDismiss }: UploadRowProps) {
  const isSent = share >= 1
  return (
    <li className={classes['upload']}>
      <Group gap="sm" wrap="nowrap">
        <span className={classes['uploadName']}>{file.name}</span>
        {state === 'waiting' && <Tag>{words.waiting}</Tag>}
        {state === 'stored' && <Tag tone="good">{words.stored}</Tag>}
        {state === 'sending' && (
          <Text size="xs">{isSent ? words.storing : words.uploading(Math.floor(share * 100))}</Text>
        )}
        {state === 'refused' && (
          <Button size="compact-xs" variant="default" onClick={onAgain}>
            {words.again}
          </Button>
        )}
        {state !== 'sending' && (
          <ActionIcon
            variant="subtle"
            color="gray"
            size="sm"
            aria-label={words.dismiss(file.name)}
            onClick={onDismiss}
          >
            <IconX size={14} aria-hidden />
          </ActionIcon>
        )}
      </Group>
      {state === 'sending' && (
        <Progress mt={4} size="sm" value={share * 100} aria-label={words.progressOf(file.name)} />
      )}
      {state === 'refused' && (
        <Text size="sm" c="var(--mantine-color-error)" role="alert">
          {error}
        </Text>
      )}
    </li>
  )
}
