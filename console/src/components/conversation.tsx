/** What was said with a contact, both ways, oldest above. The newest is in view; older pages come on demand. */
import { Button, Skeleton, Stack, Text } from '@mantine/core'
import { IconMessages } from '@tabler/icons-react'
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { Fragment, useMemo, type ReactNode } from 'react'
import { call, urlOf, type ApiError, type Answered, type ItemOf } from '../api.ts'
import { formatShort } from '../format.ts'
import { useLive } from '../hooks/use-live.ts'
import { keyOf, useApiQuery } from '../queries.ts'
import { text } from '../text/index.ts'
import { AppLink } from './app-link.tsx'
import classes from './conversation.module.css'
import { EmptyState } from './empty-state.tsx'
import { ErrorState } from './error-state.tsx'
import { MessageBubble, type BubbleFile } from './message-bubble.tsx'

const words = text.conversation
const route = 'GET /contacts/:id/conversation' as const
type Item = ItemOf<typeof route>
const pageSize = 30

export type Talker = { id: string; phone: string | null; email: string | null }

export function Conversation({ contact, height }: { contact: Talker; height?: string }) {
  const query = useConversation(contact)
  const { data: lines } = useApiQuery('/lines', { query: { limit: 200 } })
  const names = useMemo(() => new Map(lines?.items.map(({ id, name }) => [id, name])), [lines])
  const items = useMemo(
    () => (query.data?.pages ?? []).flatMap(({ data }) => data.items).toReversed(),
    [query.data],
  )
  if (query.error && query.data === undefined)
    return <ErrorState error={query.error} onRetry={() => query.refetch()} />
  if (query.data === undefined) return <Waiting />
  if (items.length === 0)
    return <EmptyState icon={IconMessages} title={words.emptyTitle} hint={words.emptyHint} />
  return (
    <div
      className={classes['frame']}
      style={{ height }}
      tabIndex={0}
      role="log"
      aria-label={words.title}
      aria-busy={query.isFetching}
    >
      <Stack gap="sm" className={classes['talk']}>
        {query.hasNextPage && (
          <Button
            variant="default"
            size="xs"
            mx="auto"
            loading={query.isFetchingNextPage}
            onClick={() => void query.fetchNextPage()}
          >
            {words.older}
          </Button>
        )}
        {items.map((item, index) => (
          <Fragment key={item.id}>
            {dayOf(item.at) !== dayOf(items[index - 1]?.at) && (
              <div className={classes['day']}>{dayOf(item.at)}</div>
            )}
            <Bubble item={item} line={item.lineId ? names.get(item.lineId) : undefined} />
          </Fragment>
        ))}
      </Stack>
    </div>
  )
}

/** Read again when either side writes; states of messages under way are followed. */
function useConversation(contact: Talker) {
  const client = useQueryClient()
  const queryKey = [...keyOf(route, { path: { id: contact.id } }), 'pages']
  const query = useInfiniteQuery<
    Answered<typeof route>,
    ApiError,
    { pages: Answered<typeof route>[] },
    typeof queryKey,
    string | undefined
  >({
    queryKey,
    queryFn: ({ pageParam, signal }) =>
      call(route, { path: { id: contact.id }, query: { cursor: pageParam, limit: pageSize }, signal }),
    initialPageParam: undefined,
    getNextPageParam: ({ data }) => data.nextCursor ?? undefined,
    // Nobody tells when a file has been fetched from the provider.
    refetchInterval: ({ state: { data } }) =>
      hasPendingFile(data?.pages[0]?.data.items) ? fetchingMs : false,
  })
  const again = () => void client.invalidateQueries({ queryKey })
  const moving = (query.data?.pages[0]?.data.items ?? [])
    .filter(({ state, channel }) => canMove(state, channel))
    .map(({ id }) => id)
  useLive(
    {
      opened: again,
      received: ({ contactId }) => contactId === contact.id && again(),
      message: ({ recipient }) => isTo(contact, recipient) && again(),
      state: ({ id, state }) => {
        const known = query.data?.pages[0]?.data.items.find((item) => item.id === id)
        if (known && known.state !== state) again()
      },
    },
    { watch: moving },
  )
  return query
}

const fetchingMs = 2_000
const hasPendingFile = (items: readonly Item[] = []): boolean =>
  items.some(({ files }) => files.some(({ state }) => state === 'pending'))

/** Whether more is to be expected of it: only WhatsApp tells that something was read. */
const canMove = (state: Item['state'], channel: Item['channel']): boolean =>
  state === 'queued' ||
  state === 'sending' ||
  state === 'sent' ||
  (state === 'delivered' && channel === 'whatsapp')

/** Numbers may be written with or without country code and ninth digit: the last eight are the same. */
function isTo({ phone, email }: Talker, recipient: string): boolean {
  if (recipient.includes('@')) return email?.toLowerCase() === recipient.toLowerCase()
  const ending = (number: string) => number.replaceAll(/\D/g, '').slice(-8)
  return phone !== null && ending(phone) === ending(recipient)
}

function Bubble({ item, line }: { item: Item; line: string | undefined }) {
  const { direction, id, channel, at, state } = item
  const below: ReactNode[] = [...new Set([text.common.channels[channel], line].filter(Boolean))]
  if (item.effect) below.push(words.effects[item.effect])
  if (item.errorMessage) below.push(item.errorMessage)
  return (
    <MessageBubble
      channel={channel}
      direction={direction}
      text={item.text}
      subject={item.subject ?? undefined}
      isHtml={item.isHtml}
      files={item.files.map((file, position) => fileOf(item, file, position))}
      at={at}
      author={item.author ?? undefined}
      state={state ?? undefined}
    >
      {below.map((part, index) => (
        <Fragment key={index}>{index > 0 ? <> · {part}</> : part}</Fragment>
      ))}
      {direction === 'out' && (
        <>
          {' · '}
          <AppLink
            to="/messages/$id"
            params={{ id }}
            size="xs"
            underline="always"
            aria-label={words.timelineOf(formatShort(new Date(at)))}
          >
            {words.timeline}
          </AppLink>
        </>
      )}
    </MessageBubble>
  )
}

function fileOf({ direction, id }: Item, file: Item['files'][number], position: number): BubbleFile {
  const { mimeType, size, state } = file
  const base = { name: file.name ?? words.unnamed(mimeType), mimeType, size }
  switch (state) {
    case 'stored': {
      const href =
        direction === 'out'
          ? urlOf('GET /messages/:id/file', { path: { id }, query: { position } })
          : urlOf('GET /received/:id/file', { path: { id }, query: { position } })
      return { ...base, href }
    }
    case 'pending':
      return { ...base, note: words.fetching }
    case 'failed':
      return { ...base, note: words.lost }
    case 'elsewhere':
      // The type is left out: a picture of another host would not be shown, only linked.
      return {
        name: base.name,
        note: words.remote,
        href: /^https?:\/\//i.test(file.url ?? '') ? file.url! : undefined,
      }
  }
}

const days = new Intl.DateTimeFormat('en-GB', {
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  year: 'numeric',
})
const dayOf = (at: string | undefined): string => (at === undefined ? '' : days.format(new Date(at)))

const Waiting = () => (
  <Stack gap="sm" p="sm" role="status" aria-label={text.common.loading}>
    <Skeleton height={44} width="55%" />
    <Skeleton height={60} width="65%" ml="auto" />
    <Skeleton height={32} width="40%" />
    <Text span hidden>
      {text.common.loading}
    </Text>
  </Stack>
)
