/** The numbers of a report, with a total; as many rows as people read, the rest is in the CSV. */
import { Button, Group, Table, Text, Tooltip, UnstyledButton } from '@mantine/core'
import { IconArrowDown, IconArrowUp } from '@tabler/icons-react'
import { useState } from 'react'
import { formatDuration, formatNumber, formatPercent } from '../../format.ts'
import { useSearchParam } from '../../hooks/use-search-param.ts'
import { countOf, successOf, type Report, type ReportRow } from '../../outcomes.ts'
import { text } from '../../text/index.ts'
import { nameOf, type Dimension } from './groups.ts'
import classes from './table.module.css'

const words = text.reports
const rowsAtOnce = 100

type Outcome = keyof typeof words.outcomes
type NumberColumn = {
  name: string
  label: string
  hint?: string
  value(row: ReportRow): number | undefined
  show(value: number): string
}

const numberColumns: readonly NumberColumn[] = [
  ...(Object.keys(words.outcomes) as Outcome[]).map((outcome) => ({
    name: outcome,
    label: words.outcomes[outcome],
    value: (row: ReportRow) => countOf(row, outcome),
    show: formatNumber,
  })),
  { name: 'success', label: words.success, hint: words.successHint, value: successOf, show: formatPercent },
  ...(['medianMs', 'p95Ms', 'p99Ms'] as const).map((name) => ({
    name,
    label: { medianMs: words.median, p95Ms: words.p95, p99Ms: words.p99 }[name],
    hint: words.latencyHint,
    value: (row: ReportRow) => row[name] ?? undefined,
    show: formatDuration,
  })),
]

export function ReportTable({ report, groupBy }: { report: Report; groupBy: readonly Dimension[] }) {
  const [sort, setSort] = useSearchParam<string>('sort', '')
  const [shownRows, setShownRows] = useState(rowsAtOnce)
  const rows = sorted(report, groupBy, sort)
  const header = (name: string, label: string, hint?: string) => (
    <SortHeader
      key={name}
      name={name}
      label={label}
      hint={hint}
      sort={sort}
      onSort={setSort}
      isRight={!isGroup(name)}
    />
  )
  const isGroup = (name: string) => (groupBy as readonly string[]).includes(name)
  return (
    <div>
      <div className={classes['frame']} role="region" aria-label={words.table} tabIndex={0}>
        <Table className={classes['table']} verticalSpacing={5} highlightOnHover>
          <Table.Thead>
            <Table.Tr>
              {groupBy.map((name) => header(name, words.dimensions[name]))}
              {numberColumns.map(({ name, label, hint }) => header(name, label, hint))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.slice(0, shownRows).map((row) => (
              <Table.Tr key={JSON.stringify(row.of)}>
                {groupBy.map((name, index) =>
                  index === 0 ? (
                    <Table.Th key={name} scope="row">
                      {nameOf(report, row, name)}
                    </Table.Th>
                  ) : (
                    <Table.Td key={name}>{nameOf(report, row, name)}</Table.Td>
                  ),
                )}
                <Numbers row={row} />
              </Table.Tr>
            ))}
          </Table.Tbody>
          <Table.Tfoot>
            <Table.Tr>
              <Table.Th scope="row" colSpan={groupBy.length}>
                {words.total}
              </Table.Th>
              <Numbers row={report.total} />
            </Table.Tr>
          </Table.Tfoot>
        </Table>
      </div>
      {rows.length > shownRows && (
        <Group justify="space-between" mt="sm">
          <Text size="sm" c="dimmed">
            {words.rowsShown(formatNumber(shownRows), formatNumber(rows.length))}
          </Text>
          <Button variant="default" size="xs" onClick={() => setShownRows(shownRows + rowsAtOnce)}>
            {words.showMore}
          </Button>
        </Group>
      )}
    </div>
  )
}

const Numbers = ({ row }: { row: ReportRow }) =>
  numberColumns.map(({ name, value, show }) => {
    const found = value(row)
    return (
      <Table.Td key={name} ta="right" data-zero={found === 0 || undefined}>
        {found === undefined ? text.common.none : show(found)}
      </Table.Td>
    )
  })

/** `name` or `-name`: upwards or downwards. Without one, groups stand in their own order. */
function sorted(report: Report, groupBy: readonly Dimension[], sort: string): ReportRow[] {
  const isDown = sort.startsWith('-')
  const name = isDown ? sort.slice(1) : sort
  const column = numberColumns.find((one) => one.name === name)
  const dimension = groupBy.find((one) => one === name)
  const direction = isDown ? -1 : 1
  if (column)
    return report.rows.toSorted((a, b) => ((column.value(a) ?? -1) - (column.value(b) ?? -1)) * direction)
  const keyOf = (row: ReportRow, by: Dimension) =>
    by === 'day' || by === 'hour' ? String(row.of[by]) : nameOf(report, row, by)
  const order = dimension ? [dimension, ...groupBy.filter((one) => one !== dimension)] : groupBy
  return report.rows.toSorted((a, b) => {
    for (const by of order) {
      const compared = keyOf(a, by).localeCompare(keyOf(b, by))
      if (compared !== 0) return by === dimension ? compared * direction : compared
    }
    return 0
  })
}

type SortHeaderProps = {
  name: string
  label: string
  hint: string | undefined
  sort: string
  isRight: boolean
  onSort(sort: string): void
}

function SortHeader({ name, label, hint, sort, isRight, onSort }: SortHeaderProps) {
  const direction = sort === name ? 'ascending' : sort === `-${name}` ? 'descending' : 'none'
  const Icon = direction === 'ascending' ? IconArrowUp : IconArrowDown
  // Numbers are first wanted from the largest.
  const next = isRight
    ? direction === 'descending'
      ? name
      : `-${name}`
    : direction === 'ascending'
      ? `-${name}`
      : name
  return (
    <Table.Th ta={isRight ? 'right' : undefined} aria-sort={direction}>
      <Tooltip label={hint} disabled={hint === undefined} multiline maw={260}>
        <UnstyledButton
          className={classes['sort']}
          aria-label={text.common.sortBy(label)}
          onClick={() => onSort(next)}
        >
          {label}
          {direction !== 'none' && <Icon size={13} aria-hidden />}
        </UnstyledButton>
      </Tooltip>
    </Table.Th>
  )
}
