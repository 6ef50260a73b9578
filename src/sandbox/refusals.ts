/**
 * What the sandbox refuses, and with which of the provider's codes: the one table. `refusals.test.ts` provokes every
 * row over a real socket, and the same rows stand in docs/sandbox.md.
 */

export type Refusal = {
  /** WhatsApp error code, SMPP command_status or SMTP reply code. */
  code: number
  /** When it happens, for people. */
  when: string
  /** SMTP: enhanced status and words of the reply; WhatsApp: `error_data.details`. */
  words: string
  /** Graph API's second code. */
  subcode?: number
  /** WhatsApp tells it at once or by a `failed` status later, as the provider does; see `lateRefusals`. */
  canBeLate?: boolean
}

export const whatsappRefusals = {
  wrongToken: {
    code: 190,
    when: 'the bearer token is missing or wrong',
    words: 'Invalid OAuth access token.',
  },
  unknownObject: {
    code: 100,
    subcode: 33,
    when: 'the path names no phone number, account, template or media item of the sandbox',
    words:
      'Object does not exist, cannot be loaded due to missing permissions, or does not support this operation.',
  },
  notReadable: {
    code: 100,
    when: 'the body is not a JSON object',
    words: 'The request body is not a JSON object.',
  },
  noProduct: {
    code: 100,
    when: '`messaging_product` is not `whatsapp`',
    words: 'The parameter messaging_product is required.',
  },
  missingParameter: {
    code: 131008,
    when: '`to`, or the object named like `type`, or a field of it is missing; a button with a variable has no value',
    words: 'A required parameter is missing.',
  },
  invalidParameter: {
    code: 131009,
    when: '`to` is no phone number, `recipient` no business-scoped id, or a value has the wrong form',
    words: 'A parameter value is not valid.',
  },
  unsupportedType: {
    code: 131051,
    when: 'the `type` is not known',
    words: 'Message type is not currently supported.',
  },
  textTooLong: {
    code: 100,
    when: 'a text is longer than 4,096 characters',
    words: "Param text['body'] must be at most 4096 characters long.",
  },
  captionTooLong: {
    code: 100,
    when: 'a caption is longer than 1,024 characters',
    words: 'Param caption must be at most 1024 characters long.',
  },
  closedWindow: {
    code: 131047,
    canBeLate: true,
    when: 'it is no template and the person has not written to this number for 24 hours',
    words:
      'Message failed to send because more than 24 hours have passed since the customer last replied to this number.',
  },
  sameNumber: {
    code: 131021,
    when: 'the recipient is the sending number',
    words: 'Recipient and sender are the same.',
  },
  notOnWhatsApp: {
    code: 131026,
    canBeLate: true,
    when: 'the number ends in `00131026` (any other six-digit code after `00` works the same way)',
    words: 'Message Undeliverable.',
  },
  pairRate: {
    code: 131056,
    when: 'one person got more than 45 messages at once from one number (one more each 6 seconds)',
    words:
      'Too many messages sent from this phone number to the same phone number in a short period of time.',
  },
  throughput: {
    code: 130429,
    when: 'a number sends more than its throughput in one second (default 1,000)',
    words: 'Cloud API message throughput has been reached.',
  },
  unknownTemplate: {
    code: 132001,
    when: 'the template does not exist in that language',
    words: 'Template name does not exist in the translation.',
  },
  templateNotApproved: {
    code: 132001,
    when: 'the template is not approved',
    words: 'Template is not approved in this language.',
  },
  templatePaused: {
    code: 132015,
    when: 'the template is paused',
    words: 'Template is paused due to low quality.',
  },
  templateDisabled: {
    code: 132016,
    when: 'the template is disabled',
    words: 'Template was permanently disabled.',
  },
  parameterCount: {
    code: 132000,
    when: 'the number of parameters is not the number of variables',
    words: 'Number of localizable_params does not match the expected number of params.',
  },
  parameterContent: {
    code: 132018,
    when: 'a parameter holds a newline, a tab or more than four spaces in a row, or a verification code is over 15 characters',
    words: 'Param text cannot have new-line/tab characters or more than 4 consecutive spaces.',
  },
  parameterFormat: {
    code: 132012,
    when: 'a parameter has another type or name than the template, or the number of cards differs',
    words: 'Parameter format does not match format in the created template.',
  },
  renderedTooLong: {
    code: 132005,
    when: 'the body with its values is longer than 1,024 characters',
    words: 'Translated text is too long.',
  },
  mediaTooLarge: {
    code: 131053,
    when: 'a file is larger than its kind may be (image 5 MB, video and audio 16 MB, document 100 MB, sticker 500 KB)',
    words: 'Media file is too large.',
  },
  mediaWrongType: {
    code: 131053,
    when: 'the MIME type is not allowed, or is not the kind of the message',
    words: 'Media file type is not supported.',
  },
  unknownMedia: { code: 131009, when: 'the media id does not exist', words: 'Media ID is not valid.' },
  authenticationToUserId: {
    code: 131062,
    when: 'an authentication template goes to a business-scoped id',
    words: 'Authentication templates cannot be sent to a business-scoped user ID.',
  },
  templateShape: {
    code: 100,
    when: 'a new template breaks the rules for names, lengths, variables, samples or buttons',
    words: 'Invalid parameter',
  },
} as const satisfies Record<string, Refusal>

