/** From the wire's words to ours: foreign spellings and numbered channels end here. */
import { readEmail, readPhone } from '../../domain/address.ts'
import type { Channel } from '../../domain/channel.ts'
import type { ContactData } from '../../domain/contact.ts'
import { emailMaxBytes, fileFault, mimeTypeOf } from '../../domain/file-types.ts'
import type { LineChoice } from '../../domain/line.ts'
import type { Recipient, SendFile, SendRequest, WhatToSend } from '../../domain/send-request.ts'
import { addError, type FieldErrors } from '../../lib/read-json.ts'
import type { DecodedFile } from './read-send-body.ts'
import type { FileIn, SendMessageIn } from './wire.ts'

export type Attachment = { bytes: Uint8Array; hash: string }

export type Translation =
  | { ok: true; request: SendRequest; attachments: Attachment[] }
  | { ok: false; errors: FieldErrors }

type Fail = (path: string, message: string) => undefined

const channelOf: Record<number, Channel> = { 1: 'email', 2: 'sms', 3: 'whatsapp' }

/**
 * `body` may lack what `known` errors say about it; then nothing is sent, but what else is wrong is said as well.
 */
export function toSendRequest(
  body: Partial<SendMessageIn>,
  decoded: DecodedFile[],
  filePlaces: number[] | undefined,
  known?: FieldErrors,
): Translation {
  let errors = known
  const fail: Fail = (path, message) => {
    if (known === undefined || !isKnown(known, path)) errors = addError(errors, path, message)
    return undefined
  }
  const { channel: number, text = '', destination = {} } = body
  const channel = number === undefined ? undefined : channelOf[number]
  const recipient = channel && recipientOf(channel, destination, fail)
  const line = channel && lineOf(channel, body.source, destination, fail)
  const isDiscardedInAttendance = body.discardSettings?.InAttendance ?? false
  // Refused by rule D1, which comes before the question whether files fit.
  const isBlocked = body.attendantUserName !== undefined && isDiscardedInAttendance
  const { files, attachments } = filesOf(
    isBlocked ? undefined : channel,
    body.files,
    decoded,
    filePlaces,
    fail,
  )
  const what = whatOf(body, text, files, fail)
  if (channel === 'email' && what.kind === 'text' && body.emailSubject === undefined)
    fail('emailSubject', 'is required for an e-mail without a template')
  if (errors !== undefined || channel === undefined || recipient === undefined || line === undefined)
    return { ok: false, errors: errors ?? {} }
  return {
    ok: true,
    attachments,
    request: {
      api: 'unified',
      channel,
      recipient,
      what,
      subject: body.emailSubject,
      line,
      recentContactLastHours: body.discardSettings?.recentContactLastHours ?? 0,
      isDiscardedInAttendance,
      attendantName: body.attendantUserName,
      contact: contactOf(body.contact),
      callId: body.voiceSettings?.callId,
      isFlash: false,
    },
  }
}

/** Of a field that could not be read nothing more can be said, nor of what is in it or around it. */
const isKnown = (known: FieldErrors, path: string): boolean =>
  Object.keys(known).some((other) => other === path || isInside(path, other) || isInside(other, path))

const isInside = (path: string, outer: string): boolean =>
  path.startsWith(outer) && (path[outer.length] === '.' || path[outer.length] === '[')

function recipientOf(
  channel: Channel,
  { countryCode, phoneNumber, email }: SendMessageIn['destination'],
  fail: Fail,
): Recipient | undefined {
  if (channel === 'email') {
    if (email === undefined) return fail('destination.email', 'is required for an e-mail')
    const read = readEmail(email)
    return read.ok ? { kind: 'email', email: read.email } : fail('destination.email', read.reason)
  }
  if (countryCode === undefined) fail('destination.countryCode', 'is required for SMS and WhatsApp')
  if (phoneNumber === undefined) fail('destination.phoneNumber', 'is required for SMS and WhatsApp')
  if (countryCode === undefined || phoneNumber === undefined) return undefined
  const read = readPhone(countryCode, phoneNumber)
  return read.ok ? { kind: 'phone', phone: read.phone } : fail('destination.phoneNumber', read.reason)
}

