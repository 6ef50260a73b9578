/** Bodies of the Direct Message API as they are on the wire; types, checks and the OpenAPI document come from here. */
import { Type, type Static } from 'typebox'

const freeText = (description: string, extra: { maxLength?: number; examples?: string[] } = {}) =>
  Type.Optional(Type.String({ description, maxLength: 255, ...extra }))

const number = (description: string) =>
  Type.String({ description, maxLength: 16, 'x-zero-is-not-given': true, examples: ['5531987654321'] })

const CallbackDetails = Type.Object(
  {
    url: freeText(
      'Where events of the message are posted to; http or https, without user name and password.',
      {
        maxLength: 2048,
        examples: ['https://example.com/events'],
      },
    ),
    custom_fields: Type.Optional(
      Type.Record(Type.String(), Type.String({ maxLength: 1000, 'x-empty-is-value': true }), {
        description: 'Sent along with every event.',
      }),
    ),
  },
  { description: 'Without a `url` it is as if it were not there.' },
)

const values = (description: string, marks: object = {}) =>
  Type.Optional(Type.Record(Type.String(), Type.String({ maxLength: 65_536, ...marks }), { description }))

const variableValues = values("The template's variables, name to value.", { 'x-empty-is-value': true })

/** Fields that all three routes have. */
const shared = {
  document_number: freeText('Document number of the recipient.', { examples: ['123.456.789-09'] }),
  contract_code: Type.String({ description: 'Contract code.', maxLength: 255, examples: ['CT-2026-001'] }),
  template_code: Type.String({ description: 'Code of the template.', maxLength: 255 }),
  segment: freeText('Name of a segment.'),
  callback_details: Type.Optional(CallbackDetails),
}

export const EmailIn = Type.Object({
  recipient_email: Type.String({
    description: "The recipient's e-mail address.",
    maxLength: 1000,
    examples: ['ana@example.com'],
  }),
  variable_values: variableValues,
  ...shared,
})
export type EmailIn = Static<typeof EmailIn>

export const SmsIn = Type.Object({
  recipient_number: number("The recipient's number: 8 to 15 digits with country code."),
  variable_values: variableValues,
  ...shared,
  flash_sms: Type.Optional(
    Type.Boolean({ description: 'Shown at once and not stored by the phone.', default: false }),
  ),
})
export type SmsIn = Static<typeof SmsIn>

export const WhatsappIn = Type.Object({
  recipient_number: number("The recipient's number: 8 to 15 digits with country code."),
  whatsapp_sender_number: Type.Optional(
    number('Number of the sending line, 8 to 15 digits with country code; else the default line.'),
  ),
  variables: Type.Optional(
    Type.Object(
      {
        header_key: freeText("Name of the variable in the template's text header."),
        header_value: freeText('Its value; for a media header the URL of the file.', { maxLength: 2048 }),
        // An empty value is no value here: the provider would refuse it.
        body: values("The variables of the template's body, name to value."),
      },
      { description: "The template's variables." },
    ),
  ),
  ...shared,
})
export type WhatsappIn = Static<typeof WhatsappIn>

/** What the three bodies have in common. */
export type SharedIn = Pick<
  EmailIn,
  'document_number' | 'contract_code' | 'template_code' | 'segment' | 'callback_details'
>

const Verdict = Type.Object({
  rule: Type.String(),
  passed: Type.Boolean(),
  reason: Type.Optional(Type.String()),
  matched: Type.Optional(Type.String()),
  nextAllowedAt: Type.Optional(Type.String({ format: 'date-time' })),
})
const verdict = Type.Optional(Type.Array(Verdict, { description: 'Dry run only: every rule looked at.' }))

export const ResultOut = Type.Object({ result: Type.String(), verdict })

export const RefusedOut = Type.Object({
  message: Type.String(),
  errors: Type.Record(Type.String(), Type.Array(Type.String()), {
    description: 'What is wrong, by the path of each field; empty with 409.',
  }),
  record_errors: Type.Array(Type.Unknown(), { description: 'Always empty.' }),
  conflicts: Type.Array(Type.String(), { description: 'Every rule that refused; empty with 422.' }),
  requestId: Type.String({ description: 'The same as the header `X-Request-Id`.' }),
  verdict,
})

export const FaultOut = Type.Object({ message: Type.String(), requestId: Type.String() })
