/** One event of the timeline in words. What an event holds depends on its kind; see `src/store/timeline.ts`. */
import { Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { AppLink } from '../../components/app-link.tsx'
import { CopyText } from '../../components/copy-text.tsx'
import { Instant } from '../../components/instant.tsx'
import type { Tone } from '../../components/tag.tsx'
import { formatDuration } from '../../format.ts'
import { useApiQuery } from '../../queries.ts'
import { text } from '../../text/index.ts'
import type { MessageDetail } from '../message.tsx'
import { CallbackEvent } from './callback-event.tsx'
import { FailedAttempt, ProviderError, type ToldError } from './failed-attempt.tsx'
import { VerdictView, type Verdict } from './verdict.tsx'

const words = text.timeline
export type MessageEvent = MessageDetail['events'][number]

/** Texts, numbers and lists out of what is stored as JSON. */
const textIn = ({ detail }: MessageEvent, name: string): string | undefined =>
  typeof detail[name] === 'string' ? detail[name] : undefined
const numberIn = ({ detail }: MessageEvent, name: string): number | undefined =>
  typeof detail[name] === 'number' ? detail[name] : undefined

export function titleOf(event: MessageEvent): string {
  const state = textIn(event, 'state')
  if (event.kind === 'receipt' && state !== undefined && state in words.receipts)
    return words.receipts[state as keyof typeof words.receipts]
  if (event.kind === 'attempt') return words.attemptFailed(numberIn(event, 'attempt') ?? 1)
  return words.events[event.kind]
}

export function toneOf(event: MessageEvent): Tone {
  switch (event.kind) {
    case 'accepted':
    case 'released':
    case 'resent':
    case 'failed_over':
    case 'sent_again':
      return 'neutral'
    case 'sent':
      return event.detail['isDelivered'] === true ? 'good' : 'info'
    case 'waits':
      return 'info'
    case 'receipt': {
      const state = textIn(event, 'state')
      return state === 'failed' || state === 'expired' ? 'bad' : state === 'sent' ? 'info' : 'good'
    }
    case 'attempt':
      return 'bad'
    case 'blocked':
    case 'not_sent':
    case 'unknown':
    case 'left_unknown':
    case 'expired':
    case 'unsubscribed':
      return 'warn'
    case 'callback': {
      const status = numberIn(event, 'status')
      return status !== undefined && status >= 200 && status < 300 ? 'neutral' : 'warn'
    }
  }
}

type EventProps = { event: MessageEvent; message: MessageDetail }

export function EventDetail({ event, message }: EventProps): ReactNode {
  switch (event.kind) {
    case 'accepted':
      return <Accepted event={event} message={message} />
    case 'blocked':
      return <Verdicts event={event} message={message} />
    case 'waits':
      return (
        <>
          <div>
            {words.until} <Instant at={textIn(event, 'until')} as="short" />
          </div>
          <Verdicts event={event} message={message} />
        </>
      )
    case 'not_sent':
      return words.notSentHint
    case 'attempt':
      return <FailedAttempt event={event} />
    case 'sent':
      return <Sent event={event} />
    case 'receipt':
      return <Receipt event={event} />
    case 'unknown':
      return words.unknownHint
    case 'left_unknown':
      return words.leftUnknownHint
    case 'sent_again':
      return words.sentAgainHint
    case 'expired':
      return words.expiredHint
    case 'failed_over':
      return <FailedOver from={textIn(event, 'from')} to={textIn(event, 'to')} />
    case 'resent':
      return <Copy label={words.resentAs} id={textIn(event, 'as')} by={textIn(event, 'by')} />
    case 'callback':
      return <CallbackEvent event={event} />
    case 'released':
    case 'unsubscribed':
      return null
  }
}

function Accepted({ event, message }: EventProps) {
  const from = textIn(event, 'resentFrom')
  if (from === undefined) return <Verdicts event={event} message={message} />
  return (
    <>
      <Copy label={words.resentFrom} id={from} by={textIn(event, 'by')} />
      {message.state === 'queued' && <div>{words.rulesLater}</div>}
    </>
  )
}

function Copy({ label, id, by }: { label: string; id: string | undefined; by: string | undefined }) {
  if (id === undefined) return null
  return (
    <div>
      {label}{' '}
      <AppLink to="/messages/$id" params={{ id }} inherit>
        <code>{id.slice(0, 20)}…</code>
      </AppLink>
      {by !== undefined && `, ${words.by(by)}`}
    </div>
  )
}

/** Those that did not pass at once, the others on demand. */
function Verdicts({ event, message }: EventProps) {
  // One that passed is kept as its name alone.
  const told = (Array.isArray(event.detail['verdicts']) ? event.detail['verdicts'] : []) as (
    | Verdict
    | Verdict['rule']
  )[]
  const all = told.map((one): Verdict => (typeof one === 'string' ? { rule: one, passed: true } : one))
  const failed = all.filter(({ passed }) => !passed)
  const passed = all.filter((verdict) => verdict.passed)
  return (
    <>
      {failed.map((verdict, index) => (
        <VerdictView key={`${index} ${verdict.rule}`} verdict={verdict} message={message} />
      ))}
      {passed.length > 0 ? (
        <details>
          <summary>{words.verdictsPassed(passed.length)}</summary>
          {passed.map((verdict, index) => (
            <VerdictView key={`${index} ${verdict.rule}`} verdict={verdict} message={message} />
          ))}
        </details>
      ) : (
        failed.length === 0 && (
          <Text span inherit c="dimmed">
            {words.verdictsPassed(0)}
          </Text>
        )
      )}
    </>
  )
}

function Sent({ event }: { event: MessageEvent }) {
  const startedAt = textIn(event, 'startedAt')
  const tookMs = startedAt === undefined ? undefined : Date.parse(event.at) - Date.parse(startedAt)
  const ids = Array.isArray(event.detail['providerIds']) ? event.detail['providerIds'] : []
  return (
    <>
      <div>
        {words.attempt(numberIn(event, 'attempt') ?? 1)}
        {tookMs !== undefined && tookMs >= 0 && `, ${words.took(formatDuration(tookMs))}`}
      </div>
      {ids
        .filter((id): id is string => typeof id === 'string')
        .map((id) => (
          <div key={id}>
            {words.providerIds} <CopyText value={id} />
          </div>
        ))}
      {event.detail['isDelivered'] === true && <div>{words.isDelivered}</div>}
    </>
  )
}

function Receipt({ event }: { event: MessageEvent }) {
  const error = event.detail['error'] as ToldError | undefined
  const [part, parts] = [numberIn(event, 'part'), numberIn(event, 'parts')]
  return (
    <>
      {part !== undefined && parts !== undefined && <div>{words.part(part, parts)}</div>}
      {error && <ProviderError error={error} />}
    </>
  )
}

function FailedOver({ from, to }: { from: string | undefined; to: string | undefined }) {
  return (
    <div>
      <LineName id={from} /> → <LineName id={to} />
    </div>
  )
}

function LineName({ id }: { id: string | undefined }) {
  const { data } = useApiQuery('/lines/:id', { path: { id: id ?? '' } }, { isEnabled: id !== undefined })
  if (id === undefined) return text.common.none
  return (
    <AppLink to="/channels/$id" params={{ id }} inherit>
      {data?.name ?? `${id.slice(0, 12)}…`}
    </AppLink>
  )
}
