/** The filters of a list, each bound to the address by `useListState`. */
import { Button, Select, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { IconFilter, IconFilterOff, IconSearch } from '@tabler/icons-react'
import { useEffect, useState, type ReactNode } from 'react'
import { fromLocalInput, toLocalInput } from '../format.ts'
import type { ListState } from '../hooks/use-list-state.ts'
import { text } from '../text/index.ts'
import classes from './filter-bar.module.css'
import { RecordSelect, type RecordNoun } from './record-select.tsx'

export type Filter<N extends string> = { name: N; label: string; width?: number } & (
  | { kind: 'text'; placeholder?: string }
  | { kind: 'select'; options: readonly { value: string; label: string }[]; allLabel?: string }
  /** A line, template, segment or sender, chosen by name. */
  | { kind: 'record'; nouns: readonly [RecordNoun, RecordNoun?]; allLabel?: string }
  /** Kept as an instant with its zone, shown in the viewer's. */
  | { kind: 'instant' }
)

type FilterBarProps<F extends Record<string, string>> = {
  list: ListState<F>
  filters: readonly Filter<keyof F & string>[]
  /** Further controls, at the end. */
  children?: ReactNode
}

export function FilterBar<F extends Record<string, string>>({ list, filters, children }: FilterBarProps<F>) {
  const [isOpen, setIsOpen] = useState(false)
  return (
    <div
      className={classes['bar']}
      role="search"
      aria-label={text.common.filters}
      data-open={isOpen || undefined}
    >
      {filters.length > 1 && (
        <Button
          className={classes['toggle']}
          variant="default"
          leftSection={<IconFilter size={16} aria-hidden />}
          aria-expanded={isOpen}
          onClick={() => setIsOpen(!isOpen)}
        >
          {list.isFiltered ? text.common.filtersSet : text.common.filters}
        </Button>
      )}
      {filters.map((filter) => (
        <FilterInput
          key={filter.name}
          filter={filter}
          value={list.filters[filter.name] ?? ''}
          onChange={(value) => list.setFilters({ [filter.name]: value } as Partial<F>)}
        />
      ))}
      {list.isFiltered && (
        <Button
          variant="subtle"
          size="sm"
          leftSection={<IconFilterOff size={16} aria-hidden />}
          onClick={list.clearFilters}
        >
          {text.common.clearFilters}
        </Button>
      )}
      {children}
    </div>
  )
}

type InputProps = { filter: Filter<string>; value: string; onChange(value: string): void }

function FilterInput({ filter, value, onChange }: InputProps) {
  const { label, width } = filter
  switch (filter.kind) {
    case 'text':
      return <TextFilter filter={filter} value={value} onChange={onChange} />
    case 'select':
      return (
        <Select
          label={label}
          className={classes['filter']}
          w={width ?? 170}
          value={value}
          data={[{ value: '', label: filter.allLabel ?? text.common.all }, ...filter.options]}
          onChange={(chosen) => onChange(chosen ?? '')}
        />
      )
    case 'record':
      return (
        <RecordSelect
          nouns={filter.nouns}
          label={label}
          className={classes['filter']}
          width={width}
          value={value}
          allLabel={filter.allLabel}
          onChange={onChange}
        />
      )
    case 'instant':
      return (
        <TextInput
          type="datetime-local"
          label={label}
          className={classes['filter']}
          w={width ?? 200}
          value={value === '' ? '' : toLocalInput(value)}
          onChange={(event) => onChange(fromLocalInput(event.currentTarget.value))}
        />
      )
  }
}

/** Follows the address when it changes elsewhere; changes the address when the typing pauses. */
function TextFilter({
  filter,
  value,
  onChange,
}: InputProps & { filter: { kind: 'text'; placeholder?: string } }) {
  const [typed, setTyped] = useState(value)
  useEffect(() => setTyped(value), [value])
  const tell = useDebouncedCallback(onChange, 300)
  return (
    <TextInput
      label={filter.label}
      placeholder={filter.placeholder}
      className={classes['filter']}
      w={filter.width ?? 220}
      leftSection={<IconSearch size={16} aria-hidden />}
      value={typed}
      onChange={(event) => {
        setTyped(event.currentTarget.value)
        tell(event.currentTarget.value.trim())
      }}
      onKeyDown={(event) => {
        if (event.key === 'Enter') onChange(typed.trim())
      }}
    />
  )
}
