/** Restriction lists and their entries. Files of millions: `imports.ts`. */
import { Type } from 'typebox'
import { readRestrictionValue, restrictionFields, type RestrictionField } from '../../domain/restriction.ts'
import { showId } from '../../lib/ids.ts'
import { createRestrictionList } from '../../store/restriction-lists.ts'
import {
  countEntries,
  countEntriesOf,
  findEntriesByValue,
  getRestrictionList,
  listRulesOfLists,
  removeRestrictionList,
  renameRestrictionList,
  rulesOfList,
  type ListRule,
} from '../../store/restriction-lists-admin.ts'
import {
  addRestrictionEntries,
  anyContents,
  findRestrictionHits,
  listRestrictionEntries,
  listRestrictionLists,
  removeRestrictionEntries,
  type RestrictionProbe,
  type StoredEntry,
} from '../../store/restrictions.ts'
import { readVersion } from '../../store/versions.ts'
import { changed, conflict, done, invalid, notFound, unlessSaved } from './replies.ts'
import { change, read, type Route } from './route.ts'
import { smallListQuery, smallPage } from './small-lists.ts'
import {
  checkVersion,
  decodeCursor,
  flag,
  idOf,
  instant,
  instantIn,
  limitOf,
  listOf,
  nullable,
  oneOf,
  optionalText,
  pageOfRows,
  pageOut,
  pageQuery,
  readInstant,
  text,
} from './wire.ts'

const ListOut = Type.Object({ id: idOf('lst', 'The list.'), name: Type.String() })
const RuleOfList = Type.Object({ id: idOf('rul', 'A rule.'), name: Type.String(), isEnabled: Type.Boolean() })
const inWords = {
  entries: Type.Integer({ description: 'Counted up to 10,000, in a list of lists up to 1,000.' }),
  hasMoreEntries: Type.Boolean({ description: 'There are more than were counted.' }),
}
const field = oneOf(restrictionFields, 'What is restricted.')
const EntryIn = Type.Object({
  field,
  value: text('A number, an address, a document or a contract.'),
  isPrefix: flag('Everything that begins with it.'),
  expiresAt: instantIn('Until when it holds; without it, for good.'),
})
const EntryOut = Type.Object({
  field,
  value: Type.String({ description: 'In the form in which it compares.' }),
  isPrefix: Type.Boolean(),
  expiresAt: nullable(Type.String()),
})

const showEntry = ({ field: of, value, isPrefix, expiresAt }: StoredEntry) => ({
  field: of,
  value,
  isPrefix,
  expiresAt,
})

const countedUpTo = 10_000
const countedInListUpTo = 1_000
const entriesAtOnce = 1000

const listChanges: Route[] = [
  change({
    method: 'POST',
    path: '/restriction-lists',
    noun: 'restriction_list',
    action: 'create',
    summary: 'Create a restriction list',
    description: 'It restricts nobody until a rule looks at it.',
    body: Type.Object({ name: text('Its name.') }),
    answer: ListOut,
    status: 201,
    async handle({ db, companyId, body }) {
      const result = await createRestrictionList(db, companyId, body.name)
      if (!result.ok) return unlessSaved(result)!
      const { id, name } = result.value
      return changed({ id: showId('lst', id), name }, { nounId: showId('lst', id), detail: { name } })
    },
  }),
  change({
    method: 'PATCH',
    path: '/restriction-lists/:id',
    ids: ['lst'],
    noun: 'restriction_list',
    action: 'rename',
    summary: 'Rename a restriction list',
    body: Type.Object({ name: text('Its name.') }),
    answer: ListOut,
    async handle(call) {
      const {
        db,
        companyId,
        ids: [id = ''],
        body,
      } = call
      const stale = await checkVersion(call, 'restriction_list', id)
      if (stale) return stale
      const result = await renameRestrictionList(db, companyId, id, body.name)
      if (!result?.ok) return unlessSaved(result)!
      const { name } = result.value
      return changed(
        { id: showId('lst', id), name },
        { nounId: showId('lst', id), detail: { name } },
        { version: await readVersion(db, 'restriction_list', companyId, id) },
      )
    },
  }),
  change({
    method: 'DELETE',
    path: '/restriction-lists/:id',
    ids: ['lst'],
    noun: 'restriction_list',
    action: 'remove',
    summary: 'Remove a restriction list with all entries',
    description: 'Refused while a rule looks at it.',
    async handle(call) {
      const {
        db,
        companyId,
        ids: [id = ''],
      } = call
      const stale = await checkVersion(call, 'restriction_list', id)
      if (stale) return stale
      const rules = await rulesOfList(db, companyId, id)
      if (rules.length > 0) return conflict(`rules look at it: ${rules.join(', ')}`)
      const list = await getRestrictionList(db, companyId, id)
      await removeRestrictionList(db, companyId, id)
      return changed(undefined, { nounId: showId('lst', id), detail: { name: list?.name } })
    },
  }),
]

