/** The list of rules: on and off, in words, in an order that buttons change. */
import { Group, Stack, Switch, Text } from '@mantine/core'
import { IconArrowDown, IconArrowUp, IconListCheck, IconPencil, IconTrash } from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { BodyOf } from '../../api.ts'
import { AppLink } from '../../components/app-link.tsx'
import { Can } from '../../components/can.tsx'
import { ConfirmButton } from '../../components/confirm-button.tsx'
import { DataTable, type Column } from '../../components/data-table.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { FilterBar } from '../../components/filter-bar.tsx'
import { IconAction } from '../../components/icon-action.tsx'
import { moved } from '../../components/ordered-list.tsx'
import { Panel } from '../../components/panel.tsx'
import { Tag } from '../../components/tag.tsx'
import { useListState } from '../../hooks/use-list-state.ts'
import { readOnce, useApiMutation, useApiQuery } from '../../queries.ts'
import { useCan } from '../../session.ts'
import { text } from '../../text/index.ts'
import { builtInKinds, ruleInWords, scopeInWords, type Kind, type Names, type Rule } from './in-words.ts'
import { useNames } from './names.ts'
import classes from './rules.module.css'

const words = text.rules
const filters = { q: '', kind: '' }
const kindOptions = Object.entries(words.kinds).map(([value, label]) => ({ value, label }))
/** As many as the API gives at once: to be put in order they must all be here. */
const atOnce = 200

type RuleListProps = { onChange(rule: Rule): void; add: ReactNode }

export function RuleList({ onChange, add }: RuleListProps) {
  const can = useCan()
  const list = useListState({ filters, sort: { by: 'position' }, limit: atOnce })
  const query = useApiQuery('/rules', { query: list.query }, { keepsFormer: true })
  const names = useNames()
  const order = useApiMutation('PUT /rules/order', { success: words.ordered })
  const rules = query.data?.items ?? []
  const ids = rules.map(({ id }) => id)
  const isWhole = !list.isFiltered && !list.hasPrevious && query.data?.nextCursor === null
  const move = (from: number, to: number) => order.mutate({ body: { ruleIds: moved(ids, from, to) } })
  const canOrder = isWhole && list.sort === 'position' && list.order === 'asc' && can('PUT /rules/order')
  return (
    <Stack gap="md">
      <FilterBar
        list={list}
        filters={[
          { name: 'q', kind: 'text', label: words.search },
          { name: 'kind', kind: 'select', label: words.kind, options: kindOptions },
        ]}
      />
      <DataTable
        label={words.title}
        columns={columnsOf(names)}
        query={query}
        list={list}
        rowKey={({ id }) => id}
        empty={
          <EmptyState icon={IconListCheck} title={words.emptyTitle} hint={words.emptyHint} action={add} />
        }
        actions={(rule) => (
          <>
            {canOrder && (
              <MoveButtons
                name={rule.name}
                index={ids.indexOf(rule.id)}
                count={ids.length}
                isBusy={order.isPending}
                onMove={move}
              />
            )}
            <RowActions rule={rule} onChange={() => onChange(rule)} />
          </>
        )}
      />
      {rules.length > 1 && (
        <Text size="sm" c="dimmed">
          {words.orderHint}
        </Text>
      )}
      {isWhole && <BuiltIn kinds={rules.map(({ kind }) => kind)} />}
    </Stack>
  )
}

const columnsOf = (names: Names): Column<Rule>[] => [
  { header: words.isOn, cell: (rule) => <OnOff rule={rule} />, width: 60 },
  {
    header: words.rule,
    cell: (rule) => (
      <div>
        <div className={classes['name']}>{rule.name}</div>
        <Text size="xs" c="dimmed" fw={400}>
          {words.kinds[rule.kind]}
        </Text>
      </div>
    ),
    sort: 'name',
    isTitle: true,
    width: '22%',
  },
  {
    header: words.does,
    cell: (rule) => (
      <div className={classes['words']} data-off={rule.isEnabled === false || undefined}>
        {ruleInWords(rule, names)}{' '}
        {rule.kind === 'restriction_list' && rule.settings?.listId && (
          <AppLink
            to="/restriction-lists/$id"
            params={{ id: rule.settings.listId }}
            size="sm"
            underline="always"
          >
            {words.openList}
          </AppLink>
        )}
      </div>
    ),
  },
  { header: words.appliesTo, cell: (rule) => scopeInWords(rule, names), width: '18%' },
]

type MoveButtonsProps = {
  name: string
  index: number
  count: number
  isBusy: boolean
  onMove(from: number, to: number): void
}

const MoveButtons = ({ name, index, count, isBusy, onMove }: MoveButtonsProps) => (
  <>
    <IconAction
      label={words.up(name)}
      icon={<IconArrowUp size={16} aria-hidden />}
      isDisabled={isBusy || index === 0}
      onClick={() => onMove(index, index - 1)}
    />
    <IconAction
      label={words.down(name)}
      icon={<IconArrowDown size={16} aria-hidden />}
      isDisabled={isBusy || index === count - 1}
      onClick={() => onMove(index, index + 1)}
    />
  </>
)

/** All of a rule but its kind and its place, which stay. */
const bodyOf = (rule: Rule): BodyOf<'PUT /rules/:id'> => ({
  name: rule.name,
  action: rule.action,
  apis: rule.apis,
  channels: rule.channels,
  segmentIds: rule.segmentIds,
  settings: rule.settings,
})

function OnOff({ rule }: { rule: Rule }) {
  const { id, name } = rule
  const isOn = rule.isEnabled !== false
  const client = useQueryClient()
  const can = useCan()
  const change = useApiMutation('PUT /rules/:id', {
    success: isOn ? words.turnedOff(name) : words.turnedOn(name),
  })
  if (!can('PUT /rules/:id')) return isOn ? <Tag tone="good">{words.isOn}</Tag> : <Tag>{text.common.no}</Tag>
  const toggle = async () => {
    // A rule is replaced whole: what somebody has changed a moment ago must not be undone by a switch.
    const { data, version } = await readOnce(client, 'GET /rules/:id', { path: { id } })
    change.mutate({ path: { id }, body: { ...bodyOf(data), isEnabled: !isOn }, version })
  }
  return (
    <Switch
      aria-label={isOn ? words.turnOff(name) : words.turnOn(name)}
      checked={isOn}
      disabled={change.isPending}
      onChange={() => void toggle()}
    />
  )
}

function RowActions({ rule: { id, name }, onChange }: { rule: Rule; onChange(): void }) {
  const remove = useApiMutation('DELETE /rules/:id', {
    success: words.removed,
    alsoStale: ['restriction-lists'],
  })
  return (
    <>
      <Can do="PUT /rules/:id">
        <IconAction
          label={words.changeOf(name)}
          icon={<IconPencil size={16} aria-hidden />}
          onClick={onChange}
        />
      </Can>
      <Can do="DELETE /rules/:id">
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

function BuiltIn({ kinds }: { kinds: readonly Kind[] }) {
  const holding = builtInKinds.filter((kind) => !kinds.includes(kind))
  if (holding.length === 0) return null
  return (
    <Panel title={words.builtInTitle}>
      <Stack gap="xs">
        {holding.map((kind) => (
          <Group key={kind} gap="xs" wrap="nowrap" align="flex-start">
            <Tag>{words.builtIn}</Tag>
            <Text size="sm">
              <strong>{words.kinds[kind]}.</strong> {words.kindHints[kind]}
            </Text>
          </Group>
        ))}
        <Text size="xs" c="dimmed">
          {words.builtInHint}
        </Text>
      </Stack>
    </Panel>
  )
}
