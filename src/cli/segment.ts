import { showId } from '../lib/ids.ts'
import { createSegment, listSegments, type Segment } from '../store/segments.ts'
import type { Group } from './command.ts'
import { printList, printThing } from './io.ts'
import { audit, must, withCompany } from './nouns.ts'

const shown = (segment: Segment) => ({
  id: showId('seg', segment.id),
  name: segment.name,
  clientCode: segment.clientCode,
})

export const segment: Group = {
  summary: 'Segments of a company, which the Unified Message Sending API calls wallets.',
  commands: {
    create: {
      summary: 'Create a segment.',
      arguments: ['COMPANY', 'NAME'],
      options: {
        'client-code': {
          type: 'string',
          describe: 'Code by which callers name it as walletClientCode.',
          value: 'CODE',
        },
      },
      async run(given, io) {
        await withCompany(given.arguments[0], async (company, { db }) => {
          const created = must(
            await createSegment(db, company.id, {
              name: given.arguments[1]!,
              clientCode: given.text('client-code'),
            }),
            'segment',
          )
          await audit(db, company, { action: 'create', noun: 'segment', prefix: 'seg', id: created.id })
          printThing(io, given.isJson, shown(created))
        })
      },
    },
    list: {
      summary: 'List the segments of a company.',
      arguments: ['COMPANY'],
      async run(given, io) {
        await withCompany(given.arguments[0], async (company, { db }) =>
          printList(io, given.isJson, (await listSegments(db, company.id)).map(shown)),
        )
      },
    },
  },
}
