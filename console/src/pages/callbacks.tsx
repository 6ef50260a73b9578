/** Callbacks: what receivers were told, what is on its way, what was given up. */
import { Alert, Anchor, Text } from '@mantine/core'
import { IconRefresh, IconWebhook } from '@tabler/icons-react'
import { AppLink, LinkButton } from '../components/app-link.tsx'
import { Can } from '../components/can.tsx'
import { ConfirmButton } from '../components/confirm-button.tsx'
import { DataTable, type Column } from '../components/data-table.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { FilterBar } from '../components/filter-bar.tsx'
import { Instant } from '../components/instant.tsx'
import { Page } from '../components/page.tsx'
import { useListState } from '../hooks/use-list-state.ts'
import { useApiMutation, useApiQuery } from '../queries.ts'
import { text } from '../text/index.ts'
import classes from './callbacks/callbacks.module.css'
import { lastAnswer, nextTry, type CallbackItem } from './callbacks/next-try.ts'
import { CallbackState, MessageOf } from './callbacks/parts.tsx'

const words = text.callbacks
const filters = { state: '', event: '', messageId: '', endpoint: '' }
const optionsOf = <T extends string>(names: Record<T, string>) =>
  Object.entries<string>(names).map(([value, label]) => ({ value, label }))

export function Callbacks() {
  const list = useListState({ filters })
  const { messageId, event } = list.filters
  const isIdWrong = messageId !== '' && !/^msg_[0-9a-f]{32}$/.test(messageId)
  const query = useApiQuery(
    '/callbacks',
    { query: isIdWrong ? { ...list.query, messageId: undefined } : list.query },
    { keepsFormer: true, everyMs: 5_000 },
  )
  const columns = columnsWith((endpoint) => list.setFilters({ endpoint }))
  return (
    <Page title={words.title} lead={words.lead} needs="GET /callbacks" actions={<ReplayAll event={event} />}>
      <FilterBar
        list={list}
        filters={[
          {
            name: 'state',
            kind: 'select',
            label: words.state,
            options: optionsOf(words.states),
            allLabel: words.anyState,
          },
          {
            name: 'event',
            kind: 'select',
            label: words.event,
            options: optionsOf(words.events),
            allLabel: words.anyEvent,
          },
          { name: 'endpoint', kind: 'text', label: words.endpoint, placeholder: words.endpointHint },
          { name: 'messageId', kind: 'text', label: words.message, placeholder: words.messageHint },
        ]}
      />
      {isIdWrong && <Alert color="yellow">{words.messageWrong}</Alert>}
      <DataTable
        label={words.title}
        columns={columns}
        query={query}
        list={list}
        rowKey={({ id }) => String(id)}
        actions={(callback) => <Replay callback={callback} />}
        empty={
          <EmptyState
            icon={IconWebhook}
            title={words.emptyTitle}
            hint={words.emptyHint}
            action={
              <Can do="PUT /company/webhook">
                <LinkButton to="/settings/company" search={{ tab: 'webhook' }} variant="default">
                  {words.toWebhook}
                </LinkButton>
              </Can>
            }
          />
        }
      />
    </Page>
  )
}

const columnsWith = (onEndpoint: (endpoint: string) => void): readonly Column<CallbackItem>[] => [
  {
    header: words.event,
    isTitle: true,
    cell: ({ id, event }) => (
      <AppLink to="/callbacks/$id" params={{ id: String(id) }} size="sm" fw={600}>
        {words.events[event]}
      </AppLink>
    ),
  },
  { header: words.state, cell: ({ state }) => <CallbackState state={state} /> },
  {
    header: words.next,
    cell: (callback) => <Text size="sm">{nextTry(callback, Date.now())}</Text>,
  },
  {
    header: words.answer,
    cell: (callback) => (
      <span className={classes['clip']} title={lastAnswer(callback)}>
        {lastAnswer(callback) ?? text.common.none}
      </span>
    ),
  },
  {
    header: words.receiver,
    cell: ({ target, endpoint, url }) => (
      <div className={classes['receiver']}>
        <Anchor
          component="button"
          size="sm"
          title={words.onlyEndpoint}
          onClick={() => onEndpoint(endpoint)}
          className={classes['clip']}
        >
          {target === 'webhook' ? words.webhook : (url ?? endpoint)}
        </Anchor>
        {target === 'webhook' && <span className={classes['sub']}>{url ?? words.noUrl}</span>}
      </div>
    ),
  },
  { header: words.message, cell: ({ messageId }) => <MessageOf messageId={messageId} /> },
  { header: words.at, cell: ({ at }) => <Instant at={at} /> },
]

function Replay({ callback: { id } }: { callback: CallbackItem }) {
  const replay = useApiMutation('POST /callbacks/replay', {
    success: ({ replayed }) => words.replayed(replayed),
  })
  return (
    <Can do="POST /callbacks/replay">
      <ConfirmButton
        label={words.replayOf(id)}
        icon={<IconRefresh size={16} aria-hidden />}
        title={words.replayTitle}
        confirmLabel={words.replay}
        isDangerous={false}
        isWorking={replay.isPending}
        onConfirm={() => replay.mutateAsync({ body: { id } })}
      >
        {words.replayHint}
      </ConfirmButton>
    </Can>
  )
}

function ReplayAll({ event }: { event: string }) {
  const replay = useApiMutation('POST /callbacks/replay', {
    success: ({ replayed }) => words.replayed(replayed),
  })
  const known = event in words.events ? (event as CallbackItem['event']) : undefined
  return (
    <Can do="POST /callbacks/replay">
      <ConfirmButton
        label={words.replayAll}
        leftSection={<IconRefresh size={16} aria-hidden />}
        title={words.replayAllTitle}
        confirmLabel={words.replay}
        isDangerous={false}
        isWorking={replay.isPending}
        onConfirm={() => replay.mutateAsync({ body: { state: 'given_up', event: known } })}
      >
        {words.replayAllHint} {known && words.replayAllOf(words.events[known])}
      </ConfirmButton>
    </Can>
  )
}
