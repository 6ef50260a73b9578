import { Type } from 'typebox'
import type { Static } from 'typebox'

export const WhatsAppCloudSettings = Type.Object(
  {
    phoneNumberId: Type.String({
      title: 'Phone number id',
      description: "Meta's id of the number, not the number itself.",
      pattern: '^\\d{1,32}$',
    }),
    wabaId: Type.Optional(
      Type.String({
        title: 'Business account id',
        description: 'Id of the WhatsApp Business Account; needed to read templates and their approval.',
        pattern: '^\\d{1,32}$',
      }),
    ),
    accessToken: Type.String({
      title: 'Access token',
      description:
        'Permanent token of a system user with whatsapp_business_messaging and whatsapp_business_management.',
      minLength: 1,
      maxLength: 1000,
      isSecret: true,
    }),
    appSecret: Type.String({
      title: 'App secret',
      description: "Proves that a webhook comes from Meta; in the app's basic settings.",
      minLength: 1,
      maxLength: 200,
      isSecret: true,
    }),
    verifyToken: Type.String({
      title: 'Verify token',
      description: 'A word of your choice; Meta asks for it when you enter the webhook address.',
      minLength: 1,
      maxLength: 200,
      isSecret: true,
    }),
    version: Type.String({
      title: 'API version',
      description: 'Version of the Graph API.',
      pattern: '^v\\d{1,3}\\.\\d{1,2}$',
      default: 'v24.0',
    }),
    baseUrl: Type.String({
      title: 'API address',
      description: 'Changed only for a stand-in of Meta.',
      pattern: '^https?://[^/?#\\s]+(?:/[^?#\\s]*)?$',
      maxLength: 500,
      default: 'https://graph.facebook.com',
    }),
    window: Type.Integer({
      title: 'Requests at a time',
      description: 'How many requests may be under way at the same time.',
      minimum: 1,
      maximum: 1000,
      default: 80,
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

export type WhatsAppCloudSettings = Static<typeof WhatsAppCloudSettings>
