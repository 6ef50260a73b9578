/** The phone: people on the left, the conversation beside them, the facts of a message on the right. */
import { ActionIcon, Button, Group, Text, TextInput, Tooltip, UnstyledButton } from '@mantine/core'
import { IconDeviceMobileMessage, IconPencil, IconSearch } from '@tabler/icons-react'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { LinkButton } from '../../components/app-link.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { FormModal } from '../../components/form-modal.tsx'
import { PageLoading } from '../../components/page-loading.tsx'
import { ChannelLabel } from '../../components/state-badge.tsx'
import { Tag } from '../../components/tag.tsx'
import { text } from '../../text/index.ts'
import { ConversationView } from './conversation.tsx'
import {
  conversationsOf,
  isUnread,
  matches,
  snippetOf,
  type Conversation,
  type SandboxMessage,
} from './messages.ts'
import classes from './sandbox.module.css'
import { WriteForm } from './write-form.tsx'

const words = text.sandbox

export function Phone({ messages }: { messages: SandboxMessage[] | undefined }) {
  const { with: key } = useSearch({ strict: false }) as { with?: string }
  const navigate = useNavigate()
  const [wanted, setWanted] = useState('')
  const [isWriting, setIsWriting] = useState(false)
  const all = useMemo(() => messages && conversationsOf(messages), [messages])
  const open = (next: string | undefined) =>
    void navigate({ to: '/sandbox', search: next === undefined ? {} : { with: next } })
  if (all === undefined) return <PageLoading />
  const current = all.find((one) => one.key === key)
  const shown = all.filter(({ person, business, messages: said }) =>
    matches(wanted, person, business, ...said.map((message) => message.text)),
  )
  return (
    <>
      {all.length === 0 ? (
        <EmptyState
          icon={IconDeviceMobileMessage}
          title={words.nobody}
          hint={words.nobodyHint}
          action={
            <Group justify="center" gap="xs">
              <LinkButton to="/reference">{words.tryIt}</LinkButton>
              <WriteButton onClick={() => setIsWriting(true)} />
            </Group>
          }
        />
      ) : (
        <div className={classes['phone']} data-open={current !== undefined || undefined}>
          <section className={classes['people']} aria-label={words.people}>
            <Group gap="xs" p="xs" wrap="nowrap">
              <TextInput
                aria-label={words.search}
                placeholder={words.search}
                leftSection={<IconSearch size={16} aria-hidden />}
                value={wanted}
                onChange={(event) => setWanted(event.currentTarget.value)}
                flex={1}
              />
              <Tooltip label={words.write}>
                <ActionIcon
                  variant="default"
                  size={36}
                  aria-label={words.write}
                  onClick={() => setIsWriting(true)}
                >
                  <IconPencil size={18} aria-hidden />
                </ActionIcon>
              </Tooltip>
            </Group>
            <ul className={classes['rows']}>
              {shown.map((conversation) => (
                <Row
                  key={conversation.key}
                  conversation={conversation}
                  isCurrent={conversation.key === key}
                  onOpen={() => open(conversation.key)}
                />
              ))}
            </ul>
            {shown.length === 0 && (
              <Text size="sm" c="dimmed" p="md">
                {text.common.nothingFound}
              </Text>
            )}
          </section>
          {current ? (
            <ConversationView key={current.key} conversation={current} onBack={() => open(undefined)} />
          ) : (
            <div className={classes['blank']}>
              <EmptyState icon={IconDeviceMobileMessage} title={words.choose} hint={words.chooseHint} />
            </div>
          )}
        </div>
      )}
      <FormModal title={words.write} isOpen={isWriting} onClose={() => setIsWriting(false)}>
        <WriteForm onDone={() => setIsWriting(false)} />
      </FormModal>
    </>
  )
}

const WriteButton = ({ onClick }: { onClick(): void }) => (
  <Button variant="default" leftSection={<IconPencil size={16} aria-hidden />} onClick={onClick}>
    {words.write}
  </Button>
)

type RowProps = { conversation: Conversation; isCurrent: boolean; onOpen(): void }

function Row({ conversation, isCurrent, onOpen }: RowProps) {
  const { person, business, channel, messages } = conversation
  const last = messages.at(-1)!
  const unread = messages.filter(isUnread).length
  return (
    <li>
      <UnstyledButton className={classes['row']} aria-current={isCurrent || undefined} onClick={onOpen}>
        <span className={classes['rowHead']}>
          <b>{person}</b>
          {unread > 0 && (
            <Tag tone="info">
              {unread} {words.unread}
            </Tag>
          )}
        </span>
        <span className={classes['snippet']}>{snippetOf(last)}</span>
        <span className={classes['rowFoot']}>
          <ChannelLabel channel={channel} /> {business}
          {last.status === 'failed' && <Tag tone="bad">{words.statuses.failed}</Tag>}
        </span>
      </UnstyledButton>
    </li>
  )
}
