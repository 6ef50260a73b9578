/** One template: written anew, copied from another, or opened. */
import { useParams, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { flushSync } from 'react-dom'
import { ErrorState } from '../components/error-state.tsx'
import { NotFound } from '../components/not-found.tsx'
import { Page } from '../components/page.tsx'
import { PageLoading } from '../components/page-loading.tsx'
import type { Channel } from '../components/state-badge.tsx'
import { useApiQuery } from '../queries.ts'
import { text } from '../text/index.ts'
import { draftOf, emptyDraft, kindsOf, type Shape } from './template/draft.ts'
import { ExistingTemplate } from './template/existing.tsx'
import { NewTemplate } from './template/new.tsx'

const words = text.templates
const channels: readonly Channel[] = ['whatsapp', 'sms', 'email']

export function Template() {
  const { id } = useParams({ from: '/shell/templates/$id' })
  const search = useSearch({ strict: false }) as Record<string, string | undefined>
  if (id !== 'new') return <OpenTemplate id={id} />
  if (search['from']) return <CopyTemplate id={search['from']} />
  const channel = channels.find((one) => one === search['channel'])
  const kind = channel && kindsOf(channel).find((one) => one === search['kind'])
  if (channel === undefined || kind === undefined) return <NotFound />
  const shape: Shape = { channel, kind }
  return <NewTemplate key={`${channel} ${kind}`} shape={shape} initial={emptyDraft(shape)} />
}

const fastMs = 1_500
const slowMs = 5_000

function OpenTemplate({ id }: { id: string }) {
  // The provider's judgement is seen without a reload, soon when it is waited for.
  const [everyMs, setEveryMs] = useState(slowMs)
  const [isRemoved, setIsRemoved] = useState(false)
  const query = useApiQuery('/templates/:id', { path: { id } }, { everyMs, isEnabled: !isRemoved })
  const wanted = query.data?.approval === 'pending' ? fastMs : slowMs
  if (wanted !== everyMs) setEveryMs(wanted)
  if (query.data === undefined) return <Waiting error={query.error} onRetry={query.refetch} />
  return (
    <ExistingTemplate
      key={id}
      template={query.data}
      version={query.version}
      at={query.dataUpdatedAt}
      // At once, before everything about templates is read again: this one is gone.
      onRemoved={() => flushSync(() => setIsRemoved(true))}
      reload={async () => {
        await query.refetch()
      }}
    />
  )
}

function CopyTemplate({ id }: { id: string }) {
  const query = useApiQuery('/templates/:id', { path: { id } })
  if (query.data === undefined) return <Waiting error={query.error} onRetry={query.refetch} />
  const { channel, kind, name } = query.data
  const copied = draftOf(query.data)
  const initial = {
    ...copied,
    name: words.copyOf(name),
    code: '',
    // WhatsApp would take it for the same template.
    providerName: '',
  }
  return <NewTemplate key={id} shape={{ channel, kind }} initial={initial} isCopy />
}

type WaitingProps = { error: Parameters<typeof ErrorState>[0]['error'] | null; onRetry(): unknown }

const Waiting = ({ error, onRetry }: WaitingProps) => (
  <Page title={words.title} needs="GET /templates/:id">
    {error ? <ErrorState error={error} onRetry={() => onRetry()} /> : <PageLoading />}
  </Page>
)
