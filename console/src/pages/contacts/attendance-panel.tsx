/** Who the person is with now, and who they were with before. */
import { Stack, Text } from '@mantine/core'
import type { AnswerOf, ItemOf } from '../../api.ts'
import { AttendanceActions } from '../../components/attendance-actions.tsx'
import { Instant } from '../../components/instant.tsx'
import { Panel } from '../../components/panel.tsx'
import { useApiQuery } from '../../queries.ts'
import { text } from '../../text/index.ts'
import classes from './contact.module.css'

const words = text.contacts
type Contact = AnswerOf<'GET /contacts/:id'>
type Attendance = ItemOf<'GET /attendances'>

export function AttendancePanel({ contact }: { contact: Contact }) {
  const query = { contactId: contact.id, limit: 10 }
  const open = useApiQuery('/attendances', { query: { ...query, isOpen: true } })
  const closed = useApiQuery('/attendances', { query: { ...query, isOpen: false } })
  const current = open.data?.items[0]
  const earlier = closed.data?.items ?? []
  return (
    <Panel title={words.attendance}>
      <Stack gap="xs" align="flex-start">
        <Text size="sm">
          {current ? (
            <>
              {words.attendedBy(current.user.name)} {words.attendedSince}{' '}
              <Instant at={current.openedAt} as="short" />
            </>
          ) : (
            words.attendedByNobody
          )}
        </Text>
        <AttendanceActions contactId={contact.id} attendance={current} size="xs" />
        {earlier.length > 0 && (
          <div>
            <Text size="xs" fw={600} c="dimmed">
              {words.history}
            </Text>
            <ul className={classes['history']}>
              {earlier.map((attendance) => (
                <li key={attendance.id}>
                  <Stretch attendance={attendance} />
                </li>
              ))}
            </ul>
          </div>
        )}
      </Stack>
    </Panel>
  )
}

function Stretch({ attendance: { user, openedAt, closedAt, closedBy } }: { attendance: Attendance }) {
  return (
    <>
      {words.stretch(user.name)} <Instant at={openedAt} as="short" /> {words.to}{' '}
      <Instant at={closedAt} as="short" />
      {closedBy && `, ${words.endedBy[closedBy] ?? words.endedByPerson(closedBy)}`}
    </>
  )
}
