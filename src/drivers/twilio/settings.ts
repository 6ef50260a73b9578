import { Type } from 'typebox'
import type { Static } from 'typebox'

export const TwilioSettings = Type.Object(
  {
    accountSid: Type.String({
      title: 'Account SID',
      description: "Twilio's id of your account.",
      pattern: '^AC[0-9a-fA-F]{32}$',
    }),
    authToken: Type.String({
      title: 'Auth token',
      description: 'Sends messages, unless an API key is given, and proves that reports come from Twilio.',
      minLength: 1,
      maxLength: 200,
      isSecret: true,
    }),
    apiKeySid: Type.Optional(
      Type.String({
        title: 'API key SID',
        description: 'Sends with a key instead of the auth token; empty: none.',
        pattern: '^(?:SK[0-9a-fA-F]{32})?$',
      }),
    ),
    apiKeySecret: Type.Optional(
      Type.String({
        title: 'API key secret',
        description: "The key's secret.",
        maxLength: 200,
        isSecret: true,
      }),
    ),
    messagingServiceSid: Type.Optional(
      Type.String({
        title: 'Messaging service SID',
        description: "The service chooses the sender; empty: the line's own number.",
        pattern: '^(?:MG[0-9a-fA-F]{32})?$',
      }),
    ),
    sender: Type.Optional(
      Type.String({
        title: 'Sender',
        description: "Name or short code shown as sender; empty: the line's own number.",
        maxLength: 16,
      }),
    ),
    baseUrl: Type.String({
      title: 'API address',
      description: 'Changed for another region, or for a stand-in of Twilio.',
      pattern: '^https?://[^/?#\\s]+/?$',
      maxLength: 500,
      default: 'https://api.twilio.com',
    }),
    window: Type.Integer({
      title: 'Requests at a time',
      description: 'How many requests may be under way at the same time.',
      minimum: 1,
      maximum: 1000,
      default: 50,
    }),
    answerTimeoutSeconds: Type.Integer({
      title: 'Patience in seconds',
      description: 'How long an answer may take; after that nobody knows whether the message was taken.',
      minimum: 1,
      maximum: 300,
      default: 30,
    }),
  },
  { additionalProperties: false },
)

export type TwilioSettings = Static<typeof TwilioSettings>
