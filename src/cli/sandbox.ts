/** `pombo sandbox`: the three providers alone, without a database, for any software that sends messages. */
import { join } from 'node:path'
import { readConfig } from '../config.ts'
import { systemClock } from '../lib/clock.ts'
import { createLog } from '../lib/log.ts'
import { startSandbox } from '../sandbox/sandbox.ts'
import type { Sandbox, SandboxOptions, TemplateInput } from '../sandbox/sandbox.ts'
import type { SandboxLog } from '../sandbox/types.ts'
import { UsageError } from './command.ts'
import type { Command, Given } from './command.ts'
import { bold, printJson } from './io.ts'
import type { Io } from './io.ts'

/** The provider gives every new account this template; a first message needs no more. */
export const helloWorld: TemplateInput = {
  name: 'hello_world',
  language: 'en_US',
  category: 'UTILITY',
  components: [
    { type: 'HEADER', format: 'TEXT', text: 'Hello World' },
    {
      type: 'BODY',
      text: 'Welcome and congratulations! This message shows that the sandbox received what you sent.',
    },
    { type: 'FOOTER', text: 'Pombo sandbox' },
  ],
}

/** Runs until the signal; `ready` gets the addresses and credentials once everything listens. */
export async function runSandbox(
  options: Omit<SandboxOptions, 'log' | 'clock'>,
  { log, signal, ready }: { log: SandboxLog; signal: AbortSignal; ready?: (sandbox: Sandbox) => void },
): Promise<void> {
  const sandbox = await startSandbox({ ...options, log, clock: systemClock })
  try {
    ready?.(sandbox)
    if (!signal.aborted)
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
  } finally {
    await sandbox.stop()
  }
}

function readPort(given: Given, name: string): number | undefined {
  const text = given.text(name)
  if (text === undefined) return undefined
  const port = Number(text)
  if (!Number.isInteger(port) || port < 1 || port > 65_535) {
    throw new UsageError(`--${name} must be a port, 1 to 65535, not "${text}".`)
  }
  return port
}

function readSeed(given: Given): number {
  const seed = Number(given.text('seed') ?? 1)
  if (!Number.isSafeInteger(seed)) throw new UsageError('--seed must be a whole number.')
  return seed
}

const facts = ({ url, smtp, smpp, graph, catcher }: Sandbox) => ({
  url,
  smtp: { host: smtp.host, port: smtp.port, user: smtp.user, password: smtp.password, ca: smtp.ca },
  smpp: { host: smpp.host, port: smpp.port, systemId: smpp.systemId, password: smpp.password },
  graph: { ...graph, phoneNumbers: graph.phoneNumbers },
  catcher,
})

function show(sandbox: Sandbox, dataDir: string, io: Io): void {
  const { url, smtp, smpp, graph, catcher } = sandbox
  const [phone] = graph.phoneNumbers
  const rows: [string, string][] = [
    ['Page', url],
    ['SMTP', `${smtp.host}:${smtp.port}  user ${smtp.user}  password ${smtp.password}  (STARTTLS offered)`],
    ['SMPP', `${smpp.host}:${smpp.port}  system id ${smpp.systemId}  password ${smpp.password}`],
    ['WhatsApp', `${graph.baseUrl}  phone number id ${phone?.id}  account id ${graph.wabaId}`],
    ['  token', graph.accessToken],
    ['  webhooks', `app secret ${graph.appSecret}  verify token ${graph.verifyToken}`],
    ['Callbacks', `${catcher.url}  secret ${catcher.secret}`],
    ['Folder', dataDir],
  ]
  for (const [name, value] of rows) io.out(`${bold(io, name.padEnd(10))} ${value}`)
  io.out('\nEverything stays on this machine. Stop with Ctrl+C.')
}

export const sandbox: Command = {
  summary: 'Run the sandbox alone, as a stand-in for the three providers.',
  detail:
    'A mail server, an SMSC and the WhatsApp Cloud API on loopback, with an inbox page and an HTTP API. Nothing\n' +
    'leaves the machine. Needs no database. --json prints addresses and credentials as one JSON object.',
  options: {
    port: {
      type: 'string',
      describe: 'Port of the page and the inbox API; default a free one.',
      value: 'PORT',
    },
    'smtp-port': { type: 'string', describe: 'Port of the mail server.', value: 'PORT' },
    'smpp-port': { type: 'string', describe: 'Port of the SMSC.', value: 'PORT' },
    'graph-port': { type: 'string', describe: 'Port of the WhatsApp Cloud API.', value: 'PORT' },
    webhook: {
      type: 'string',
      describe: 'Loopback address that WhatsApp webhooks are sent to.',
      value: 'URL',
    },
    data: { type: 'string', describe: 'Folder that keeps the inbox and the credentials.', value: 'FOLDER' },
    seed: { type: 'string', describe: 'Seed of the chaos dials; default 1.', value: 'NUMBER' },
  },
  async run(given, io) {
    const config = readConfig()
    const dataDir = given.text('data') ?? join(config.dataDir, 'sandbox-alone')
    const stopping = new AbortController()
    const stop = () => stopping.abort()
    process.once('SIGINT', stop)
    process.once('SIGTERM', stop)
    const ports = {
      http: readPort(given, 'port'),
      smtp: readPort(given, 'smtp-port'),
      smpp: readPort(given, 'smpp-port'),
      graph: readPort(given, 'graph-port'),
    }
    await runSandbox(
      {
        dataDir,
        ports,
        seed: readSeed(given),
        graph: { templates: [helloWorld], webhookUrl: given.text('webhook') },
      },
      {
        log: createLog('warn', { part: 'sandbox' }),
        signal: stopping.signal,
        ready: (running) => (given.isJson ? printJson(io, facts(running)) : show(running, dataDir, io)),
      },
    )
  },
}