export const smsRefusals = {
  unknownSystemId: { code: 0x0f, when: 'the system id of a bind is unknown', words: '' },
  wrongPassword: { code: 0x0e, when: 'the password of a bind is wrong', words: '' },
  alreadyBound: { code: 0x05, when: 'a session binds twice', words: '' },
  notBound: { code: 0x04, when: 'submit_sm comes before a bind or on a receiver', words: '' },
  tooLong: {
    code: 0x01,
    when: 'a single text is over 160 GSM-7 characters or 140 octets, counting its header',
    words: '',
  },
  badSource: { code: 0x0a, when: 'an alphanumeric sender is over 11 characters', words: '' },
  badDestination: { code: 0x0b, when: 'the destination is not 8 to 15 digits', words: '' },
  badDestinationTon: { code: 0x50, when: 'the destination is given as alphanumeric', words: '' },
  badEsmClass: {
    code: 0x43,
    when: 'esm_class announces a header and the text has none that can be read',
    words: '',
  },
  badSchedule: { code: 0x61, when: 'schedule_delivery_time is not in the format of the protocol', words: '' },
  badValidity: { code: 0x62, when: 'validity_period is not in the format of the protocol', words: '' },
  badDataCoding: {
    code: 0x104,
    when: 'data_coding is none of 0, 1, 3, 4, 8, 0x10, 0x18, 0xF0 to 0xF3',
    words: '',
  },
  throttled: { code: 0x58, when: 'the throttling dial is exceeded', words: '' },
  bySuffix: {
    code: 0x14,
    when: 'the number ends in `00000` and a three-digit command status in decimal (`00000020` is 0x14)',
    words: '',
  },
} as const satisfies Record<string, Refusal>

export const emailRefusals = {
  notAuthenticated: { code: 530, when: 'MAIL comes before AUTH', words: '5.7.0 Authentication required' },
  wrongPassword: {
    code: 535,
    when: 'user or password is wrong',
    words: '5.7.8 Authentication credentials invalid',
  },
  tooLarge: {
    code: 552,
    when: 'the message is larger than the limit (default 25 MiB), announced or found so',
    words: '5.3.4 Message size exceeds fixed limit',
  },
  tooManyRecipients: {
    code: 452,
    when: 'there are more than 100 recipients',
    words: '4.5.3 Too many recipients',
  },
  unknownUser: {
    code: 550,
    when: 'the local part is `unknown`, or the address was made to bounce',
    words: '5.1.1 No such user here',
  },
  disabledUser: { code: 550, when: 'the local part is `disabled`', words: '5.2.1 Mailbox disabled' },
  mailboxFull: { code: 552, when: 'the local part is `full`', words: '5.2.2 Mailbox is full' },
  greylisted: {
    code: 451,
    when: 'the local part is `greylist` and it is the first attempt',
    words: '4.7.1 Greylisted, please try again later',
  },
  unavailable: {
    code: 421,
    when: 'the local part is `unavailable`',
    words: '4.3.2 Service not available, try again later',
  },
  spam: {
    code: 554,
    when: 'the local part is `spam` (told after DATA)',
    words: '5.7.1 Message rejected as spam',
  },
  throttled: {
    code: 450,
    when: 'the throttling dial is exceeded',
    words: '4.7.1 Too many messages, slow down',
  },
  byRule: { code: 550, when: 'a rule set over the HTTP API matches', words: '5.7.1 Rejected by rule' },
} as const satisfies Record<string, Refusal>

export type WhatsAppRefusalKey = keyof typeof whatsappRefusals
export type SmsRefusalKey = keyof typeof smsRefusals
export type EmailRefusalKey = keyof typeof emailRefusals

/** The table as it stands in docs/sandbox.md; a test compares. */
export function refusalsAsMarkdown(): string {
  const sms = ({ code }: Refusal) => `0x${code.toString(16).padStart(2, '0').toUpperCase()}`
  const table = (rows: Record<string, Refusal>, code: (row: Refusal) => string) =>
    [
      '| code | when |',
      '|---|---|',
      ...Object.values(rows).map((row) => `| ${code(row)} | ${row.when} |`),
    ].join('\n')
  return [
    `### WhatsApp\n\n${table(whatsappRefusals, ({ code, subcode }) => (subcode ? `${code}/${subcode}` : String(code)))}`,
    `### SMS\n\n${table(smsRefusals, sms)}`,
    `### E-mail\n\n${table(emailRefusals, ({ code, words }) => `${code} ${words.split(' ')[0]}`)}`,
  ].join('\n\n')
}
