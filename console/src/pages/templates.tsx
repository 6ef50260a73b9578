/** The list of templates, and the choice of what a new one will be. */
import { Button, Group, Stack, Text } from '@mantine/core'
import { IconCopy, IconPlus, IconRefresh, IconTemplate, IconTrash } from '@tabler/icons-react'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { ItemOf } from '../api.ts'
import { AppLink } from '../components/app-link.tsx'
import { Can } from '../components/can.tsx'
import { ConfirmButton } from '../components/confirm-button.tsx'
import { DataTable, type Column } from '../components/data-table.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { FilterBar } from '../components/filter-bar.tsx'
import { FormModal } from '../components/form-modal.tsx'
import { IconAction } from '../components/icon-action.tsx'
import { Page } from '../components/page.tsx'
import { ChannelLabel } from '../components/state-badge.tsx'
import { Tag } from '../components/tag.tsx'
import { useListState } from '../hooks/use-list-state.ts'
import { useApiMutation, useApiQuery } from '../queries.ts'
import { text } from '../text/index.ts'
import { ApprovalTag } from './template/approval-panel.tsx'
import { kindsOf } from './template/draft.ts'
import classes from './template/template.module.css'

const words = text.templates
type Template = ItemOf<'GET /templates'>

const columns: readonly Column<Template>[] = [
  {
    header: words.name,
    cell: ({ id, name }) => (
      <AppLink to="/templates/$id" params={{ id }} size="sm" fw={500} style={{ overflowWrap: 'anywhere' }}>
        {name}
      </AppLink>
    ),
    sort: 'name',
    isTitle: true,
  },
  {
    header: words.code,
    cell: ({ code }) => (
      <Text span ff="monospace" size="sm" style={{ overflowWrap: 'anywhere' }}>
        {code}
      </Text>
    ),
    sort: 'code',
  },
  { header: words.channel, cell: ({ channel }) => <ChannelLabel channel={channel} /> },
  { header: words.kind, cell: ({ kind }) => words.kinds[kind] },
  {
    header: words.approval,
    cell: ({ channel, approval }) =>
      channel === 'whatsapp' ? (
        <ApprovalTag approval={approval} />
      ) : (
        <Text span size="sm" c="dimmed">
          {words.notNeeded}
        </Text>
      ),
  },
  {
    header: words.use,
    cell: ({ isEnabled }) => <Tag tone={isEnabled ? 'good' : 'warn'}>{isEnabled ? words.on : words.off}</Tag>,
  },
]

const filters = { q: '', channel: '', kind: '', approval: '', isEnabled: '' }
const optionsOf = (labels: Readonly<Record<string, string>>) =>
  Object.entries(labels).map(([value, label]) => ({ value, label }))

export function Templates() {
  const list = useListState({ filters, sort: { by: 'name' } })
  const query = useApiQuery('/templates', { query: list.query }, { keepsFormer: true })
  const [isChoosing, setIsChoosing] = useState(false)
  const refresh = useApiMutation('POST /templates/refresh', {
    success: ({ known }) => words.refreshed(known),
  })
  const add = (
    <Can do="POST /templates">
      <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setIsChoosing(true)}>
        {words.add}
      </Button>
    </Can>
  )
  return (
    <Page
      title={words.title}
      lead={words.lead}
      needs="GET /templates"
      actions={
        <Group gap="xs">
          <Can do="POST /templates/refresh">
            <Button
              variant="default"
              leftSection={<IconRefresh size={16} aria-hidden />}
              loading={refresh.isPending}
              onClick={() => refresh.mutate({})}
            >
              {words.refresh}
            </Button>
          </Can>
          {add}
        </Group>
      }
    >
      <FilterBar
        list={list}
        filters={[
          { name: 'q', kind: 'text', label: words.search },
          {
            name: 'channel',
            kind: 'select',
            label: words.channel,
            options: optionsOf(text.common.channels),
            allLabel: words.allChannels,
          },
          {
            name: 'kind',
            kind: 'select',
            label: words.kind,
            options: optionsOf(words.kinds),
            allLabel: words.allKinds,
          },
          {
            name: 'approval',
            kind: 'select',
            label: words.approval,
            options: optionsOf(words.approvals),
            allLabel: words.allApprovals,
          },
          {
            name: 'isEnabled',
            kind: 'select',
            label: words.use,
            options: [
              { value: 'true', label: words.on },
              { value: 'false', label: words.off },
            ],
            allLabel: words.onOrOff,
            width: 130,
          },
        ]}
      />
      <DataTable
        label={words.title}
        columns={columns}
        query={query}
        list={list}
        rowKey={({ id }) => id}
        empty={
          <EmptyState icon={IconTemplate} title={words.emptyTitle} hint={words.emptyHint} action={add} />
        }
        actions={(template) => <RowActions template={template} />}
      />
      <FormModal title={words.chooseTitle} size="lg" isOpen={isChoosing} onClose={() => setIsChoosing(false)}>
        <KindChoice />
      </FormModal>
    </Page>
  )
}

function KindChoice() {
  return (
    <Stack gap="md">
      {(['whatsapp', 'sms', 'email'] as const).map((channel) => (
        <div key={channel}>
          <Text size="sm" fw={600} mb={6} component="div">
            <ChannelLabel channel={channel} />
          </Text>
          <div className={classes['kinds']}>
            {kindsOf(channel).map((kind) => (
              <Link
                key={kind}
                className={classes['kind']}
                to="/templates/$id"
                params={{ id: 'new' }}
                search={{ channel, kind } as never}
                aria-label={words.chooseOf(words.kinds[kind], text.common.channels[channel])}
              >
                <Text size="sm" fw={600}>
                  {words.kinds[kind]}
                </Text>
                <Text size="xs" c="dimmed">
                  {words.kindHints[channel][kind]}
                </Text>
              </Link>
            ))}
          </div>
        </div>
      ))}
    </Stack>
  )
}

function RowActions({ template: { id, name } }: { template: Template }) {
  const navigate = useNavigate()
  const remove = useApiMutation('DELETE /templates/:id', { success: words.removed })
  return (
    <>
      <Can do="POST /templates">
        <IconAction
          label={words.duplicateOf(name)}
          icon={<IconCopy size={16} aria-hidden />}
          onClick={() =>
            void navigate({ to: '/templates/$id', params: { id: 'new' }, search: { from: id } as never })
          }
        />
      </Can>
      <Can do="DELETE /templates/:id">
        <ConfirmButton
          label={words.removeOf(name)}
          icon={<IconTrash size={16} aria-hidden />}
          title={words.removeTitle(name)}
          confirmLabel={text.common.yesRemove}
          isWorking={remove.isPending}
          onConfirm={() => remove.mutateAsync({ path: { id } })}
        >
          {words.removeHint}
        </ConfirmButton>
      </Can>
    </>
  )
}
