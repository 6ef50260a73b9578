/** The people of a list: those with me, with anybody, or with nobody. */
import { Button, Skeleton, Stack, UnstyledButton } from '@mantine/core'
import { IconHeadset } from '@tabler/icons-react'
import { useState } from 'react'
import type { ItemOf } from '../../api.ts'
import { EmptyState } from '../../components/empty-state.tsx'
import { ErrorState } from '../../components/error-state.tsx'
import { Instant } from '../../components/instant.tsx'
import { WindowClock } from '../../components/window-clock.tsx'
import { useApiQuery } from '../../queries.ts'
import { useSession } from '../../session.ts'
import { text } from '../../text/index.ts'
import classes from './attendance.module.css'

const words = text.attendance

export const listNames = ['mine', 'all', 'waiting'] as const
export type ListName = (typeof listNames)[number]

type Attendance = ItemOf<'GET /attendances'>
type Waiting = ItemOf<'GET /attendances/waiting'>

type ListProps = { list: ListName; chosen: string | undefined; onChoose(contactId: string): void }

/** Handing over and closing are told by nobody, so that lists are read again. */
const everyMs = 10_000
const pageSize = 50

export function PeopleList({ list, chosen, onChoose }: ListProps) {
  const { userId } = useSession()
  const [limit, setLimit] = useState(pageSize)
  const isWaiting = list === 'waiting'
  const attended = useApiQuery(
    '/attendances',
    { query: { limit, ...(list === 'mine' && { userId }) } },
    { everyMs, isEnabled: !isWaiting, keepsFormer: true },
  )
  const waiting = useApiQuery(
    '/attendances/waiting',
    { query: { limit } },
    { everyMs, isEnabled: isWaiting, keepsFormer: true },
  )
  const query = isWaiting ? waiting : attended
  if (query.error && query.data === undefined)
    return <ErrorState error={query.error} onRetry={query.refetch} />
  if (query.data === undefined) return <Loading />
  const rows = isWaiting
    ? (waiting.data?.items ?? []).map((one) => ({ ...one, user: undefined, isUnanswered: true }))
    : (attended.data?.items ?? [])
  if (rows.length === 0) return <Nobody list={list} />
  return (
    <>
      {isWaiting && <p className={classes['hint']}>{words.waitingHint}</p>}
      <ul className={classes['people']}>
        {rows.map((row) => (
          <li key={row.contact.id}>
            <Person
              row={row}
              isMine={row.user?.id === userId}
              isChosen={row.contact.id === chosen}
              onChoose={() => onChoose(row.contact.id)}
            />
          </li>
        ))}
      </ul>
      {query.data.nextCursor && limit < 200 && (
        <Button variant="subtle" size="xs" fullWidth onClick={() => setLimit(200)}>
          {text.common.next}
        </Button>
      )}
    </>
  )
}

type Row = Pick<Attendance | Waiting, 'contact' | 'lastWord' | 'windowClosesAt'> & {
  user: Attendance['user'] | undefined
  isUnanswered: boolean
}

type PersonProps = { row: Row; isMine: boolean; isChosen: boolean; onChoose(): void }

function Person({ row, isMine, isChosen, onChoose }: PersonProps) {
  const { contact, lastWord, windowClosesAt, user, isUnanswered } = row
  const name = contact.name ?? contact.phone ?? contact.email ?? text.contacts.unnamed
  return (
    <UnstyledButton
      className={classes['person']}
      data-chosen={isChosen || undefined}
      aria-current={isChosen || undefined}
      onClick={onChoose}
    >
      <span className={classes['top']}>
        <span className={classes['name']}>
          {isUnanswered && <span className={classes['dot']} role="img" aria-label={words.unanswered} />}
          {name}
        </span>
        <span className={classes['when']}>{lastWord && <Instant at={lastWord.at} />}</span>
      </span>
      <span className={classes['word']}>{lastWord ? lastWord.text : words.noWord}</span>
      <span className={classes['bottom']}>
        <WindowClock closesAt={windowClosesAt} />
        <span>{user ? (isMine ? words.withYou : words.with(user.name)) : words.withNobody}</span>
      </span>
    </UnstyledButton>
  )
}

function Nobody({ list }: { list: ListName }) {
  const told = {
    mine: [words.emptyMine, words.emptyMineHint],
    all: [words.emptyAll, words.emptyAllHint],
    waiting: [words.emptyWaiting, words.emptyWaitingHint],
  } as const
  return <EmptyState icon={IconHeadset} title={told[list][0]} hint={told[list][1]} />
}

const Loading = () => (
  <Stack gap="sm" p="sm" role="status" aria-label={text.common.loading}>
    <Skeleton height={58} />
    <Skeleton height={58} />
    <Skeleton height={58} />
  </Stack>
)
