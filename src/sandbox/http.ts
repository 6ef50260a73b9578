/** The little that the sandbox's HTTP servers share: bounded bodies, JSON answers, a server that stops at once. */
import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { listen } from './listen.ts'
import type { SandboxLog } from './types.ts'

export type Exchange = { request: IncomingMessage; response: ServerResponse; url: URL; method: string }

/** The body, or undefined when it is larger than allowed; the rest is then left unread. */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer | undefined> {
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) return undefined
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > maxBytes) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  if (response.headersSent || response.destroyed) return
  const bytes = Buffer.from(JSON.stringify(body))
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': bytes.length,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  })
  response.end(bytes)
}

export function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8')) as unknown
  } catch {
    return undefined
  }
}

export type RunningServer = { port: number; server: Server; stop(): Promise<void> }

export async function startHttp(options: {
  host: string
  port: number
  isPortFixed: boolean
  log: SandboxLog
  handle: (exchange: Exchange) => Promise<void>
}): Promise<RunningServer> {
  const server = createServer({ requestTimeout: 120_000, keepAliveTimeout: 30_000 }, (request, response) => {
    const url = URL.parse(request.url ?? '/', 'http://sandbox')
    if (!url) {
      sendJson(response, 400, { error: { field: 'path', message: 'is not a path' } })
      return
    }
    options.handle({ request, response, url, method: request.method ?? 'GET' }).catch((fault: unknown) => {
      if (response.destroyed) return
      options.log.error(
        { path: url.pathname, cause: String(fault) },
        'The sandbox failed to answer a request.',
      )
      if (response.headersSent) response.destroy()
      else sendJson(response, 500, { error: { message: 'The sandbox failed to answer; its log says why.' } })
    })
  })
  const port = await listen(server, options)
  return {
    port,
    server,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
