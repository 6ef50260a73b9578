/** Keys for programs that call this API. Shown once, when they are made. */
import { Type } from 'typebox'
import { showId } from '../../lib/ids.ts'
import {
  createAdminKey,
  keyScopes,
  listAdminKeys,
  revokeAdminKey,
  type AdminKey,
} from '../../store/admin-keys.ts'
import { changed, done, forbidden, notFound, unlessSaved } from './replies.ts'
import { change, read, type Route } from './route.ts'
import { smallListQuery, smallPage } from './small-lists.ts'
import { given } from './users.ts'
import { idOf, instant, listOf, maybeUuid, nullable, oneOf, pageOut, shown, text } from './wire.ts'

const KeyOut = Type.Object({
  id: idOf('key', 'The key.'),
  name: Type.String(),
  scopes: Type.Array(oneOf(keyScopes, 'What it may do.')),
  userId: nullable(Type.String({ description: 'Whose messages `messages:own` means.' })),
  createdBy: Type.String(),
  createdAt: instant('When it was made.'),
  revokedAt: nullable(instant('Since when it is dead.')),
})

const showKey = (key: AdminKey) => ({ ...key, id: showId('key', key.id), userId: shown('usr', key.userId) })

export const adminKeyRoutes: Route[] = [
  read({
    method: 'GET',
    path: '/admin-keys',
    summary: 'List keys of this API',
    query: Type.Object(smallListQuery(['createdAt', 'name'])),
    answer: pageOut(KeyOut),
    async handle({ db, companyId, query }) {
      return done(
        smallPage(await listAdminKeys(db, companyId), query, {
          sorts: { createdAt: ({ id }) => id, name: ({ name }) => name.toLowerCase() },
          words: ({ name }) => [name],
          show: showKey,
        }),
      )
    },
  }),
  change({
    method: 'POST',
    path: '/admin-keys',
    noun: 'admin_key',
    action: 'create',
    summary: 'Create a key of this API',
    body: Type.Object({
      name: text('What it is for.'),
      scopes: listOf(
        oneOf(keyScopes, 'A scope.'),
        '`messages:own` reads what one API user sent, `read` sees what a viewer sees, `manage` may what an administrator may.',
        keyScopes.length,
      ),
      userId: Type.Optional(idOf('usr', 'Whose messages, for `messages:own`.')),
    }),
    answer: Type.Object({
      ...KeyOut.properties,
      key: Type.String({ description: 'Shown now and never again.' }),
    }),
    status: 201,
    async handle({ db, companyId, body, actor, caller }) {
      // Else a key that leaked could make itself heirs.
      if (caller.kind === 'key') return forbidden('keys are made by people')
      const result = await createAdminKey(
        db,
        companyId,
        { ...body, scopes: [...new Set(body.scopes)], userId: maybeUuid('usr', body.userId) },
        actor,
      )
      if (!result.ok) return unlessSaved(result)!
      const { key, ...record } = result.value
      return changed({ ...showKey(record), key }, { nounId: showId('key', record.id), detail: given(body) })
    },
  }),
  change({
    method: 'DELETE',
    path: '/admin-keys/:id',
    ids: ['key'],
    noun: 'admin_key',
    action: 'revoke',
    summary: 'Revoke a key of this API',
    async handle({ db, companyId, ids: [id = ''], now }) {
      return (await revokeAdminKey(db, companyId, id, now))
        ? changed(undefined, { nounId: showId('key', id) })
        : notFound
    },
  }),
]
