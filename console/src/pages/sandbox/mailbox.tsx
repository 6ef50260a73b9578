/** The mailbox: HTML in a frame without any power, plain text, headers and attachments. */
import {
  ActionIcon,
  Anchor,
  Group,
  SegmentedControl,
  Text,
  TextInput,
  UnstyledButton,
  Button,
} from '@mantine/core'
import { IconArrowLeft, IconChecks, IconFile, IconMail, IconSearch } from '@tabler/icons-react'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { urlOf } from '../../api.ts'
import { ConfirmButton } from '../../components/confirm-button.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { ErrorState } from '../../components/error-state.tsx'
import { Instant } from '../../components/instant.tsx'
import { PageLoading } from '../../components/page-loading.tsx'
import { Tag } from '../../components/tag.tsx'
import { formatBytes } from '../../format.ts'
import { useApiMutation, useApiQuery } from '../../queries.ts'
import { text } from '../../text/index.ts'
import { isUnread, matches, type SandboxMessage } from './messages.ts'
import classes from './sandbox.module.css'

const words = text.sandbox.mail

type WholeMail = SandboxMessage & {
  content?: { html?: string; text?: string; headers: { name: string; value: string }[] }
}

export function Mailbox({ messages }: { messages: SandboxMessage[] | undefined }) {
  const { mail: id } = useSearch({ strict: false }) as { mail?: string }
  const navigate = useNavigate()
  const [wanted, setWanted] = useState('')
  const open = (next: string | undefined) =>
    void navigate({ to: '/sandbox', search: { view: 'mail', ...(next !== undefined && { mail: next }) } })
  if (messages === undefined) return <PageLoading />
  const mails = messages
    .filter(({ channel }) => channel === 'email')
    .toSorted((a, b) => b.sequence - a.sequence)
  if (mails.length === 0) return <EmptyState icon={IconMail} title={words.none} hint={words.noneHint} />
  const current = mails.find((mail) => mail.id === id)
  return (
    <div className={classes['mailbox']} data-open={current !== undefined || undefined}>
      <section className={classes['people']} aria-label={words.title}>
        <TextInput
          m="xs"
          aria-label={text.sandbox.search}
          placeholder={text.sandbox.search}
          leftSection={<IconSearch size={16} aria-hidden />}
          value={wanted}
          onChange={(event) => setWanted(event.currentTarget.value)}
        />
        <ul className={classes['rows']}>
          {mails
            .filter((mail) => matches(wanted, mail.from, mail.to, mail.subject, mail.text))
            .map((mail) => (
              <Row key={mail.id} mail={mail} isCurrent={mail.id === id} onOpen={() => open(mail.id)} />
            ))}
        </ul>
      </section>
      {current ? (
        <Reader key={current.id} mail={current} onBack={() => open(undefined)} />
      ) : (
        <div className={classes['blank']}>
          <EmptyState icon={IconMail} title={words.choose} />
        </div>
      )}
    </div>
  )
}

function Row({ mail, isCurrent, onOpen }: { mail: SandboxMessage; isCurrent: boolean; onOpen(): void }) {
  const files = mail.email?.attachments.length ?? 0
  return (
    <li>
      <UnstyledButton className={classes['row']} aria-current={isCurrent || undefined} onClick={onOpen}>
        <span className={classes['rowHead']}>
          <b>{mail.subject || words.noSubject}</b>
          {isUnread(mail) && <Tag tone="info">{text.sandbox.unread}</Tag>}
          {mail.status === 'failed' && <Tag tone="bad">{words.bounced}</Tag>}
        </span>
        <span className={classes['snippet']}>{mail.text.replaceAll(/\s+/g, ' ').slice(0, 120)}</span>
        <span className={classes['rowFoot']}>
          {words.to(mail.to)} {files > 0 && <Tag>{words.files(files)}</Tag>} <Instant at={mail.receivedAt} />
        </span>
      </UnstyledButton>
    </li>
  )
}

