/** A conversation on the phone, with what the person can do, and the facts of the chosen message. */
import { ActionIcon, Anchor, Button, Group, Text, TextInput, Tooltip } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { IconArrowLeft, IconChecks, IconSend, IconThumbUp } from '@tabler/icons-react'
import { useEffect, useRef, useState, type FormEvent } from 'react'
import { urlOf } from '../../api.ts'
import { AppLink } from '../../components/app-link.tsx'
import { CopyText } from '../../components/copy-text.tsx'
import { Instant } from '../../components/instant.tsx'
import { ChannelLabel } from '../../components/state-badge.tsx'
import { useApiMutation } from '../../queries.ts'
import { text } from '../../text/index.ts'
import { Bubble } from './bubble.tsx'
import { isUnread, snippetOf, type Conversation, type SandboxMessage } from './messages.ts'
import classes from './sandbox.module.css'

const words = text.sandbox

type ViewProps = { conversation: Conversation; onBack(): void }

export function ConversationView({ conversation, onBack }: ViewProps) {
  const { messages, channel, person, business } = conversation
  const [chosenId, setChosenId] = useState<string>()
  const [answer, setAnswer] = useState('')
  const end = useRef<HTMLLIElement>(null)
  const act = useApiMutation('POST /sandbox/messages/:id/act', {
    onSuccess: ({ note, url, code }) => {
      const told = url ? words.opens(url) : code ? words.copies(code) : note
      if (told) notifications.show({ message: told })
    },
  })
  const lastId = messages.at(-1)?.id
  useEffect(() => {
    end.current?.scrollIntoView({ block: 'nearest' })
  }, [lastId])
  const chosen = messages.find(({ id }) => id === chosenId) ?? messages.at(-1)!
  const unread = messages.filter(isUnread)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (answer.trim() === '' || act.isPending) return
    act.mutate(
      { path: { id: messages.at(-1)!.id }, body: { act: 'reply', text: answer } },
      { onSuccess: () => setAnswer('') },
    )
  }
  const readAll = async () => {
    for (const { id } of unread) await act.mutateAsync({ path: { id }, body: { act: 'read' } })
  }
  return (
    <>
      <section className={classes['handset']} data-channel={channel} aria-label={`${person}, ${business}`}>
        <header className={classes['chatHead']}>
          <ActionIcon
            className={classes['back']}
            variant="subtle"
            color="gray"
            aria-label={words.back}
            onClick={onBack}
          >
            <IconArrowLeft size={18} aria-hidden />
          </ActionIcon>
          <div className={classes['chatName']}>
            <b>{business}</b>
            <span>
              <ChannelLabel channel={channel} /> {words.on(person)}
            </span>
          </div>
          {unread.length > 0 && (
            <Button
              size="xs"
              variant="default"
              leftSection={<IconChecks size={16} aria-hidden />}
              onClick={() => void readAll().catch(() => {})}
            >
              {words.markRead}
            </Button>
          )}
        </header>
        <ol className={classes['chat']} tabIndex={0} aria-live="polite">
          {messages.map((message) => (
            <Bubble
              key={message.id}
              message={message}
              quoted={quotedBy(message, messages)}
              isChosen={message.id === chosen.id}
              onChoose={() => setChosenId(message.id)}
              onPress={(button) =>
                act.mutate({ path: { id: message.id }, body: { act: 'button', ...button } })
              }
            />
          ))}
          <li ref={end} className={classes['end']} aria-hidden />
        </ol>
        <form className={classes['answer']} onSubmit={submit}>
          <TextInput
            aria-label={words.answer}
            placeholder={words.answer}
            value={answer}
            onChange={(event) => setAnswer(event.currentTarget.value)}
            flex={1}
          />
          <ActionIcon type="submit" size={36} aria-label={words.send} loading={act.isPending}>
            <IconSend size={18} aria-hidden />
          </ActionIcon>
        </form>
      </section>
      <Facts
        message={chosen}
        onReact={() => act.mutate({ path: { id: chosen.id }, body: { act: 'reaction', emoji: '👍' } })}
      />
    </>
  )
}

function quotedBy({ whatsapp }: SandboxMessage, all: readonly SandboxMessage[]): string | undefined {
  const id = whatsapp?.contextId
  const quoted = id === undefined ? undefined : all.find(({ providerIds }) => providerIds.includes(id))
  return quoted && snippetOf(quoted)
}

function Facts({ message, onReact }: { message: SandboxMessage; onReact(): void }) {
  const { whatsapp, sms, channel, direction } = message
  const template = whatsapp?.template
  const rows: [string, string | undefined][] = [
    [words.facts.from, message.from],
    [words.facts.to, message.to],
    [
      words.facts.template,
      template && `${template.name} (${template.language}, ${template.category.toLowerCase()})`,
    ],
    [words.facts.encoding, sms && sms.encoding],
    [words.facts.parts, sms && words.partsAll(sms.parts)],
  ]
  const isTheirs = direction === 'fromPerson'
  return (
    <aside className={classes['facts']} aria-label={words.facts.title}>
      <Text size="sm" fw={600}>
        {words.facts.title}
      </Text>
      <dl>
        {rows
          .filter(([, value]) => value)
          .map(([label, value]) => (
            <div key={label}>
              <dt>{label}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        {message.providerIds[0] && (
          <div>
            <dt>{words.facts.providerId}</dt>
            <dd>
              <CopyText value={message.providerIds[0]} short={18} />
            </dd>
          </div>
        )}
      </dl>
      <Text size="sm" fw={600} mt="sm">
        {words.facts.history}
      </Text>
      <ol className={classes['history']}>
        {message.history.map(({ status, at, error }, index) => (
          <li key={index}>
            {words.statuses[status]} <Instant at={at} as="short" />
            {error && <span>{` · ${error.code} ${error.title}`}</span>}
          </li>
        ))}
      </ol>
      <Group gap="xs" mt="sm">
        {!isTheirs && (
          <AppLink to="/messages" search={{ recipient: message.to.replaceAll(/\D/g, '') }} size="sm">
            {words.facts.inPombo}
          </AppLink>
        )}
        {!isTheirs && (
          <Anchor
            size="sm"
            href={urlOf('GET /sandbox/messages/:id/file', {
              path: { id: message.id },
              query: { part: 'raw' },
            })}
            target="_blank"
            rel="noreferrer"
          >
            {words.source}
          </Anchor>
        )}
        {channel === 'whatsapp' && !isTheirs && (
          <Tooltip label={words.react}>
            <ActionIcon variant="default" aria-label={words.react} onClick={onReact}>
              <IconThumbUp size={16} aria-hidden />
            </ActionIcon>
          </Tooltip>
        )}
      </Group>
    </aside>
  )
}
