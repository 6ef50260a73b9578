/**
 * A broker described by configuration. Every setting is one plain value, so that any form can draw it: templates are
 * JSON as text, lists are separated by commas.
 */
import { Type } from 'typebox'
import type { Static } from 'typebox'
import { pathForm } from './paths.ts'
import { isObject, parseTemplate, unknownPlaceholder } from './template.ts'

/** Optional; an empty text is as if not given, since a form sends it so. */
const text = (title: string, description: string, maxLength = 255) =>
  Type.Optional(Type.String({ title, description, maxLength }))

const secret = (title: string, description: string) =>
  Type.Optional(Type.String({ title, description, maxLength: 1000, isSecret: true }))

const path = (title: string, description: string) =>
  Type.Optional(
    Type.Refine(
      Type.String({ title, description, maxLength: 255 }),
      (value) => value === '' || pathForm.test(value),
      () => 'must be a path such as messages[0].id',
    ),
  )

const json = (title: string, description: string) =>
  Type.Optional(
    Type.Refine(
      Type.String({ title, description, maxLength: 10_000, isMultiline: true }),
      (value) => value.trim() === '' || jsonFault(value) === undefined,
      (value) => jsonFault(value) ?? '',
    ),
  )

function jsonFault(value: string): string | undefined {
  if (!isObject(parseTemplate(value))) return 'must be a JSON object'
  const unknown = unknownPlaceholder(value)
  return unknown === undefined ? undefined : `has ${unknown}, which stands for nothing`
}

const oneOf = <T extends string>(
  title: string,
  description: string,
  values: readonly T[],
  fallback: NoInfer<T>,
) =>
  Type.Unsafe<T>(
    Type.Union(
      values.map((value) => Type.Literal(value)),
      { title, description, default: fallback },
    ),
  )

const codes = (title: string, description: string) => text(title, description, 1000)

const number = (title: string, description: string, [minimum, maximum]: [number, number], fallback: number) =>
  Type.Integer({ title, description, minimum, maximum, default: fallback })

