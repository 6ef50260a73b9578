/** Names of lists and segments that rules speak of. */
import { useApiQuery } from '../../queries.ts'
import type { Names } from './in-words.ts'

const atMost = 200

export function useNames(): Names {
  const lists = useApiQuery('/restriction-lists', { query: { limit: atMost, sort: 'name' } })
  const segments = useApiQuery('/segments', { query: { limit: atMost, sort: 'name' } })
  return {
    listName: (id) => lists.data?.items.find((list) => list.id === id)?.name,
    segmentName: (id) => segments.data?.items.find((segment) => segment.id === id)?.name,
  }
}
