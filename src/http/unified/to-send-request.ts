/** From the wire's words to ours: foreign spellings and numbered channels end here. */
import { readEmail, readPhone } from '../../domain/address.ts'
import type { Channel } from '../../domain/channel.ts'
import type { ContactData } from '../../domain/contact.ts'
import { emailMaxBytes, fileFault, mimeTypeOf } from '../../domain/file-types.ts'
import type { LineChoice } from '../../domain/line.ts'
import type { Recipient, SendFile, SendRequest, WhatToSend } from '../../domain/send-request.ts'
import { addError, type FieldErrors } from '../../lib/read-json.ts'
import type { DecodedFile } from './read-send-body.ts'
import type { SendMessageIn } from './wire.ts'

export type Attachment = { bytes: Uint8Array; hash: string }

export type Translation =
  | { ok: true; request: SendRequest; attachments: Attachment[] }
  | { ok: false; errors: FieldErrors }

type Fail = (path: string, message: string) => undefined

const channelOf: Record<number, Channel> = { 1: 'email', 2: 'sms', 3: 'whatsapp' }

export function toSendRequest(
  body: SendMessageIn,
  decoded: DecodedFile[],
  filePlaces: number[] | undefined,
): Translation {
  let errors: FieldErrors | undefined
  const fail: Fail = (path, message) => {
    errors = addError(errors, path, message)
    return undefined
  }
  const channel = channelOf[body.channel]!
  const recipient = recipientOf(channel, body.destination, fail)
  const line = lineOf(channel, body, fail)
  const isDiscardedInAttendance = body.discardSettings?.InAttendance ?? false
  // Refused by rule D1, which comes before the question whether files fit.
  const isBlocked = body.attendantUserName !== undefined && isDiscardedInAttendance
  const { files, attachments } = filesOf(channel, body, decoded, filePlaces, isBlocked, fail)
  const what = whatOf(body, files, fail)
  if (channel === 'email' && what.kind === 'text' && body.emailSubject === undefined)
    fail('emailSubject', 'is required for an e-mail without a template')
  if (errors !== undefined || recipient === undefined || line === undefined)
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
  { source, destination }: SendMessageIn,
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

function whatOf(body: SendMessageIn, files: SendFile[], fail: Fail): WhatToSend {
  if (body.templateName !== undefined)
    return {
      kind: 'template',
      by: 'name',
      name: body.templateName,
      variables: (body.templateParameters ?? []).flatMap(({ parameterName, parameterValue }) =>
        parameterValue === undefined ? [] : [{ name: parameterName, value: parameterValue }],
      ),
      files,
    }
  if (body.text === '' && (body.files ?? []).length === 0)
    fail('text', 'is empty, and neither a template nor a file is given: there is nothing to send')
  return { kind: 'text', text: body.text, files }
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

function filesOf(
  channel: Channel,
  body: SendMessageIn,
  decoded: DecodedFile[],
  places: number[] | undefined,
  isBlocked: boolean,
  fail: Fail,
): { files: SendFile[]; attachments: Attachment[] } {
  const files: SendFile[] = []
  const attachments: Attachment[] = []
  // SMS carries no files: the accept path says so, and nothing is stored for it.
  const isStored = !isBlocked && channel !== 'sms'
  let totalBytes = 0
  for (const [index, file] of (body.files ?? []).entries()) {
    const path = `files[${places?.[index] ?? index}]`
    const name =
      file.name === undefined ? fail(`${path}.name`, 'is required') : baseName(file.name, path, fail)
    const content = contentOf(file, decoded[index]!, path, fail)
    if (name === undefined || content === undefined) continue
    const size = content.kind === 'stored' ? content.size : undefined
    totalBytes += size ?? 0
    const fault = isStored ? fileFault(channel, name, size) : undefined
    if (fault !== undefined) fail(path, fault)
    files.push({ name, mimeType: mimeTypeOf(name) ?? 'application/octet-stream', content })
    const bytes = decoded[index]!
    if (isStored && bytes.kind === 'content') attachments.push({ bytes: bytes.bytes, hash: bytes.hash })
  }
  if (channel === 'email' && isStored && totalBytes > emailMaxBytes)
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
  file: NonNullable<SendMessageIn['files']>[number],
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
