/** What a mail server, or nodemailer on its behalf, answers, in the words of the closed list. */
import type { DriverError, DriverErrorKind } from '../errors.ts'

/** The facts of a failed hand-over: nodemailer's error, and whether the message itself had begun to flow. */
export type SmtpFault = {
  /** nodemailer's code: EAUTH, ECONNECTION, … */
  code?: string
  /** The operating system's or OpenSSL's code behind it. */
  originalCode?: string
  /** The command that was answered: CONN, MAIL FROM, RCPT TO, DATA. */
  command?: string
  responseCode?: number
  response?: string
  message: string
  hasBegunData: boolean
}

type Row = {
  /** Reply code, or a class of them. */
  reply: RegExp
  /** Enhanced status (x.y.z) and words behind the code. */
  words?: RegExp
  command?: RegExp
  kind: DriverErrorKind
  isRecipientOnly?: boolean
}

const senderCommand = /^MAIL FROM$/
const pace = /rate|too many|too fast|slow down|throttl|limit|quota exceeded|try later/i

/** First row that fits decides. Reply codes by RFC 5321, enhanced ones by RFC 3463 and what large providers say. */
const rows: readonly Row[] = [
  // The line itself is not accepted.
  { reply: /^454/, kind: 'unreachable' },
  { reply: /^53[0458]/, kind: 'misconfigured' },
  { reply: /^5/, command: /^(?:AUTH|STARTTLS)/, kind: 'misconfigured' },
  { reply: /^5/, words: /5\.7\.(?:0|8|9|57|60)\b/, kind: 'misconfigured' },
  {
    reply: /^5/,
    words:
      /relay(?:ing)? (?:access )?(?:denied|not permitted|not allowed|prohibited)|not permitted to relay|unable to relay/i,
    kind: 'misconfigured',
  },
  { reply: /^552/, words: /5\.3\.4\b|size|too (?:big|large|long)/i, kind: 'invalid_message' },
  { reply: /^5/, words: /5\.3\.4\b|5\.6\.\d/, kind: 'invalid_message' },
  { reply: /^5/, command: senderCommand, kind: 'misconfigured' },
  // Temporary: of one mailbox, or of the server.
  { reply: /^4/, words: /4\.7\.1\b.*gr[ea]y|gr[ea]y.?list/i, kind: 'throttled', isRecipientOnly: true },
  { reply: /^4/, words: pace, kind: 'throttled' },
  { reply: /^421/, kind: 'unreachable' },
  {
    reply: /^4/,
    words: /4\.[124]\.\d/,
    command: /^RCPT TO$|^DATA$/,
    kind: 'throttled',
    isRecipientOnly: true,
  },
  { reply: /^45[01]/, command: /^RCPT TO$/, kind: 'throttled', isRecipientOnly: true },
  { reply: /^4/, kind: 'throttled' },
  // For good.
  { reply: /^503/, kind: 'unreachable' },
  { reply: /^5/, words: /5\.1\.3\b/, kind: 'invalid_message' },
  { reply: /^501/, kind: 'invalid_message' },
  { reply: /^5/, kind: 'rejected' },
]

/** Without a reply: nodemailer's codes that blame the settings or the message, whatever was under way. */
const withoutReply: Record<string, DriverErrorKind> = {
  EAUTH: 'misconfigured',
  ENOAUTH: 'misconfigured',
  EOAUTH2: 'misconfigured',
  ECONFIG: 'misconfigured',
  EREQUIRETLS: 'misconfigured',
  // The outbound guard: not allowed, or a certificate that is not accepted.
  EREFUSED: 'misconfigured',
  EUNTRUSTED: 'misconfigured',
  EENVELOPE: 'invalid_message',
  EMAXRECIPIENTS: 'invalid_message',
}

/** Enhanced status codes by which a server says that the mailbox does not exist; others may pass. */
const unknownMailbox = /^5\d\d 5\.1\.(?:1|10)$/

const certificateFault = /CERT|SSL|SELF_SIGNED|UNABLE_TO|ALTNAME/
const cutWords = /closed|reset|timed? ?out|socket hang up|disconnected/i

export function readSmtpFault(fault: SmtpFault): DriverError {
  const { code = '', responseCode, response = '' } = fault
  const message = (response || fault.message).replaceAll(/\s+/g, ' ').slice(0, 500)
  if (responseCode !== undefined) {
    const words = response.replaceAll(/\s+/g, ' ')
    for (const row of rows) {
      if (!row.reply.test(String(responseCode))) continue
      if (row.words && !row.words.test(words)) continue
      if (row.command && !row.command.test(fault.command ?? '')) continue
      const enhanced = /\b[245]\.\d{1,3}\.\d{1,3}\b/.exec(words)?.[0]
      const told = enhanced ? `${responseCode} ${enhanced}` : String(responseCode)
      return {
        kind: row.kind,
        code: told,
        message,
        ...(row.isRecipientOnly ? { isRecipientOnly: true } : {}),
        ...(row.kind === 'rejected' && unknownMailbox.test(told) ? { isAddressGone: true } : {}),
      }
    }
  }
  return {
    kind: kindWithoutReply(fault),
    code: (fault.originalCode ?? code ?? 'unknown').toLowerCase(),
    message,
  }
}

function kindWithoutReply(fault: SmtpFault): DriverErrorKind {
  const { code = '', originalCode = '', message } = fault
  const blamed = withoutReply[code]
  if (blamed !== undefined) return blamed
  // nodemailer refuses a message over the server's announced SIZE before a byte has left.
  if (code === 'EMESSAGE' && !fault.hasBegunData) return 'invalid_message'
  if (fault.hasBegunData)
    return code === 'EMESSAGE' || code === 'EPROTOCOL' ? 'unreadable_reply' : 'no_answer'
  if (certificateFault.test(originalCode) || certificateFault.test(message)) return 'misconfigured'
  if (code === 'ETLS') return cutWords.test(message) ? 'unreachable' : 'misconfigured'
  return 'unreachable'
}
