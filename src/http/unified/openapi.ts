/** The unified API as an OpenAPI document. */
import { createOpenApi, type Answer, type Parameter } from '../docs/openapi.ts'
import { ErrorOut, LoginIn, LoginOut, SendMessageIn, SendMessageOut } from './wire.ts'

const retryAfter = { 'Retry-After': 'Seconds to wait before the next try.' }

const shared: Record<number, Answer> = {
  429: { description: 'Too many requests.', body: ErrorOut, headers: retryAfter },
  500: { description: 'A fault of the server.', body: ErrorOut },
  503: {
    description: 'Starting, stopping, overloaded or without database.',
    body: ErrorOut,
    headers: retryAfter,
  },
}

/** Headers of every send route. */
export const sendParameters: Parameter[] = [
  {
    name: 'Idempotency-Key',
    in: 'header',
    description:
      'The same key with the same body within 24 hours gives the first answer again and sends nothing twice.',
    schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[\\x21-\\x7e]+$' },
  },
  {
    name: 'Pombo-Dry-Run',
    in: 'header',
    description: '`true`: everything is checked and explained, nothing is stored or sent.',
    schema: { type: 'string', enum: ['true', 'false'] },
  },
]

export const unifiedDocument = createOpenApi(
  {
    title: 'Unified API',
    version: '1',
    description: 'One route to send a message by e-mail, SMS or WhatsApp, and the login that opens it.',
  },
  [
    {
      method: 'post',
      path: '/v1/login',
      summary: 'Log in',
      description: 'Gives a token and ends the one before it.',
      isOpen: true,
      body: LoginIn,
      example: { Company: 'Example Ltd', Username: 'integration', Password: '…' },
      answers: {
        200: { description: 'A new token.', body: LoginOut },
        400: { description: 'A field is missing, empty or no text.', body: ErrorOut },
        401: { description: 'Company, user or password is wrong.', body: ErrorOut },
        ...shared,
      },
    },
    {
      method: 'post',
      path: '/v1/sendmessage',
      summary: 'Send a message',
      description:
        'Names match in any case; `null`, an empty text, and 0 as a number or country code mean "not given".',
      parameters: sendParameters,
      body: SendMessageIn,
      example: {
        platformPrivateToken: '…',
        text: '',
        channel: 3,
        templateName: 'Order confirmation',
        templateParameters: [{ parameterName: 'Order', parameterValue: '4711' }],
        destination: { countryCode: 55, phoneNumber: 31987654321 },
        discardSettings: { recentContactLastHours: 0, InAttendance: false },
        contact: { name: 'Maria Silva', updateIfExists: true },
      },
      answers: {
        200: {
          description: 'Stored, and on its way.',
          body: SendMessageOut,
          headers: { 'Idempotency-Replayed': '`true` when this answer was given before.' },
        },
        400: {
          description: 'Something is wrong with the request, or the message may not be sent.',
          body: ErrorOut,
        },
        401: { description: 'The token is missing, invalid, expired or replaced.', body: ErrorOut },
        ...shared,
      },
    },
  ],
)
