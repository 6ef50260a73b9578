/** Chooses a line, template, segment, user or token by name. Looks on the server, so any number of them may exist. */
import { Select } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useState } from 'react'
import { useApiQuery } from '../queries.ts'
import { text } from '../text/index.ts'

export type RecordNoun = 'lines' | 'templates' | 'segments' | 'users' | 'direct-tokens'

type RecordSelectProps = {
  /** One noun, or two whose records are offered side by side. */
  nouns: readonly [RecordNoun, RecordNoun?]
  label: string
  /** An id, or empty for all. */
  value: string
  allLabel?: string | undefined
  width?: number | undefined
  className?: string | undefined
  onChange(id: string): void
}

type Named = { id: string; name?: string | null }

const perNoun = 50

/** All these nouns share the shape of their lists; `/segments` stands for them. */
function useRecords(noun: RecordNoun | undefined, q: string, selected: string) {
  const path = `/${noun ?? 'segments'}` as '/segments'
  const list = useApiQuery(
    path,
    { query: { q, limit: perNoun, sort: 'name' } },
    { keepsFormer: true, isEnabled: noun !== undefined },
  )
  const items: readonly Named[] = noun === undefined ? [] : (list.data?.items ?? [])
  const isMissing =
    selected.startsWith(prefixes[noun ?? 'segments']) && !items.some(({ id }) => id === selected)
  const one = useApiQuery(
    `${path}/:id` as '/segments/:id',
    { path: { id: selected } },
    { isEnabled: noun !== undefined && list.data !== undefined && isMissing },
  )
  return isMissing && one.data ? [...items, one.data as Named] : items
}

const prefixes: Record<RecordNoun, string> = {
  lines: 'lin_',
  templates: 'tpl_',
  segments: 'seg_',
  users: 'usr_',
  'direct-tokens': 'dtk_',
}

export function RecordSelect({
  nouns,
  label,
  value,
  allLabel,
  width,
  className,
  onChange,
}: RecordSelectProps) {
  const [typed, setTyped] = useState('')
  const [q] = useDebouncedValue(typed, 250)
  const [first, second] = nouns
  const found = [...useRecords(first, q, value), ...useRecords(second, q, value)]
  const options = found.map(({ id, name }) => ({ value: id, label: name ?? id }))
  const all = { value: '', label: allLabel ?? text.common.all }
  // An id that nobody knows (any more) is shown as it is, so that the filter stays visible.
  if (value !== '' && !options.some((option) => option.value === value))
    options.push({ value, label: `${value.slice(0, 12)}…` })
  const labels = new Set([all.label, ...options.map((option) => option.label)])
  return (
    <Select
      label={label}
      className={className}
      w={width ?? 190}
      searchable
      value={value}
      data={typed === '' || labels.has(typed) ? [all, ...options] : options}
      nothingFoundMessage={text.common.nothingFound}
      // Choosing writes the name into the box: that is no search.
      onSearchChange={(words) => setTyped(labels.has(words) ? '' : words)}
      onChange={(id) => onChange(id ?? '')}
    />
  )
}
