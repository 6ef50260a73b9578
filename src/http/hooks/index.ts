/** Where providers report to: `/hooks/{driver}/{line}`. Raw bytes in, since signatures are over them. */
import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ReceiveHook } from '../../flows/receive-hook.ts'
import { sendError, sendNotFound } from '../errors.ts'
import { readRawBodies, takeBody } from '../read-body.ts'
import type { Surface } from '../server.ts'
import type { BodyBudget } from '../tracking.ts'

export type HooksDeps = { receive: ReceiveHook; budget: BodyBudget; maxBytes?: number }

/** WhatsApp sends up to 3 MB. */
const maxHookBytes = 4 * 1024 * 1024

export const createHooksSurface =
  (deps: HooksDeps): Surface =>
  (scope) => {
    // Brokers send JSON, forms, XML, or only a query.
    readRawBodies(scope, {
      budget: deps.budget,
      maxBytes: deps.maxBytes ?? maxHookBytes,
      isWanted: () => true,
    })
    scope.route<{ Params: { driver: string; line: string } }>({
      method: ['GET', 'POST'],
      url: '/hooks/:driver/:line',
      handler: (request, reply) => answer(deps, request, request.params, reply),
    })
  }

async function answer(
  { receive }: HooksDeps,
  request: FastifyRequest,
  params: { driver: string; line: string },
  reply: FastifyReply,
): Promise<FastifyReply> {
  const body = takeBody(request)
  if (body === 'too_large') return sendError(reply, 413, 'the body is too large')
  if (body === 'media_type') return sendError(reply, 415, 'the body must not be compressed')
  const outcome = await receive({
    driverName: params.driver,
    lineName: params.line,
    request: {
      method: request.method,
      url: request.raw.url ?? request.url,
      headers: plainHeaders(request.headers),
      rawBody: body,
    },
  })
  switch (outcome.kind) {
    case 'answered':
      return reply.code(outcome.status).header('content-type', outcome.contentType).send(outcome.body)
    case 'not_found':
      return sendNotFound(request, reply)
    case 'refused':
      return sendError(reply, outcome.status, 'this report is not accepted')
  }
}

const plainHeaders = (headers: IncomingHttpHeaders): Record<string, string | undefined> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value]),
  )
