/** The HTTP server with the Cloud API's paths. Which path does what is all here; how is in the files beside it. */
import type { Clock } from '../../lib/clock.ts'
import { equalBytes } from '../../lib/secrets.ts'
import type { Chaos } from '../chaos.ts'
import { parseJson, readBody, sendJson, startHttp } from '../http.ts'
import type { Exchange } from '../http.ts'
import type { Inbox } from '../inbox.ts'
import { createReceiptTimer } from '../receipts.ts'
import type { SandboxLog } from '../types.ts'
import { refuse } from './errors.ts'
import { judgeUpload, maxUploadBytes, openMediaStore } from './media.ts'
import type { MediaStore } from './media.ts'
import { createNotifier } from './notify.ts'
import type { GraphNotifier } from './notify.ts'
import { answerRefusal, sendMessage } from './send.ts'
import { createGraphState } from './state.ts'
import type { GraphSettings, GraphState, PhoneNumber, Template } from './state.ts'
import { handleTemplate, handleTemplates } from './templates.ts'
import { createWebhookSender } from './webhooks.ts'
import type { WebhookSender } from './webhooks.ts'

export type GraphOptions = {
  host: string
  port: number
  isPortFixed: boolean
  dataDir?: string
  accessToken: string
  appSecret: string
  verifyToken: string
  wabaId: string
  phones: PhoneNumber[]
  templates: Template[]
  settings: GraphSettings
  webhookUrl?: string
  webhookRetryMs?: number
  approvalMs?: number
  isAllowed: (url: string) => boolean
  inbox: Inbox
  chaos: Chaos
  clock: Clock
  log: SandboxLog
}

export type GraphSandbox = {
  port: number
  baseUrl: string
  state: GraphState
  media: MediaStore
  notifier: GraphNotifier
  webhooks: WebhookSender
  webhookUrl(): string | undefined
  setWebhookUrl(url: string | undefined): void
  stop(): Promise<void>
}

const maxJsonBytes = 1024 * 1024
/** Room for the form's own lines around the largest file. */
const maxFormBytes = maxUploadBytes + 64 * 1024
const graphVersion = 'v23.0'

function showPhone(phone: PhoneNumber, fields: string[] | undefined): object {
  const all: Record<string, unknown> = {
    id: phone.id,
    display_phone_number: phone.number,
    verified_name: phone.verifiedName,
    quality_rating: 'GREEN',
    code_verification_status: 'VERIFIED',
    platform_type: 'CLOUD_API',
    name_status: 'APPROVED',
    status: 'CONNECTED',
    throughput: { level: phone.throughputPerSecond > 80 ? 'HIGH' : 'STANDARD' },
    whatsapp_business_manager_messaging_limit: 'TIER_UNLIMITED',
  }
  const wanted = fields ?? [
    'display_phone_number',
    'verified_name',
    'quality_rating',
    'code_verification_status',
    'platform_type',
    'throughput',
  ]
  return Object.fromEntries(Object.entries(all).filter(([key]) => key === 'id' || wanted.includes(key)))
}

