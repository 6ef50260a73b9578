/** What becomes of a test message, as it happens: the outcome in words, and its timeline with the exchange. */
import { Alert, Stack, Text } from '@mantine/core'
import { IconAlertTriangle, IconCircleCheck, IconClock } from '@tabler/icons-react'
import type { AnswerOf } from '../../api.ts'
import { AppLink } from '../../components/app-link.tsx'
import { ErrorState } from '../../components/error-state.tsx'
import { Instant } from '../../components/instant.tsx'
import { PageLoading } from '../../components/page-loading.tsx'
import { Panel } from '../../components/panel.tsx'
import { StateBadge } from '../../components/state-badge.tsx'
import { useLive } from '../../hooks/use-live.ts'
import { useApiQuery } from '../../queries.ts'
import { text } from '../../text/index.ts'
import { Timeline } from '../message/timeline.tsx'
import { sentence } from './lanes.ts'

const words = text.channels
type Message = AnswerOf<'GET /messages/:id'>

/** As it happens, for a person who looks on. */
const soonMs = 700

const isOnItsWay = ({ state }: Message) => state === 'queued' || state === 'sending'

export function TestProgress({ id }: { id: string }) {
  const { data, error, refetch } = useApiQuery('/messages/:id', { path: { id } }, { everyMs: soonMs })
  useLive({ state: () => void refetch() }, { watch: [id] })
  if (error) return <ErrorState error={error} onRetry={refetch} />
  if (data === undefined) return <PageLoading />
  return (
    <Stack gap="md">
      <Panel title={words.outcome} actions={<StateBadge state={data.state} />}>
        <Stack gap="sm" aria-live="polite">
          <Outcome message={data} />
          <AppLink to="/messages/$id" params={{ id }} size="sm">
            {words.openMessage}
          </AppLink>
        </Stack>
      </Panel>
      <Timeline message={data} />
    </Stack>
  )
}

function Outcome({ message }: { message: Message }) {
  const { state, waiting, error } = message
  const isBad = ['failed', 'expired', 'unknown', 'blocked', 'not_sent'].includes(state)
  const isRetry = waiting?.reason === 'retry'
  // An attempt that paused the line says more than that it is paused.
  const hasFailed = isBad || isRetry || (waiting?.reason === 'line_paused' && error !== null)
  const said = error?.message && hasFailed ? sentence(`${error.message} (${error.code})`) : ''
  const colour = isRetry ? 'yellow' : hasFailed ? 'red' : isOnItsWay(message) ? 'blue' : 'green'
  const Icon = hasFailed ? IconAlertTriangle : isOnItsWay(message) ? IconClock : IconCircleCheck
  return (
    <Alert color={colour} icon={<Icon aria-hidden />} role="status">
      <Text size="sm">{waiting ? words.waits[waiting.reason] : words.outcomes[state]}</Text>
      {said !== '' && (
        <Text size="sm" mt={4} style={{ overflowWrap: 'anywhere' }}>
          {said}
        </Text>
      )}
      {isRetry && (
        <Text size="sm" mt={4}>
          {words.nextTry} <Instant at={waiting.dueAt} />.
        </Text>
      )}
    </Alert>
  )
}
