/** One person: the conversation, and beside it all that is known and decided about them. */
import { Group, SimpleGrid, Stack } from '@mantine/core'
import { useParams } from '@tanstack/react-router'
import { AppLink } from '../components/app-link.tsx'
import { useCan } from '../session.ts'
import { Conversation } from '../components/conversation.tsx'
import { ErrorState } from '../components/error-state.tsx'
import { Page } from '../components/page.tsx'
import { PageLoading } from '../components/page-loading.tsx'
import { Panel } from '../components/panel.tsx'
import { ReplyBox } from '../components/reply-box.tsx'
import { useLive } from '../hooks/use-live.ts'
import { useApiQuery } from '../queries.ts'
import { text } from '../text/index.ts'
import { AttendancePanel } from './contacts/attendance-panel.tsx'
import classes from './contacts/contact.module.css'
import { ContactMarks } from './contacts/contact-marks.tsx'
import { DataPanel } from './contacts/data-panel.tsx'
import { MorePanel } from './contacts/more-panel.tsx'
import { OptOutsPanel } from './contacts/opt-outs-panel.tsx'
import { WindowsPanel } from './contacts/windows-panel.tsx'

const words = text.contacts

export function Contact() {
  const { id } = useParams({ from: '/shell/contacts/$id' })
  const can = useCan()
  const query = useApiQuery('/contacts/:id', { path: { id } })
  const { data: contact, version, error, refetch } = query
  // A window opens, and an opt-out comes, by what the person writes.
  useLive({ received: ({ contactId }) => contactId === id && void refetch() })
  const back = <AppLink to="/contacts">{words.back}</AppLink>
  if (error)
    return (
      <Page title={words.title} back={back} needs="GET /contacts/:id">
        <ErrorState error={error} onRetry={refetch} />
      </Page>
    )
  if (contact === undefined)
    return (
      <Page title={words.title} back={back} needs="GET /contacts/:id">
        <PageLoading />
      </Page>
    )
  const addresses = [contact.phone, contact.email].filter(Boolean).join(' · ')
  return (
    <Page
      title={contact.name ?? addresses}
      back={back}
      lead={
        <Group gap="xs">
          {contact.name && <span style={{ overflowWrap: 'anywhere' }}>{addresses}</span>}
          <ContactMarks contact={contact} />
        </Group>
      }
      needs="GET /contacts/:id"
    >
      <div className={classes['columns']}>
        <Panel title={text.conversation.title} p={0} className={classes['talk']}>
          <Conversation contact={contact} height="min(60vh, 40rem)" />
          {can('POST /contacts/:id/messages') && (
            <div className={classes['reply']}>
              <ReplyBox key={id} contact={contact} />
            </div>
          )}
        </Panel>
        <Stack gap="md">
          <DataPanel contact={contact} version={version} />
          <SimpleGrid cols={1} spacing="md">
            <WindowsPanel windows={contact.windows} />
            <AttendancePanel contact={contact} />
            <OptOutsPanel contact={contact} version={version} />
            <MorePanel contact={contact} />
          </SimpleGrid>
        </Stack>
      </div>
    </Page>
  )
}
