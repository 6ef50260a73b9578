/** /api/chaos, /api/settings, /api/templates, /api/callbacks, /api/webhooks and /api/status. No secret leaves here. */
import { Type } from 'typebox'
import { Value } from 'typebox/value'
import type { ApiContext } from './api-context.ts'
import type { TemplateStatus } from './graph/state.ts'
import { asText, isObject } from './graph/wire.ts'
import { parseJson, readBody, sendJson } from './http.ts'
import type { Exchange } from './http.ts'
import { emailRefusals, smsRefusals, whatsappRefusals } from './refusals.ts'

const maxBodyBytes = 256 * 1024
const closed = { additionalProperties: false }

const SettingsSchema = Type.Object(
  {
    whatsapp: Type.Optional(
      Type.Partial(
        Type.Object({
          lateRefusals: Type.Boolean(),
          userIds: Type.Union([Type.Literal('phone'), Type.Literal('both'), Type.Literal('userId')]),
          isNinthDigitDropped: Type.Boolean(),
          isTemplateApproved: Type.Boolean(),
          pairLimit: Type.Boolean(),
        }),
        closed,
      ),
    ),
    sms: Type.Optional(
      Type.Partial(
        Type.Object({
          receiptForm: Type.Union([Type.Literal('both'), Type.Literal('tlv'), Type.Literal('text')]),
          responseIdFormat: Type.Union([Type.Literal('decimal'), Type.Literal('hex')]),
          receiptIdFormat: Type.Union([Type.Literal('decimal'), Type.Literal('hex')]),
        }),
        closed,
      ),
    ),
    email: Type.Optional(
      Type.Partial(
        Type.Object({
          rules: Type.Array(
            Type.Object(
              {
                stage: Type.Union([Type.Literal('from'), Type.Literal('to')]),
                pattern: Type.String({ minLength: 1, maxLength: 320 }),
                code: Type.Integer({ minimum: 400, maximum: 599 }),
                words: Type.String({ maxLength: 400, pattern: '^[^\\r\\n]*$' }),
              },
              closed,
            ),
            { maxItems: 100 },
          ),
          bouncing: Type.Array(Type.String({ minLength: 3, maxLength: 320 }), { maxItems: 10_000 }),
        }),
        closed,
      ),
    ),
    webhookUrl: Type.Optional(Type.String({ maxLength: 2_000 })),
  },
  closed,
)

const templateStatuses: readonly TemplateStatus[] = ['APPROVED', 'PENDING', 'REJECTED', 'PAUSED', 'DISABLED']

function showSettings({ graph, smsc, smtp }: ApiContext): object {
  return {
    whatsapp: graph.state.settings,
    sms: smsc.settings,
    email: { rules: smtp.rules(), bouncing: smtp.bouncing() },
    webhookUrl: graph.webhookUrl() ?? '',
  }
}

function changeSettings(body: unknown, context: ApiContext): { field: string; message: string } | undefined {
  const { graph, smsc, smtp } = context
  if (!Value.Check(SettingsSchema, body)) {
    const [first] = Value.Errors(SettingsSchema, body)
    const field = (first?.instancePath ?? '').slice(1).replaceAll('/', '.') || 'body'
    return { field, message: first?.message ?? 'is not valid' }
  }
  if (body.webhookUrl) {
    const url = URL.parse(body.webhookUrl)
    if (url?.protocol !== 'http:' && url?.protocol !== 'https:')
      return { field: 'webhookUrl', message: 'must be an http(s) URL' }
  }
  Object.assign(graph.state.settings, body.whatsapp)
  Object.assign(smsc.settings, body.sms)
  if (body.email?.rules) smtp.setRules(body.email.rules)
  if (body.email?.bouncing) {
    for (const address of smtp.bouncing()) smtp.setBouncing(address, false)
    for (const address of body.email.bouncing) smtp.setBouncing(address, true)
  }
  if (body.webhookUrl !== undefined) graph.setWebhookUrl(body.webhookUrl || undefined)
  return undefined
}

