import { channels } from '../domain/channel.ts'
import { showId } from '../lib/ids.ts'
import {
  createDirectToken,
  listDirectTokens,
  renewDirectToken,
  revokeDirectToken,
  type DirectToken,
} from '../store/direct-tokens-admin.ts'
import type { Group } from './command.ts'
import { printList, printThing } from './io.ts'
import { audit, found, must, readId, readOneOf, withCompany } from './nouns.ts'

const shown = (token: DirectToken) => ({
  id: showId('dtk', token.id),
  name: token.name,
  channels: token.channels,
  allowedAddresses: token.allowedAddresses,
  createdAt: token.createdAt,
  revokedAt: token.revokedAt,
})

export const token: Group = {
  summary: 'Tokens of the Direct Message API. A token is printed once, when it is made.',
  commands: {
    create: {
      summary: 'Make a token.',
      arguments: ['COMPANY', '[NAME]'],
      options: {
        channel: {
          type: 'string',
          isMultiple: true,
          describe: `What it may send: ${channels.join(', ')}; default all.`,
          value: 'CHANNEL',
        },
        allow: {
          type: 'string',
          isMultiple: true,
          describe: 'Address or range that may call with it; default any.',
          value: 'ADDRESS',
        },
      },
      async run(given, io) {
        const chosen = given.texts('channel').map((text) => readOneOf('--channel', text, channels))
        await withCompany(given.arguments[0], async (company, { db }) => {
          const created = must(
            await createDirectToken(db, company.id, {
              name: given.arguments[1] ?? 'Integration',
              channels: chosen.length > 0 ? chosen : undefined,
              allowedAddresses: given.texts('allow'),
            }),
            'token',
          )
          await audit(db, company, { action: 'create', noun: 'direct token', prefix: 'dtk', id: created.id })
          printThing(io, given.isJson, { ...shown(created), token: created.token })
        })
      },
    },
    list: {
      summary: 'List the tokens of a company, living ones first.',
      arguments: ['COMPANY'],
      async run(given, io) {
        await withCompany(given.arguments[0], async (company, { db }) =>
          printList(io, given.isJson, (await listDirectTokens(db, company.id)).map(shown)),
        )
      },
    },
    renew: {
      summary: 'Make a new token in the place of another, which is revoked at once.',
      arguments: ['COMPANY', 'ID'],
      async run(given, io) {
        const id = readId('dtk', given.arguments[1])
        await withCompany(given.arguments[0], async (company, { db }) => {
          const renewed = found(await renewDirectToken(db, company.id, id, new Date()), 'living token')
          await audit(db, company, { action: 'renew', noun: 'direct token', prefix: 'dtk', id })
          printThing(io, given.isJson, { ...shown(renewed), token: renewed.token })
        })
      },
    },
    revoke: {
      summary: 'Revoke a token at once.',
      arguments: ['COMPANY', 'ID'],
      async run(given, io) {
        const id = readId('dtk', given.arguments[1])
        await withCompany(given.arguments[0], async (company, { db }) => {
          const isRevoked = await revokeDirectToken(db, company.id, id, new Date())
          found(isRevoked || undefined, 'living token')
          await audit(db, company, { action: 'revoke', noun: 'direct token', prefix: 'dtk', id })
          printThing(io, given.isJson, { id: given.arguments[1], isRevoked })
        })
      },
    },
  },
}
