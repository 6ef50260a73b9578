/** What becomes of a test message: steps, the exchange with the provider, and the outcome in words. */
import { Alert, Group, Stack, Text } from '@mantine/core'
import { IconAlertTriangle, IconCircleCheck, IconClock } from '@tabler/icons-react'
import type { AnswerOf } from '../../api.ts'
import { AppLink } from '../../components/app-link.tsx'
import { ErrorState } from '../../components/error-state.tsx'
import { Instant } from '../../components/instant.tsx'
import { ExchangeView, JsonView } from '../../components/json-view.tsx'
import { PageLoading } from '../../components/page-loading.tsx'
import { Panel } from '../../components/panel.tsx'
import { StateBadge } from '../../components/state-badge.tsx'
import { formatDuration } from '../../format.ts'
import { useLive } from '../../hooks/use-live.ts'
import { useApiQuery } from '../../queries.ts'
import { text } from '../../text/index.ts'
import { sentence } from './lanes.ts'
import classes from './channels.module.css'

const words = text.channels
type Message = AnswerOf<'GET /messages/:id'>
type Event = Message['events'][number]

/** As it happens, for a person who looks on. */
const soonMs = 700

const isOnItsWay = ({ state }: Message) => state === 'queued' || state === 'sending'

export function TestProgress({ id }: { id: string }) {
  const { data, error, refetch } = useApiQuery('/messages/:id', { path: { id } }, { everyMs: soonMs })
  useLive({ state: () => void refetch() }, { watch: [id] })
  if (error) return <ErrorState error={error} onRetry={refetch} />
  return (
    <Panel title={words.exchange} actions={data && <StateBadge state={data.state} />}>
      {data === undefined ? <PageLoading /> : <Progress message={data} />}
    </Panel>
  )
}

const Progress = ({ message }: { message: Message }) => (
  <Stack gap="md" aria-live="polite">
    <Outcome message={message} />
    <ol className={classes['steps']}>
      {message.events.map((event, index) => (
        // Events have no ids; they are only ever added at the end.
        <Step key={`${event.at} ${index}`} event={event} since={message.acceptedAt} />
      ))}
    </ol>
    <AppLink to="/messages/$id" params={{ id: message.id }} size="sm">
      {words.openMessage}
    </AppLink>
  </Stack>
)

function Outcome({ message }: { message: Message }) {
  const { state, waiting, error } = message
  const isBad = ['failed', 'expired', 'unknown', 'blocked', 'not_sent'].includes(state)
  const isRetry = waiting?.reason === 'retry'
  const said = error?.message && (isBad || isRetry) ? sentence(`${error.message} (${error.code})`) : ''
  const tone = isBad ? 'red' : isRetry ? 'yellow' : isOnItsWay(message) ? 'blue' : 'green'
  const Icon = isBad ? IconAlertTriangle : isOnItsWay(message) ? IconClock : IconCircleCheck
  return (
    <Alert color={tone} icon={<Icon aria-hidden />} role="status">
      <Text size="sm">
        {waiting ? (words.waits[waiting.reason] ?? words.outcomes.queued) : words.outcomes[state]}
      </Text>
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

type Told = {
  exchange?: { request?: string; response?: string }
  error?: { message?: string; code?: string }
  state?: keyof typeof text.common.states
  providerIds?: string[]
}

function Step({ event, since }: { event: Event; since: string }) {
  const { exchange, error, state, providerIds, ...rest } = event.detail as Told & Record<string, unknown>
  const isReceipt = event.kind === 'receipt' && state !== undefined
  const title = isReceipt
    ? words.receiptOf(text.common.states[state] ?? state)
    : (words.events[event.kind] ?? sentence(event.kind.replaceAll('_', ' ')))
  const isBad = error !== undefined || state === 'failed' || state === 'expired'
  const isGood = event.kind === 'sent' || (isReceipt && !isBad)
  const passedMs = new Date(event.at).getTime() - new Date(since).getTime()
  return (
    <li className={classes['step']} data-tone={isBad ? 'bad' : isGood ? 'good' : undefined}>
      <Group gap="xs" justify="space-between">
        <Text size="sm" fw={600}>
          {title}
        </Text>
        <Text size="xs" c="dimmed" title={event.at}>
          {passedMs > 0 ? words.after(formatDuration(passedMs)) : <Instant at={event.at} as="short" />}
        </Text>
      </Group>
      {error?.message && (
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          {sentence(error.message)}
        </Text>
      )}
      {providerIds && providerIds.length > 0 && (
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          {words.providerId(providerIds.join(', '))}
        </Text>
      )}
      {exchange ? (
        <ExchangeView
          parts={[
            { label: words.request, value: exchange.request },
            { label: words.response, value: exchange.response },
          ]}
        />
      ) : (
        Object.keys(rest).length > 0 && (
          <details>
            <summary>{words.details}</summary>
            <JsonView value={event.detail} label={title} />
          </details>
        )
      )}
    </li>
  )
}
