/** /{account id}/message_templates and /{template id}: list, create, change, delete, unpause. */
import type { Exchange } from '../http.ts'
import { sendJson } from '../http.ts'
import type { ReceiptTimer } from '../receipts.ts'
import { refuse } from './errors.ts'
import type { GraphNotifier } from './notify.ts'
import { answerRefusal } from './send.ts'
import type { GraphState, Template } from './state.ts'
import { readTemplate, showTemplate } from './template-rules.ts'
import { asObject, isObject } from './wire.ts'

export type TemplateContext = {
  state: GraphState
  notifier: GraphNotifier
  timer: ReceiptTimer
  approvalMs: number
}

const maxTemplates = 6_000

const fieldsOf = (url: URL): string[] | undefined =>
  url.searchParams
    .get('fields')
    ?.split(',')
    .map((name) => name.trim())

function approveSoon(template: Template, { state, notifier, timer, approvalMs }: TemplateContext): void {
  if (!state.settings.isTemplateApproved) return
  timer.after(approvalMs, () => {
    const current = state.templateById(template.id)
    if (current?.status !== 'PENDING') return
    const approved: Template = { ...current, status: 'APPROVED' }
    state.saveTemplate(approved)
    notifier.templateStatus(approved, 'NONE')
  })
}

const cursor = (offset: number) => Buffer.from(String(offset)).toString('base64url')

function listTemplates({ response, url, request }: Exchange, state: GraphState): void {
  const wanted = (key: string) => url.searchParams.get(key)
  const limit = Math.min(Math.max(Number(wanted('limit') ?? 25) || 25, 1), 1_000)
  const start = Number(Buffer.from(wanted('after') ?? '', 'base64url').toString('utf8')) || 0
  const fits = (template: Template) =>
    (!wanted('name') || template.name.includes(wanted('name')!)) &&
    (!wanted('status') || template.status === wanted('status')) &&
    (!wanted('language') || template.language === wanted('language'))
  const all = state.templates().filter(fits)
  const page = all.slice(start, start + limit)
  const next = new URL(url)
  next.host = request.headers.host ?? next.host
  next.searchParams.set('after', cursor(start + limit))
  sendJson(response, 200, {
    data: page.map((template) => showTemplate(template, fieldsOf(url))),
    paging: {
      cursors: { before: cursor(start), after: cursor(start + page.length) },
      ...(start + limit < all.length ? { next: next.href } : {}),
    },
  })
}

function createTemplate(exchange: Exchange, body: unknown, context: TemplateContext): void {
  const { state } = context
  if (!isObject(body)) return answerRefusal(exchange, refuse('notReadable'))
  const template = readTemplate(body, 'PENDING')
  if ('refusal' in template) return answerRefusal(exchange, template)
  if (state.template(template.name, template.language)) {
    return answerRefusal(
      exchange,
      refuse('templateShape', 'A template with this name and language exists already.'),
    )
  }
  if (state.templates().length >= maxTemplates) {
    return answerRefusal(
      exchange,
      refuse('templateShape', `An account has at most ${maxTemplates} templates.`),
    )
  }
  state.saveTemplate(template)
  sendJson(exchange.response, 200, { id: template.id, status: template.status, category: template.category })
  approveSoon(template, context)
}

function deleteTemplates(exchange: Exchange, state: GraphState): void {
  const { searchParams } = exchange.url
  const [name, id] = [searchParams.get('name'), searchParams.get('hsm_id')]
  const gone = state.templates().filter((template) => template.name === name && (!id || template.id === id))
  if (gone.length === 0)
    return answerRefusal(exchange, refuse('templateShape', `No template named ${name ?? ''}.`))
  state.removeTemplates(gone.map((template) => template.id))
  sendJson(exchange.response, 200, { success: true })
}

export function handleTemplates(exchange: Exchange, body: unknown, context: TemplateContext): void {
  switch (exchange.method) {
    case 'GET':
      return listTemplates(exchange, context.state)
    case 'POST':
      return createTemplate(exchange, body, context)
    case 'DELETE':
      return deleteTemplates(exchange, context.state)
    default:
      return answerRefusal(exchange, refuse('unknownObject'))
  }
}

export function handleTemplate(
  exchange: Exchange,
  template: Template,
  edge: string | undefined,
  body: unknown,
  context: TemplateContext,
): void {
  const { state } = context
  if (edge === 'unpause' && exchange.method === 'POST') {
    if (template.status !== 'PAUSED')
      return answerRefusal(exchange, refuse('templateShape', 'The template is not paused.'))
    state.saveTemplate({ ...template, status: 'APPROVED' })
    return sendJson(exchange.response, 200, { success: true })
  }
  if (edge !== undefined) return answerRefusal(exchange, refuse('unknownObject'))
  if (exchange.method === 'GET') {
    const fields = exchange.url.searchParams.get('fields')?.split(',')
    return sendJson(exchange.response, 200, showTemplate(template, fields))
  }
  if (exchange.method !== 'POST') return answerRefusal(exchange, refuse('unknownObject'))
  if (!['APPROVED', 'REJECTED', 'PAUSED'].includes(template.status)) {
    return answerRefusal(
      exchange,
      refuse('templateShape', `A template that is ${template.status} cannot be edited.`),
    )
  }
  const { name, language } = template
  const base = {
    category: template.category,
    components: template.components,
    parameter_format: template.parameterFormat,
  }
  const changed = readTemplate({ ...base, ...asObject(body), name, language }, 'PENDING')
  if ('refusal' in changed) return answerRefusal(exchange, changed)
  const next = { ...changed, id: template.id }
  state.saveTemplate(next)
  sendJson(exchange.response, 200, { success: true })
  approveSoon(next, context)
}
