/** The sandbox's mail server: it takes every message an account may send, keeps it, and sends nothing on. */
import { setTimeout as delay } from 'node:timers/promises'
import { SMTPServer } from 'smtp-server'
import type { SMTPServerDataStream, SMTPServerSession } from 'smtp-server'
import type { Clock } from '../lib/clock.ts'
import { equalBytes } from '../lib/secrets.ts'
import type { Chaos } from './chaos.ts'
import { emailFacts, parseEmail } from './email-source.ts'
import type { Inbox } from './inbox.ts'
import { listen } from './listen.ts'
import { smtpReply } from './provider-codes.ts'
import { emailRefusals } from './refusals.ts'
import type { Refusal } from './refusals.ts'
import { personKey } from './types.ts'
import type { SandboxLog } from './types.ts'

export type SmtpAccount = { user: string; password: string }

/** `*` in a pattern stands for any characters; without one the address must be the same. */
export type SmtpRule = { stage: 'from' | 'to'; pattern: string; code: number; words: string }

export type SmtpSandbox = {
  port: number
  rules(): SmtpRule[]
  setRules(rules: SmtpRule[]): void
  /** From now on the address is refused as unknown; false takes it back. */
  setBouncing(address: string, isBouncing: boolean): void
  bouncing(): string[]
  stop(): Promise<void>
}

export type SmtpOptions = {
  host: string
  port: number
  isPortFixed: boolean
  accounts: SmtpAccount[]
  certificate: { key: string; cert: string }
  maxBytes?: number
  inbox: Inbox
  chaos: Chaos
  clock: Clock
  log: SandboxLog
}

const maxGreylisted = 10_000

class Refused extends Error {
  responseCode: number
  constructor(code: number, words: string) {
    super(words)
    this.responseCode = code
  }
}
const refused = ({ code, words }: Refusal) => new Refused(code, words)

const escapeRegExp = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
const matches = (pattern: string, address: string): boolean =>
  new RegExp(`^${pattern.split('*').map(escapeRegExp).join('.*')}$`, 'i').test(address)

const sameSecret = (a: string, b: string) => equalBytes(Buffer.from(a), Buffer.from(b))

/** Reads at most `maxBytes`; the rest is thrown away, so that a sender of gigabytes costs no memory. */
async function readMessage(stream: SMTPServerDataStream, maxBytes: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size <= maxBytes) chunks.push(chunk)
    else chunks.length = 0
  }
  return size <= maxBytes && !stream.sizeExceeded ? Buffer.concat(chunks) : undefined
}