const rulesFor = (rules: readonly ListRule[], listId: string) =>
  rules
    .filter((rule) => rule.listId === listId)
    .map(({ id, name, isEnabled }) => ({ id: showId('rul', id), name, isEnabled }))

/** As a send looks it up: the value itself, and prefixes that cover it. */
function probeOf(value: string, listIds: readonly string[]): RestrictionProbe {
  const readable = (of: RestrictionField) => {
    const reading = readRestrictionValue(of, value, false)
    return reading.ok ? reading.value : undefined
  }
  return {
    ref: 0,
    lists: listIds.map(anyContents),
    phone: readable('phone'),
    email: readable('email'),
    document: value,
    contract: value,
  }
}

const lookUpRoute: Route = read({
  method: 'POST',
  path: '/restriction-lists/look-up',
  summary: 'Look a value up on all lists',
  description:
    'A number, an address, a document or a contract, in any spelling: which entries hold it, by themselves or by a prefix, and which rules look there.',
  body: Type.Object({ value: text('What to look up.') }),
  answer: Type.Object({
    items: Type.Array(
      Type.Object({
        list: ListOut,
        ...EntryOut.properties,
        rules: Type.Array(RuleOfList, { description: 'Those that look at the list.' }),
      }),
    ),
  }),
  async handle({ db, companyId, body, now }) {
    const lists = new Map((await listRestrictionLists(db, companyId)).map((list) => [list.id, list]))
    const hits = (await findRestrictionHits(db, [probeOf(body.value, [...lists.keys()])], now)).get(0) ?? []
    const rules = await listRulesOfLists(db, companyId)
    return done({
      items: hits.flatMap(({ listId, expiresAt, ...hit }) => {
        const list = lists.get(listId)
        if (list === undefined) return []
        const { field: of, value, isPrefix } = hit
        return {
          list: { id: showId('lst', listId), name: list.name },
          field: of,
          value,
          isPrefix,
          expiresAt: expiresAt ?? null,
          rules: rulesFor(rules, listId),
        }
      }),
    })
  },
})

