import { readConfig } from '../config.ts'
import { showId } from '../lib/ids.ts'
import {
  createCompany,
  listCompanies,
  readCallbackSecret,
  readPrivateToken,
  rotateCallbackSecret,
  rotatePrivateToken,
  suspendCompany,
  type Company,
} from '../store/companies.ts'
import type { Group } from './command.ts'
import { withDatabase } from './database.ts'
import { printList, printThing } from './io.ts'
import { audit, must, readWholeNumber, withCompany } from './nouns.ts'

const shown = (company: Company) => ({
  id: showId('cmp', company.id),
  name: company.name,
  timeZone: company.timeZone,
  suspendedAt: company.suspendedAt,
})

export const company: Group = {
  summary: 'Companies: the accounts that everything belongs to.',
  commands: {
    create: {
      summary: 'Create a company, and print its private token and callback secret.',
      arguments: ['NAME'],
      options: {
        'time-zone': {
          type: 'string',
          describe: 'Time zone of its rules and reports; default UTC.',
          value: 'ZONE',
        },
      },
      async run(given, io) {
        await withDatabase(readConfig(), async ({ db, sealer }) => {
          const created = must(
            await createCompany(db, sealer, { name: given.arguments[0]!, timeZone: given.text('time-zone') }),
            'company',
          )
          await audit(db, created, { action: 'create', noun: 'company', prefix: 'cmp', id: created.id })
          printThing(io, given.isJson, {
            ...shown(created),
            privateToken: created.privateToken,
            callbackSecret: created.callbackSecret,
          })
        })
      },
    },
    list: {
      summary: 'List all companies.',
      async run(given, io) {
        await withDatabase(readConfig(), async ({ db }) =>
          printList(io, given.isJson, (await listCompanies(db)).map(shown)),
        )
      },
    },
    suspend: suspension('Stop a company from logging in and sending, at once.', 'suspend'),
    resume: suspension('Let a suspended company log in and send again.', 'resume'),
    'private-token': {
      summary: 'Show the private token of the account, or replace it.',
      detail: 'Callers of the Unified Message Sending API send it as platformPrivateToken.',
      arguments: ['COMPANY'],
      options: {
        rotate: { type: 'boolean', describe: 'Make a new one.' },
        'overlap-hours': {
          type: 'string',
          describe: 'How long the replaced one stays good; default 24.',
          value: 'N',
        },
      },
      async run(given, io) {
        const overlapHours = readWholeNumber('overlap-hours', given.text('overlap-hours')) ?? 24
        await withCompany(given.arguments[0], async (owner, { db, sealer }) => {
          const isNew = given.isSet('rotate')
          const until = new Date(Date.now() + overlapHours * 3_600_000)
          const privateToken = isNew
            ? await rotatePrivateToken(db, sealer, owner.id, until)
            : await readPrivateToken(db, sealer, owner.id)
          const action = isNew ? 'rotate' : 'show'
          await audit(db, owner, { action, noun: 'private token', prefix: 'cmp', id: owner.id })
          printThing(io, given.isJson, { privateToken, ...(isNew && { previousGoodUntil: until }) })
        })
      },
    },
    'callback-secret': {
      summary: 'Show the secret that signs callbacks, or replace it.',
      arguments: ['COMPANY'],
      options: {
        rotate: { type: 'boolean', describe: 'Make a new one; the old one signs nothing any more.' },
      },
      async run(given, io) {
        await withCompany(given.arguments[0], async (owner, { db, sealer }) => {
          const isNew = given.isSet('rotate')
          const callbackSecret = isNew
            ? await rotateCallbackSecret(db, sealer, owner.id)
            : await readCallbackSecret(db, sealer, owner.id)
          const action = isNew ? 'rotate' : 'show'
          await audit(db, owner, { action, noun: 'callback secret', prefix: 'cmp', id: owner.id })
          printThing(io, given.isJson, { callbackSecret })
        })
      },
    },
  },
}

function suspension(summary: string, action: 'suspend' | 'resume'): Group['commands'][string] {
  return {
    summary,
    arguments: ['COMPANY'],
    async run(given, io) {
      await withCompany(given.arguments[0], async (owner, { db }) => {
        const changed = await suspendCompany(db, owner.id, action === 'suspend' ? new Date() : null)
        await audit(db, owner, { action, noun: 'company', prefix: 'cmp', id: owner.id })
        printThing(io, given.isJson, shown(changed ?? owner))
      })
    },
  }
}