export async function startSmtp(options: SmtpOptions): Promise<SmtpSandbox> {
  const { inbox, chaos, clock, log, accounts, maxBytes = 25 * 1024 * 1024 } = options
  const bouncing = new Set<string>()
  const greylisted = new Set<string>()
  let rules: SmtpRule[] = []

  const byRule = (stage: SmtpRule['stage'], address: string): Refused | undefined => {
    const rule = rules.find((candidate) => candidate.stage === stage && matches(candidate.pattern, address))
    return rule && new Refused(rule.code, rule.words)
  }

  function judgeRecipient(address: string, sender: string): Refused | undefined {
    const ruled = byRule('to', address)
    if (ruled) return ruled
    const key = personKey('email', address)
    if (bouncing.has(key)) return refused(emailRefusals.unknownUser)
    switch (/^[^@+]*/.exec(key)?.[0] ?? '') {
      case 'unknown':
        return refused(emailRefusals.unknownUser)
      case 'disabled':
        return refused(emailRefusals.disabledUser)
      case 'full':
        return refused(emailRefusals.mailboxFull)
      case 'unavailable':
        return refused(emailRefusals.unavailable)
      case 'greylist': {
        const pair = `${sender} ${key}`
        if (greylisted.has(pair)) return undefined
        if (greylisted.size >= maxGreylisted) greylisted.clear()
        greylisted.add(pair)
        return refused(emailRefusals.greylisted)
      }
      default:
        return undefined
    }
  }

  function cutConnection(session: SMTPServerSession): void {
    for (const connection of server.connections)
      if (connection.id === session.id) connection._socket.destroy()
  }

  /** Refused or taken; undefined when the connection was cut on purpose. */
  async function take(
    stream: SMTPServerDataStream,
    session: SMTPServerSession,
  ): Promise<Refused | string | undefined> {
    const recipients = session.envelope.rcptTo.map(({ address }) => address)
    const envelopeFrom = session.envelope.mailFrom ? session.envelope.mailFrom.address : ''
    const fate = chaos.fate('email', personKey('email', recipients[0] ?? ''))
    if (fate.isDroppedBefore) {
      cutConnection(session)
      return undefined
    }
    const raw = await readMessage(stream, maxBytes)
    if (fate.latencyMs > 0) await delay(fate.latencyMs)
    if (!raw) return refused(emailRefusals.tooLarge)
    if (!chaos.mayPass('email', clock.now().getTime())) return refused(emailRefusals.throttled)
    if (fate.errorCode !== undefined) return new Refused(fate.errorCode, smtpReply(fate.errorCode))
    if (recipients.some((address) => /^spam(\+[^@]*)?@/i.test(address))) return refused(emailRefusals.spam)
    const read = emailFacts(await parseEmail(raw), { envelopeFrom, isSecure: session.secure })
    let id = ''
    for (const to of recipients) {
      const message = inbox.add(
        {
          channel: 'email',
          direction: 'toPerson',
          line: String(session.user),
          from: read.from,
          to,
          subject: read.subject,
          text: read.text,
          providerIds: read.providerIds,
          email: read.facts,
        },
        raw,
      )
      id = message.id
      inbox.setStatus(id, { status: 'delivered' })
    }
    if (fate.isDroppedAfter) {
      cutConnection(session)
      return undefined
    }
    return `2.0.0 Ok: queued as ${id}`
  }

  async function answerData(
    stream: SMTPServerDataStream,
    session: SMTPServerSession,
    callback: (refusal: Refused | null, words?: string) => void,
  ): Promise<void> {
    let answer: Refused | string | undefined
    try {
      answer = await take(stream, session)
    } catch (fault) {
      log.error({ cause: String(fault) }, 'The sandbox could not keep an e-mail.')
      answer = new Refused(451, '4.3.0 The sandbox failed to keep the message')
    }
    if (typeof answer === 'string') callback(null, answer)
    else if (answer) callback(answer)
  }

  const server = new SMTPServer({
    name: 'sandbox.localhost',
    banner: 'Pombo sandbox',
    key: options.certificate.key,
    cert: options.certificate.cert,
    size: maxBytes,
    // Loopback only: a client without TLS may still try its log-in, as with other mail catchers.
    allowInsecureAuth: true,
    authRequiredMessage: emailRefusals.notAuthenticated.words,
    disableReverseLookup: true,
    hideDSN: false,
    maxClients: 500,
    socketTimeout: 5 * 60_000,
    closeTimeout: 200,
    logger: false,
    onAuth(auth, _session, callback) {
      const account = accounts.find(({ user }) => user === auth.username)
      if (account && sameSecret(account.password, auth.password ?? '')) callback(null, { user: account.user })
      else callback(refused(emailRefusals.wrongPassword))
    },
    onMailFrom({ address }, _session, callback) {
      callback(byRule('from', address))
    },
    onRcptTo({ address }, session, callback) {
      const sender = session.envelope.mailFrom ? session.envelope.mailFrom.address : ''
      if (session.envelope.rcptTo.length >= 100) callback(refused(emailRefusals.tooManyRecipients))
      else callback(judgeRecipient(address, sender))
    },
    onData(stream, session, callback) {
      void answerData(stream, session, callback)
    },
  })
  // A client that goes away in the middle is everyday life here, not a fault of ours.
  server.on('error', (fault) => log.info({ cause: String(fault) }, 'An SMTP connection ended with an error.'))
  const port = await listen(server.server, options)

  return {
    port,
    rules: () => rules,
    setRules(next) {
      rules = next
    },
    setBouncing(address, isBouncing) {
      if (isBouncing) bouncing.add(personKey('email', address))
      else bouncing.delete(personKey('email', address))
    },
    bouncing: () => [...bouncing],
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  }
}
