/** How an import is doing, live; then what became of its lines. */
import { Alert, Anchor, Group, SimpleGrid, Stack, Table, Text } from '@mantine/core'
import { IconAlertTriangle, IconCircleCheck, IconDownload } from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { urlOf, type AnswerOf } from '../../api.ts'
import { ErrorState } from '../../components/error-state.tsx'
import { PageLoading } from '../../components/page-loading.tsx'
import { Panel } from '../../components/panel.tsx'
import { ProgressBar } from '../../components/progress-bar.tsx'
import { formatNumber } from '../../format.ts'
import { useApiQuery } from '../../queries.ts'
import { text } from '../../text/index.ts'

const words = text.imports
type Job = AnswerOf<'GET /imports/:id'>

const everyMs = 700
const isOver = ({ state }: Pick<Job, 'state'>): boolean => state === 'done' || state === 'failed'

export function ImportJob({ id }: { id: string }) {
  const client = useQueryClient()
  const first = useApiQuery('/imports/:id', { path: { id } })
  const isGoing = first.data !== undefined && !isOver(first.data)
  const { data, error, refetch } = useApiQuery(
    '/imports/:id',
    { path: { id } },
    { everyMs: isGoing ? everyMs : false },
  )
  const isDone = data !== undefined && isOver(data)
  // The lists beside it show what went in.
  useEffect(() => {
    if (!isDone) return
    void client.invalidateQueries({ queryKey: ['contacts'] })
    void client.invalidateQueries({ queryKey: ['imports', '/imports'] })
  }, [isDone, client])
  if (error) return <ErrorState error={error} onRetry={refetch} />
  if (data === undefined) return <PageLoading />
  return (
    <Panel>
      <Stack gap="md">
        <Head job={data} />
        <Counts progress={data.progress} />
        {data.badLines.length > 0 && <BadLines job={data} />}
      </Stack>
    </Panel>
  )
}

function Head({ job: { state, fileName, progress, size, error } }: { job: Job }) {
  switch (state) {
    case 'uploading':
    case 'queued':
      return <ProgressBar label={words.waiting(fileName)} done={0} total={undefined} />
    case 'running':
      return (
        <ProgressBar
          label={words.running(fileName)}
          done={progress.bytesRead ?? 0}
          total={size > 0 ? size : undefined}
        />
      )
    case 'done':
      return (
        <Alert
          color="green"
          icon={<IconCircleCheck aria-hidden />}
          title={words.doneTitle(fileName)}
          role="status"
        />
      )
    case 'failed':
      return (
        <Alert
          color="red"
          icon={<IconAlertTriangle aria-hidden />}
          title={words.failedTitle(fileName)}
          role="alert"
        >
          {error}
        </Alert>
      )
  }
}

function Counts({ progress }: { progress: Job['progress'] }) {
  const counts = [
    [words.read, progress.linesRead],
    [words.added, progress.added],
    [words.changed, progress.changed],
    [words.unchanged, progress.unchanged],
    [words.bad, progress.bad],
  ] as const
  return (
    <SimpleGrid cols={{ base: 2, sm: 5 }} spacing="sm" component="dl" m={0}>
      {counts.map(([label, count]) => (
        <div key={label}>
          <Text component="dt" size="xs" c="dimmed">
            {label}
          </Text>
          <Text component="dd" m={0} fw={600} fz="lg">
            {formatNumber(count ?? 0)}
          </Text>
        </div>
      ))}
    </SimpleGrid>
  )
}

function BadLines({ job: { id, badLines, progress } }: { job: Job }) {
  return (
    <div>
      <Group justify="space-between" gap="xs">
        <Text fw={600}>{words.badTitle}</Text>
        <Anchor href={urlOf('GET /imports/:id/bad-lines', { path: { id } })} download size="sm">
          <Group gap={4} component="span">
            <IconDownload size={16} aria-hidden /> {words.download}
          </Group>
        </Anchor>
      </Group>
      <Text size="sm" c="dimmed" mb="xs">
        {words.badHint(badLines.length, progress.bad ?? badLines.length)}
      </Text>
      <Table fz="sm" verticalSpacing={4} aria-label={words.badTitle}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th w={80}>{words.line}</Table.Th>
            <Table.Th>{words.reason}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {badLines.map(({ line, reason }) => (
            <Table.Tr key={line}>
              <Table.Td>{formatNumber(line)}</Table.Td>
              <Table.Td style={{ overflowWrap: 'anywhere' }}>{reason}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </div>
  )
}
