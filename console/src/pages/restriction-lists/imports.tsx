/** Importing a file of any size into a list, with its progress and the lines that were rejected. */
import { Anchor, FileInput, Group, Select, Stack, Table, Text } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { urlOf, type AnswerOf, type ItemOf } from '../../api.ts'
import { FormFrame } from '../../components/form-frame.tsx'
import { Instant } from '../../components/instant.tsx'
import { Panel } from '../../components/panel.tsx'
import { ProgressBar } from '../../components/progress-bar.tsx'
import { Tag, type Tone } from '../../components/tag.tsx'
import { formatNumber } from '../../format.ts'
import { useApiForm } from '../../hooks/use-api-form.ts'
import { useApiQuery } from '../../queries.ts'
import { text } from '../../text/index.ts'

const words = text.restrictionLists
type Job = ItemOf<'GET /imports'>

export function ImportForm({ listId, onDone }: { listId: string; onDone(): void }) {
  const form = useApiForm('POST /restriction-lists/:id/import', {
    initial: { file: null as File | null, field: '' },
    call: ({ file, field }) => ({
      path: { id: listId },
      query: { fileName: file?.name, field },
      // Some systems give a CSV file another type, or none.
      file: new Blob(file ? [file] : [], { type: 'text/csv' }),
    }),
    success: words.importStarted,
    alsoStale: ['imports'],
    onSuccess: onDone,
  })
  return (
    <FormFrame form={form} submitLabel={words.sendFile} onCancel={onDone}>
      <Text size="sm">{words.importHint}</Text>
      <FileInput
        label={words.file}
        placeholder={words.chooseFile}
        accept=".csv,.txt,text/csv,text/plain"
        required
        clearable
        {...form.field('file', 'body')}
      />
      <Select
        label={words.bareValues}
        data={[
          { value: '', label: words.withHeader },
          ...Object.entries(words.fieldNames).map(([value, label]) => ({ value, label })),
        ]}
        {...form.field('field')}
      />
      {form.isSaving && <ProgressBar label={words.sending} done={0} total={undefined} />}
    </FormFrame>
  )
}

const isUnderWay = ({ state }: Pick<Job, 'state'>) =>
  state === 'uploading' || state === 'queued' || state === 'running'

const shown = 3
const soonMs = 1_000

/** The newest imports; nothing at all where there was none. */
export function Imports({ listId }: { listId: string }) {
  const { data } = useApiQuery('/imports', { query: { listId, limit: shown } })
  if (data === undefined || data.items.length === 0) return null
  return (
    <Panel title={words.importsTitle}>
      <Stack gap="md">
        {data.items.map((job) => (
          <ImportJob key={job.id} job={job} />
        ))}
      </Stack>
    </Panel>
  )
}

/** What was seen under way has ended: the list, its entries and their count are others now. */
function useWhenOver(wasUnderWay: boolean, isStill: boolean) {
  const client = useQueryClient()
  useEffect(() => {
    if (!wasUnderWay || isStill) return
    void client.invalidateQueries({ queryKey: ['restriction-lists'] })
    void client.invalidateQueries({ queryKey: ['imports'] })
  }, [client, wasUnderWay, isStill])
}

function ImportJob({ job }: { job: Job }) {
  const live = useApiQuery(
    '/imports/:id',
    { path: { id: job.id } },
    { everyMs: isUnderWay(job) ? soonMs : false },
  )
  const current = live.data ?? { ...job, badLines: [] }
  useWhenOver(isUnderWay(job), isUnderWay(current))
  const { progress } = current
  const count = (value: number | null | undefined) => formatNumber(value ?? 0)
  return (
    <Stack gap={6} role="group" aria-label={current.fileName}>
      <Group gap="xs">
        <StateTag state={current.state} />
        <Text size="sm" fw={600} style={{ overflowWrap: 'anywhere' }}>
          {current.fileName}
        </Text>
        <Text size="xs" c="dimmed">
          <Instant at={current.createdAt} /> {words.by(current.createdBy)}
        </Text>
      </Group>
      {isUnderWay(current) && (
        <ProgressBar
          label={words.progress(count(progress.linesRead))}
          done={progress.bytesRead ?? 0}
          total={current.size || undefined}
        />
      )}
      <Text size="sm">
        {words.importCounts(
          count(progress.added),
          count(progress.changed),
          count(progress.unchanged),
          count(progress.bad),
        )}
      </Text>
      {current.error && (
        <Text size="sm" c="red.9" role="alert">
          {current.error}
        </Text>
      )}
      {current.badLines.length > 0 && <BadLines id={job.id} lines={current.badLines} />}
    </Stack>
  )
}

const tones: Record<Job['state'], Tone> = {
  uploading: 'info',
  queued: 'neutral',
  running: 'info',
  done: 'good',
  failed: 'bad',
}

const StateTag = ({ state }: { state: Job['state'] }) => <Tag tone={tones[state]}>{words.states[state]}</Tag>

function BadLines({ id, lines }: { id: string; lines: AnswerOf<'GET /imports/:id'>['badLines'] }) {
  return (
    <Stack gap={6}>
      <Text size="sm">{words.goodWentIn}</Text>
      <Table withTableBorder verticalSpacing={2} fz="sm" aria-label={words.badLines}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th w={90}>{words.badLine}</Table.Th>
            <Table.Th>{words.badReason}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {lines.map(({ line, reason }) => (
            <Table.Tr key={line}>
              <Table.Td>{formatNumber(line)}</Table.Td>
              <Table.Td style={{ overflowWrap: 'anywhere' }}>{reason}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      <Anchor size="sm" href={urlOf('GET /imports/:id/bad-lines', { path: { id } })} download>
        <IconDownload size={14} aria-hidden /> {words.allBadLines}
      </Anchor>
    </Stack>
  )
}
