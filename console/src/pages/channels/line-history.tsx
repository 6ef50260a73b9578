/** Alerts about a line, and who changed it. */
import { Stack } from '@mantine/core'
import type { ItemOf } from '../../api.ts'
import { Can } from '../../components/can.tsx'
import { DataTable, type Column } from '../../components/data-table.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { Instant } from '../../components/instant.tsx'
import { Panel } from '../../components/panel.tsx'
import { Tag } from '../../components/tag.tsx'
import { useApiQuery } from '../../queries.ts'
import { text } from '../../text/index.ts'

const words = text.channels
type Alert = ItemOf<'GET /alerts'>
type Entry = ItemOf<'GET /audit'>

const newest = 20

export const LineHistory = ({ id }: { id: string }) => (
  <Stack gap="md">
    <Alerts id={id} />
    <Can do="GET /audit">
      <Changes id={id} />
    </Can>
  </Stack>
)

const alertColumns: readonly Column<Alert>[] = [
  { header: words.what, cell: ({ message }) => message, isTitle: true },
  {
    header: words.alertOpen,
    cell: ({ clearedAt }) =>
      clearedAt === null ? <Tag tone="bad">{words.alertOpen}</Tag> : <Tag>{words.alertCleared}</Tag>,
  },
  { header: words.raised, cell: ({ raisedAt }) => <Instant at={raisedAt} /> },
  { header: words.cleared, cell: ({ clearedAt }) => <Instant at={clearedAt} /> },
]

function Alerts({ id }: { id: string }) {
  const query = useApiQuery('/alerts', { query: { lineId: id, limit: newest } }, { everyMs: 30_000 })
  return (
    <Panel title={words.alerts}>
      <DataTable
        label={words.alerts}
        columns={alertColumns}
        query={query}
        rowKey={(alert) => alert.id}
        empty={<EmptyState title={words.noAlerts} />}
      />
    </Panel>
  )
}

const changeColumns: readonly Column<Entry>[] = [
  { header: words.at, cell: ({ at }) => <Instant at={at} />, width: 150 },
  { header: words.what, cell: (entry) => inWords(entry), isTitle: true },
  { header: words.by, cell: ({ actor }) => actor },
]

/** What was done, and the reason or the fields that go with it. */
function inWords({ action, detail }: Entry): string {
  const { reason, settings, ...others } = detail ?? {}
  const named = [...Object.keys(others), ...(Array.isArray(settings) ? settings.map(String) : [])]
  const more = typeof reason === 'string' ? reason : named.join(', ')
  const done = action.replaceAll('_', ' ')
  return more === '' ? done : `${done}: ${more}`
}

function Changes({ id }: { id: string }) {
  const query = useApiQuery('/audit', { query: { noun: 'line', nounId: id, limit: newest } })
  return (
    <Panel title={words.changes}>
      <DataTable
        label={words.changes}
        columns={changeColumns}
        query={query}
        rowKey={(entry) => entry.id}
        empty={<EmptyState title={words.noChanges} />}
      />
    </Panel>
  )
}