const entryRoutes: Route[] = [
  read({
    method: 'GET',
    path: '/restriction-lists/:id/entries',
    ids: ['lst'],
    summary: 'List or look for entries',
    description: 'With `value`: the entries of exactly this value, in any spelling.',
    query: Type.Object({
      ...pageQuery,
      value: optionalText('A number, an address, a document or a contract.'),
      field: Type.Optional(oneOf(restrictionFields, 'Only of this kind.')),
    }),
    answer: pageOut(EntryOut),
    async handle({ db, companyId, ids: [id = ''], query }) {
      if (!(await getRestrictionList(db, companyId, id))) return notFound
      if (query.value !== undefined)
        return done({
          items: (await findEntriesByValue(db, id, query.value))
            .filter((entry) => query.field === undefined || entry.field === query.field)
            .map(showEntry),
          nextCursor: null,
        })
      const limit = limitOf(query)
      const cursor = decodeCursor(query.cursor, 3)
      const rows = await listRestrictionEntries(db, id, {
        field: query.field,
        after: cursor && {
          field: cursor[0] as RestrictionField,
          isPrefix: cursor[1] === 'true',
          value: cursor[2]!,
        },
        limit: limit + 1,
      })
      return done(
        pageOfRows(rows, limit, (last) => [last.field, String(last.isPrefix), last.value], showEntry),
      )
    },
  }),
  change({
    method: 'POST',
    path: '/restriction-lists/:id/entries',
    ids: ['lst'],
    noun: 'restriction_list',
    action: 'add_entries',
    summary: 'Add entries',
    description: 'An entry that is there takes the new expiry. One that is wrong refuses them all.',
    body: Type.Object({ entries: listOf(EntryIn, 'The entries.', entriesAtOnce) }),
    answer: Type.Object({ added: Type.Integer(), changed: Type.Integer() }),
    async handle({ db, companyId, ids: [id = ''], body }) {
      if (!(await getRestrictionList(db, companyId, id))) return notFound
      const { problems, ...counts } = await addRestrictionEntries(
        db,
        id,
        body.entries.map((entry) => ({ ...entry, expiresAt: readInstant(entry.expiresAt) })),
      )
      if (problems.length > 0)
        return invalid(
          ...problems.map(({ index, reason }) => ({ field: `entries[${index}].value`, message: reason })),
        )
      return changed(counts, { nounId: showId('lst', id), detail: counts })
    },
  }),
  change({
    method: 'POST',
    path: '/restriction-lists/:id/entries/remove',
    ids: ['lst'],
    noun: 'restriction_list',
    action: 'remove_entries',
    summary: 'Remove entries',
    body: Type.Object({ entries: listOf(EntryIn, 'The entries.', entriesAtOnce) }),
    answer: Type.Object({ removed: Type.Integer() }),
    async handle({ db, companyId, ids: [id = ''], body }) {
      if (!(await getRestrictionList(db, companyId, id))) return notFound
      const removed = await removeRestrictionEntries(db, id, body.entries)
      return changed({ removed }, { nounId: showId('lst', id), detail: { removed } })
    },
  }),
]

export const restrictionListRoutes: Route[] = [
  read({
    method: 'GET',
    path: '/restriction-lists',
    summary: 'List restriction lists',
    query: Type.Object(smallListQuery(['name', 'createdAt'])),
    answer: pageOut(
      Type.Object({
        ...ListOut.properties,
        ...inWords,
        rules: Type.Array(RuleOfList, { description: 'Those that look at it.' }),
        createdAt: instant('When it was made.'),
      }),
    ),
    async handle({ db, companyId, query }) {
      const rules = await listRulesOfLists(db, companyId)
      const page = smallPage(await listRestrictionLists(db, companyId), query, {
        sorts: { name: ({ name }) => name.toLowerCase(), createdAt: ({ id }) => id },
        words: ({ name }) => [name],
        show: (list) => list,
      })
      const lists = page.items as { id: string; name: string; createdAt: Date }[]
      const counts = await countEntriesOf(
        db,
        lists.map(({ id }) => id),
        countedInListUpTo + 1,
      )
      return done({
        ...page,
        items: lists.map(({ id, name, createdAt }) => ({
          id: showId('lst', id),
          name,
          entries: Math.min(counts.get(id) ?? 0, countedInListUpTo),
          hasMoreEntries: (counts.get(id) ?? 0) > countedInListUpTo,
          rules: rulesFor(rules, id),
          createdAt,
        })),
      })
    },
  }),
  read({
    method: 'GET',
    path: '/restriction-lists/:id',
    ids: ['lst'],
    summary: 'Read a restriction list',
    answer: Type.Object({
      ...ListOut.properties,
      ...inWords,
      rules: Type.Array(RuleOfList, { description: 'Those that look at it.' }),
    }),
    async handle({ db, companyId, ids: [id = ''] }) {
      const list = await getRestrictionList(db, companyId, id)
      if (list === undefined) return notFound
      const entries = await countEntries(db, id, countedUpTo + 1)
      return done(
        {
          id: showId('lst', id),
          name: list.name,
          entries: Math.min(entries, countedUpTo),
          hasMoreEntries: entries > countedUpTo,
          rules: rulesFor(await listRulesOfLists(db, companyId), id),
        },
        await readVersion(db, 'restriction_list', companyId, id),
      )
    },
  }),
  lookUpRoute,
  ...listChanges,
  ...entryRoutes,
]
