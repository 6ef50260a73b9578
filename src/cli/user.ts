import { randomBytes } from 'node:crypto'
import { showId } from '../lib/ids.ts'
import {
  changePassword,
  createUser,
  disableUser,
  findUserByName,
  killUserToken,
  listUsers,
  userRoles,
  type User,
} from '../store/users.ts'
import type { Command, Given, Group } from './command.ts'
import { printList, printThing, type Io } from './io.ts'
import { audit, found, must, readOneOf, withCompany } from './nouns.ts'

const shown = (user: User) => ({
  id: showId('usr', user.id),
  name: user.name,
  role: user.role,
  disabledAt: user.disabledAt,
})

const passwordOption = {
  'password-stdin': {
    type: 'boolean',
    describe: 'Read the password from the standard input; otherwise one is made and printed.',
  },
} as const

/** Never from the command line itself, which every user of the machine can read. */
async function readPassword(given: Given, io: Io): Promise<{ password: string; isMade: boolean }> {
  if (!given.isSet('password-stdin')) return { password: randomBytes(15).toString('base64url'), isMade: true }
  return { password: (await io.readInput()).replace(/\r?\n$/, ''), isMade: false }
}

export const user: Group = {
  summary: 'Users of a company: people of the console, attendants and API users.',
  commands: {
    create: {
      summary: 'Create a user.',
      arguments: ['COMPANY', 'NAME'],
      options: {
        role: { type: 'string', describe: `One of ${userRoles.join(', ')}.`, value: 'ROLE' },
        ...passwordOption,
      },
      async run(given, io) {
        const role = readOneOf('--role', given.text('role'), userRoles)
        const { password, isMade } = await readPassword(given, io)
        await withCompany(given.arguments[0], async (company, { db }) => {
          const created = must(
            await createUser(db, company.id, { name: given.arguments[1]!, role, password }),
            'user',
          )
          await audit(db, company, { action: 'create', noun: 'user', prefix: 'usr', id: created.id })
          printThing(io, given.isJson, { ...shown(created), ...(isMade && { password }) })
        })
      },
    },
    list: {
      summary: 'List the users of a company.',
      arguments: ['COMPANY'],
      async run(given, io) {
        await withCompany(given.arguments[0], async (company, { db }) =>
          printList(io, given.isJson, (await listUsers(db, company.id)).map(shown)),
        )
      },
    },
    password: {
      summary: "Replace a user's password; its token ends.",
      arguments: ['COMPANY', 'NAME'],
      options: passwordOption,
      async run(given, io) {
        const { password, isMade } = await readPassword(given, io)
        await withCompany(given.arguments[0], async (company, { db }) => {
          const known = found(await findUserByName(db, company.id, given.arguments[1]!), 'user')
          const changed = must(await changePassword(db, company.id, known.id, password), 'user')
          await audit(db, company, { action: 'change password', noun: 'user', prefix: 'usr', id: known.id })
          printThing(io, given.isJson, { ...shown(changed), ...(isMade && { password }) })
        })
      },
    },
    disable: switching('Keep a user out; its token ends at once.', 'disable'),
    enable: switching('Let a disabled user in again.', 'enable'),
    'kill-token': {
      summary: 'End the living token of an API user at once.',
      arguments: ['COMPANY', 'NAME'],
      async run(given, io) {
        await withCompany(given.arguments[0], async (company, { db }) => {
          const known = found(await findUserByName(db, company.id, given.arguments[1]!), 'user')
          const hadToken = await killUserToken(db, company.id, known.id)
          await audit(db, company, { action: 'kill token', noun: 'user', prefix: 'usr', id: known.id })
          printThing(io, given.isJson, { ...shown(known), hadToken })
        })
      },
    },
  },
}

function switching(summary: string, action: 'disable' | 'enable'): Command {
  return {
    summary,
    arguments: ['COMPANY', 'NAME'],
    async run(given, io) {
      await withCompany(given.arguments[0], async (company, { db }) => {
        const known = found(await findUserByName(db, company.id, given.arguments[1]!), 'user')
        const changed = await disableUser(db, company.id, known.id, action === 'disable' ? new Date() : null)
        await audit(db, company, { action, noun: 'user', prefix: 'usr', id: known.id })
        printThing(io, given.isJson, shown(changed ?? known))
      })
    },
  }
}
