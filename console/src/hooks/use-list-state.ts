/**
 * Filters, sort and place of a list, kept in the address: a reload, a link and the browser's back button all give the
 * same list. The way back through earlier pages is kept in the history's state, since cursors only point forward.
 */
import { useLocation, useNavigate } from '@tanstack/react-router'
import { useMemo } from 'react'

export type Order = 'asc' | 'desc'

export type ListState<F extends Record<string, string>> = {
  filters: F
  /** Whether any filter differs from what it is at first. */
  isFiltered: boolean
  setFilters(changes: Partial<F>): void
  clearFilters(): void
  sort: string | undefined
  order: Order
  /** The same column again turns the order round. */
  sortBy(sort: string): void
  hasPrevious: boolean
  previous(): void
  next(cursor: string): void
  /** For the API: what is not given is left out. */
  query: Record<string, string | number | undefined>
}

export type ListOptions<F> = {
  /** What each filter is at first; the others are read from the address. */
  filters: F
  sort?: { by: string; order?: Order }
  limit?: number
}

declare module '@tanstack/react-router' {
  interface HistoryState {
    /** Cursors of the pages before this one, the first page's as an empty text. */
    trail?: string[]
  }
}

export function useListState<F extends Record<string, string>>(options: ListOptions<F>): ListState<F> {
  const navigate = useNavigate()
  const search = useLocation({ select: (location) => location.search as Record<string, string> })
  const trail = useLocation({ select: (location) => location.state.trail })
  const filters = useMemo(() => {
    const read = Object.keys(options.filters).map((name) => [name, search[name] ?? options.filters[name]])
    return Object.fromEntries(read) as F
  }, [search, options.filters])
  const sort = search['sort'] ?? options.sort?.by
  const order = (search['order'] ?? options.sort?.order ?? 'asc') as Order
  const cursor = search['cursor']

  const go = (changes: Record<string, string | undefined>, nextTrail: string[] = [], isReplacing = false) => {
    const kept = { ...search, cursor: undefined, ...changes }
    void navigate({
      to: '.',
      search: Object.fromEntries(Object.entries(kept).filter(([, value]) => value !== undefined)),
      state: { trail: nextTrail },
      replace: isReplacing,
      resetScroll: false,
    })
  }
  const asSearch = (changes: Partial<F>) =>
    Object.fromEntries(
      Object.entries(changes).map(([name, value]) => [
        name,
        value === options.filters[name] ? undefined : value,
      ]),
    )

  return {
    filters,
    isFiltered: Object.entries(filters).some(([name, value]) => value !== options.filters[name]),
    setFilters: (changes) => go(asSearch(changes), [], true),
    clearFilters: () => go(asSearch(options.filters)),
    sort,
    order,
    sortBy: (by) => go({ sort: by, order: by === sort && order === 'asc' ? 'desc' : 'asc' }, [], true),
    hasPrevious: cursor !== undefined,
    previous: () => {
      const before = trail?.at(-1)
      go({ cursor: before === '' ? undefined : before }, trail?.slice(0, -1))
    },
    next: (next) => go({ cursor: next }, [...(trail ?? []), cursor ?? '']),
    query: {
      ...Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== '')),
      ...(options.sort && { sort, order }),
      cursor,
      limit: options.limit ?? 50,
    },
  }
}
