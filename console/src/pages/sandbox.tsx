/** The demo's sandbox inside the console: phone, mailbox, caught callbacks, chaos. */
import { Anchor, Group, Tabs } from '@mantine/core'
import { IconPlugConnectedX } from '@tabler/icons-react'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { Can } from '../components/can.tsx'
import { ConfirmButton } from '../components/confirm-button.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { ErrorState } from '../components/error-state.tsx'
import { Page } from '../components/page.tsx'
import { PageLoading } from '../components/page-loading.tsx'
import { Tag } from '../components/tag.tsx'
import { useApiMutation, useApiQuery } from '../queries.ts'
import { text } from '../text/index.ts'
import { Catcher } from './sandbox/catcher.tsx'
import { Chaos } from './sandbox/chaos.tsx'
import { Mailbox } from './sandbox/mailbox.tsx'
import { isUnread } from './sandbox/messages.ts'
import { Phone } from './sandbox/phone.tsx'
import { useSandbox, type SandboxData } from './sandbox/use-sandbox.ts'

const words = text.sandbox
const views = Object.entries(words.views) as [keyof typeof words.views, string][]

/** The sandbox listens on loopback: its own page can be opened on its own machine only. */
const isThisMachine = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(location.hostname)

export function Sandbox() {
  const { data, error, refetch } = useApiQuery('/sandbox')
  return (
    <Page
      title={words.title}
      lead={words.lead}
      needs="GET /sandbox"
      actions={data?.isRunning && <Clear url={data.url} />}
    >
      {error && data === undefined && <ErrorState error={error} onRetry={refetch} />}
      {!error && data === undefined && <PageLoading />}
      {data?.isRunning === false && (
        <EmptyState
          icon={IconPlugConnectedX}
          title={words.offTitle}
          hint={`${words.offHint} ${words.offMore}`}
        />
      )}
      {data?.isRunning && <Running catcherUrl={data.catcherUrl ?? ''} />}
    </Page>
  )
}

function Clear({ url }: { url: string | null | undefined }) {
  const clear = useApiMutation('DELETE /sandbox/messages', { success: words.cleared })
  return (
    <Group gap="sm">
      {url && isThisMachine && (
        <Anchor href={url} target="_blank" rel="noreferrer" size="sm">
          {words.ownPage}
        </Anchor>
      )}
      <Can do="DELETE /sandbox/messages">
        <ConfirmButton
          label={words.clear}
          title={words.clearTitle}
          isWorking={clear.isPending}
          onConfirm={() => clear.mutateAsync({})}
        >
          {words.clearHint}
        </ConfirmButton>
      </Can>
    </Group>
  )
}

function Running({ catcherUrl }: { catcherUrl: string }) {
  const sandbox = useSandbox()
  const { view } = useSearch({ strict: false }) as { view?: string }
  const navigate = useNavigate()
  const chosen = views.find(([name]) => name === view)?.[0] ?? 'phone'
  if (sandbox.error) return <ErrorState error={sandbox.error} onRetry={sandbox.refetch} />
  return (
    <Tabs
      value={chosen}
      onChange={(name) =>
        void navigate({ to: '/sandbox', search: name === null || name === 'phone' ? {} : { view: name } })
      }
      keepMounted={false}
    >
      <Tabs.List mb="md" aria-label={words.viewsLabel}>
        {views.map(([name, label]) => (
          <Tabs.Tab key={name} value={name}>
            {label} <Count of={name} sandbox={sandbox} />
          </Tabs.Tab>
        ))}
        <Group ml="auto" pr="xs">
          <Tag tone={sandbox.live === 'live' ? 'good' : 'neutral'}>{words.live[sandbox.live]}</Tag>
        </Group>
      </Tabs.List>
      <Tabs.Panel value="phone">
        <Phone messages={sandbox.messages} />
      </Tabs.Panel>
      <Tabs.Panel value="mail">
        <Mailbox messages={sandbox.messages} />
      </Tabs.Panel>
      <Tabs.Panel value="callbacks">
        <Catcher url={catcherUrl} />
      </Tabs.Panel>
      <Tabs.Panel value="chaos">
        <Chaos />
      </Tabs.Panel>
    </Tabs>
  )
}

function Count({ of, sandbox }: { of: keyof typeof words.views; sandbox: SandboxData }) {
  if (of !== 'phone' && of !== 'mail') return null
  const count = (sandbox.messages ?? []).filter(
    (message) => (message.channel === 'email') === (of === 'mail') && isUnread(message),
  ).length
  return count > 0 ? <Tag tone="info">{count}</Tag> : null
}
