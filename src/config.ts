/**
 * The only reader of the environment. One table describes every setting; `.env.example` and the list in
 * docs/operating.md are generated from it, and a wrong value stops the start with a sentence that names it.
 */
import { existsSync } from 'node:fs'
import { randomUUID } from 'node:crypto'
import os from 'node:os'
import path from 'node:path'

type Setting<T> = {
  describe: string
  /** What is allowed, in words, for error messages and the generated documentation. */
  allowed: string
  fallback: T
  /** Returns undefined when the text is not allowed. */
  read(text: string): T | undefined
  isSecret?: boolean
}

const text = (describe: string, fallback: string, extra: Partial<Setting<string>> = {}): Setting<string> => ({
  describe,
  allowed: 'a text',
  fallback,
  read: (value) => value,
  ...extra,
})

const wholeNumber = (describe: string, fallback: number, min: number, max: number): Setting<number> => ({
  describe,
  allowed: `a whole number from ${min} to ${max}`,
  fallback,
  read: (value) => {
    const number = Number(value)
    return /^\d{1,15}$/.test(value) && number >= min && number <= max ? number : undefined
  },
})

const yesNo = (describe: string, fallback: boolean): Setting<boolean> => ({
  describe,
  allowed: 'true or false',
  fallback,
  read: (value) => (value === 'true' ? true : value === 'false' ? false : undefined),
})

const list = (
  describe: string,
  allowed: string,
  isItem: (item: string) => boolean,
  fallback: string[] = [],
): Setting<string[]> => ({
  describe,
  allowed,
  fallback,
  read: (value) => {
    const items = value
      .split(',')
      .map((item) => item.trim())
      .filter(Boolean)
    return items.every(isItem) ? items : undefined
  },
})

const oneOf = <T extends string>(describe: string, values: readonly T[], fallback: T): Setting<T> => ({
  describe,
  allowed: `one of ${values.join(', ')}`,
  fallback,
  read: (value) => values.find((candidate) => candidate === value),
})

const url = (describe: string, schemes: string[], extra: Partial<Setting<string>> = {}): Setting<string> =>
  text(describe, '', {
    allowed: `an address that starts with ${schemes.map((scheme) => `${scheme}//`).join(' or ')}`,
    read: (value) => (URL.canParse(value) && schemes.includes(new URL(value).protocol) ? value : undefined),
    ...extra,
  })

const port = (describe: string, fallback: number) => wholeNumber(describe, fallback, 0, 65535)

const mebibytes = (describe: string, fallback: number) => wholeNumber(describe, fallback, 1, 4096)

const isAddressOrRange = (item: string) => /^[0-9a-fA-F.:]+(\/\d{1,3})?$/.test(item)
const isHostPort = (item: string) => /^(callbacks|files|brokers)=[^\s/]+:\d{1,5}$/.test(item)

