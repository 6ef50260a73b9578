/** Restriction lists: create, list, and import from CSV with a progress display. */
import { createReadStream } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { readConfig } from '../config.ts'
import { restrictionFields } from '../domain/restriction.ts'
import { showId } from '../lib/ids.ts'
import { findCompanyByName, listCompanies, type Company } from '../store/companies.ts'
import type { Db } from '../store/db.ts'
import { importRestrictions, type BadLine, type ImportProgress } from '../store/restriction-import.ts'
import { createRestrictionList } from '../store/restriction-lists.ts'
import { findRestrictionListByName, listRestrictionLists } from '../store/restrictions.ts'
import { createRule } from '../store/rules.ts'
import { CommandError, runGroup, type Given, type Group, type Option } from './command.ts'
import { withDatabase } from './database.ts'
import { printList, printThing, type Io } from './io.ts'
import { audit, must, readOneOf } from './nouns.ts'

const companyOption: Option = {
  type: 'string',
  describe: 'Whose list it is; may be left out when there is one company only.',
  value: 'NAME',
}

export const restriction: Group = {
  summary:
    'Restriction lists: phone numbers, e-mail addresses, documents and contracts that get no messages.',
  commands: {
    create: {
      summary: 'Create a list, with a rule that blocks what is on it everywhere.',
      arguments: ['LIST'],
      options: { company: companyOption },
      run: (given, io) =>
        withOwner(given, async (company, db) => {
          const list = await createListWithRule(db, company, given.arguments[0]!)
          printThing(io, given.isJson, { id: showId('lst', list.id), name: list.name })
        }),
    },
    list: {
      summary: 'List the restriction lists of a company.',
      options: { company: companyOption },
      run: (given, io) =>
        withOwner(given, async (company, db) =>
          printList(
            io,
            given.isJson,
            (await listRestrictionLists(db, company.id)).map((list) => ({
              ...list,
              id: showId('lst', list.id),
            })),
          ),
        ),
    },
    import: {
      summary: 'Add the entries of a CSV file to a list; running it again changes nothing.',
      detail: [
        'The first line names the columns, in any order: field (phone, email, document or contract), value,',
        'match (exact or prefix; default exact) and expires_at (2026-12-31 or 2026-12-31T23:59:59Z; default never).',
        'Only value is needed when --field says what all of them are. Bad lines are reported and left out.',
      ].join('\n'),
      arguments: ['LIST', 'FILE'],
      options: {
        company: companyOption,
        field: {
          type: 'string',
          describe: 'What every value of the file is.',
          value: restrictionFields.join('|'),
        },
        create: { type: 'boolean', describe: 'Create the list first when there is none of this name.' },
        'bad-lines': { type: 'string', describe: 'Write all bad lines to this file.', value: 'FILE' },
      },
      run: (given, io) => withOwner(given, (company, db) => runImport(given, io, company, db)),
    },
  },
}

export const runRestriction = (args: readonly string[], io: Io): Promise<number> =>
  runGroup('pombo restriction', restriction, args, io)

const withOwner = <T>(given: Given, work: (company: Company, db: Db) => Promise<T>): Promise<T> =>
  withDatabase(readConfig(), async ({ db }) => work(await findOwner(db, given.text('company')), db))

async function findOwner(db: Db, name: string | undefined): Promise<Company> {
  if (name !== undefined) {
    const company = await findCompanyByName(db, name)
    if (!company) throw new CommandError(`There is no company "${name}": see "pombo company list".`)
    return company
  }
  const companies = await listCompanies(db)
  if (companies.length !== 1)
    throw new CommandError(
      companies.length === 0
        ? 'There is no company yet.'
        : 'There are several companies: name one with --company.',
    )
  return companies[0]!
}

