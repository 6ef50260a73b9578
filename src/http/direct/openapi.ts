/** The Direct Message API as an OpenAPI document. */
import { createOpenApi, type Answer, type Operation } from '../docs/openapi.ts'
import { sendParameters } from '../unified/openapi.ts'
import { EmailIn, FaultOut, RefusedOut, ResultOut, SmsIn, WhatsappIn } from './wire.ts'
import { sendEmail } from './send-email.ts'
import { sendSms } from './send-sms.ts'
import { sendWhatsapp } from './send-whatsapp.ts'

const retryAfter = { 'Retry-After': 'Seconds to wait before the next try.' }
const resultHeaders = {
  'Pombo-Message-Id': 'Id of the message; not in a dry run.',
  'Idempotency-Replayed': '`true` when this answer was given before.',
}

const answers: Record<number, Answer> = {
  200: {
    description: 'Valid, but not sent: no sending service is configured for the channel.',
    body: ResultOut,
    headers: resultHeaders,
  },
  202: { description: 'Stored, and on its way.', body: ResultOut, headers: resultHeaders },
  401: { description: 'The token is missing, wrong or revoked. No body.' },
  403: {
    description:
      'The company is suspended, the token is not for this channel, or the address may not call. No body.',
  },
  404: { description: 'No such path or method.', body: FaultOut },
  409: { description: "Blocked by the company's rules; `conflicts` has every reason.", body: RefusedOut },
  422: { description: 'Something is wrong with the request; `errors` has all of it.', body: RefusedOut },
  429: { description: 'Too many requests.', body: FaultOut, headers: retryAfter },
  500: { description: 'A fault of the server.', body: FaultOut },
  503: {
    description: 'Starting, stopping, overloaded or without database.',
    body: FaultOut,
    headers: retryAfter,
  },
}

const operation = (summary: string, path: string, body: object, example: object): Operation => ({
  method: 'post',
  path,
  summary,
  description: 'Names match in any case; `null` and an empty text mean "not given".',
  parameters: sendParameters,
  body,
  example,
  answers,
})

const shared = { document_number: '123.456.789-09', contract_code: 'CT-2026-001', segment: 'Retail' }
const callbackDetails = { url: 'https://example.com/events', custom_fields: { order: '4711' } }

export const directDocument = createOpenApi(
  {
    title: 'Direct Message API',
    version: '1',
    description: 'Sends one message of a template by e-mail, SMS or WhatsApp, judged by the rules engine.',
  },
  [
    operation('Send an e-mail', sendEmail.path, EmailIn, {
      recipient_email: 'ana@example.com',
      variable_values: { OrderNumber: '4711', Amount: 'R$ 120' },
      template_code: 'order-confirmation',
      ...shared,
    }),
    operation('Send a WhatsApp message', sendWhatsapp.path, WhatsappIn, {
      recipient_number: '5531987654321',
      whatsapp_sender_number: '5531987650002',
      variables: {
        header_key: 'InvoiceNumber',
        header_value: '4711',
        body: { Amount: 'R$ 120', DueDate: '1 May' },
      },
      template_code: 'invoice',
      ...shared,
    }),
    operation('Send an SMS', sendSms.path, SmsIn, {
      recipient_number: '5531987654321',
      variable_values: { Date: '1 May', Time: '10:00' },
      template_code: 'appointment-reminder',
      flash_sms: false,
      callback_details: callbackDetails,
      ...shared,
    }),
  ],
)
