import { readConfig } from '../config.ts'
import { restoreBackup } from '../flows/restore-backup.ts'
import { migrate } from '../store/migrate.ts'
import { prepareSealer } from '../store/sealing.ts'
import { passphraseOption, readPassphrase } from './backup.ts'
import type { Command } from './command.ts'
import { withDatabaseAsItIs } from './database.ts'
import { printThing } from './io.ts'
import { createProgress, showBytes } from './progress.ts'

export const restore: Command = {
  summary: 'Read a backup into an empty database.',
  detail: [
    'The database is the one of DATABASE_URL, or a new one in POMBO_DATA_DIR; the sealing key of the backup becomes the',
    "key of this data folder. A backup of an older Pombo is brought up to date. A database that isn't empty is refused.",
    'Messages that had not left when the backup was made leave with the next start. If the old Pombo went on after the',
    'backup, it may have sent them since: then --pause-lines lets them wait until you have looked.',
  ].join('\n'),
  arguments: ['FILE'],
  options: {
    ...passphraseOption,
    'pause-lines': { type: 'boolean', describe: 'Pause every line, so that nothing leaves yet.' },
  },
  async run(given, io) {
    const config = readConfig()
    const passphrase = await readPassphrase(given, io)
    await withDatabaseAsItIs(config, async (db, log) => {
      const progress = createProgress(io)
      const isPausingLines = given.isSet('pause-lines')
      const { skipped, ...result } = await restoreBackup({
        databaseUrl: db.url,
        keySource: config,
        file: given.arguments[0]!,
        passphrase,
        isPausingLines,
        now: new Date(),
        onProgress: ({ bytes, totalBytes, table }) =>
          progress.show(bytes / totalBytes, `${table}, ${showBytes(bytes)} of ${showBytes(totalBytes)}`),
      }).finally(() => progress.end())
      await migrate(db, log, async (connection) => void (await prepareSealer(connection, config)))
      for (const name of skipped) io.err(`The table ${name} is none of Pombo's and was left out.`)
      printThing(io, given.isJson, { ...result, ...(given.isJson && { skipped }) })
      if (result.waitingMessages > 0 && !isPausingLines && !given.isJson)
        io.err(
          `${result.waitingMessages} messages had not left when the backup was made: they leave with the next start. If that is not wanted, pause their lines first ("pombo line pause").`,
        )
    })
  },
}
