/**
 * The set-up that every surface shares: request ids, limits on size, time and connections, the gate that is shut
 * while starting and stopping, and error answers. A surface is a function that adds its routes to a scope of its
 * own; per request the server itself adds one small object and one listener.
 */
import { readFileSync } from 'node:fs'
import http, { type IncomingMessage, type ServerResponse } from 'node:http'
import https from 'node:https'
import type { Socket } from 'node:net'
import Fastify, { type FastifyInstance } from 'fastify'
import type { Config } from '../config.ts'
import { newShownId } from '../lib/ids.ts'
import type { Log } from '../lib/log.ts'
import type { AddressReader } from './client-address.ts'
import { errorBody, jsonType, sendFault, sendNotFound } from './errors.ts'
import { createInFlight, type InFlight } from './in-flight.ts'
import { closedReason, type Lifecycle } from './lifecycle.ts'
import type { HttpMetrics } from './metrics.ts'
import type { RateLimits } from '../flows/limit-rates.ts'
import { readRawBodies } from './read-body.ts'
import { giveBack, trackOf, type BodyBudget } from './tracking.ts'

export type Surface = (scope: FastifyInstance) => void | Promise<void>

export type ServerDeps = {
  config: Pick<Config, 'maxBodyBytes' | 'maxConnections' | 'tls'>
  log: Log
  lifecycle: Lifecycle
  budget: BodyBudget
  metrics: HttpMetrics
  addressOf: AddressReader
  limits: RateLimits
  /** Smaller in tests. */
  timeouts?: Timeouts
}

export type Timeouts = { headersMs: number; requestMs: number; keepAliveMs: number; checkEveryMs: number }

const defaultTimeouts: Timeouts = {
  headersMs: 10_000,
  // 32 MiB in two minutes is 2.2 Mbit/s: slower senders of the largest bodies are cut.
  requestMs: 120_000,
  // Longer than the idle time of common proxies (60 s), so that it is they who close.
  keepAliveMs: 65_000,
  checkEveryMs: 2_000,
}

export type PomboServer = {
  app: FastifyInstance
  /** Stops listening, lets what is in flight finish with `Connection: close`; past the time it is cut. */
  drain(withinMs: number): Promise<void>
}

const newRequestId = () => newShownId('req')

export async function buildServer(deps: ServerDeps, surfaces: Surface[]): Promise<PomboServer> {
  const inFlight = createInFlight()
  const app = Fastify({
    logger: false,
    genReqId: newRequestId,
    exposeHeadRoutes: false,
    return503OnClosing: false,
    bodyLimit: deps.config.maxBodyBytes,
    routerOptions: { maxParamLength: 512 },
    serverFactory: (handle) => createNodeServer(deps, inFlight, handle),
    clientErrorHandler: answerClientError,
    frameworkErrors: (_error, request, reply) => {
      reply.header('x-request-id', request.id)
      trackOf(request.raw).requestId = request.id
      void sendNotFound(request, reply)
    },
  })
  app.addHook('onRoute', (route) => {
    const label = route.url
    const given = route.onRequest ?? []
    route.onRequest = [
      (request, reply, next) => {
        reply.header('x-request-id', request.id)
        reply.header('x-content-type-options', 'nosniff')
        const track = trackOf(request.raw)
        track.route = label
        track.requestId = request.id
        next()
      },
      ...(Array.isArray(given) ? given : [given]),
    ]
    const { handler } = route
    route.handler = function (request, reply) {
      const result: unknown = handler.call(this, request, reply)
      const track = trackOf(request.raw)
      // Most requests have no body, and of those that have one few outlive their caller.
      if (track.heldBytes === 0 || !(result instanceof Promise)) return result
      track.isAtWork = true
      return result.finally(() => {
        track.isAtWork = false
        giveBack(deps.budget, track)
      })
    }
  })
  app.setNotFoundHandler(
    {
      // Runs before a body would be read.
      preHandler: (request, reply, next) => {
        reply.header('x-request-id', request.id)
        trackOf(request.raw).requestId = request.id
        next()
      },
    },
    sendNotFound,
  )
  app.setErrorHandler((error, request, reply) => {
    reply.header('x-request-id', request.id)
    return sendFault(reply, error, deps.log)
  })
  readRawBodies(app, { budget: deps.budget, maxBytes: deps.config.maxBodyBytes })
  for (const surface of surfaces) await app.register(async (scope) => surface(scope))
  await app.ready()
  return { app, drain: (withinMs) => drain(app, inFlight, withinMs) }
}

