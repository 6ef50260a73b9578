/** One person's conversation, with who they are with, the window, and the reply. */
import { Button, Group, Text, Title } from '@mantine/core'
import { IconArrowLeft, IconMessages } from '@tabler/icons-react'
import { AppLink } from '../../components/app-link.tsx'
import { AttendanceActions } from '../../components/attendance-actions.tsx'
import { Conversation } from '../../components/conversation.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { ErrorState } from '../../components/error-state.tsx'
import { Instant } from '../../components/instant.tsx'
import { PageLoading } from '../../components/page-loading.tsx'
import { ReplyBox } from '../../components/reply-box.tsx'
import { WindowClock } from '../../components/window-clock.tsx'
import { useLive } from '../../hooks/use-live.ts'
import { useApiQuery } from '../../queries.ts'
import { useCan, useSession } from '../../session.ts'
import { text } from '../../text/index.ts'
import classes from './attendance.module.css'

const words = text.attendance

export const NobodyChosen = () => (
  <EmptyState icon={IconMessages} title={words.choose} hint={words.chooseHint} />
)

const everyMs = 10_000

export function Desk({ contactId, onBack }: { contactId: string; onBack(): void }) {
  const can = useCan()
  const { userId } = useSession()
  const contact = useApiQuery('/contacts/:id', { path: { id: contactId } }, { everyMs })
  const open = useApiQuery('/attendances', { query: { contactId, limit: 1 } }, { everyMs })
  useLive({ received: (event) => event.contactId === contactId && void contact.refetch() })
  const back = (
    <Button
      className={classes['back']}
      variant="subtle"
      size="xs"
      leftSection={<IconArrowLeft size={16} aria-hidden />}
      onClick={onBack}
    >
      {words.backToList}
    </Button>
  )
  if (contact.error)
    return (
      <>
        {back}
        <ErrorState error={contact.error} onRetry={contact.refetch} />
      </>
    )
  if (contact.data === undefined) return <PageLoading />
  const { id, name, phone, email, windows } = contact.data
  const attendance = open.data?.items[0]
  const latest = windows[0]?.closesAt ?? null
  return (
    <>
      <header className={classes['head']}>
        {back}
        <Group justify="space-between" gap="xs" align="flex-start">
          <div className={classes['who']}>
            <Title order={2}>
              <AppLink to="/contacts/$id" params={{ id }} inherit title={words.toContact}>
                {name ?? phone ?? email}
              </AppLink>
            </Title>
            <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
              {[phone, email].filter(Boolean).join(' · ')}
            </Text>
            <Text size="sm">
              {attendance ? (
                <>
                  {attendance.user.id === userId ? words.withYou : words.with(attendance.user.name)}{' '}
                  {words.since} <Instant at={attendance.openedAt} as="short" />
                </>
              ) : (
                open.data && words.withNobody
              )}
            </Text>
          </div>
          <AttendanceActions contactId={id} attendance={attendance} size="xs" />
        </Group>
        <div>
          <WindowClock closesAt={latest} label={words.window} />
        </div>
      </header>
      <div className={classes['talk']}>
        <Conversation contact={contact.data} />
      </div>
      {can('POST /contacts/:id/messages') && (
        <div className={classes['reply']}>
          <ReplyBox contact={contact.data} />
        </div>
      )}
    </>
  )
}