const addressForm = /^https?:\/\/[^/?#\s{}@]+(?:[/?][^\s#]*)?$/

const Described = Type.Object(
  {
    url: Type.Refine(
      Type.String({
        title: 'Address',
        description:
          'Where messages are sent to. {to}, {from}, {text}, {id}, {hookUrl}, {validitySeconds}, {user} and {secret} may stand in path and query.',
        maxLength: 2048,
      }),
      (value) => addressForm.test(value) && unknownPlaceholder(value) === undefined,
      (value) =>
        addressForm.test(value)
          ? `has ${unknownPlaceholder(value)}, which stands for nothing`
          : 'must be an http(s) address without placeholders in its host',
    ),
    method: oneOf('Method', 'How it is called.', ['POST', 'PUT', 'GET'], 'POST'),
    bodyFormat: oneOf(
      'Body',
      'JSON, a form, or fields added to the address (query).',
      ['json', 'form', 'query'],
      'json',
    ),
    body: json(
      'Fields',
      'A JSON object with placeholders inside its strings, e.g. {"to": "{to}", "text": "{text}"}. For a form or a query: names and texts.',
    ),
    unicodeBody: json(
      'Fields for other alphabets',
      'Added when the text does not fit the GSM alphabet, e.g. {"type": "unicode"}.',
    ),
    flashBody: json('Fields for flash messages', 'Added when a flash message is asked for.'),
    headers: json('Headers', 'A JSON object of further headers and their values.'),
    auth: oneOf(
      'Access',
      'How the broker knows you: nothing, user and secret (basic), Authorization: Bearer, a header, or a parameter of the address.',
      ['none', 'basic', 'bearer', 'header', 'query'],
      'none',
    ),
    authUser: text('User', 'For basic access; also {user} in templates.'),
    authSecret: secret('Secret', 'Password, key or token; also {secret} in templates.'),
    authName: text('Header or parameter', 'Name that carries the secret.'),
    authPrefix: text('Before the secret', 'Written before it in a header, e.g. "App ".', 50),
    numberFormat: oneOf(
      'Numbers',
      '+5531996883193, 5531996883193, or without the country code.',
      ['plus', 'digits', 'national'],
      'digits',
    ),
    homeCountryCode: Type.String({
      title: 'Own country code',
      description: 'Left out of national numbers.',
      pattern: '^[1-9]\\d{0,3}$',
      default: '55',
    }),
    sender: text('Sender', "Name or number shown as sender, when it is not the line's own number.", 32),
    successFrom: number('Success from', 'Lowest HTTP status that is a success.', [100, 599], 200),
    successTo: number('Success to', 'Highest HTTP status that is a success.', [100, 599], 299),
    successPath: path('Success field', 'Must be there too for a success, e.g. messages[0].status.'),
    successValues: codes('Success values', 'What it must be, separated by commas.'),
    idPath: path('Message id', "Where the broker's id is; empty: it gives none."),
    errorCodePath: path('Error code', 'Where a refusal has its code.'),
    errorTextPath: path('Error text', 'Where a refusal has its words.'),
    throttledCodes: codes('Codes: too fast', 'The line waits.'),
    unavailableCodes: codes('Codes: trouble at the broker', 'The line waits, the message is tried again.'),
    temporaryCodes: codes('Codes: try again', 'This message is tried again later; the line goes on.'),
    permanentCodes: codes('Codes: refused', 'Refused for good. So are codes that are in no list.'),
    invalidCodes: codes('Codes: wrong message', 'The message is wrong and needs mending.'),
    optOutCodes: codes('Codes: opted out', 'The recipient wants no messages.'),
    accountCodes: codes('Codes: account', 'The account is not accepted; the line pauses.'),
    hookFormat: oneOf(
      'Reports come as',
      'How the broker reports back, if it does.',
      ['none', 'json', 'form', 'query'],
      'none',
    ),
    hookListPath: path('Reports: list', 'Where the list of reports is; empty: one report per call.'),
    hookIdPath: path('Reports: message id', "The broker's id of the message."),
    hookOwnIdPath: path('Reports: own id', 'Our {id}, where the broker repeats it.'),
    hookStatusPath: path('Reports: status', 'Where the status is.'),
    hookErrorCodePath: path('Reports: error code', 'Where a failure has its code.'),
    hookErrorTextPath: path('Reports: error text', 'Where a failure has its words.'),
    hookTimePath: path('Reports: time', 'Seconds, milliseconds, or a date with its zone.'),
    sentStatuses: codes('Statuses: sent', 'Statuses that are in no list are ignored.'),
    deliveredStatuses: codes('Statuses: delivered', ''),
    readStatuses: codes('Statuses: read', ''),
    failedStatuses: codes('Statuses: failed', ''),
    expiredStatuses: codes('Statuses: expired', ''),
    inboundFromPath: path('Received: from', 'Number of the person; empty: nothing is received.'),
    inboundTextPath: path('Received: text', ''),
    inboundIdPath: path('Received: id', 'Tells repetitions apart.'),
    hookVerification: oneOf(
      'Reports are proven by',
      'A signature (hmac), a secret in their address (url), user and secret (basic), or nothing: then anybody who knows the address can forge them.',
      ['hmac', 'url', 'basic', 'none'],
      'url',
    ),
    hookSecret: secret('Secret of reports', 'Key of the signature, secret in the address, or password.'),
    hookUser: text('User of reports', 'For user and secret.'),
    hookHmacAlgorithm: oneOf('Signature: algorithm', '', ['sha256', 'sha1', 'sha512'], 'sha256'),
    hookHmacHeader: text('Signature: header', 'Header that carries it.'),
    hookHmacEncoding: oneOf('Signature: written in', '', ['hex', 'base64'], 'hex'),
    window: number('Requests at a time', 'How many may be under way at the same time.', [1, 1000], 20),
    answerTimeoutSeconds: number(
      'Patience in seconds',
      'How long an answer may take; after that nobody knows whether the message was taken.',
      [1, 300],
      30,
    ),
  },
  { additionalProperties: false },
)

type Described = Static<typeof Described>

/** Settings that only make sense together; the first word names the one at fault. */
function faultOf(settings: Described): string | undefined {
  const { auth, hookFormat, hookVerification } = settings
  if (settings.bodyFormat !== 'query' && settings.method === 'GET')
    return 'bodyFormat must be query when the method is GET'
  if (settings.bodyFormat !== 'json')
    for (const name of ['body', 'unicodeBody', 'flashBody'] as const)
      if (!isFlat(settings[name])) return `${name} must hold texts and numbers only, for a form or a query`
  if (!isFlat(settings.headers)) return 'headers must hold texts only'
  if (auth !== 'none' && !settings.authSecret) return `authSecret is required for ${auth} access`
  if (auth === 'basic' && !settings.authUser) return 'authUser is required for basic access'
  if ((auth === 'header' || auth === 'query') && !settings.authName)
    return `authName is required for access by ${auth}`
  if (settings.successPath && !settings.successValues) return 'successValues is required with successPath'
  if (hookFormat === 'none') return undefined
  if (hookVerification !== 'none' && !settings.hookSecret)
    return `hookSecret is required to prove reports by ${hookVerification}`
  if (hookVerification === 'basic' && !settings.hookUser)
    return 'hookUser is required to prove reports by basic'
  if (hookVerification === 'hmac' && !settings.hookHmacHeader)
    return 'hookHmacHeader is required to prove reports by hmac'
  if (hookVerification === 'hmac' && hookFormat === 'query')
    return 'hookVerification cannot be hmac for a query: there is no body to sign'
  return undefined
}

const isFlat = (given: string | undefined): boolean =>
  Object.values(parseTemplate(given) ?? {}).every(
    (value) => typeof value === 'string' || typeof value === 'number',
  )

export const SmsHttpSettings: typeof Described = Type.Refine(
  Described,
  (settings) => faultOf(settings) === undefined,
  (settings) => faultOf(settings) ?? '',
)
export type SmsHttpSettings = Described

/** The items of a setting that is a list. */
export const listOf = (given: string | undefined): string[] =>
  (given ?? '')
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')
