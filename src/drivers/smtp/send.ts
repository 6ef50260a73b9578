/** One pool of connections per line. The message is handed over when its first byte follows the server's 354. */
import { createTransport } from 'nodemailer'
import type { SMTPTransportGetSocket } from 'nodemailer/lib/smtp-transport'
import type { Readable } from 'node:stream'
import type { DriverContext, DriverLine, LineSession, OutgoingMessage, SendResult } from '../driver.ts'
import { clip } from '../exchange.ts'
import { readSettings } from '../settings.ts'
import { OutboundError } from '../../lib/outbound/index.ts'
import { compose, signedHeaders } from './compose.ts'
import type { Mail } from './compose.ts'
import { readSmtpFault } from './errors.ts'
import type { SmtpFault } from './errors.ts'
import { SmtpSettings } from './settings.ts'

/** One message on its way: nodemailer takes the stream when a connection is free, and reads it after the 354. */
type HandOver = { stream?: Readable; isGivenUp: boolean }

const connectTimeoutMs = 10_000
/** A socket that says nothing: shorter than the patience for the whole, which bounds trickling as well. */
const maxSilenceMs = 60_000
const messagesPerConnection = 1000

const hasBegun = (handOver: HandOver): boolean => handOver.stream?.readableDidRead === true

export function openSmtpLine(line: DriverLine, context: DriverContext): LineSession {
  const settings = readSettings(SmtpSettings, line.settings)
  const patienceMs = settings.answerTimeoutSeconds * 1000
  const silenceMs = Math.min(maxSilenceMs, patienceMs)
  let lastFault: string | undefined

  const openSocket = async (done: Parameters<SMTPTransportGetSocket>[1]): Promise<void> => {
    try {
      const connection = await context.connect({
        host: settings.host,
        port: settings.port,
        timeoutMs: connectTimeoutMs,
      })
      done(null, { connection })
    } catch (error) {
      done(error instanceof Error ? error : new Error(String(error)), false)
    }
  }
  const handOvers = new Map<unknown, HandOver>()
  const transporter = createTransport({
    pool: true,
    host: settings.host,
    port: settings.port,
    secure: settings.security === 'tls',
    requireTLS: settings.security === 'starttls',
    ignoreTLS: settings.security === 'none',
    tls: { rejectUnauthorized: !settings.canBeUnverified },
    ...(settings.username ? { auth: { user: settings.username, pass: settings.password ?? '' } } : {}),
    ...(settings.helloName ? { name: settings.helloName } : {}),
    ...(settings.dkimDomain && settings.dkimSelector && settings.dkimPrivateKey
      ? {
          dkim: {
            domainName: settings.dkimDomain,
            keySelector: settings.dkimSelector,
            privateKey: settings.dkimPrivateKey,
            headerFieldNames: signedHeaders,
          },
        }
      : {}),
    maxConnections: settings.connections,
    maxMessages: messagesPerConnection,
    // Retries are the lane's affair: one inside could repeat a message that was taken.
    maxRequeues: 0,
    connectionTimeout: connectTimeoutMs,
    greetingTimeout: silenceMs,
    socketTimeout: silenceMs,
    disableFileAccess: true,
    disableUrlAccess: true,
    getSocket: (_: unknown, done: Parameters<SMTPTransportGetSocket>[1]) => void openSocket(done),
  })
  // What concerns a message comes with its own result; an 'error' without listener would end the process.
  transporter.on('error', (error) => context.log.warn({ err: error }, 'SMTP pool'))
  transporter.use('stream', (mail, done) => {
    const handOver = handOvers.get(mail.data.messageId)
    const { message } = mail
    if (handOver && message) {
      const createReadStream = message.createReadStream.bind(message)
      message.createReadStream = (options) => {
        const stream = createReadStream(options)
        handOver.stream = stream
        if (handOver.isGivenUp) stream.destroy(new Error('given up'))
        return stream
      }
    }
    done()
  })

  async function handOverOnce(mail: Mail): Promise<{ response: string } | SmtpFault> {
    const handOver: HandOver = { isGivenUp: false }
    handOvers.set(mail.messageId, handOver)
    const { promise: outOfPatience, resolve: giveUp } = Promise.withResolvers<SmtpFault>()
    const timer = setTimeout(() => {
      handOver.isGivenUp = true
      // Read before the stream is destroyed. One that has not begun never will: it is dead when its turn comes.
      const hasBegunData = hasBegun(handOver)
      handOver.stream?.destroy(new Error('given up'))
      giveUp({
        code: 'ETIMEDOUT',
        message: `no complete answer in ${settings.answerTimeoutSeconds} s`,
        hasBegunData,
      })
    }, patienceMs)
    const sent = transporter.sendMail(mail).then(
      ({ response }) => ({ response }),
      (error: Error & Partial<SmtpFault>): SmtpFault => ({
        ...(error.code ? { code: error.code } : {}),
        ...(error.originalCode ? { originalCode: error.originalCode } : {}),
        ...(error.command ? { command: error.command } : {}),
        ...(error.responseCode ? { responseCode: error.responseCode } : {}),
        ...(error.response ? { response: error.response } : {}),
        ...(error instanceof OutboundError ? { code: `E${error.kind.toUpperCase()}` } : {}),
        message: error.message,
        hasBegunData: hasBegun(handOver),
      }),
    )
    const outcome = await Promise.race([sent, outOfPatience])
    clearTimeout(timer)
    handOvers.delete(mail.messageId)
    return outcome
  }

  return {
    window: settings.connections,
    async send(message: OutgoingMessage): Promise<SendResult> {
      const composed = compose(line, settings, message)
      if (!composed.ok) {
        return {
          ok: false,
          error: { kind: 'invalid_message', code: 'invalid_message', message: composed.reason },
        }
      }
      const { mail } = composed
      const request = `MAIL FROM:<${settings.bounceAddress || line.address}> RCPT TO:<${message.recipient}> Message-ID: ${mail.messageId}`
      let outcome = await handOverOnce(mail)
      // A pooled connection that the server ended just then: nothing left, so another one may take it at once.
      if (
        'hasBegunData' in outcome &&
        outcome.code === 'ECONNECTION' &&
        !outcome.hasBegunData &&
        !outcome.response
      ) {
        outcome = await handOverOnce(mail)
      }
      if (!('hasBegunData' in outcome)) {
        lastFault = undefined
        return {
          ok: true,
          providerIds: [mail.messageId.slice(1, -1)],
          ...(settings.hasMailboxes && { isDelivered: true }),
          exchange: { request, response: clip(outcome.response) },
        }
      }
      const error = readSmtpFault(outcome)
      lastFault = `${error.code} ${error.message}`
      return { ok: false, error, exchange: { request, response: clip(outcome.response ?? outcome.message) } }
    },
    health: () => ({
      isUp: lastFault === undefined,
      detail: lastFault ?? 'The server took the last message.',
    }),
    async close() {
      transporter.close({ force: true })
    },
  }
}
