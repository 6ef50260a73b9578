import { readFile } from 'node:fs/promises'
import { readConfig } from '../config.ts'
import { backUp } from '../flows/back-up.ts'
import { CommandError, type Command, type Given, type Option } from './command.ts'
import { withDatabaseAsItIs } from './database.ts'
import { printThing, type Io } from './io.ts'
import { createProgress, showBytes } from './progress.ts'

export const passphraseOption: Record<'passphrase-file', Option> = {
  'passphrase-file': {
    type: 'string',
    describe: 'File whose first line is the passphrase; - reads the standard input.',
    value: 'FILE',
  },
}

const minPassphraseLength = 8

/** Never from the command line itself, which every user of the machine can read. */
export async function readPassphrase(given: Given, io: Io): Promise<string | undefined> {
  const file = given.text('passphrase-file')
  if (file === undefined) return undefined
  const text = file === '-' ? await io.readInput() : await readFile(file, 'utf8')
  const passphrase = text.split(/\r?\n/)[0]!
  if (passphrase.length < minPassphraseLength)
    throw new CommandError(`The passphrase must have at least ${minPassphraseLength} characters.`)
  return passphrase
}

export const backup: Command = {
  summary: 'Write the whole database and the sealing key into one file.',
  detail: [
    'All tables as they were at one moment, also while Pombo runs. The file holds every secret, the sealing key among',
    'them: only its owner can read it, and --passphrase-file makes it useless to anybody without the passphrase.',
    '"pombo restore" reads it into an empty database, of this or a newer Pombo and of any PostgreSQL from 15 on.',
  ].join('\n'),
  arguments: ['FILE'],
  options: passphraseOption,
  async run(given, io) {
    const config = readConfig()
    const file = given.arguments[0]!
    const passphrase = await readPassphrase(given, io)
    await withDatabaseAsItIs(config, async (db) => {
      const progress = createProgress(io)
      const startedAt = performance.now()
      const result = await backUp({
        databaseUrl: db.url,
        keySource: config,
        file,
        passphrase,
        now: new Date(),
        onProgress: ({ tablesDone, tables, table, bytes }) =>
          progress.show(tablesDone / tables, `${table}, ${showBytes(bytes)} of rows`),
      }).finally(() => progress.end())
      printThing(io, given.isJson, {
        file,
        ...result,
        ...(!given.isJson && { bytes: showBytes(result.bytes) }),
        seconds: Math.round((performance.now() - startedAt) / 100) / 10,
      })
    })
  },
}
