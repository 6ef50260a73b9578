/** Attendance: who is with whom and who waits, with the conversation beside it. List and person are in the address. */
import { Group, SegmentedControl } from '@mantine/core'
import { useLocation, useNavigate } from '@tanstack/react-router'
import { useQueryClient } from '@tanstack/react-query'
import { Page } from '../components/page.tsx'
import { Tag } from '../components/tag.tsx'
import { useLive } from '../hooks/use-live.ts'
import { useCan } from '../session.ts'
import { text } from '../text/index.ts'
import classes from './attendance/attendance.module.css'
import { Desk, NobodyChosen } from './attendance/desk.tsx'
import { listNames, PeopleList, type ListName } from './attendance/people-list.tsx'

const words = text.attendance

export function Attendance() {
  const navigate = useNavigate()
  const client = useQueryClient()
  const can = useCan()
  const search = useLocation({ select: (location) => location.search as Record<string, string> })
  // Who may not attend has nobody of their own.
  const names = listNames.filter((name) => name !== 'mine' || can('POST /attendances'))
  const list = names.find((name) => name === search['list']) ?? names[0]!
  const contactId = search['contact']
  const go = (changes: { list?: ListName; contact?: string | undefined }) => {
    const next = { list, contact: contactId, ...changes }
    const given = Object.fromEntries(Object.entries(next).filter(([, value]) => value !== undefined))
    void navigate({ to: '/attendance', search: given as never, resetScroll: false })
  }
  const again = () => void client.invalidateQueries({ queryKey: ['attendances'] })
  const live = useLive({ opened: again, received: again, message: again })
  return (
    <Page
      title={words.title}
      lead={words.lead}
      needs="GET /attendances"
      actions={live === 'waiting' && <Tag tone="warn">{words.notLive}</Tag>}
    >
      <div className={classes['columns']} data-chosen={contactId !== undefined || undefined}>
        <section className={classes['list']} aria-label={words.people}>
          <Group p="xs">
            <SegmentedControl
              fullWidth
              flex={1}
              size="xs"
              aria-label={words.list}
              value={list}
              data={names.map((name) => ({ value: name, label: words.lists[name] }))}
              onChange={(value) => go({ list: value })}
            />
          </Group>
          <PeopleList key={list} list={list} chosen={contactId} onChoose={(contact) => go({ contact })} />
        </section>
        <section className={classes['desk']} aria-label={text.conversation.title}>
          {contactId === undefined ? (
            <NobodyChosen />
          ) : (
            <Desk key={contactId} contactId={contactId} onBack={() => go({ contact: undefined })} />
          )}
        </section>
      </div>
    </Page>
  )
}
