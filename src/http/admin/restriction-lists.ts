/** Restriction lists and their entries. Files of millions: `imports.ts`. */
import { Type } from 'typebox'
import { restrictionFields, type RestrictionField } from '../../domain/restriction.ts'
import { showId } from '../../lib/ids.ts'
import { createRestrictionList } from '../../store/restriction-lists.ts'
import {
  countEntries,
  findEntriesByValue,
  getRestrictionList,
  removeRestrictionList,
  renameRestrictionList,
  rulesOfList,
} from '../../store/restriction-lists-admin.ts'
import {
  addRestrictionEntries,
  listRestrictionEntries,
  listRestrictionLists,
  removeRestrictionEntries,
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
    }),
    answer: pageOut(EntryOut),
    async handle({ db, companyId, ids: [id = ''], query }) {
      if (!(await getRestrictionList(db, companyId, id))) return notFound
      if (query.value !== undefined)
        return done({
          items: (await findEntriesByValue(db, id, query.value)).map(showEntry),
          nextCursor: null,
        })
      const limit = limitOf(query)
      const cursor = decodeCursor(query.cursor, 3)
      const rows = await listRestrictionEntries(db, id, {
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
    answer: pageOut(ListOut),
    async handle({ db, companyId, query }) {
      return done(
        smallPage(await listRestrictionLists(db, companyId), query, {
          sorts: { name: ({ name }) => name.toLowerCase(), createdAt: ({ id }) => id },
          words: ({ name }) => [name],
          show: ({ id, name, createdAt }) => ({ id: showId('lst', id), name, createdAt }),
        }),
      )
    },
  }),
  read({
    method: 'GET',
    path: '/restriction-lists/:id',
    ids: ['lst'],
    summary: 'Read a restriction list',
    answer: ListOut,
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
          rules: await rulesOfList(db, companyId, id),
        },
        await readVersion(db, 'restriction_list', companyId, id),
      )
    },
  }),
  ...listChanges,
  ...entryRoutes,
]