function lineOf(
  channel: Channel,
  source: SendMessageIn['source'],
  destination: SendMessageIn['destination'],
  fail: Fail,
): LineChoice | undefined {
  const fromSource = source?.prospect
  const fromDestination = destination.prospect
  if (fromSource !== undefined && fromDestination !== undefined && fromSource !== fromDestination)
    return fail('source.prospect', 'differs from destination.prospect')
  const prospect = fromSource ?? fromDestination
  const mayFailOver = prospect !== false
  if (channel === 'email') return { kind: 'default', mayFailOver }
  const { countryCode, phoneNumber } = source ?? {}
  if (phoneNumber === undefined && countryCode !== undefined)
    return fail('source.phoneNumber', 'is required with a country code')
  if (phoneNumber !== undefined && countryCode === undefined)
    return fail('source.countryCode', 'is required with a phone number')
  if (prospect === true) return { kind: 'prospect', countryCode, phoneNumber }
  return countryCode === undefined || phoneNumber === undefined
    ? { kind: 'default', mayFailOver }
    : { kind: 'exact', countryCode, phoneNumber }
}

type ParameterIn = NonNullable<SendMessageIn['templateParameters']>[number]

/** An item that was wrong is undefined in a partial body. */
const parametersOf = (body: Partial<SendMessageIn>): (ParameterIn | undefined)[] =>
  body.templateParameters ?? []

function whatOf(body: Partial<SendMessageIn>, text: string, files: SendFile[], fail: Fail): WhatToSend {
  if (body.templateName !== undefined)
    return {
      kind: 'template',
      by: 'name',
      name: body.templateName,
      variables: parametersOf(body).flatMap((parameter) =>
        parameter?.parameterValue === undefined
          ? []
          : [{ name: parameter.parameterName, value: parameter.parameterValue }],
      ),
      files,
    }
  if (text === '' && (body.files ?? []).length === 0)
    fail('text', 'is empty, and neither a template nor a file is given: there is nothing to send')
  return { kind: 'text', text, files }
}

function contactOf(contact: SendMessageIn['contact']): ContactData {
  if (contact === undefined) return { updateIfExists: false }
  return {
    name: contact.name,
    taxId: contact.id,
    customCode: contact.customCode,
    tag: contact.tag,
    jokers: contact.jokers,
    walletCode: contact.walletClientCode,
    updateIfExists: contact.updateIfExists ?? false,
  }
}

// oxlint-disable-next-line no-control-regex -- keeping control characters out is what it is for
const controlCharacter = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/

/** Without a channel (unknown, or the message is refused anyway) files are not judged by it, nor stored. */
function filesOf(
  channel: Channel | undefined,
  given: (FileIn | undefined)[] | undefined,
  decoded: DecodedFile[],
  places: number[] | undefined,
  fail: Fail,
): { files: SendFile[]; attachments: Attachment[] } {
  const files: SendFile[] = []
  const attachments: Attachment[] = []
  // SMS carries no files: the accept path says so, and nothing is stored for it.
  const judgedFor = channel === 'sms' ? undefined : channel
  let totalBytes = 0
  for (const [index, file = {}] of (given ?? []).entries()) {
    const path = `files[${places?.[index] ?? index}]`
    const name =
      file.name === undefined ? fail(`${path}.name`, 'is required') : baseName(file.name, path, fail)
    const source = decoded[index]!
    const content = contentOf(file, source, path, fail)
    if (name === undefined || content === undefined) continue
    const size = content.kind === 'stored' ? content.size : undefined
    totalBytes += size ?? 0
    const fault = judgedFor && fileFault(judgedFor, name, size)
    if (fault !== undefined) fail(path, fault)
    files.push({ name, mimeType: mimeTypeOf(name) ?? 'application/octet-stream', content })
    if (judgedFor && source.kind === 'content') attachments.push({ bytes: source.bytes, hash: source.hash })
  }
  if (channel === 'email' && totalBytes > emailMaxBytes)
    fail('files', `have ${totalBytes} bytes together, at most ${emailMaxBytes} are allowed in an e-mail`)
  return { files, attachments }
}

function baseName(given: string, path: string, fail: Fail): string | undefined {
  const name = given.slice(Math.max(given.lastIndexOf('/'), given.lastIndexOf('\\')) + 1).trim()
  if (controlCharacter.test(name)) return fail(`${path}.name`, 'must not contain control characters')
  if (!/[^.]\.[A-Za-z0-9]{1,8}$/.test(name))
    return fail(`${path}.name`, 'must be a file name with an extension')
  return name
}

function contentOf(
  file: FileIn,
  decoded: DecodedFile,
  path: string,
  fail: Fail,
): SendFile['content'] | undefined {
  if (decoded.kind === 'invalid') return fail(`${path}.base64`, decoded.fault)
  if (decoded.kind === 'content') return { kind: 'stored', hash: decoded.hash, size: decoded.bytes.length }
  if (file.address === undefined) return fail(path, 'must have base64 or address')
  if (!/^https?:\/\//i.test(file.address) || !URL.canParse(file.address))
    return fail(`${path}.address`, 'must be an http or https address')
  return { kind: 'address', url: file.address }
}
