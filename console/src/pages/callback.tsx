/** One callback: what is sent, every try with its answer, and what comes next. */
import { Alert, Group, Stack, Text } from '@mantine/core'
import { IconPlugConnectedX, IconRefresh } from '@tabler/icons-react'
import { useParams } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { AnswerOf } from '../api.ts'
import { AppLink } from '../components/app-link.tsx'
import { Can } from '../components/can.tsx'
import { ConfirmButton } from '../components/confirm-button.tsx'
import { CopyText } from '../components/copy-text.tsx'
import { ErrorState } from '../components/error-state.tsx'
import { Instant } from '../components/instant.tsx'
import { CodeBlock, ExchangeView } from '../components/json-view.tsx'
import { NotFound } from '../components/not-found.tsx'
import { Page } from '../components/page.tsx'
import { PageLoading } from '../components/page-loading.tsx'
import { Panel } from '../components/panel.tsx'
import { Tag } from '../components/tag.tsx'
import { formatDuration } from '../format.ts'
import { useApiMutation, useApiQuery } from '../queries.ts'
import { text } from '../text/index.ts'
import classes from './callbacks/callbacks.module.css'
import { nextTry } from './callbacks/next-try.ts'
import { CallbackState, MessageOf } from './callbacks/parts.tsx'

const words = text.callbacks
type Details = AnswerOf<'GET /callbacks/attempts'>

export function Callback() {
  const { id } = useParams({ from: '/shell/callbacks/$id' })
  const callbackId = Number(id)
  const isNumber = Number.isSafeInteger(callbackId) && callbackId > 0
  const { data, error, refetch } = useApiQuery(
    '/callbacks/attempts',
    { query: { callbackId } },
    { isEnabled: isNumber, everyMs: 5_000 },
  )
  if (!isNumber) return <NotFound />
  return (
    <Page
      title={data ? `${words.details(callbackId)}: ${words.events[data.callback.event]}` : words.title}
      needs="GET /callbacks/attempts"
      back={<AppLink to="/callbacks">{words.one.back}</AppLink>}
      lead={
        data && (
          <Group gap="xs" component="span">
            <CallbackState state={data.callback.state} />
            {nextTry(data.callback, Date.now(), data.trouble?.closedUntil)}
          </Group>
        )
      }
      actions={data && <ReplayButton id={callbackId} />}
    >
      {error && data === undefined && <ErrorState error={error} onRetry={refetch} />}
      {!error && data === undefined && <PageLoading />}
      {data && <Details details={data} />}
    </Page>
  )
}

function Details({ details }: { details: Details }) {
  const { callback, webhookId, trouble } = details
  return (
    <>
      {trouble && callback.state === 'waiting' && (
        <Alert color="yellow" icon={<IconPlugConnectedX aria-hidden />} title={words.one.trouble}>
          {words.one.troubleHint(trouble.failures)} {words.one.since} <Instant at={trouble.failingSince} />.
        </Alert>
      )}
      <Panel title={words.one.facts}>
        <dl className={classes['facts']}>
          <Fact label={words.one.url}>
            {callback.target === 'webhook' ? `${words.webhook}: ` : ''}
            {callback.url ?? words.noUrl}
          </Fact>
          <Fact label={words.one.webhookId}>
            <CopyText value={webhookId} />
          </Fact>
          <Fact label={words.one.message}>
            <MessageOf messageId={callback.messageId} />
          </Fact>
          <Fact label={words.one.happened}>
            <Instant at={callback.at} as="short" />
          </Fact>
          {callback.replayedAt && (
            <Fact label={words.one.replayedAt}>
              <Instant at={callback.replayedAt} as="short" />
            </Fact>
          )}
          {callback.finishedAt && (
            <Fact label={words.one.finishedAt}>
              <Instant at={callback.finishedAt} as="short" />
            </Fact>
          )}
        </dl>
      </Panel>
      <Panel title={words.one.attempts}>
        {details.items.length === 0 ? (
          <Text size="sm" c="dimmed">
            {words.one.noAttempts}
          </Text>
        ) : (
          <div>
            {details.items.toReversed().map((attempt) => (
              <Attempt key={attempt.number} attempt={attempt} />
            ))}
          </div>
        )}
      </Panel>
      <Panel title={words.one.request}>
        <Stack gap="sm">
          <Text size="sm" c="dimmed">
            {words.one.requestHint}
          </Text>
          <ExchangeView
            parts={[
              { label: words.one.headers, value: headersOf(details) },
              { label: words.one.body, value: pretty(details.body) },
            ]}
          />
        </Stack>
      </Panel>
    </>
  )
}

const headersOf = ({ callback, webhookId }: Details): string =>
  [
    `POST ${callback.url ?? ''}`,
    'content-type: application/json',
    `webhook-id: ${webhookId}`,
    `webhook-timestamp: (${words.one.signature})`,
    `webhook-signature: (${words.one.signature})`,
  ].join('\n')

function pretty(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), undefined, 2)
  } catch {
    return body
  }
}

function Attempt({ attempt }: { attempt: Details['items'][number] }) {
  const { number, at, durationMs, status, error, answer } = attempt
  const isTaken = status !== null && status >= 200 && status < 300
  return (
    <div className={classes['attempt']}>
      <Group gap="sm" mb={6}>
        <Text size="sm" fw={600}>
          {words.one.number} {number}
        </Text>
        <Tag tone={isTaken ? 'good' : 'bad'}>{status === null ? words.noAnswer : words.status(status)}</Tag>
        <Text size="sm" c="dimmed">
          <Instant at={at} as="short" /> · {words.one.took} {formatDuration(durationMs)}
        </Text>
      </Group>
      {error && <CodeBlock value={error} label={words.noAnswer} />}
      {status !== null &&
        (answer ? (
          <CodeBlock value={answer} label={words.one.answerBody} maxHeight={200} />
        ) : (
          <Text size="sm" c="dimmed">
            {words.one.emptyAnswer}
          </Text>
        ))}
    </div>
  )
}

const Fact = ({ label, children }: { label: string; children: ReactNode }) => (
  <div>
    <dt>{label}</dt>
    <dd>{children}</dd>
  </div>
)

function ReplayButton({ id }: { id: number }) {
  const replay = useApiMutation('POST /callbacks/replay', {
    success: ({ replayed }) => words.replayed(replayed),
  })
  return (
    <Can do="POST /callbacks/replay">
      <ConfirmButton
        label={words.replay}
        leftSection={<IconRefresh size={16} aria-hidden />}
        title={words.replayTitle}
        isDangerous={false}
        isWorking={replay.isPending}
        onConfirm={() => replay.mutateAsync({ body: { id } })}
      >
        {words.replayHint}
      </ConfirmButton>
    </Can>
  )
}
