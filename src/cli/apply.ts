import { readFile } from 'node:fs/promises'
import { namedVariable, readConfig } from '../config.ts'
import { applyCompany, PlanChanged, rehearseCompany, type Applied } from '../flows/apply-company.ts'
import type { Change } from '../flows/apply-context.ts'
import { FileRefused, readCompanyFile, showPath, type ReadFile } from '../flows/company-file.ts'
import { CommandError, type Command, type Given } from './command.ts'
import { withDatabase, type Workplace } from './database.ts'
import { bold, coloured, dim, printJson, printList, type Io } from './io.ts'
import { actorName } from './nouns.ts'

const maxProblems = 20

export const apply: Command = {
  summary: 'Make a company what a YAML file says.',
  detail: [
    'The file names the company and holds any of the sections settings, segments, restrictionLists, users, lines,',
    'templates and rules; "pombo export" writes such a file. What it does not mention stays as it is. The plan is shown',
    'first; then everything happens in one transaction, or nothing. Applied a second time it changes nothing.',
    'A setting of a line and the password of a new user may be env:NAME, which takes it from the environment.',
    '- reads the standard input.',
  ].join('\n'),
  arguments: ['FILE'],
  options: {
    yes: { type: 'boolean', describe: 'Do not ask.' },
    'dry-run': { type: 'boolean', describe: 'Show the plan and change nothing.' },
    prune: {
      type: 'boolean',
      describe:
        'Remove, or where something still refers to it disable, what a section of the file does not name.',
    },
  },
  async run(given, io) {
    const name = given.arguments[0]!
    const text = name === '-' ? await io.readInput() : await readFile(name, 'utf8')
    const reading = readCompanyFile(text, namedVariable)
    if (!reading.ok) throw refused(name, reading.problems)
    return withDatabase(readConfig(), (workplace) => run(given, io, name, reading.read, workplace))
  },
}

async function run(
  given: Given,
  io: Io,
  name: string,
  read: ReadFile,
  { db, sealer }: Workplace,
): Promise<number> {
  const options = {
    db,
    sealer,
    file: read.file,
    isPruning: given.isSet('prune'),
    actor: actorName(),
    now: new Date(),
  }
  try {
    const plan = await rehearseCompany(options)
    if (!given.isJson) printPlan(io, read.file.company, plan)
    const isAgreed = plan.length === 0 || given.isSet('dry-run') || (await agree(given, io, plan))
    if (plan.length === 0 || given.isSet('dry-run') || !isAgreed) {
      if (given.isJson) printJson(io, { isApplied: false, changes: plan })
      return isAgreed ? 0 : 1
    }
    const applied = await applyCompany(options, plan)
    printApplied(given, io, applied)
    return 0
  } catch (error) {
    if (error instanceof PlanChanged)
      throw new CommandError(
        'Somebody changed the company in this very moment, so nothing was applied: run it again.',
      )
    if (!(error instanceof FileRefused)) throw error
    throw refused(
      name,
      error.problems.map(({ path, message }) => ({ line: read.lineOf(path), path: showPath(path), message })),
    )
  }
}

function refused(name: string, problems: { line: number; path: string; message: string }[]): CommandError {
  const file = name === '-' ? 'standard input' : name
  const shown = problems
    .slice(0, maxProblems)
    .map(({ line, path, message }) => `${file}:${line}: ${path === '' ? 'the file' : path} ${message}`)
  const more = problems.length > maxProblems ? [`… and ${problems.length - maxProblems} more`] : []
  return new CommandError([...shown, ...more, 'Nothing was changed.'].join('\n'))
}

async function agree(given: Given, io: Io, plan: readonly Change[]): Promise<boolean> {
  if (given.isSet('yes')) return true
  if (io.ask === undefined || given.isJson) {
    io.err('Nothing was changed: --yes makes it so.')
    return false
  }
  const what = plan.length === 1 ? 'this change' : `these ${plan.length} changes`
  const answer = await io.ask(`Make ${what}? [y/N] `)
  if (/^y(es)?$/i.test(answer.trim())) return true
  io.err('Nothing was changed.')
  return false
}

const colours = { create: 'green', change: 'yellow', disable: 'red', remove: 'red' } as const
const signs = { create: '+', change: '~', disable: '-', remove: '-' } as const

function printPlan(io: Io, company: string, plan: readonly Change[]): void {
  if (plan.length === 0) return io.out(`${company} is as the file says: nothing to do.`)
  io.out(bold(io, `${company}:`))
  for (const { action, noun, name, fields } of plan) {
    const head = `${signs[action]} ${action} ${noun.replaceAll('_', ' ')} ${JSON.stringify(name)}`
    io.out(`  ${coloured(io, colours[action], head)}`)
    for (const field of fields) io.out(dim(io, `      ${field}`))
  }
}

function printApplied(given: Given, io: Io, { changes, passwords }: Applied): void {
  if (given.isJson) return printJson(io, { isApplied: true, changes, passwords })
  io.out(`Done: ${changes.length} ${changes.length === 1 ? 'change' : 'changes'}.`)
  const made = Object.entries(passwords).map(([user, password]) => ({ user, password }))
  if (made.length === 0) return
  io.out('Passwords that were made, shown only now:')
  printList(io, false, made)
}