const isMailbox = (item: string) => /^[^\s@<>,"]{1,64}@[a-zA-Z0-9.-]{1,190}$/.test(item)

export const roles = ['unified', 'direct', 'hooks', 'admin', 'worker'] as const
export type Role = (typeof roles)[number]

export const settings = {
  POMBO_HOST: text('Address to listen on. Loopback unless you say otherwise.', '127.0.0.1', {
    allowed: 'a host name or address',
  }),
  POMBO_PORT: port('Port of both APIs, the console and the health routes. 0 takes a free one.', 8080),
  POMBO_DIRECT_PORT: port('Port of its own for the Direct Message API; empty: the main port.', 0),
  POMBO_CONSOLE_PORT: port('Port of its own for the console and its API; empty: the main port.', 0),
  POMBO_PUBLIC_URL: url(
    'The address under which people and providers reach this installation; empty: taken from host and port.',
    ['http:', 'https:'],
  ),
  POMBO_TRUSTED_PROXIES: list(
    'Proxies whose X-Forwarded-For is believed.',
    'addresses or ranges, separated by commas',
    isAddressOrRange,
  ),
  POMBO_TLS_CERT_FILE: text('PEM file with the certificate chain; with the key file, HTTPS is served.', ''),
  POMBO_TLS_KEY_FILE: text("PEM file with the certificate's key.", ''),
  POMBO_DATA_DIR: text('Folder of the embedded database, the sealing key and quickstart.json.', './data', {
    allowed: 'a path',
  }),
  DATABASE_URL: url(
    'An external PostgreSQL 15 or newer instead of the embedded one.',
    ['postgres:', 'postgresql:'],
    {
      isSecret: true,
    },
  ),
  POMBO_DATABASE_CONNECTIONS: wholeNumber('Database connections per process.', 10, 4, 200),
  POMBO_SEALING_KEY: text(
    'Key that seals secrets at rest, 64 hexadecimal digits; empty: sealing.key in the data folder.',
    '',
    {
      allowed: '64 hexadecimal digits',
      read: (value) => (/^[0-9a-fA-F]{64}$/.test(value) ? value.toLowerCase() : undefined),
      isSecret: true,
    },
  ),
  POMBO_ROLES: list(
    'What this node does.',
    `any of ${roles.join(', ')}, separated by commas`,
    (item) => (roles as readonly string[]).includes(item),
    [...roles],
  ),
  POMBO_SERVING_PROCESSES: wholeNumber('Serving processes; 0: one per core, at most four.', 0, 0, 64),
  POMBO_FOLD_PROCESSES: yesNo(
    'Serve and work in one single process, for machines with little memory.',
    false,
  ),
  POMBO_DEMO: yesNo('Create the demo company in an empty database and run its sandbox.', true),
  POMBO_SANDBOX_PORT: port('Port of the sandbox page and its APIs; 0 takes a free one.', 0),
  POMBO_LOG_LEVEL: oneOf('How much to log.', ['debug', 'info', 'warn', 'error', 'silent'] as const, 'info'),
  POMBO_MAX_SEND_BODY_MIB: mebibytes('Largest body of POST /v1/sendmessage.', 32),
  POMBO_MAX_BODY_MIB: mebibytes('Largest body of every other route.', 1),
  POMBO_MAX_BODIES_IN_FLIGHT_MIB: mebibytes(
    'Bytes of request bodies held at once by a process; past it 503.',
    256,
  ),
  POMBO_HEAP_MIB: wholeNumber(
    'Heap that a serving or worker process may have at most, in MiB.',
    1024,
    128,
    65_536,
  ),
  POMBO_MAX_CONNECTIONS: wholeNumber('Open connections per serving process.', 10_000, 10, 1_000_000),
  POMBO_ACCEPT_QUEUE: wholeNumber(
    'Requests that may wait for a batch in one process; past it 503.',
    4096,
    16,
    1_000_000,
  ),
  POMBO_RATE_LIMIT_PER_COMPANY: wholeNumber(
    'Send requests per second and company; 0: no limit.',
    0,
    0,
    1_000_000,
  ),
  POMBO_RATE_LIMIT_PER_TOKEN: wholeNumber(
    'Send requests per second and token; 0: no limit.',
    0,
    0,
    1_000_000,
  ),
  POMBO_RATE_LIMIT_PER_ADDRESS: wholeNumber(
    'Requests per second and client address; 0: no limit.',
    0,
    0,
    1_000_000,
  ),
  POMBO_OUTBOUND_EXCEPTIONS: list(
    'Private or loopback peers that may be called all the same, per purpose.',
    'items like callbacks=host:port, files=host:port or brokers=host:port, separated by commas',
    isHostPort,
  ),
  POMBO_DRAIN_SECONDS: wholeNumber('How long a stop waits for what is in flight.', 30, 1, 600),
  POMBO_LEAVE_SECONDS: wholeNumber(
    'How long a stop goes on serving while /health/ready says no already, so that a balancer can turn away first; at most half of POMBO_DRAIN_SECONDS.',
    1,
    0,
    300,
  ),
  POMBO_RETENTION_MONTHS: wholeNumber('Months that messages are kept.', 13, 1, 120),
  POMBO_MIN_FREE_DISK_MIB: wholeNumber(
    'Free space of the database on this machine, the embedded one for example, below which sends get 503; an alert comes at twice as much. 0: never.',
    256,
    0,
    1_000_000,
  ),
  POMBO_ALERT_LANE_MINUTES: wholeNumber(
    'Minutes that a message may wait on its line before an alert is raised.',
    15,
    1,
    10_080,
  ),
  POMBO_ALERT_WEBHOOK_URL: url(
    'Where alerts are posted to as JSON. A private address needs an exception for callbacks.',
    ['http:', 'https:'],
    { isSecret: true },
  ),
  POMBO_ALERT_SMTP_URL: url(
    'Mail server for alerts, such as smtps://user:password@host:465, or smtp://host:587, which must offer STARTTLS unless ?security=none follows.',
    ['smtp:', 'smtps:'],
    {
      isSecret: true,
      read: (value) =>
        /^smtps?:\/\/[^/?#\s]+(?:\?security=(?:none|starttls|tls))?$/.test(value) && URL.canParse(value)
          ? value
          : undefined,
    },
  ),
  POMBO_ALERT_EMAIL_FROM: text('Sender of alerts by e-mail.', '', {
    allowed: 'an e-mail address',
    read: (value) => (isMailbox(value) ? value : undefined),
  }),
  POMBO_ALERT_EMAIL_TO: list(
    'Who gets alerts by e-mail.',
    'e-mail addresses, separated by commas',
    isMailbox,
  ),
} as const satisfies Record<string, Setting<unknown>>

type Values = { [Name in keyof typeof settings]: (typeof settings)[Name]['fallback'] }

export type Config = ReturnType<typeof shape>

/** A wrong setting: the message is meant for the person who typed it. */
export class ConfigError extends Error {}

export function readConfig(env: NodeJS.ProcessEnv = process.env): Config {
  const problems: string[] = []
  const values = Object.fromEntries(
    Object.entries(settings).map(([name, setting]: [string, Setting<unknown>]) => {
      const given = env[name]
      if (given === undefined || given === '') return [name, setting.fallback]
      const value = setting.read(given)
      if (value === undefined) {
        const shown = setting.isSecret ? 'its value (not shown)' : `"${given}"`
        problems.push(`${name} is ${shown}, but must be ${setting.allowed}.`)
      }
      return [name, value]
    }),
  ) as Values
  if (problems.length > 0) throw new ConfigError(problems.join('\n'))
  if (Boolean(values.POMBO_TLS_CERT_FILE) !== Boolean(values.POMBO_TLS_KEY_FILE))
    throw new ConfigError('POMBO_TLS_CERT_FILE and POMBO_TLS_KEY_FILE must be given together.')
  const isMailGiven = [
    values.POMBO_ALERT_SMTP_URL,
    values.POMBO_ALERT_EMAIL_FROM,
    values.POMBO_ALERT_EMAIL_TO.join(''),
  ].map(Boolean)
  if (new Set(isMailGiven).size > 1)
    throw new ConfigError(
      'POMBO_ALERT_SMTP_URL, POMBO_ALERT_EMAIL_FROM and POMBO_ALERT_EMAIL_TO must be given together.',
    )
  return shape(values)
}

/** Settings in the words of the program. */
function shape(values: Values) {
  const mib = 1024 * 1024
  return {
    host: values.POMBO_HOST,
    port: values.POMBO_PORT,
    directPort: values.POMBO_DIRECT_PORT || undefined,
    consolePort: values.POMBO_CONSOLE_PORT || undefined,
    publicUrl: values.POMBO_PUBLIC_URL.replace(/\/+$/, '') || undefined,
    trustedProxies: values.POMBO_TRUSTED_PROXIES,
    tls: values.POMBO_TLS_CERT_FILE
      ? { certFile: values.POMBO_TLS_CERT_FILE, keyFile: values.POMBO_TLS_KEY_FILE }
      : undefined,
    dataDir: path.resolve(values.POMBO_DATA_DIR),
    databaseUrl: values.DATABASE_URL || undefined,
    databaseConnections: values.POMBO_DATABASE_CONNECTIONS,
    sealingKey: values.POMBO_SEALING_KEY || undefined,
    roles: values.POMBO_ROLES as Role[],
    servingProcesses: values.POMBO_SERVING_PROCESSES || Math.min(4, os.availableParallelism()),
    isFolded: values.POMBO_FOLD_PROCESSES,
    isDemo: values.POMBO_DEMO,
    sandboxPort: values.POMBO_SANDBOX_PORT,
    logLevel: values.POMBO_LOG_LEVEL,
    maxSendBodyBytes: values.POMBO_MAX_SEND_BODY_MIB * mib,
    maxBodyBytes: values.POMBO_MAX_BODY_MIB * mib,
    maxBodiesInFlightBytes: values.POMBO_MAX_BODIES_IN_FLIGHT_MIB * mib,
    heapMib: values.POMBO_HEAP_MIB,
    maxConnections: values.POMBO_MAX_CONNECTIONS,
    acceptQueueDepth: values.POMBO_ACCEPT_QUEUE,
    rateLimits: {
      perCompany: values.POMBO_RATE_LIMIT_PER_COMPANY,
      perToken: values.POMBO_RATE_LIMIT_PER_TOKEN,
      perAddress: values.POMBO_RATE_LIMIT_PER_ADDRESS,
    },
    outboundExceptions: values.POMBO_OUTBOUND_EXCEPTIONS,
    drainMs: values.POMBO_DRAIN_SECONDS * 1000,
    leaveMs: values.POMBO_LEAVE_SECONDS * 1000,
    retentionMonths: values.POMBO_RETENTION_MONTHS,
    minFreeDiskBytes: values.POMBO_MIN_FREE_DISK_MIB * mib,
    alerts: {
      maxLaneAgeMs: values.POMBO_ALERT_LANE_MINUTES * 60_000,
      webhookUrl: values.POMBO_ALERT_WEBHOOK_URL || undefined,
      email: values.POMBO_ALERT_SMTP_URL
        ? {
            smtpUrl: values.POMBO_ALERT_SMTP_URL,
            from: values.POMBO_ALERT_EMAIL_FROM,
            to: values.POMBO_ALERT_EMAIL_TO,
          }
        : undefined,
    },
  }
}

const shownFallback = (name: string, fallback: unknown): string => {
  const shown = Array.isArray(fallback) ? fallback.join(',') : String(fallback)
  // A port of 0 means "not given" for the surfaces that may have their own.
  return shown === '0' && /^POMBO_(DIRECT|CONSOLE)_PORT$/.test(name) ? '' : shown
}

/** The text of `.env.example`. */
export function envExample(): string {
  const blocks = Object.entries(settings).map(
    ([name, setting]: [string, Setting<unknown>]) =>
      `# ${setting.describe}\n# Allowed: ${setting.allowed}.\n#${name}=${shownFallback(name, setting.fallback)}`,
  )
  return `# Generated from src/config.ts by \`npm run pombo -- generate\`. Every setting is optional.\n\n${blocks.join('\n\n')}\n`
}

/** The same for people, as a list of Markdown. */
export function settingsList(): string {
  const items = Object.entries(settings).map(([name, setting]: [string, Setting<unknown>]) => {
    const fallback = shownFallback(name, setting.fallback)
    return `- \`${name}\`${fallback === '' ? '' : `, default \`${fallback}\``}: ${setting.describe} Allowed: ${setting.allowed}.`
  })
  return items.join('\n')
}

/** What the supervisor started this process for; undefined: nobody did, it is the program itself. */
export function processKind(env: NodeJS.ProcessEnv = process.env): 'serve' | 'worker' | 'all' | undefined {
  const kind = env['POMBO_PROCESS']
  return kind === 'serve' || kind === 'worker' || kind === 'all' ? kind : undefined
}

/** The name of the node that the supervisor gave its children; a name of chance where there is none. */
export function nodeName(env: NodeJS.ProcessEnv = process.env): string {
  return env['POMBO_NODE'] || `${os.hostname()}:${randomUUID()}`
}

/** A variable that a file of `pombo apply` names, such as a password. */
export const namedVariable = (name: string, env: NodeJS.ProcessEnv = process.env): string | undefined =>
  env[name]

/** The environment of a process that we start: our own with `extra` on top. */
export function childEnvironment(extra: Record<string, string>): NodeJS.ProcessEnv {
  return { ...process.env, ...extra }
}

/** Settings of a `.env` file in the working folder, if there is one; the environment itself wins. */
export function loadEnvFile(file = '.env'): void {
  if (existsSync(file)) process.loadEnvFile(file)
}
