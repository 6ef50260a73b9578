/** Bodies to start from, made of what the company has: its templates, segments, and the sandbox's catcher. */
import type { ItemOf } from '../../api.ts'
import { text } from '../../text/index.ts'
import type { ApiName } from './openapi.ts'

const words = text.reference.samples

export type Facts = {
  company: string
  apiUser: string | undefined
  templates: readonly ItemOf<'GET /templates'>[]
  segment: string | undefined
  catcherUrl: string | undefined
}

export type Sample = { label: string; body: unknown }

/** A number that the demo knows nothing of, and that reaches nobody. */
const phone = { countryCode: 55, phoneNumber: 31987654321 }
const privateToken = '…'

export function samplesOf(api: ApiName, path: string, example: unknown, facts: Facts): Sample[] {
  if (path === '/v1/login')
    return [
      {
        label: words.example,
        body: { Company: facts.company, Username: facts.apiUser ?? '', Password: '' },
      },
    ]
  return api === 'unified'
    ? unifiedSamples(facts)
    : [{ label: words.example, body: directBody(path, example, facts) }]
}

function unifiedSamples({ templates }: Facts): Sample[] {
  const contact = { name: words.contact }
  const template = chosen(templates, 'whatsapp', 'delivery-update')
  return [
    {
      label: words.sms,
      body: {
        platformPrivateToken: privateToken,
        text: words.smsText,
        channel: 2,
        destination: phone,
        contact,
      },
    },
    ...(template
      ? [
          {
            label: words.whatsapp,
            body: {
              platformPrivateToken: privateToken,
              text: '',
              channel: 3,
              templateName: template.name,
              templateParameters: (template.content.variables ?? []).map((name) => ({
                parameterName: name,
                parameterValue: words.value(name),
              })),
              destination: phone,
              contact,
            },
          },
        ]
      : []),
    {
      label: words.email,
      body: {
        platformPrivateToken: privateToken,
        text: words.emailText,
        channel: 1,
        emailSubject: words.emailSubject,
        destination: { email: 'maria@example.com' },
        contact,
      },
    },
  ]
}

const chosen = (templates: Facts['templates'], channel: string, code: unknown) => {
  const fitting = templates.filter((one) => one.channel === channel && one.kind === 'text')
  return fitting.find((one) => one.code === code) ?? fitting[0]
}

/** The document's own example, with names that exist here. */
function directBody(path: string, example: unknown, facts: Facts): unknown {
  const {
    segment: _segment,
    callback_details: _callback,
    whatsapp_sender_number: _sender,
    ...rest
  } = {
    ...(example as Record<string, unknown>),
  }
  const template = chosen(facts.templates, path.slice(path.lastIndexOf('/') + 1), rest['template_code'])
  return {
    ...rest,
    ...(template && { template_code: template.code }),
    ...(facts.segment !== undefined && { segment: facts.segment }),
    ...(facts.catcherUrl !== undefined && {
      callback_details: { url: `${facts.catcherUrl}/try-it`, custom_fields: { order: '4711' } },
    }),
  }
}
