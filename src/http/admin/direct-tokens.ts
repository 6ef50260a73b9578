/** Tokens of the Direct Message API: generate, renew, revoke, allow list. Shown once, when they are made. */
import { Type } from 'typebox'
import { channels } from '../../domain/channel.ts'
import { showId } from '../../lib/ids.ts'
import {
  changeDirectToken,
  createDirectToken,
  getDirectToken,
  listDirectTokens,
  renewDirectToken,
  revokeDirectToken,
  type DirectToken,
} from '../../store/direct-tokens-admin.ts'
import { readVersion } from '../../store/versions.ts'
import { changed, done, notFound, unlessSaved } from './replies.ts'
import { change, read, type Route } from './route.ts'
import { smallListQuery, smallPage } from './small-lists.ts'
import { given } from './users.ts'
import {
  checkVersion,
  flag,
  idOf,
  instant,
  listOf,
  nullable,
  oneOf,
  optionalText,
  pageOut,
  text,
} from './wire.ts'

const allowed = {
  channels: Type.Optional(listOf(oneOf(channels, 'A channel.'), 'Channels that it may send on.', 3)),
  allowedAddresses: Type.Optional(
    listOf(text('An IP address or a range like 192.0.2.0/24.', 64), 'Who may call; none: everybody.'),
  ),
}

const TokenOut = Type.Object({
  id: idOf('dtk', 'The token.'),
  name: Type.String(),
  ...allowed,
  createdAt: instant('When it was made.'),
  revokedAt: nullable(instant('Since when it is dead.')),
})
const NewTokenOut = Type.Object({
  ...TokenOut.properties,
  token: Type.String({ description: 'Shown now and never again.' }),
})

const showToken = ({ id, name, channels: on, allowedAddresses, createdAt, revokedAt }: DirectToken) => ({
  id: showId('dtk', id),
  name,
  channels: on,
  allowedAddresses,
  createdAt,
  revokedAt,
})

export const directTokenRoutes: Route[] = [
  read({
    method: 'GET',
    path: '/direct-tokens',
    summary: 'List direct tokens',
    query: Type.Object({
      ...smallListQuery(['createdAt', 'name']),
      isRevoked: flag('Only those that are, or are not, revoked.'),
    }),
    answer: pageOut(TokenOut),
    async handle({ db, companyId, query }) {
      const { isRevoked } = query
      const tokens = (await listDirectTokens(db, companyId)).filter(
        ({ revokedAt }) => isRevoked === undefined || isRevoked === (revokedAt !== null),
      )
      return done(
        smallPage(tokens, query, {
          sorts: { createdAt: ({ id }) => id, name: ({ name }) => name.toLowerCase() },
          words: ({ name }) => [name],
          show: showToken,
        }),
      )
    },
  }),
  read({
    method: 'GET',
    path: '/direct-tokens/:id',
    ids: ['dtk'],
    summary: 'Read a direct token',
    answer: TokenOut,
    async handle({ db, companyId, ids: [id = ''] }) {
      const token = await getDirectToken(db, companyId, id)
      return token ? done(showToken(token), await readVersion(db, 'direct_token', companyId, id)) : notFound
    },
  }),
  change({
    method: 'POST',
    path: '/direct-tokens',
    noun: 'direct_token',
    action: 'create',
    summary: 'Generate a direct token',
    body: Type.Object({ name: text('What it is for.'), ...allowed }),
    answer: NewTokenOut,
    status: 201,
    async handle({ db, companyId, body }) {
      const result = await createDirectToken(db, companyId, body)
      if (!result.ok) return unlessSaved(result)!
      const { token, ...record } = result.value
      return changed(
        { ...showToken(record), token },
        { nounId: showId('dtk', record.id), detail: given(body) },
      )
    },
  }),
  change({
    method: 'PATCH',
    path: '/direct-tokens/:id',
    ids: ['dtk'],
    noun: 'direct_token',
    action: 'change',
    summary: 'Change name, channels or allow list of a direct token',
    body: Type.Object({ name: optionalText('What it is for.'), ...allowed }),
    answer: TokenOut,
    async handle(call) {
      const {
        db,
        companyId,
        ids: [id = ''],
        body,
      } = call
      const stale = await checkVersion(call, 'direct_token', id)
      if (stale) return stale
      const result = await changeDirectToken(db, companyId, id, body)
      if (!result?.ok) return unlessSaved(result)!
      return changed(
        showToken(result.value),
        { nounId: showId('dtk', id), detail: given(body) },
        { version: await readVersion(db, 'direct_token', companyId, id) },
      )
    },
  }),
  change({
    method: 'POST',
    path: '/direct-tokens/:id/renew',
    ids: ['dtk'],
    noun: 'direct_token',
    action: 'renew',
    summary: 'Replace a direct token',
    description: 'The old one is dead at once, on every node.',
    answer: NewTokenOut,
    status: 201,
    async handle({ db, companyId, ids: [id = ''], now }) {
      const renewed = await renewDirectToken(db, companyId, id, now)
      if (renewed === undefined) return notFound
      const { token, ...record } = renewed
      return changed(
        { ...showToken(record), token },
        { nounId: showId('dtk', id), detail: { renewedAs: showId('dtk', record.id) } },
      )
    },
  }),
  change({
    method: 'DELETE',
    path: '/direct-tokens/:id',
    ids: ['dtk'],
    noun: 'direct_token',
    action: 'revoke',
    summary: 'Revoke a direct token',
    async handle({ db, companyId, ids: [id = ''], now }) {
      return (await revokeDirectToken(db, companyId, id, now))
        ? changed(undefined, { nounId: showId('dtk', id) })
        : notFound
    },
  }),
]
