/** Users: people of the console, attendants, API users. */
import { Type } from 'typebox'
import { sessionIdleMs } from '../../flows/sign-in.ts'
import { showId } from '../../lib/ids.ts'
import { endSessions } from '../../store/sessions.ts'
import { removeTotp } from '../../store/totp.ts'
import {
  changePassword,
  changeUser,
  createUser,
  disableUser,
  getUser,
  killUserToken,
  listUsers,
  readUserAccess,
  userRoles,
  type User,
} from '../../store/users.ts'
import { readVersion } from '../../store/versions.ts'
import { changed, conflict, done, notFound, unlessSaved } from './replies.ts'
import { change, read, type Route } from './route.ts'
import { smallListQuery, smallPage } from './small-lists.ts'
import { checkVersion, flag, idOf, instant, nullable, oneOf, pageOut, text } from './wire.ts'

const UserOut = Type.Object({
  id: idOf('usr', 'The user.'),
  name: Type.String(),
  role: oneOf(userRoles, 'What they may do; `api` logs in to send.'),
  disabledAt: nullable(instant('Since when they cannot sign in.')),
  createdAt: instant('When the user was made.'),
})

const show = (user: User) => ({
  id: showId('usr', user.id),
  name: user.name,
  role: user.role,
  disabledAt: user.disabledAt,
  createdAt: user.createdAt,
})

const AccessOut = Type.Object({
  hasSecondFactor: Type.Boolean(),
  sessions: Type.Integer({ description: 'Where they are signed in now.' }),
  lastSeenAt: nullable(instant('Of the sessions that are still stored, to the minute.')),
  tokenIssuedAt: nullable(instant('When the living token of an API user was given.')),
  tokenExpiresAt: nullable(instant('When that token ends.')),
})

const password = text('At least 8 characters.', 256)

export const userRoutes: Route[] = [
  read({
    method: 'GET',
    path: '/users',
    summary: 'List users',
    query: Type.Object({
      ...smallListQuery(['name', 'createdAt']),
      role: Type.Optional(oneOf(userRoles, 'Only of this role.')),
    }),
    answer: pageOut(UserOut),
    async handle({ db, companyId, query }) {
      const all = await listUsers(db, companyId)
      return done(
        smallPage(query.role ? all.filter(({ role }) => role === query.role) : all, query, {
          sorts: { name: ({ name }) => name.toLowerCase(), createdAt: ({ id }) => id },
          words: ({ name }) => [name],
          show,
        }),
      )
    },
  }),
  read({
    method: 'GET',
    path: '/users/:id',
    ids: ['usr'],
    summary: 'Read a user',
    answer: UserOut,
    async handle({ db, companyId, ids: [id = ''] }) {
      const user = await getUser(db, companyId, id)
      return user ? done(show(user), await readVersion(db, 'app_user', companyId, id)) : notFound
    },
  }),
  read({
    method: 'GET',
    path: '/users/:id/access',
    ids: ['usr'],
    summary: 'How a user comes in',
    answer: AccessOut,
    async handle({ db, companyId, ids: [id = ''], now }) {
      const idleSince = new Date(now.getTime() - sessionIdleMs)
      const access = await readUserAccess(db, companyId, id, { now, idleSince })
      return access ? done(access) : notFound
    },
  }),
  change({
    method: 'POST',
    path: '/users',
    noun: 'user',
    action: 'create',
    summary: 'Create a user',
    body: Type.Object({
      name: text('How they sign in.'),
      role: oneOf(userRoles, 'What they may do.'),
      password,
    }),
    answer: UserOut,
    status: 201,
    async handle({ db, companyId, body }) {
      const result = await createUser(db, companyId, body)
      if (!result.ok) return unlessSaved(result)!
      const { id, name, role } = result.value
      return changed(
        show(result.value),
        { nounId: showId('usr', id), detail: { name, role } },
        { version: await readVersion(db, 'app_user', companyId, id) },
      )
    },
  }),
  change({
    method: 'PATCH',
    path: '/users/:id',
    ids: ['usr'],
    noun: 'user',
    action: 'change',
    summary: 'Change a user',
    description: 'A role that changes, or being disabled, ends all sessions and the API token of the user.',
    body: Type.Object({
      name: Type.Optional(text('How they sign in.')),
      role: Type.Optional(oneOf(userRoles, 'What they may do.')),
      isDisabled: flag('Cannot sign in or send.'),
    }),
    answer: UserOut,
    async handle(call) {
      const {
        db,
        companyId,
        ids: [id = ''],
        body,
        caller,
        now,
      } = call
      const stale = await checkVersion(call, 'app_user', id)
      if (stale) return stale
      const before = (await getUser(db, companyId, id))!
      const isSelf = caller.kind === 'user' && caller.userId === id
      const losesPower = body.isDisabled === true || (body.role !== undefined && body.role !== before.role)
      if (isSelf && losesPower) return conflict('you cannot disable yourself or change your own role')
      const result = await changeUser(db, companyId, id, { name: body.name, role: body.role })
      if (!result?.ok) return unlessSaved(result)!
      let user = result.value
      if (body.isDisabled !== undefined && body.isDisabled !== (before.disabledAt !== null))
        user = (await disableUser(db, companyId, id, body.isDisabled ? now : null)) ?? user
      if (losesPower) await endSessions(db, companyId, id)
      return changed(
        show(user),
        { nounId: showId('usr', id), detail: given(body) },
        { version: await readVersion(db, 'app_user', companyId, id) },
      )
    },
  }),
  change({
    method: 'POST',
    path: '/users/:id/password',
    ids: ['usr'],
    noun: 'user',
    action: 'set_password',
    summary: 'Set the password of a user',
    description: 'Ends all sessions and the API token of the user.',
    body: Type.Object({ password }),
    async handle({ db, companyId, ids: [id = ''], body }) {
      const result = await changePassword(db, companyId, id, body.password)
      if (!result?.ok) return unlessSaved(result)!
      await endSessions(db, companyId, id)
      return changed(undefined, { nounId: showId('usr', id) })
    },
  }),
  change({
    method: 'DELETE',
    path: '/users/:id/totp',
    ids: ['usr'],
    noun: 'user',
    action: 'remove_totp',
    summary: "Remove a user's second factor",
    description: 'For somebody who has lost the device and the recovery codes.',
    async handle({ db, companyId, ids: [id = ''] }) {
      if (!(await removeTotp(db, companyId, id))) return notFound
      return changed(undefined, { nounId: showId('usr', id) })
    },
  }),
  change({
    method: 'DELETE',
    path: '/users/:id/sessions',
    ids: ['usr'],
    noun: 'user',
    action: 'end_sessions',
    summary: 'Sign a user out everywhere',
    answer: Type.Object({ ended: Type.Integer() }),
    async handle({ db, companyId, ids: [id = ''] }) {
      if (!(await getUser(db, companyId, id))) return notFound
      const ended = await endSessions(db, companyId, id)
      return changed({ ended }, { nounId: showId('usr', id), detail: { ended } })
    },
  }),
  change({
    method: 'DELETE',
    path: '/users/:id/token',
    ids: ['usr'],
    noun: 'user',
    action: 'kill_token',
    summary: "End an API user's token",
    async handle({ db, companyId, ids: [id = ''] }) {
      if (!(await killUserToken(db, companyId, id))) return notFound
      return changed(undefined, { nounId: showId('usr', id) })
    },
  }),
]

/** What was given, for the audit log. */
export const given = (body: object): Record<string, unknown> =>
  Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined))
