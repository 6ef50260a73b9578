import { Type } from 'typebox'
import type { Static } from 'typebox'

export const SmtpSettings = Type.Object(
  {
    host: Type.String({
      title: 'Server',
      description: 'Name of the mail server that takes your messages.',
      minLength: 1,
      maxLength: 253,
    }),
    port: Type.Integer({
      title: 'Port',
      description: 'Usually 587 with STARTTLS, 465 with TLS.',
      minimum: 1,
      maximum: 65_535,
      default: 587,
    }),
    security: Type.Union([Type.Literal('starttls'), Type.Literal('tls'), Type.Literal('none')], {
      title: 'Encryption',
      description:
        'STARTTLS: begins plain and must change to TLS. TLS: from the first byte. None: only on a network you trust.',
      default: 'starttls',
    }),
    canBeUnverified: Type.Boolean({
      title: 'Accept any certificate',
      description: 'Only for a server of your own with a certificate that nobody signed.',
      default: false,
    }),
    username: Type.Optional(
      Type.String({ title: 'User', description: 'Empty when the server asks for none.', maxLength: 255 }),
    ),
    password: Type.Optional(Type.String({ title: 'Password', maxLength: 1000, isSecret: true })),
    fromName: Type.Optional(
      Type.String({ title: 'Sender name', description: 'Shown in front of the address.', maxLength: 255 }),
    ),
    replyTo: Type.Optional(
      Type.String({
        title: 'Answers to',
        description: 'Address for answers, when it is not the sender.',
        maxLength: 254,
      }),
    ),
    bounceAddress: Type.Optional(
      Type.String({
        title: 'Bounces to',
        description: 'Address for reports of failed delivery, when it is not the sender.',
        maxLength: 254,
      }),
    ),
    dkimDomain: Type.Optional(
      Type.String({
        title: 'DKIM domain',
        description: 'Leave empty when the server signs by itself.',
        maxLength: 253,
      }),
    ),
    dkimSelector: Type.Optional(
      Type.String({
        title: 'DKIM selector',
        description: 'As in selector._domainkey.domain.',
        maxLength: 63,
      }),
    ),
    dkimPrivateKey: Type.Optional(
      Type.String({ title: 'DKIM private key', description: 'PEM, RSA.', maxLength: 10_000, isSecret: true }),
    ),
    hasUnsubscribe: Type.Boolean({
      title: 'One-click unsubscribe',
      description:
        'Adds an unsubscribe address to every message (RFC 8058). Needs POMBO_PUBLIC_URL with https, and a DKIM signature by you or the server.',
      default: false,
    }),
    helloName: Type.Optional(
      Type.String({
        title: 'Own name',
        description: 'What this machine calls itself to the server (EHLO).',
        maxLength: 253,
      }),
    ),
    hasMailboxes: Type.Boolean({
      title: 'The server keeps the mailboxes',
      description:
        'Not a relay: the recipients read their mail on this very server, so what it takes is delivered. Otherwise a message stays sent.',
      default: false,
    }),
    connections: Type.Integer({
      title: 'Connections',
      description: 'How many messages leave at the same time.',
      minimum: 1,
      maximum: 50,
      default: 5,
    }),
    answerTimeoutSeconds: Type.Integer({
      title: 'Patience in seconds',
      description: 'How long the whole hand-over of one message may take.',
      minimum: 1,
      maximum: 600,
      default: 60,
    }),
  },
  { additionalProperties: false },
)

export type SmtpSettings = Static<typeof SmtpSettings>
