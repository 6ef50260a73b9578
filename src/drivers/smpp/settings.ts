import { Type } from 'typebox'
import type { Static } from 'typebox'

const IdFormat = (title: string, where: string) =>
  Type.Union([Type.Literal('as-is'), Type.Literal('dec'), Type.Literal('hex')], {
    title,
    description: `How the provider writes message ids in ${where}: as a text to be kept as it is, a decimal or a hexadecimal number.`,
    default: 'as-is',
  })

const Ton = (title: string, more: { default?: number }) =>
  Type.Integer({ title, minimum: 0, maximum: 6, ...more })
const Npi = (title: string, more: { default?: number }) =>
  Type.Integer({ title, minimum: 0, maximum: 18, ...more })

export const SmppSettings = Type.Object(
  {
    host: Type.String({
      title: 'Server',
      description: "Name of the provider's SMPP server.",
      minLength: 1,
      maxLength: 253,
    }),
    port: Type.Integer({
      title: 'Port',
      description: 'Usually 2775, with TLS 3550.',
      minimum: 1,
      maximum: 65_535,
      default: 2775,
    }),
    isTls: Type.Boolean({ title: 'TLS', description: 'Encrypted from the first byte.', default: false }),
    canBeUnverified: Type.Boolean({
      title: 'Accept any certificate',
      description: 'Only for a server of your own with a certificate that nobody signed.',
      default: false,
    }),
    systemId: Type.String({
      title: 'System id',
      description: 'The user name of the account.',
      minLength: 1,
      maxLength: 64,
    }),
    password: Type.String({ title: 'Password', maxLength: 64, isSecret: true }),
    systemType: Type.String({
      title: 'System type',
      description: 'Empty unless the provider names one.',
      maxLength: 12,
      default: '',
    }),
    sender: Type.Optional(
      Type.String({
        title: 'Sender',
        description:
          "Shown to the recipient instead of the line's number: a short code, or a name of up to 11 letters and digits.",
        pattern: '^(?:\\+?\\d{1,20}|[A-Za-z0-9 ._&-]{1,11})$',
      }),
    ),
    sourceTon: Type.Optional(Ton('Type of the sender', {})),
    sourceNpi: Type.Optional(Npi('Plan of the sender', {})),
    destinationTon: Ton('Type of the recipient', { default: 1 }),
    destinationNpi: Npi('Plan of the recipient', { default: 1 }),
    serviceType: Type.String({
      title: 'Service type',
      description: 'Empty unless the provider names one.',
      maxLength: 5,
      default: '',
    }),
    longTexts: Type.Union([Type.Literal('udh'), Type.Literal('sar'), Type.Literal('payload')], {
      title: 'Long texts',
      description:
        'Parts with a header in the text (udh), parts with parameters (sar), or whole, cut by the provider (payload).',
      default: 'udh',
    }),
    flash: Type.Union([Type.Literal('class'), Type.Literal('older_class'), Type.Literal('subunit')], {
      title: 'Flash messages',
      description:
        'How the provider wants them: message class 0 (0x10, 0x18), the older form (0xF0), or display as the destination.',
      default: 'class',
    }),
    receipts: Type.Union([Type.Literal('all'), Type.Literal('failures'), Type.Literal('none')], {
      title: 'Receipts',
      description: 'Which delivery reports to ask for.',
      default: 'all',
    }),
    respIdFormat: IdFormat('Ids in answers', 'its answers'),
    dlrIdFormat: IdFormat('Ids in receipts', 'its receipts'),
    hasValidity: Type.Boolean({
      title: 'Send the expiry',
      description: 'The provider stops trying when the message has expired.',
      default: true,
    }),
    statusMeanings: Type.String({
      title: "The provider's own codes",
      description:
        'Its command_status codes from 0x400 on, such as 0x0403=throttled, 1034=opted_out. One not named counts as rejected.',
      maxLength: 2000,
      default: '',
    }),
    throttleSeconds: Type.Integer({
      title: 'Pause when throttled',
      description: 'Seconds to wait after "too fast" (0x58).',
      minimum: 1,
      maximum: 3600,
      default: 1,
    }),
    window: Type.Integer({
      title: 'Window',
      description: 'How many messages may wait for their answer at the same time.',
      minimum: 1,
      maximum: 10_000,
      default: 50,
    }),
    answerTimeoutSeconds: Type.Integer({
      title: 'Patience in seconds',
      description: 'How long an answer may take; after that nobody knows whether the message was taken.',
      minimum: 1,
      maximum: 300,
      default: 30,
    }),
    enquireLinkSeconds: Type.Integer({
      title: 'Keep-alive in seconds',
      description: 'Asks whether the other side is still there when it was silent so long.',
      minimum: 1,
      maximum: 600,
      default: 30,
    }),
  },
  { additionalProperties: false },
)

export type SmppSettings = Static<typeof SmppSettings>
