/** One message: where it stands and why, what the person sees, and everything that happened to it. */
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import type { AnswerOf } from '../api.ts'
import { AppLink } from '../components/app-link.tsx'
import { ErrorState } from '../components/error-state.tsx'
import { JsonView } from '../components/json-view.tsx'
import { Page } from '../components/page.tsx'
import { PageLoading } from '../components/page-loading.tsx'
import { Panel } from '../components/panel.tsx'
import { useLive } from '../hooks/use-live.ts'
import { useThrottled } from '../hooks/use-throttled.ts'
import { useApiQuery } from '../queries.ts'
import { text } from '../text/index.ts'
import { Content } from './message/content.tsx'
import { Details } from './message/details.tsx'
import { Lead } from './message/lead.tsx'
import { Resend } from './message/resend.tsx'
import { Timeline } from './message/timeline.tsx'
import classes from './message/parts.module.css'
import { Why } from './message/why.tsx'

const words = text.message
export type MessageDetail = AnswerOf<'GET /messages/:id'>

/** States are told live; callbacks and waits are no states, so they are asked for. */
const refreshMs = 10_000

export function Message() {
  const { id } = useParams({ from: '/shell/messages/$id' })
  const query = useApiQuery('/messages/:id', { path: { id } }, { everyMs: refreshMs })
  const refresh = useThrottled(() => void query.refetch(), 500)
  useLive({ state: refresh }, { isOn: query.data !== undefined, watch: [id] })
  const back = (
    <AppLink to="/messages" inherit>
      {words.back}
    </AppLink>
  )
  const { data } = query
  if (data === undefined)
    return (
      <Page title={text.messages.title} back={back} needs="GET /messages/:id">
        {query.error ? <ErrorState error={query.error} onRetry={() => query.refetch()} /> : <PageLoading />}
      </Page>
    )
  const recipient = data.recipient === 'erased' ? words.erased : data.recipient
  return (
    <Page
      title={words.title(recipient)}
      back={back}
      lead={<Lead message={data} />}
      needs="GET /messages/:id"
      actions={<Resend message={data} />}
    >
      <Why message={data} />
      <div className={classes['parts']}>
        <Content message={data} />
        <Timeline message={data} />
        <Details message={data} />
      </div>
      <Raw message={data} />
    </Page>
  )
}

function Raw({ message }: { message: MessageDetail }) {
  const [isOpen, setIsOpen] = useState(false)
  return (
    <Panel title={words.raw}>
      <details onToggle={(event) => setIsOpen(event.currentTarget.open)}>
        <summary>{words.rawShow}</summary>
        {isOpen && <JsonView value={message} label={words.raw} maxHeight={600} />}
      </details>
    </Panel>
  )
}