type Handle = (req: IncomingMessage, res: ServerResponse) => void

function createNodeServer(deps: ServerDeps, inFlight: InFlight, handle: Handle): http.Server {
  const { budget, lifecycle, limits, metrics } = deps
  const timeouts = deps.timeouts ?? defaultTimeouts
  const { log } = deps

  function settled(this: ServerResponse) {
    const track = trackOf(this.req)
    inFlight.remove(this)
    giveBack(budget, track)
    const tookMs = performance.now() - track.startedAt
    metrics.answered(track.route, this.statusCode, tookMs / 1000)
    log[isOpsPath(this.req) ? 'debug' : 'info'](
      {
        requestId: track.requestId,
        method: this.req.method,
        route: track.route,
        status: this.statusCode,
        tookMs: Math.round(tookMs * 10) / 10,
      },
      'answered',
    )
  }

  const onRequest: Handle = (req, res) => {
    trackOf(req)
    inFlight.add(res)
    res.once('close', settled)
    const { phase } = lifecycle
    if (phase === 'leaving' || phase === 'draining') res.shouldKeepAlive = false
    if (phase !== 'serving' && phase !== 'leaving' && !isOpsPath(req))
      turnAway(res, 503, closedReason(lifecycle) ?? 'try again', 2)
    else if (limits.hasAddressLimit && !isOpsPath(req) && !limits.admitAddress(deps.addressOf(req)))
      turnAway(res, 429, 'too many requests from this address', 1)
    else handle(req, res)
  }

  const options: http.ServerOptions = {
    headersTimeout: timeouts.headersMs,
    requestTimeout: timeouts.requestMs,
    keepAliveTimeout: timeouts.keepAliveMs,
    connectionsCheckingInterval: timeouts.checkEveryMs,
    maxHeaderSize: 16 * 1024,
    insecureHTTPParser: false,
  }
  const { tls } = deps.config
  const server: http.Server = tls
    ? https.createServer(
        { ...options, cert: readFileSync(tls.certFile), key: readFileSync(tls.keyFile) },
        onRequest,
      )
    : http.createServer(options, onRequest)
  server.maxConnections = deps.config.maxConnections
  return server
}

const isOpsPath = (req: IncomingMessage): boolean =>
  req.url !== undefined && (req.url.startsWith('/health/') || req.url === '/metrics')

function turnAway(res: ServerResponse, status: number, message: string, retryAfterSeconds: number): void {
  const requestId = newRequestId()
  trackOf(res.req).requestId = requestId
  res.writeHead(status, {
    'content-type': jsonType,
    'retry-after': String(retryAfterSeconds),
    'x-request-id': requestId,
  })
  res.end(errorBody(message, requestId))
}

/** What is no HTTP, too large a header or too slow has no request to answer: a bare 400, then the end. */
function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy(error)
    return
  }
  const answered = (socket as Socket & { _httpMessage?: ServerResponse })._httpMessage
  if (answered?.headersSent) {
    socket.destroy(error)
    return
  }
  const requestId = newRequestId()
  const body = errorBody(clientErrorMessage(error.code), requestId)
  socket.end(
    `HTTP/1.1 400 Bad Request\r\nContent-Type: ${jsonType}\r\nContent-Length: ${Buffer.byteLength(body)}\r\nX-Request-Id: ${requestId}\r\nConnection: close\r\n\r\n${body}`,
    () => socket.destroy(),
  )
}

const clientErrorMessage = (code: string | undefined): string =>
  code === 'ERR_HTTP_REQUEST_TIMEOUT'
    ? 'the request was not complete in time'
    : code === 'HPE_HEADER_OVERFLOW'
      ? 'the headers are too large'
      : 'this is not HTTP that can be read'

async function drain(app: FastifyInstance, inFlight: InFlight, withinMs: number): Promise<void> {
  const { server } = app
  for (const res of inFlight.all) res.shouldKeepAlive = false
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  server.closeIdleConnections()
  const cut = setTimeout(() => server.closeAllConnections(), withinMs)
  await closed
  clearTimeout(cut)
  await app.close()
}