function showStatus({ inbox, smtp, smsc, graph }: ApiContext): object {
  return {
    inbox: inbox.counts(),
    smtp: { port: smtp.port },
    smpp: { port: smsc.port, accounts: smsc.accounts, sessions: smsc.sessions() },
    graph: {
      port: graph.port,
      baseUrl: graph.baseUrl,
      webhookUrl: graph.webhookUrl(),
      phoneNumbers: [...graph.state.phones.values()],
      templates: graph.state.templates().length,
    },
    refusals: { whatsapp: whatsappRefusals, sms: smsRefusals, email: emailRefusals },
  }
}

function changeTemplate(exchange: Exchange, id: string, body: unknown, { graph }: ApiContext): void {
  const template = graph.state.templateById(id)
  if (!template) return sendJson(exchange.response, 404, { error: { message: 'There is no such template.' } })
  const status = isObject(body) ? templateStatuses.find((known) => known === body.status) : undefined
  if (!status) {
    return sendJson(exchange.response, 400, {
      error: { field: 'status', message: `must be one of ${templateStatuses.join(', ')}` },
    })
  }
  const reason = isObject(body) ? (asText(body.reason) ?? 'NONE') : 'NONE'
  const next = { ...template, status, rejectedReason: status === 'REJECTED' ? reason : undefined }
  graph.state.saveTemplate(next)
  graph.notifier.templateStatus(next, reason)
  sendJson(exchange.response, 200, next)
}

export async function handleSettings(
  exchange: Exchange,
  parts: string[],
  context: ApiContext,
): Promise<void> {
  const { method, response, request, url } = exchange
  const { chaos, catcher, graph } = context
  const bytes = method === 'GET' ? Buffer.alloc(0) : await readBody(request, maxBodyBytes)
  if (!bytes) return sendJson(response, 413, { error: { field: 'body', message: 'is larger than 256 KiB' } })
  const body = bytes.length === 0 ? {} : parseJson(bytes)

  switch (`${method} ${parts[0] ?? ''}`) {
    case 'GET status':
      return sendJson(response, 200, showStatus(context))
    case 'GET chaos':
      return sendJson(response, 200, chaos.settings())
    case 'PUT chaos': {
      const done = chaos.set(body)
      if (!done.ok) return sendJson(response, 400, { error: { field: done.field, message: done.message } })
      return sendJson(response, 200, chaos.settings())
    }
    case 'DELETE chaos':
      chaos.reset()
      return sendJson(response, 200, chaos.settings())
    case 'GET settings':
      return sendJson(response, 200, showSettings(context))
    case 'PUT settings': {
      const fault = changeSettings(body, context)
      return fault
        ? sendJson(response, 400, { error: fault })
        : sendJson(response, 200, showSettings(context))
    }
    case 'GET templates':
      return sendJson(response, 200, { templates: graph.state.templates() })
    case 'PUT templates':
      return changeTemplate(exchange, parts[1] ?? '', body, context)
    case 'GET webhooks':
      return sendJson(response, 200, { attempts: graph.webhooks.attempts().toReversed() })
    case 'POST webhooks': {
      const address = graph.webhookUrl()
      if (!address) return sendJson(response, 409, { error: { message: 'No webhook address is set.' } })
      return sendJson(response, 200, await graph.webhooks.verify(address))
    }
    case 'GET callbacks': {
      const after = Number(url.searchParams.get('after') ?? 0)
      if (!Number.isSafeInteger(after))
        return sendJson(response, 400, { error: { field: 'after', message: 'must be a sequence number' } })
      return sendJson(response, 200, {
        callbacks: catcher.list({ name: url.searchParams.get('name') ?? undefined, after }).toReversed(),
      })
    }
    case 'DELETE callbacks':
      catcher.clear()
      return sendJson(response, 200, {})
    case 'PUT callbacks': {
      const status = isObject(body) ? body.status : undefined
      if (typeof status !== 'number' || !Number.isInteger(status) || status < 200 || status > 599) {
        return sendJson(response, 400, {
          error: { field: 'status', message: 'must be an HTTP status, 200 to 599' },
        })
      }
      catcher.setAnswer(parts[1] ?? '', status)
      return sendJson(response, 200, { name: parts[1] ?? '', status })
    }
    default:
      return sendJson(response, 404, { error: { field: 'path', message: 'is not known' } })
  }
}
