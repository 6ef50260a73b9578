import { Text } from '@mantine/core'
import { IconLogout } from '@tabler/icons-react'
import type { ItemOf } from '../../api.ts'
import { ConfirmButton } from '../../components/confirm-button.tsx'
import { DataTable, type Column } from '../../components/data-table.tsx'
import { Instant } from '../../components/instant.tsx'
import { Panel } from '../../components/panel.tsx'
import { Tag } from '../../components/tag.tsx'
import { useApiMutation, useApiQuery } from '../../queries.ts'
import { text } from '../../text/index.ts'
import { nameOfBrowser } from './browser-name.ts'

const words = text.account.sessions
type OwnSession = ItemOf<'GET /account/sessions'>

const columns: readonly Column<OwnSession>[] = [
  {
    header: words.device,
    isTitle: true,
    cell: ({ userAgent, isCurrent }) => (
      <span>
        <span title={userAgent}>{nameOfBrowser(userAgent)}</span>{' '}
        {isCurrent && <Tag tone="info">{words.current}</Tag>}
      </span>
    ),
  },
  { header: words.address, cell: ({ address }) => address },
  { header: words.since, cell: ({ createdAt }) => <Instant at={createdAt} as="short" /> },
  { header: words.seen, cell: ({ seenAt }) => <Instant at={seenAt} /> },
  { header: words.ends, cell: ({ expiresAt }) => <Instant at={expiresAt} /> },
]

export function SessionsPanel() {
  const query = useApiQuery('/account/sessions')
  return (
    <Panel title={words.title}>
      <DataTable
        label={words.title}
        columns={columns}
        query={query}
        rowKey={({ id }) => id}
        actions={(session) => (session.isCurrent ? null : <EndSession session={session} />)}
      />
    </Panel>
  )
}

function EndSession({ session: { id, address } }: { session: OwnSession }) {
  const end = useApiMutation('DELETE /account/sessions/:id', { success: words.ended })
  return (
    <ConfirmButton
      label={words.endOf(address)}
      icon={<IconLogout size={16} aria-hidden />}
      title={words.endTitle}
      confirmLabel={words.end}
      isWorking={end.isPending}
      onConfirm={() => end.mutateAsync({ path: { id } })}
    >
      <Text size="sm">{words.endHint}</Text>
    </ConfirmButton>
  )
}