function Reader({ mail, onBack }: { mail: SandboxMessage; onBack(): void }) {
  const { data, error, refetch } = useApiQuery('/sandbox/messages/:id', { path: { id: mail.id } })
  const whole = data as WholeMail | undefined
  const [tab, setTab] = useState<keyof typeof words.tabs>('html')
  const shown = tab === 'html' && whole && !whole.content?.html ? 'plain' : tab
  const fileOf = (part: 'html' | 'raw' | 'attachment', index?: number) =>
    urlOf('GET /sandbox/messages/:id/file', { path: { id: mail.id }, query: { part, index } })
  return (
    <section className={classes['reader']} aria-label={mail.subject || words.noSubject}>
      <header className={classes['letterHead']}>
        <Group gap="xs" wrap="nowrap" align="flex-start">
          <ActionIcon
            className={classes['back']}
            variant="subtle"
            color="gray"
            aria-label={text.sandbox.backToMail}
            onClick={onBack}
          >
            <IconArrowLeft size={18} aria-hidden />
          </ActionIcon>
          <div style={{ minWidth: 0 }}>
            <Text fw={600}>{mail.subject || words.noSubject}</Text>
            <Text size="sm" c="dimmed">
              {mail.email?.fromName ? `${mail.email.fromName} <${mail.from}>` : mail.from} {words.to(mail.to)}{' '}
              · <Instant at={mail.receivedAt} as="short" />
            </Text>
          </div>
        </Group>
        <Group gap="xs" mt="xs">
          <SegmentedControl
            size="xs"
            aria-label={words.tabsLabel}
            value={shown}
            onChange={(next) => setTab(next as keyof typeof words.tabs)}
            data={Object.entries(words.tabs).map(([value, label]) => ({ value, label }))}
          />
          {mail.email?.isSecure && <Tag tone="good">{words.tls}</Tag>}
          <MailActs mail={mail} />
          <Anchor size="sm" href={fileOf('raw')} target="_blank" rel="noreferrer">
            {text.sandbox.source}
          </Anchor>
        </Group>
      </header>
      {error && <ErrorState error={error} onRetry={refetch} />}
      {whole && shown === 'html' && (
        // Served with a policy of its own: no scripts, nothing from elsewhere, no way into this page.
        <iframe className={classes['frame']} sandbox="" src={fileOf('html')} title={words.frame} />
      )}
      {whole && shown === 'plain' && (
        <pre className={classes['plain']}>{whole.content?.text ?? mail.text}</pre>
      )}
      {whole && shown === 'headers' && (
        <dl className={classes['headers']}>
          {whole.content?.headers.map(({ name, value }, index) => (
            <div key={index}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      )}
      {(mail.email?.attachments.length ?? 0) > 0 && (
        <Group gap="sm" p="sm" aria-label={words.attachments}>
          {mail.email?.attachments.map(({ filename, size }, index) => (
            <Anchor key={index} size="sm" href={fileOf('attachment', index)} className={classes['file']}>
              <IconFile size={16} aria-hidden /> {filename} ({formatBytes(size)})
            </Anchor>
          ))}
        </Group>
      )}
    </section>
  )
}

function MailActs({ mail }: { mail: SandboxMessage }) {
  const act = useApiMutation('POST /sandbox/messages/:id/act', { success: ({ note }) => note ?? '' })
  if (mail.direction === 'fromPerson') return null
  const path = { id: mail.id }
  return (
    <>
      {isUnread(mail) && (
        <Button
          size="xs"
          variant="default"
          leftSection={<IconChecks size={16} aria-hidden />}
          onClick={() => act.mutate({ path, body: { act: 'read' } })}
        >
          {words.markRead}
        </Button>
      )}
      {mail.status !== 'failed' && (
        <ConfirmButton
          size="xs"
          label={words.bounce}
          title={words.bounceTitle}
          isWorking={act.isPending}
          onConfirm={() => act.mutateAsync({ path, body: { act: 'bounce' } })}
        >
          {words.bounceHint}
        </ConfirmButton>
      )}
      {mail.email?.unsubscribe?.isOneClick && (
        <Button
          size="xs"
          variant="default"
          loading={act.isPending}
          onClick={() => act.mutate({ path, body: { act: 'unsubscribe' } })}
        >
          {words.unsubscribe}
        </Button>
      )}
    </>
  )
}