export async function startGraph(options: GraphOptions): Promise<GraphSandbox> {
  const { inbox, chaos, clock, wabaId } = options
  const state = createGraphState(options)
  const media = openMediaStore({ dataDir: options.dataDir })
  const timer = createReceiptTimer()
  const webhooks = createWebhookSender({ ...options, retryMs: options.webhookRetryMs })
  let webhookUrl = options.webhookUrl
  const notifier = createNotifier({ state, webhooks, inbox, clock, defaultUrl: () => webhookUrl })
  const sendContext = { state, media, inbox, chaos, notifier, timer, clock }
  const templateContext = { state, notifier, timer, approvalMs: options.approvalMs ?? 50 }
  const expectedToken = Buffer.from(`Bearer ${options.accessToken}`)

  // Windows are what people wrote: they come back with the inbox.
  for (const message of inbox.all()) {
    if (message.channel !== 'whatsapp' || message.direction !== 'fromPerson') continue
    state.openWindow(message.line, message.from.replaceAll(/\D/g, ''), Date.parse(message.receivedAt))
  }

  async function upload(exchange: Exchange): Promise<void> {
    const bytes = await readBody(exchange.request, maxFormBytes)
    if (!bytes) {
      exchange.response.setHeader('connection', 'close')
      return answerRefusal(exchange, refuse('mediaTooLarge'))
    }
    const type = exchange.request.headers['content-type'] ?? ''
    const form = await new Response(new Uint8Array(bytes), { headers: { 'content-type': type } })
      .formData()
      .catch(() => undefined)
    if (!form) return answerRefusal(exchange, refuse('notReadable', 'The body is not multipart/form-data.'))
    if (form.get('messaging_product') !== 'whatsapp') return answerRefusal(exchange, refuse('noProduct'))
    const file = form.get('file')
    if (!file || typeof file === 'string')
      return answerRefusal(exchange, refuse('missingParameter', 'The parameter file is required.'))
    const refusal = judgeUpload(file.type, file.size)
    if (refusal) return answerRefusal(exchange, refusal)
    const item = await media.put(Buffer.from(await file.arrayBuffer()), file.type, file.name)
    sendJson(exchange.response, 200, { id: item.id })
  }

  async function download(exchange: Exchange, id: string): Promise<void> {
    const { searchParams, pathname } = exchange.url
    const isValid = media.isUrlValid(
      pathname,
      searchParams.get('expires') ?? '',
      searchParams.get('signature') ?? '',
      clock.now().getTime(),
    )
    const item = media.get(id)
    const bytes = isValid ? await media.read(id) : undefined
    if (!item || !bytes)
      return sendJson(exchange.response, 404, { error: { message: 'This address has expired.' } })
    exchange.response.writeHead(200, {
      'content-type': item.mimeType,
      'content-length': bytes.length,
      'x-content-type-options': 'nosniff',
      'content-disposition': 'attachment',
    })
    exchange.response.end(bytes)
  }

  function handleMedia(exchange: Exchange, id: string): void | Promise<void> {
    const item = media.get(id)!
    if (exchange.method === 'DELETE') {
      return media.remove(id).then((success) => sendJson(exchange.response, 200, { success }))
    }
    const address = media.signUrl(`/media-download/${id}`, clock.now().getTime())
    sendJson(exchange.response, 200, {
      messaging_product: 'whatsapp',
      url: `http://${exchange.request.headers.host ?? 'localhost'}${address}`,
      mime_type: item.mimeType,
      sha256: item.sha256,
      file_size: item.size,
      id,
    })
  }

  async function handleAccount(exchange: Exchange, edge: string | undefined, body: unknown): Promise<void> {
    const { method, response } = exchange
    switch (edge) {
      case undefined:
        return sendJson(response, 200, { id: wabaId, name: 'Pombo sandbox', timezone_id: '25' })
      case 'phone_numbers': {
        const fields = exchange.url.searchParams.get('fields')?.split(',')
        return sendJson(response, 200, {
          data: [...state.phones.values()].map((phone) => showPhone(phone, fields)),
          paging: {},
        })
      }
      case 'subscribed_apps': {
        if (method === 'GET') {
          const app = {
            whatsapp_business_api_data: { id: '1', name: 'Pombo sandbox', link: 'https://localhost/' },
          }
          return sendJson(response, 200, { data: state.isSubscribed ? [app] : [] })
        }
        state.isSubscribed = method === 'POST'
        return sendJson(response, 200, { success: true })
      }
      case 'message_templates':
        return handleTemplates(exchange, body, templateContext)
      default:
        return answerRefusal(exchange, refuse('unknownObject'))
    }
  }

  async function handlePhone(
    exchange: Exchange,
    phone: PhoneNumber,
    edge: string | undefined,
  ): Promise<void> {
    const { method, response, request, url } = exchange
    if (edge === undefined && method === 'GET') {
      return sendJson(response, 200, showPhone(phone, url.searchParams.get('fields')?.split(',')))
    }
    if (method !== 'POST') return answerRefusal(exchange, refuse('unknownObject'))
    if (edge === 'media') return upload(exchange)
    if (edge === 'register' || edge === 'deregister') return sendJson(response, 200, { success: true })
    if (edge !== 'messages') return answerRefusal(exchange, refuse('unknownObject'))
    const bytes = await readBody(request, maxJsonBytes)
    if (!bytes) {
      response.setHeader('connection', 'close')
      return answerRefusal(exchange, refuse('notReadable', 'The request body is too large.'))
    }
    return sendMessage(exchange, phone, bytes, parseJson(bytes), sendContext)
  }

  async function handle(exchange: Exchange): Promise<void> {
    const { request, url, method } = exchange
    const given = Buffer.from(
      request.headers.authorization ?? `Bearer ${url.searchParams.get('access_token') ?? ''}`,
    )
    if (!equalBytes(given, expectedToken)) {
      exchange.response.setHeader('www-authenticate', 'OAuth "Facebook Platform" "invalid_token"')
      return answerRefusal(exchange, refuse('wrongToken'))
    }
    const [id = '', edge] = url.pathname
      .replace(/^\/v\d+\.\d+(?=\/)/, '')
      .split('/')
      .slice(1)
    if (id === 'media-download' && edge && method === 'GET') return download(exchange, edge)
    const phone = state.phones.get(id)
    if (phone) return handlePhone(exchange, phone, edge)
    if (media.get(id) && edge === undefined && (method === 'GET' || method === 'DELETE'))
      return handleMedia(exchange, id)
    const template = state.templateById(id)
    if (id !== wabaId && !template) {
      return answerRefusal(
        exchange,
        refuse(
          'unknownObject',
          `Unsupported ${method.toLowerCase()} request. Object with ID '${id.slice(0, 60)}' does not exist.`,
        ),
      )
    }
    const bytes = await readBody(request, maxJsonBytes)
    const body = bytes && bytes.length > 0 ? parseJson(bytes) : undefined
    if (template) return handleTemplate(exchange, template, edge, body, templateContext)
    return handleAccount(exchange, edge, body)
  }

  const running = await startHttp({ ...options, handle })
  return {
    port: running.port,
    baseUrl: `http://${options.host.includes(':') ? `[${options.host}]` : options.host}:${running.port}/${graphVersion}`,
    state,
    media,
    notifier,
    webhooks,
    webhookUrl: () => webhookUrl,
    setWebhookUrl(url) {
      webhookUrl = url
    },
    async stop() {
      timer.stop()
      webhooks.stop()
      await running.stop()
      await state.flush()
      media.close()
    },
  }
}
