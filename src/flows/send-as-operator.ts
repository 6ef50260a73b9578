/** A message from the command line, over the same road as those of the APIs: rules, rendering, queue. */
import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { readDigits, readEmail } from '../domain/address.ts'
import type { Channel } from '../domain/channel.ts'
import { emailMaxBytes, fileFault, mimeTypeOf } from '../domain/file-types.ts'
import type { LineChoice } from '../domain/line.ts'
import type { MessageState } from '../domain/message.ts'
import type { Outcome } from '../domain/outcome.ts'
import type { GivenVariable, Recipient, SendFile } from '../domain/send-request.ts'
import { newShownId } from '../lib/ids.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { Db } from '../store/db.ts'
import { fileHash, storeFile } from '../store/files.ts'
import { createAcceptor } from './accept-message.ts'

export type OperatorMessage = {
  channel: Channel
  /** Number with country code, spaces and signs as people type it, or an e-mail address. */
  to: string
  template?: { by: 'name' | 'code'; name: string }
  variables: GivenVariable[]
  text?: string
  subject?: string
  /** Paths. */
  files: string[]
  line: LineChoice
  segmentName?: string
  isDryRun: boolean
}

/** What was asked cannot be sent; `option` is the one to correct. */
export class SendRefused extends Error {
  readonly option: string
  constructor(option: string, message: string) {
    super(message)
    this.option = option
  }
}

/** No user of the company sent it. */
const operatorId = '00000000-0000-0000-0000-000000000000'

export async function sendAsOperator(
  { db, clock, log }: { db: Db; clock: Clock; log: Log },
  companyId: string,
  message: OperatorMessage,
): Promise<Outcome> {
  const recipient = readRecipient(message.channel, message.to)
  const files = await Promise.all(message.files.map((path) => readAttachment(message.channel, path)))
  const totalBytes = files.reduce((sum, { bytes }) => sum + bytes.length, 0)
  if (message.channel === 'email' && totalBytes > emailMaxBytes)
    throw new SendRefused(
      'file',
      `has ${totalBytes} bytes together, at most ${emailMaxBytes} go in an e-mail`,
    )
  if (!message.isDryRun)
    for (const { bytes, file } of files) await storeFile(db, companyId, bytes, hashOf(file))
  const given = { files: files.map(({ file }) => file) }
  const acceptor = createAcceptor({ db, clock, log })
  return acceptor.accept({
    sender: { kind: 'console_user', id: operatorId, companyId },
    requestId: newShownId('req'),
    isDryRun: message.isDryRun,
    request: {
      api: 'unified',
      channel: message.channel,
      recipient,
      what: message.template
        ? { kind: 'template', ...message.template, variables: message.variables, ...given }
        : { kind: 'text', text: message.text ?? '', ...given },
      subject: message.subject,
      line: message.line,
      recentContactLastHours: 0,
      isDiscardedInAttendance: false,
      contact: { updateIfExists: false },
      segmentName: message.segmentName,
      isFlash: false,
    },
  })
}

function readRecipient(channel: Channel, to: string): Recipient {
  if (channel === 'email') {
    const reading = readEmail(to)
    if (!reading.ok) throw new SendRefused('to', reading.reason)
    return { kind: 'email', email: reading.email }
  }
  const reading = readDigits(to.replace(/[\s().-]/g, ''))
  if (!reading.ok) throw new SendRefused('to', reading.reason)
  return { kind: 'phone', phone: reading.phone }
}

async function readAttachment(channel: Channel, path: string): Promise<{ bytes: Buffer; file: SendFile }> {
  const bytes = await readFile(path)
  const name = basename(path)
  const fault = fileFault(channel, name, bytes.length)
  if (fault !== undefined) throw new SendRefused('file', fault)
  const content = { kind: 'stored', hash: fileHash(bytes), size: bytes.length } as const
  return { bytes, file: { name, mimeType: mimeTypeOf(name) ?? 'application/octet-stream', content } }
}

const hashOf = ({ content }: SendFile): string | undefined =>
  content.kind === 'stored' ? content.hash : undefined

/** Nothing more is to be expected: an e-mail server says no more than that it took the message. */
export function isFinal(channel: Channel, state: MessageState): boolean {
  switch (state) {
    case 'queued':
    case 'sending':
      return false
    case 'sent':
      return channel === 'email'
    case 'delivered':
    case 'read':
    case 'failed':
    case 'expired':
    case 'unknown':
    case 'blocked':
    case 'not_sent':
      return true
  }
}

export const isGood = (state: MessageState): boolean => ['sent', 'delivered', 'read'].includes(state)
