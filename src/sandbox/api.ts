/**
 * The sandbox's own HTTP server: inbox API, live events, callback catcher and the page. Loopback is no protection
 * from a web page in the same browser, so the Host must be a loopback name (no DNS rebinding) and a foreign Origin
 * is turned away.
 */
import { readFile } from 'node:fs/promises'
import type { ApiContext } from './api-context.ts'
import { handleMessages } from './api-messages.ts'
import { handleSettings } from './api-settings.ts'
import { createEventStream } from './event-stream.ts'
import { sendJson, startHttp } from './http.ts'
import type { Exchange, RunningServer } from './http.ts'
import { isLoopback } from './listen.ts'

export type ApiOptions = ApiContext & {
  host: string
  port: number
  isPortFixed: boolean
  allowedOrigins: string[]
}

const script = (file: string) => ({ file, type: 'text/javascript; charset=utf-8' })

const pageFiles: Readonly<Record<string, { file: string; type: string }>> = {
  '/': { file: 'index.html', type: 'text/html; charset=utf-8' },
  '/sandbox.css': { file: 'sandbox.css', type: 'text/css; charset=utf-8' },
  '/sandbox.js': script('sandbox.js'),
  '/state.js': script('state.js'),
  '/phone.js': script('phone.js'),
  '/mailbox.js': script('mailbox.js'),
  '/callbacks.js': script('callbacks.js'),
  '/chaos.js': script('chaos.js'),
  '/view.js': script('view.js'),
  '/icon.svg': { file: 'icon.svg', type: 'image/svg+xml' },
}

const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "media-src 'self'",
  "connect-src 'self'",
  "frame-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

async function sendPage(
  { response }: Exchange,
  { file, type }: { file: string; type: string },
): Promise<void> {
  const bytes = await readFile(new URL(`page/${file}`, import.meta.url))
  response.writeHead(200, {
    'content-type': type,
    'content-length': bytes.length,
    'cache-control': 'no-cache',
    'content-security-policy': pagePolicy,
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
  })
  response.end(bytes)
}

export async function startApi(options: ApiOptions): Promise<RunningServer> {
  const { allowedOrigins, catcher } = options
  const events = createEventStream(options)

  /** True when the request may go on; the answer is given otherwise. */
  function mayEnter({ request, response, method }: Exchange): boolean {
    const host = URL.parse(`http://${request.headers.host ?? ''}`)
    if (!host || !isLoopback(host.hostname)) {
      sendJson(response, 403, { error: { field: 'Host', message: 'must be a loopback name' } })
      return false
    }
    const { origin } = request.headers
    if (origin === undefined || origin === `http://${request.headers.host}`) return true
    if (!allowedOrigins.includes(origin)) {
      sendJson(response, 403, { error: { field: 'Origin', message: 'is not allowed here' } })
      return false
    }
    response.setHeader('access-control-allow-origin', origin)
    response.setHeader('vary', 'origin')
    if (method !== 'OPTIONS') return true
    response.setHeader('access-control-allow-methods', 'GET, POST, PUT, DELETE')
    response.setHeader('access-control-allow-headers', 'content-type')
    response.writeHead(204).end()
    return false
  }

  async function handle(exchange: Exchange): Promise<void> {
    const { url, method, response } = exchange
    const page = pageFiles[url.pathname]
    const parts = url.pathname.split('/').slice(1).map(decodePart)
    // Callbacks come from servers, under whatever name they were given; only pages are kept out of the rest.
    if (!mayEnter(exchange)) return
    if (page && method === 'GET') return sendPage(exchange, page)
    if (parts[0] === 'catch' && method !== 'GET') return catcher.handle(exchange, parts[1] ?? '')
    if (parts[0] === 'api' && parts[1] === 'events' && method === 'GET') return events.attach(exchange)
    if (parts[0] === 'mail' || (parts[0] === 'api' && (parts[1] === 'messages' || parts[1] === 'answers'))) {
      return handleMessages(exchange, parts, options)
    }
    if (parts[0] === 'api') return handleSettings(exchange, parts.slice(1), options)
    sendJson(response, 404, { error: { field: 'path', message: 'is not known' } })
  }

  const running = await startHttp({ ...options, handle })
  return {
    ...running,
    async stop() {
      events.stop()
      await running.stop()
    },
  }
}

function decodePart(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
