/** Why the message is where it is, in words, with a way to what caused it. Nothing when all went well. */
import { Group, List } from '@mantine/core'
import { IconAlertTriangle, IconClock, IconHelpCircle, IconShieldOff } from '@tabler/icons-react'
import { AppLink } from '../../components/app-link.tsx'
import { Instant } from '../../components/instant.tsx'
import { Notice } from '../../components/notice.tsx'
import type { Tone } from '../../components/tag.tsx'
import { useApiQuery } from '../../queries.ts'
import { text } from '../../text/index.ts'
import type { MessageDetail } from '../message.tsx'
import { VerdictView } from './verdict.tsx'

const words = text.message

export function Why({ message }: { message: MessageDetail }) {
  switch (message.state) {
    case 'blocked':
      return <Refused message={message} />
    case 'failed':
      return <Failed message={message} title={words.why.failed} tone="bad" />
    case 'expired':
      return <Failed message={message} title={words.why.expired} tone="warn" />
    case 'unknown':
      return <Unknown message={message} />
    case 'not_sent':
      return (
        <Notice title={words.why.not_sent} tone="warn" icon={IconAlertTriangle}>
          <div>
            {words.notSentHint}{' '}
            <AppLink to="/channels" inherit>
              {words.toChannels}
            </AppLink>
          </div>
        </Notice>
      )
    case 'queued':
      return <Waits message={message} />
    case 'sending':
    case 'sent':
    case 'delivered':
    case 'read':
      return null
  }
}

const Refused = ({ message }: { message: MessageDetail }) => (
  <Notice title={words.why.blocked} tone="warn" icon={IconShieldOff}>
    {message.reasons.length === 0 ? words.why.blockedNoReason : <Reasons message={message} />}
  </Notice>
)

const Reasons = ({ message }: { message: MessageDetail }) => (
  <List listStyleType="none" spacing="sm" size="sm">
    {message.reasons.map((verdict, index) => (
      <List.Item key={`${index} ${verdict.rule}`}>
        <VerdictView verdict={verdict} message={message} hasAdvice />
      </List.Item>
    ))}
  </List>
)

function Failed({ message, title, tone }: { message: MessageDetail; title: string; tone: Tone }) {
  const { error, events } = message
  const last = events.findLast(({ kind }) => kind === 'attempt')?.detail['error'] as
    | { kind: keyof typeof text.timeline.errors }
    | undefined
  return (
    <Notice title={title} tone={tone} icon={IconAlertTriangle}>
      {last && <div>{text.timeline.errors[last.kind]}</div>}
      {error && (
        <div>
          <code>{error.code}</code>
          {error.message && ` ${error.message}`}
        </div>
      )}
      {!last && !error && text.timeline.expiredHint}
    </Notice>
  )
}

function Unknown({ message: { unknownUntil, error } }: { message: MessageDetail }) {
  const company = useApiQuery('/company')
  const policy = company.data?.unknownPolicy
  return (
    <Notice title={words.why.unknown} tone="warn" icon={IconHelpCircle}>
      <div>
        {unknownUntil === null ? (
          words.unknownOver
        ) : (
          <>
            {words.unknownWaits} <Instant at={unknownUntil} as="short" />.{' '}
            {policy && words.unknownPolicy[policy]}
          </>
        )}
      </div>
      {error && (
        <div>
          <code>{error.code}</code>
          {error.message && ` ${error.message}`}
        </div>
      )}
    </Notice>
  )
}

function Waits({ message }: { message: MessageDetail }) {
  const { waiting, lineId, lineName } = message
  if (waiting === null) return null
  const isOfLine = waiting.reason === 'line_paused' || waiting.reason === 'line_disabled'
  return (
    <Notice title={words.why.waits} tone="info" icon={IconClock}>
      <div>{text.timeline.waits[waiting.reason]}</div>
      {waiting.verdicts.length > 0 && <Reasons message={message} />}
      <Group gap="xs" mt={4}>
        {(waiting.reason === 'rules' || waiting.reason === 'retry') && (
          <span>
            {words.dueAt} <Instant at={waiting.dueAt} />
            {waiting.attempts > 0 && `, ${words.attempts(waiting.attempts)}`}
          </span>
        )}
        {isOfLine && lineId && (
          <AppLink to="/channels/$id" params={{ id: lineId }} inherit>
            {words.toLine(lineName ?? lineId)}
          </AppLink>
        )}
      </Group>
    </Notice>
  )
}