/** A list without a rule would restrict nothing, which is not what anybody means who makes one. */
async function createListWithRule(db: Db, company: Company, name: string) {
  return db.transaction(async (connection) => {
    const list = must(await createRestrictionList(connection, company.id, name), 'list')
    await createRule(connection, company.id, {
      name: list.name,
      settings: { kind: 'restriction_list', listId: list.id },
    })
    await audit(connection, company, {
      action: 'create',
      noun: 'restriction_list',
      prefix: 'lst',
      id: list.id,
    })
    return list
  })
}

async function runImport(given: Given, io: Io, company: Company, db: Db): Promise<number> {
  const [name = '', file = ''] = given.arguments
  const field =
    given.text('field') === undefined
      ? undefined
      : readOneOf('--field', given.text('field'), restrictionFields)
  const { size } = await stat(file).catch(() => {
    throw new CommandError(`The file "${file}" cannot be read.`)
  })
  let list = await findRestrictionListByName(db, company.id, name)
  if (!list && given.isSet('create')) list = await createListWithRule(db, company, name)
  if (!list) throw new CommandError(`There is no list "${name}"; --create makes one.`)

  const badLines = await createBadLines(io, given.text('bad-lines'))
  const display = createDisplay(io, size)
  try {
    const result = await importRestrictions({
      databaseUrl: db.url,
      listId: list.id,
      source: createReadStream(file, { highWaterMark: 256 * 1024 }),
      field,
      onProgress: (progress) => display.show(progress),
      onBadLine: (bad) => badLines.add(bad),
    })
    display.end()
    await badLines.end()
    await audit(db, company, { action: 'import', noun: 'restriction_list', prefix: 'lst', id: list.id })
    const { linesRead, added, changed, unchanged, bad } = result
    printThing(io, given.isJson, { list: list.name, lines: linesRead, added, changed, unchanged, bad })
    return bad > 0 ? 1 : 0
  } finally {
    await badLines.end()
  }
}

const maxShownBadLines = 20

/** The first ones to the terminal, all of them to a file when one is named. */
async function createBadLines(io: Io, file: string | undefined) {
  const handle = file === undefined ? undefined : await open(file, 'w')
  let stream = handle?.createWriteStream()
  let count = 0
  return {
    add({ line, reason }: BadLine) {
      count++
      if (count <= maxShownBadLines) {
        // The moving line makes room and comes back below.
        if (io.isTerminal) process.stderr.write('\r\u001b[2K')
        io.err(`line ${line}: ${reason}`)
      }
      stream?.write(`line ${line}: ${reason}\n`)
    },
    async end() {
      if (count > maxShownBadLines) io.err(`… and ${count - maxShownBadLines} more bad lines`)
      count = 0
      const ended = stream
      stream = undefined
      if (ended) await new Promise<void>((resolve) => ended.end(() => resolve()))
    },
  }
}

/** On a terminal one line that moves; elsewhere a line for every tenth part of the file. */
function createDisplay(io: Io, size: number) {
  const startedAt = performance.now()
  let lastTenth = 0
  const text = (progress: ImportProgress) => {
    const part = size === 0 ? 1 : Math.min(1, progress.bytesRead / size)
    const seconds = Math.max(0.001, (performance.now() - startedAt) / 1000)
    const bar = '█'.repeat(Math.round(part * 20)).padEnd(20, '░')
    const rate = Math.round(progress.linesRead / seconds)
    return `${bar} ${Math.floor(part * 100)} %  ${progress.linesRead} lines, ${progress.bad} bad, ${rate} lines/s`
  }
  return {
    show(progress: ImportProgress) {
      if (io.isTerminal) process.stderr.write(`\r\u001b[2K${text(progress)}`)
      else {
        const tenth = size === 0 ? 10 : Math.floor((progress.bytesRead / size) * 10)
        if (tenth > lastTenth) io.err(text(progress))
        lastTenth = Math.max(lastTenth, tenth)
      }
    },
    end() {
      if (io.isTerminal) process.stderr.write('\n')
    },
  }
}
