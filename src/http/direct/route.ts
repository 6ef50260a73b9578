/** What the three routes share: a route says what its body is and how it becomes a request. */
import { readDigits } from '../../domain/address.ts'
import type { Channel } from '../../domain/channel.ts'
import type { GivenVariable, Recipient, SendRequest } from '../../domain/send-request.ts'
import { contactVariableNames, variableKey } from '../../domain/variables.ts'
import type { Exceptions } from '../../lib/outbound/index.ts'
import { hostFault, readUrl } from '../../lib/outbound/judge-url.ts'
import { addError, type FieldErrors, type Reading } from '../../lib/read-json.ts'
import type { VariableFields } from './places.ts'
import type { SharedIn } from './wire.ts'

export type Fail = (path: string, message: string) => undefined
/** Is something wrong with this field already? */
export type IsWrong = (path: string) => boolean

/** Never missing, so that all that is wrong with a body can be said at once: see `standInRecipient`. */
export type Translated = {
  recipient: Recipient | undefined
  what: { variables: GivenVariable[]; header?: { key?: string; value?: string } }
  line: SendRequest['line']
  isFlash: boolean
}

export type DirectRoute<In extends SharedIn> = {
  channel: Channel
  path: string
  read: (body: unknown) => Reading<In>
  /** `body` may lack any field when it was wrong; `fail` notes what is wrong beyond its shape. */
  translate(body: Partial<In>, fail: Fail, isWrong: IsWrong): Translated
  /** For errors: the fields that fill the template. */
  variableFields(body: Partial<In>): VariableFields
}

/** For a body that is wrong anyway: stands for what could not be read, so that the rest can be judged. */
export const unreadable = 'unreadable'

/** A value that was no string is reported by its name, and not as a missing one as well. */
export const givenVariables = (values: Record<string, string | undefined> | undefined): GivenVariable[] =>
  Object.entries(values ?? {}).map(([name, value]) => ({ name, value: value ?? unreadable }))

export function phoneRecipient(number: string | undefined, fail: Fail): Recipient | undefined {
  if (number === undefined) return undefined
  const reading = readDigits(number)
  return reading.ok ? { kind: 'phone', phone: reading.phone } : fail('recipient_number', reading.reason)
}

export function toRequest<In extends SharedIn>(
  route: DirectRoute<In>,
  body: Partial<In>,
  exceptions: Exceptions,
  fail: Fail,
  isWrong: IsWrong,
): SendRequest {
  const { recipient, what, line, isFlash } = route.translate(body, fail, isWrong)
  return {
    api: 'direct',
    channel: route.channel,
    recipient: recipient ?? standInRecipient(route.channel),
    what: {
      kind: 'template',
      by: 'code',
      name: body.template_code ?? '',
      variables: recipient ? what.variables : withContactVariables(what.variables),
      header: what.header,
      files: [],
    },
    line,
    recentContactLastHours: 0,
    isDiscardedInAttendance: false,
    contact: { taxId: body.document_number, updateIfExists: false },
    segmentName: body.segment,
    contractCode: body.contract_code,
    documentNumber: body.document_number,
    isFlash,
    callback: callbackOf(body, exceptions, fail),
  }
}

/** An address that nobody has, so that no contact is found. Such a request is only ever looked at, never sent. */
const standInRecipient = (channel: Channel): Recipient =>
  channel === 'email'
    ? { kind: 'email', email: { address: unreadable, key: unreadable } }
    : { kind: 'phone', phone: { e164: '+0', digits: '0', key: '0' } }

/** Without a recipient nobody knows what is stored of the contact: those variables are not called missing. */
function withContactVariables(given: GivenVariable[]): GivenVariable[] {
  const names = new Set(given.map(({ name }) => variableKey(name)))
  return [
    ...given,
    ...[...contactVariableNames, '1', '2', '3', '4', '5']
      .filter((name) => !names.has(variableKey(name)))
      .map((name) => ({ name, value: unreadable })),
  ]
}

/** Without DNS: syntax, scheme, credentials, and a host that tells by itself where it points. */
function callbackOf(
  { callback_details: details }: Partial<SharedIn>,
  exceptions: Exceptions,
  fail: Fail,
): SendRequest['callback'] {
  if (details?.url === undefined) return undefined
  const path = 'callback_details.url'
  const reading = readUrl(details.url)
  if (!reading.ok) return fail(path, reading.reason)
  const { hostname, port, protocol } = reading.url
  if (!exceptions.allows('callbacks', hostname, Number(port) || (protocol === 'https:' ? 443 : 80))) {
    const fault = hostFault(hostname)
    if (fault !== undefined) return fail(path, fault)
  }
  return { url: details.url, customFields: { ...details.custom_fields } }
}

/** Documented names match in any case, and errors are keyed as the caller wrote them. */
export function asSent(errors: FieldErrors, body: object): FieldErrors {
  let sent: FieldErrors | undefined
  for (const [path, messages] of Object.entries(errors)) {
    const [head = '', second, ...rest] = path.split('.')
    const key = spelled(body, head)
    const child: unknown = Object.getOwnPropertyDescriptor(body, key)?.value
    const hasFields = head === 'callback_details' || head === 'variables'
    const steps = second === undefined ? [] : [hasFields ? spelled(child, second) : second, ...rest]
    const shown = [key, ...steps].join('.')
    for (const message of messages) sent = addError(sent, shown, message)
  }
  return sent ?? {}
}

function spelled(value: unknown, name: string): string {
  if (typeof value !== 'object' || value === null || Object.hasOwn(value, name)) return name
  const lower = name.toLowerCase()
  return Object.keys(value).find((key) => key.toLowerCase() === lower) ?? name
}
