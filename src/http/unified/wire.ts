/** Bodies of the unified API as they are on the wire; types, checks and the OpenAPI document come from here. */
import { Type, type Static } from 'typebox'

const freeText = (description: string, maxLength = 255) =>
  Type.Optional(Type.String({ description, maxLength }))
const flag = (description: string) => Type.Optional(Type.Boolean({ description, default: false }))
const countryCode = (description: string) =>
  Type.Optional(
    Type.Integer({
      description,
      minimum: 1,
      maximum: 9999,
      'x-zero-is-not-given': true,
      'x-says': 'must be a country code',
      examples: [55],
    }),
  )
const phoneNumber = (description: string) =>
  Type.Optional(
    Type.Integer({
      description,
      minimum: 1,
      'x-zero-is-not-given': true,
      'x-says': 'must be a phone number',
      examples: [31987654321],
    }),
  )

export const LoginIn = Type.Object({
  Company: Type.String({ description: 'The company, as it is registered.' }),
  Username: Type.String({ description: 'A user of type API.' }),
  Password: Type.String({ description: 'The password of that user.' }),
})

export const LoginOut = Type.Object({
  access_token: Type.String({ description: 'The bearer token of the send route.' }),
  expires_in: Type.Integer({ description: 'Seconds that it is good for.' }),
  refresh_token: Type.String({ description: 'Always empty.' }),
  token_type: Type.Literal('bearer'),
})

const Parameter = Type.Object({
  parameterName: Type.String({ maxLength: 255, description: 'A variable of the template; `@` may lead it.' }),
  parameterValue: Type.Optional(
    Type.String({ maxLength: 65_536, 'x-empty-is-value': true, description: 'What replaces it.' }),
  ),
})

const File = Type.Object({
  address: freeText('Where the file is fetched from (http or https) when the message leaves.', 2048),
  base64: Type.Optional(
    Type.String({ description: 'The content; wins over `address`. A data-URL prefix is fine.' }),
  ),
  name: freeText('File name; its extension tells the type.'),
})

export type FileIn = Static<typeof File>

export const SendMessageIn = Type.Object({
  platformPrivateToken: Type.String({ description: 'The private token of the account.' }),
  text: Type.String({
    description: 'Free text. Must be there, even if empty; ignored when a template is named.',
    maxLength: 1_000_000,
    'x-empty-is-value': true,
  }),
  emailSubject: Type.Optional(
    Type.String({
      description: "Subject of an e-mail; required for free text, else the template's own is the default.",
      maxLength: 998,
      pattern: '^[^\\r\\n]*$',
      'x-says': 'must not contain line breaks',
    }),
  ),
  channel: Type.Integer({
    description: '1 e-mail, 2 SMS, 3 WhatsApp.',
    enum: [1, 2, 3],
    'x-says': 'must be 1 (e-mail), 2 (SMS) or 3 (WhatsApp)',
  }),
  attendantUserName: freeText('Binds the contact to this attendant.'),
  templateName: freeText('The template to send.'),
  templateParameters: Type.Optional(
    Type.Array(Parameter, {
      maxItems: 200,
      'x-drop-empty-items': true,
      description: "The template's variables.",
    }),
  ),
  source: Type.Optional(
    Type.Object(
      {
        countryCode: countryCode('Country code of the line.'),
        phoneNumber: phoneNumber('Number of the line, with area code.'),
        prospect: flag('May another prospect line take it?'),
      },
      { description: 'The line it leaves through; ignored for e-mail.' },
    ),
  ),
  destination: Type.Object(
    {
      countryCode: countryCode("The recipient's country code (SMS, WhatsApp)."),
      phoneNumber: phoneNumber("The recipient's number, with area code (SMS, WhatsApp)."),
      email: freeText("The recipient's address (e-mail)."),
      prospect: flag('The same as `source.prospect`, where no source is given.'),
    },
    { description: 'Who receives it.' },
  ),
  discardSettings: Type.Optional(
    Type.Object({
      recentContactLastHours: Type.Optional(
        Type.Integer({
          description: 'Discard when there was an interaction within so many hours.',
          minimum: 0,
          maximum: 8760,
          default: 0,
        }),
      ),
      InAttendance: flag('Discard when the contact is in attendance.'),
    }),
  ),
  contact: Type.Optional(
    Type.Object(
      {
        name: freeText("The contact's name."),
        customCode: freeText('A code of your own.'),
        id: freeText('Tax identifier.'),
        tag: freeText('A tag to search by.', 1000),
        jokers: Type.Optional(
          Type.Array(Type.String({ maxLength: 300 }), {
            description: 'Five free texts; the fifth may have 3000 characters.',
            maxItems: 5,
            'x-null-items': true,
            'x-last-item-max-length': 3000,
          }),
        ),
        walletClientCode: freeText('Client code of a segment.'),
        updateIfExists: flag('Overwrite what is stored of a known contact.'),
      },
      { description: 'Data of the contact; it fills variables of this message in any case.' },
    ),
  ),
  voiceSettings: Type.Optional(Type.Object({ callId: freeText('Identifier of a voice call.') })),
  files: Type.Optional(
    Type.Array(File, { maxItems: 30, 'x-drop-empty-items': true, description: 'Attachments.' }),
  ),
})
export type SendMessageIn = Static<typeof SendMessageIn>

const requestId = Type.String({ description: 'The same as the header `X-Request-Id`.' })

export const Verdict = Type.Object({
  rule: Type.String(),
  passed: Type.Boolean(),
  reason: Type.Optional(Type.String()),
  matched: Type.Optional(Type.String()),
  nextAllowedAt: Type.Optional(Type.String({ format: 'date-time' })),
})

const verdict = Type.Optional(Type.Array(Verdict, { description: 'Dry run only: everything looked at.' }))

export const SendMessageOut = Type.Object({
  messageId: Type.Union([Type.String(), Type.Null()], { description: 'Null in a dry run.' }),
  status: Type.Literal('queued'),
  requestId,
  verdict,
})

export const ErrorOut = Type.Object({
  message: Type.String(),
  errors: Type.Optional(
    Type.Record(Type.String(), Type.Array(Type.String()), { description: 'By the path of each field.' }),
  ),
  requestId,
  verdict,
})
