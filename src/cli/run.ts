/** Finds the command, runs it, and turns what goes wrong into a sentence and an exit code. */
import { loadEnvFile, readConfig, type Config } from '../config.ts'
import { isGroup, runCommand, runGroup, UsageError, type Command, type Group } from './command.ts'
import type { Io } from './io.ts'

/** Loaded when called, so that a command starts without the others' code. */
const commands: Record<string, { summary: string; load(): Promise<Command | Group> }> = {
  start: {
    summary: 'Start Pombo on this machine.',
    load: async () => (await import('./start.ts')).start,
  },
  migrate: {
    summary: 'Bring the database up to date.',
    load: async () => (await import('./migrate.ts')).migrateCommand,
  },
  company: {
    summary: 'Companies: create, list, suspend, private token.',
    load: async () => (await import('./company.ts')).company,
  },
  user: {
    summary: 'Users of a company: create, list, password, disable.',
    load: async () => (await import('./user.ts')).user,
  },
  token: {
    summary: 'Tokens of the Direct Message API: create, list, renew, revoke.',
    load: async () => (await import('./token.ts')).token,
  },
  segment: {
    summary: 'Segments of a company: create, list.',
    load: async () => (await import('./segment.ts')).segment,
  },
  line: {
    summary: 'Lines that messages leave through: create, list, pause, default.',
    load: async () => (await import('./line.ts')).line,
  },
  template: {
    summary: 'Templates: create, list, show, enable, disable.',
    load: async () => (await import('./template.ts')).template,
  },
  restriction: {
    summary: 'Restriction lists: create, list, import.',
    load: async () => (await import('./restriction.ts')).restriction,
  },
  apply: {
    summary: 'Make a company what a YAML file says.',
    load: async () => (await import('./apply.ts')).apply,
  },
  export: {
    summary: 'Write a company as a file of "pombo apply", without secrets.',
    load: async () => (await import('./export.ts')).exportCompany,
  },
  send: {
    summary: 'Send one message, as an operator.',
    load: async () => (await import('./send.ts')).send,
  },
  message: {
    summary: 'Show a message and everything that happened to it.',
    load: async () => (await import('./message.ts')).message,
  },
  backup: {
    summary: 'Write the whole database and the sealing key into one file.',
    load: async () => (await import('./backup.ts')).backup,
  },
  restore: {
    summary: 'Read a backup into an empty database.',
    load: async () => (await import('./restore.ts')).restore,
  },
  doctor: {
    summary: 'Look whether everything is well, and say what to do where it is not.',
    load: async () => (await import('./doctor.ts')).doctor,
  },
  'rotate-key': {
    summary: 'Seal all stored secrets with a new key.',
    load: async () => (await import('./rotate-key.ts')).rotateKey,
  },
  sandbox: {
    summary: 'Run the sandbox alone, as a stand-in for the three providers.',
    load: async () => (await import('./sandbox.ts')).sandbox,
  },
  generate: {
    summary: 'Write the files that are generated from the source.',
    load: async () => (await import('./generate.ts')).generate,
  },
}

const help = () => {
  const rows = Object.entries(commands).map(([name, { summary }]) => `  ${name.padEnd(13)}${summary}`)
  return [
    'Pombo sends single messages by e-mail, SMS and WhatsApp.',
    '',
    'Usage: pombo COMMAND',
    '',
    ...rows,
    `  ${'help'.padEnd(13)}Show this.`,
    '',
    '"pombo COMMAND --help" tells more. Settings are read from the environment and from .env: see .env.example.',
  ].join('\n')
}

async function run(args: readonly string[], io: Io): Promise<number> {
  const [name, ...rest] = args
  if (name === undefined || name === 'help' || name === '--help' || name === '-h') {
    const asked = rest[0]
    if (name === 'help' && asked !== undefined) return run([asked, '--help'], io)
    io.out(help())
    return name === undefined ? 2 : 0
  }
  const entry = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (entry === undefined)
    throw new UsageError(`There is no command "${name}": it is one of ${Object.keys(commands).join(', ')}.`)
  const command = await entry.load()
  const path = `pombo ${name}`
  return isGroup(command) ? runGroup(path, command, rest, io) : runCommand(path, command, rest, io)
}

/** For a sentence that names the database; a wrong setting must not hide the first error. */
function configOrNothing(): Config | undefined {
  try {
    return readConfig()
  } catch {
    return undefined
  }
}

export async function runCommandLine(args: readonly string[], io: Io): Promise<number> {
  try {
    loadEnvFile()
    return await run(args, io)
  } catch (error) {
    if (error instanceof UsageError) {
      io.err(error.message)
      return 2
    }
    const { explain } = await import('./explain.ts')
    const config = configOrNothing()
    const sentence = explain(error, config?.databaseUrl)
    io.err(
      sentence ??
        `Something went wrong that should not have: ${error instanceof Error ? error.stack : String(error)}`,
    )
    return 1
  }
}
