/** The audit log: the pattern of a long list with filters and details. */
import { IconHistory } from '@tabler/icons-react'
import type { ItemOf } from '../api.ts'
import { CopyText } from '../components/copy-text.tsx'
import { DataTable, type Column } from '../components/data-table.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { FilterBar } from '../components/filter-bar.tsx'
import { Instant } from '../components/instant.tsx'
import { JsonView } from '../components/json-view.tsx'
import { Page } from '../components/page.tsx'
import { useListState } from '../hooks/use-list-state.ts'
import { useApiQuery } from '../queries.ts'
import { text } from '../text/index.ts'
import classes from './audit.module.css'

const words = text.audit
type Entry = ItemOf<'GET /audit'>

const spaced = (name: string): string => name.replaceAll('_', ' ')

/** Signing in is not something that is done to a session. */
function deed(action: string, noun: string): string {
  const words = spaced(noun === 'session' ? action : `${action} ${noun}`)
  return words.charAt(0).toUpperCase() + words.slice(1)
}

const columns: readonly Column<Entry>[] = [
  { header: words.at, cell: ({ at }) => <Instant at={at} as="short" />, width: 150 },
  { header: words.actor, cell: ({ actor }) => actor },
  {
    header: words.action,
    cell: ({ action, noun }) => deed(action, noun),
    isTitle: true,
  },
  {
    header: words.subject,
    cell: ({ nounId }) => (nounId ? <CopyText value={nounId} short={16} /> : text.common.none),
  },
  { header: words.detail, cell: (entry) => <Detail entry={entry} /> },
]

const nouns = [
  'session',
  'account',
  'company',
  'user',
  'segment',
  'line',
  'template',
  'media',
  'contact',
  'attendance',
  'rule',
  'restriction_list',
  'import',
  'message',
  'callback',
  'callback_secret',
  'private_token',
  'webhook',
  'direct_token',
  'admin_key',
].map((value) => ({ value, label: spaced(value) }))

const filters = { noun: '', actor: '', nounId: '', from: '', to: '' }

export function Audit() {
  const list = useListState({ filters })
  const query = useApiQuery('/audit', { query: list.query }, { keepsFormer: true })
  return (
    <Page title={words.title} lead={words.lead} needs="GET /audit">
      <FilterBar
        list={list}
        filters={[
          { name: 'noun', kind: 'select', label: words.noun, options: nouns, allLabel: words.anyNoun },
          { name: 'actor', kind: 'text', label: words.actor, placeholder: words.actorHint },
          { name: 'nounId', kind: 'text', label: words.nounId, placeholder: words.nounIdHint },
          { name: 'from', kind: 'instant', label: words.from },
          { name: 'to', kind: 'instant', label: words.to },
        ]}
      />
      <DataTable
        label={words.title}
        columns={columns}
        query={query}
        list={list}
        rowKey={({ id }) => id}
        empty={<EmptyState icon={IconHistory} title={words.emptyTitle} hint={words.emptyHint} />}
      />
    </Page>
  )
}

function Detail({ entry: { detail } }: { entry: Entry }) {
  if (detail === null || Object.keys(detail).length === 0) return text.common.none
  return (
    <details className={classes['detail']}>
      <summary>{words.showDetail}</summary>
      <JsonView value={detail} label={words.detail} />
    </details>
  )
}
