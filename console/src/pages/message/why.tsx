/** Why the message is where it is, in words, with a way to what caused it. Nothing when all went well. */
import { Alert, Group, List, Text } from '@mantine/core'
import { IconAlertTriangle, IconClock, IconHelpCircle, IconShieldOff } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { AppLink } from '../../components/app-link.tsx'
import { Instant } from '../../components/instant.tsx'
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
      return <Failed message={message} title={words.why.failed} color="red" />
    case 'expired':
      return <Failed message={message} title={words.why.expired} color="orange" />
    case 'unknown':
      return <Unknown message={message} />
    case 'not_sent':
      return (
        <Box title={words.why.not_sent} color="orange" icon={<IconAlertTriangle aria-hidden />}>
          {words.notSentHint}{' '}
          <AppLink to="/channels" inherit>
            {words.toChannels}
          </AppLink>
        </Box>
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

type BoxProps = { title: string; color: string; icon: ReactNode; children: ReactNode }

const Box = ({ title, color, icon, children }: BoxProps) => (
  <Alert color={color} icon={icon} title={title}>
    <Text size="sm" component="div">
      {children}
    </Text>
  </Alert>
)

const Refused = ({ message }: { message: MessageDetail }) => (
  <Box title={words.why.blocked} color="orange" icon={<IconShieldOff aria-hidden />}>
    {message.reasons.length === 0 ? words.why.blockedNoReason : <Reasons message={message} />}
  </Box>
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

function Failed({ message, title, color }: { message: MessageDetail; title: string; color: string }) {
  const { error, events } = message
  const last = events.findLast(({ kind }) => kind === 'attempt')?.detail['error'] as
    | { kind: keyof typeof text.timeline.errors }
    | undefined
  return (
    <Box title={title} color={color} icon={<IconAlertTriangle aria-hidden />}>
      {last && <div>{text.timeline.errors[last.kind]}</div>}
      {error && (
        <div>
          <code>{error.code}</code>
          {error.message && ` ${error.message}`}
        </div>
      )}
      {!last && !error && text.timeline.expiredHint}
    </Box>
  )
}

function Unknown({ message: { unknownUntil, error } }: { message: MessageDetail }) {
  const company = useApiQuery('/company')
  const policy = company.data?.unknownPolicy
  return (
    <Box title={words.why.unknown} color="yellow" icon={<IconHelpCircle aria-hidden />}>
      {unknownUntil === null ? (
        words.unknownOver
      ) : (
        <>
          {words.unknownWaits} <Instant at={unknownUntil} as="short" />.{' '}
          {policy && words.unknownPolicy[policy]}
        </>
      )}
      {error && (
        <div>
          <code>{error.code}</code>
          {error.message && ` ${error.message}`}
        </div>
      )}
    </Box>
  )
}

function Waits({ message }: { message: MessageDetail }) {
  const { waiting, lineId, lineName } = message
  if (waiting === null) return null
  const isOfLine = waiting.reason === 'line_paused' || waiting.reason === 'line_disabled'
  return (
    <Box title={words.why.waits} color="blue" icon={<IconClock aria-hidden />}>
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
    </Box>
  )
}
