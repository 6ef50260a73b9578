/** Pages of nouns of which a company has thousands at most: read whole, searched and sorted here. */
import { Type, type Static } from 'typebox'
import { encodeCursor, decodeCursor, limitOf, oneOf, pageQuery } from './wire.ts'

export const smallListQuery = <S extends string>(sorts: readonly S[]) => ({
  ...pageQuery,
  q: Type.Optional(
    Type.String({ description: 'Only what contains this text, in any case.', maxLength: 255 }),
  ),
  sort: Type.Optional(oneOf(sorts, 'What the list is sorted by.')),
  order: Type.Optional(oneOf(['asc', 'desc'], 'Ascending unless told otherwise.')),
})

const Query = Type.Object(smallListQuery([]))
type Query = Omit<Static<typeof Query>, 'sort'> & { sort?: string }

export function smallPage<T extends { id: string }>(
  all: readonly T[],
  query: Query,
  options: {
    /** By the name of the sort; the first is the default. */
    sorts: Record<string, (item: T) => string>
    /** What `q` looks at. */
    words: (item: T) => (string | null | undefined)[]
    show: (item: T) => unknown
  },
): { items: unknown[]; nextCursor: string | null } {
  const q = query.q?.trim().toLowerCase()
  const sortBy = options.sorts[query.sort ?? ''] ?? Object.values(options.sorts)[0]!
  const sign = query.order === 'desc' ? -1 : 1
  const keyed = all
    .filter((item) => !q || options.words(item).some((word) => word?.toLowerCase().includes(q)))
    .map((item) => ({ item, key: sortBy(item) }))
    .toSorted((a, b) => sign * compare([a.key, a.item.id], [b.key, b.item.id]))
  const after = decodeCursor(query.cursor, 2)
  const rest = after
    ? keyed.filter(({ item, key }) => sign * compare([key, item.id], [after[0]!, after[1]!]) > 0)
    : keyed
  const page = rest.slice(0, limitOf(query))
  const last = page.at(-1)
  return {
    items: page.map(({ item }) => options.show(item)),
    nextCursor: rest.length > page.length && last ? encodeCursor([last.key, last.item.id]) : null,
  }
}

const compare = (a: [string, string], b: [string, string]): number =>
  a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : a[1] < b[1] ? -1 : a[1] > b[1] ? 1 : 0
