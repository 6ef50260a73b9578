/** A page of a list: a table on wide screens, cards on narrow ones, with all the states a list can be in. */
import { Group, Skeleton, Table, UnstyledButton } from '@mantine/core'
import { IconArrowDown, IconArrowsSort, IconArrowUp } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import type { ApiError } from '../api.ts'
import type { Order } from '../hooks/use-list-state.ts'
import { text } from '../text/index.ts'
import classes from './data-table.module.css'
import { EmptyState } from './empty-state.tsx'
import { ErrorState } from './error-state.tsx'
import { Pager } from './pager.tsx'

export type Column<T> = {
  /** What the column is called, on cards as well. */
  header: string
  cell(row: T): ReactNode
  /** The API's name for this order; without one the column cannot be sorted. */
  sort?: string
  align?: 'right'
  width?: number | string
  /** The heading of the card: usually the first column. */
  isTitle?: boolean
}

/** The parts of `useListState` that a table needs. */
type TableList = {
  isFiltered: boolean
  sort: string | undefined
  order: Order
  sortBy(sort: string): void
  hasPrevious: boolean
  previous(): void
  next(cursor: string): void
}

type DataTableProps<T> = {
  /** For screen readers: what is listed. */
  label: string
  columns: readonly Column<T>[]
  /** From `useApiQuery`. */
  query: {
    data: { items: T[]; nextCursor?: string | null } | undefined
    error: ApiError | null
    isPlaceholderData: boolean
    refetch(): unknown
  }
  rowKey(row: T): string
  /** From `useListState`; without it there are neither pages nor orders. */
  list?: TableList
  /** Buttons at the end of a row. */
  actions?(row: T): ReactNode
  /** Below a row, over its whole width. */
  detail?(row: T): ReactNode
  /** When there is nothing, and no filter hides it. */
  empty?: ReactNode
}

export function DataTable<T>(props: DataTableProps<T>) {
  const { query, list, columns, label, empty } = props
  if (query.error && query.data === undefined)
    return <ErrorState error={query.error} onRetry={() => query.refetch()} />
  const rows = query.data?.items
  if (rows?.length === 0 && !list?.hasPrevious && !query.data?.nextCursor)
    return list?.isFiltered ? (
      <EmptyState title={text.common.nothingFound} hint={text.common.nothingFoundHint} />
    ) : (
      (empty ?? <EmptyState title={text.common.nothingHere} />)
    )
  return (
    <div aria-busy={rows === undefined || query.isPlaceholderData}>
      <div className={classes['frame']}>
        <Table
          className={classes['table']}
          role="table"
          aria-label={label}
          highlightOnHover
          verticalSpacing={6}
        >
          <Table.Thead role="rowgroup">
            <Table.Tr role="row">
              {columns.map((column) => (
                <HeaderCell key={column.header} column={column} list={list} />
              ))}
              {props.actions && (
                <Table.Th role="columnheader" className={classes['actionsHead']}>
                  <span className={classes['hidden']}>{text.common.actions}</span>
                </Table.Th>
              )}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody role="rowgroup" data-faded={query.isPlaceholderData || undefined}>
            {rows ? (
              rows.map((row) => <Row key={props.rowKey(row)} row={row} {...props} />)
            ) : (
              <Waiting {...props} />
            )}
          </Table.Tbody>
        </Table>
      </div>
      {list && <Pager list={list} nextCursor={query.data?.nextCursor ?? null} />}
    </div>
  )
}

type HeaderCellProps<T> = { column: Column<T>; list: TableList | undefined }

function HeaderCell<T>({ column: { header, sort, align, width }, list }: HeaderCellProps<T>) {
  if (sort === undefined || !list)
    return (
      <Table.Th role="columnheader" ta={align} w={width}>
        {header}
      </Table.Th>
    )
  const isSorted = list.sort === sort
  const Icon = isSorted ? (list.order === 'asc' ? IconArrowUp : IconArrowDown) : IconArrowsSort
  return (
    <Table.Th
      role="columnheader"
      ta={align}
      w={width}
      aria-sort={isSorted ? (list.order === 'asc' ? 'ascending' : 'descending') : 'none'}
    >
      <UnstyledButton
        className={classes['sort']}
        aria-label={text.common.sortBy(header)}
        onClick={() => list.sortBy(sort)}
      >
        {header}
        <Icon size={14} aria-hidden />
      </UnstyledButton>
    </Table.Th>
  )
}

function Row<T>({ row, columns, actions, detail }: DataTableProps<T> & { row: T }) {
  const below = detail?.(row)
  return (
    <>
      <Table.Tr role="row">
        {columns.map(({ header, cell, align, isTitle }) => (
          <Table.Td key={header} role="cell" ta={align} data-label={header} data-title={isTitle || undefined}>
            {cell(row)}
          </Table.Td>
        ))}
        {actions && (
          <Table.Td role="cell" className={classes['actions']}>
            <Group gap={4} justify="flex-end" wrap="nowrap">
              {actions(row)}
            </Group>
          </Table.Td>
        )}
      </Table.Tr>
      {below && (
        <Table.Tr role="row" className={classes['detail']}>
          <Table.Td role="cell" colSpan={columns.length + (actions ? 1 : 0)}>
            {below}
          </Table.Td>
        </Table.Tr>
      )}
    </>
  )
}

const waitingRows = ['a', 'b', 'c', 'd', 'e', 'f']

const Waiting = <T,>({ columns, actions }: DataTableProps<T>) =>
  waitingRows.map((name) => (
    <Table.Tr key={name} role="row">
      {columns.map(({ header }) => (
        <Table.Td key={header} role="cell" data-label={header}>
          <Skeleton height={14} width="70%" />
        </Table.Td>
      ))}
      {actions && <Table.Td role="cell" />}
    </Table.Tr>
  ))
