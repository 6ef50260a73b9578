import { readConfig } from '../config.ts'
import type { Command } from './command.ts'
import { withDatabase } from './database.ts'
import { printThing } from './io.ts'

export const migrateCommand: Command = {
  summary: 'Bring the database up to date.',
  detail:
    'Also done by every start. Applied under a lock, so that any number of nodes may try at the same time.',
  async run(given, io) {
    await withDatabase(readConfig(), async ({ db }) => {
      const [row] = await db.query<{ number: number; name: string }>(
        'select number, name from schema_migration order by number desc limit 1',
      )
      printThing(io, given.isJson, { migration: row?.name ?? 'none', number: row?.number ?? 0 })
    })
  },
}
