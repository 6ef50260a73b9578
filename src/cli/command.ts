/** What a command is, and how its arguments are read: one sentence for every mistake. */
import { parseArgs } from 'node:util'
import type { Io } from './io.ts'

export type Option = {
  type: 'string' | 'boolean'
  isMultiple?: boolean
  describe: string
  /** How the value is called in the help. */
  value?: string
}

export type Given = {
  /** One per name in `arguments`; an optional one may be undefined. */
  arguments: (string | undefined)[]
  text(option: string): string | undefined
  texts(option: string): string[]
  isSet(option: string): boolean
  isJson: boolean
}

export type Command = {
  summary: string
  /** Longer help, when the summary is not enough. */
  detail?: string
  /** Names of the arguments in order; `[NAME]` may be left out. */
  arguments?: readonly string[]
  options?: Readonly<Record<string, Option>>
  /** Returns the exit code; nothing means 0. */
  run(given: Given, io: Io): Promise<number | void>
}

export type Group = { summary: string; commands: Readonly<Record<string, Command>> }

/** The command line itself is wrong: exit code 2. */
export class UsageError extends Error {}

/** What was asked cannot be done; the message says what to do instead: exit code 1. */
export class CommandError extends Error {}

const everywhere: Record<string, Option> = {
  json: { type: 'boolean', describe: 'Print JSON, for programs.' },
  help: { type: 'boolean', describe: 'Show this help.' },
}

export const isGroup = (thing: Command | Group): thing is Group => 'commands' in thing

export async function runCommand(
  path: string,
  command: Command,
  args: readonly string[],
  io: Io,
): Promise<number> {
  if (wantsHelp(args)) {
    io.out(commandHelp(path, command))
    return 0
  }
  return (await command.run(readArguments(path, command, args), io)) ?? 0
}

export async function runGroup(path: string, group: Group, args: readonly string[], io: Io): Promise<number> {
  const [name, ...rest] = args
  if (name === undefined || name === 'help' || name === '--help' || name === '-h') {
    io.out(groupHelp(path, group))
    return name === undefined ? 2 : 0
  }
  const command = Object.hasOwn(group.commands, name) ? group.commands[name] : undefined
  if (command === undefined)
    throw new UsageError(
      `There is no command "${path} ${name}": it is one of ${Object.keys(group.commands).join(', ')}.`,
    )
  return runCommand(`${path} ${name}`, command, rest, io)
}

const wantsHelp = (args: readonly string[]) => {
  const end = args.indexOf('--')
  const own = end === -1 ? args : args.slice(0, end)
  return own.includes('--help') || own.includes('-h')
}

function readArguments(path: string, command: Command, args: readonly string[]): Given {
  const options = { ...command.options, ...everywhere }
  let parsed: ReturnType<typeof parseArgs>
  try {
    parsed = parseArgs({
      args: [...args],
      allowPositionals: true,
      strict: true,
      options: Object.fromEntries(
        Object.entries(options).map(([name, { type, isMultiple }]) => [
          name,
          { type, multiple: isMultiple ?? false },
        ]),
      ),
    })
  } catch (error) {
    throw new UsageError(`${parseFault(error, options)} See "${path} --help".`)
  }
  const names = command.arguments ?? []
  const missing = names.filter((name, at) => !name.startsWith('[') && parsed.positionals[at] === undefined)
  if (missing.length > 0) throw new UsageError(`${missing.join(' and ')} is missing. See "${path} --help".`)
  if (parsed.positionals.length > names.length)
    throw new UsageError(
      `"${parsed.positionals[names.length]}" is one argument too many. See "${path} --help".`,
    )
  const value = (name: string) => parsed.values[name]
  return {
    arguments: names.map((_, at) => parsed.positionals[at]),
    text: (name) => (typeof value(name) === 'string' ? (value(name) as string) : undefined),
    texts: (name) => (value(name) as string[] | undefined) ?? [],
    isSet: (name) => value(name) === true,
    isJson: value('json') === true,
  }
}

function parseFault(error: unknown, options: Record<string, Option>): string {
  const message = error instanceof Error ? error.message : String(error)
  const unknown = /^Unknown option '([^']+)'/.exec(message)?.[1]
  if (unknown !== undefined) {
    const known = Object.keys(options).map((name) => `--${name}`)
    return `There is no option ${unknown}: it is one of ${known.join(', ')}.`
  }
  // Node's own first sentence names the option and what is wrong with its value.
  return `${message.split(/\.\s/)[0]!.replace(/\.$/, '')}.`
}

const table = (rows: [string, string][]): string => {
  const width = Math.max(0, ...rows.map(([left]) => left.length))
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`).join('\n')
}

export function groupHelp(path: string, group: Group): string {
  const rows = Object.entries(group.commands).map(([name, command]): [string, string] => [
    [name, ...(command.arguments ?? [])].join(' '),
    command.summary,
  ])
  return `${group.summary}\n\nUsage: ${path} COMMAND\n\n${table(rows)}\n\n"${path} COMMAND --help" tells more.`
}

export function commandHelp(path: string, command: Command): string {
  const options = Object.entries({ ...command.options, ...everywhere })
  const rows = options.map(([name, option]): [string, string] => [
    `--${name}${option.type === 'string' ? ` ${option.value ?? 'TEXT'}` : ''}`,
    option.describe + (option.isMultiple ? ' May be repeated.' : ''),
  ])
  const usage = [path, ...(command.arguments ?? []), '[options]'].join(' ')
  const detail = command.detail ? `\n\n${command.detail}` : ''
  return `${command.summary}${detail}\n\nUsage: ${usage}\n\n${table(rows)}`
}
