/** Error answers that all surfaces share: `{"message", "requestId"}`, and nothing of what went on inside. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Log } from '../lib/log.ts'
import { TooManyRequestsError, UnavailableError } from '../lib/unavailable.ts'
import type { BodyProblem } from './read-body.ts'

export const jsonType = 'application/json; charset=utf-8'

export const errorBody = (message: string, requestId: string): string =>
  `{"message":${JSON.stringify(message)},"requestId":"${requestId}"}`

export function sendError(reply: FastifyReply, status: number, message: string): FastifyReply {
  return reply
    .code(status)
    .header('content-type', jsonType)
    .header('x-content-type-options', 'nosniff')
    .send(errorBody(message, reply.request.id))
}

export const sendNotFound = (_request: FastifyRequest, reply: FastifyReply): FastifyReply =>
  sendError(reply, 404, 'not found')

/** What Fastify itself refuses before a surface sees the body. */
export const bodyProblemOf = (error: unknown): BodyProblem | undefined =>
  error instanceof Error && 'code' in error && error.code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE'
    ? 'media_type'
    : undefined

/** Answers a fault: 503 and 429 where trying again helps, else 500; the reason goes to the log alone. */
export function sendFault(reply: FastifyReply, error: unknown, log: Log): FastifyReply {
  const requestId = reply.request.id
  if (error instanceof UnavailableError || error instanceof TooManyRequestsError) {
    const status = error instanceof UnavailableError ? 503 : 429
    log.info({ requestId, status, reason: error.message, err: error.cause }, 'turned away')
    reply.header('retry-after', String(error.retryAfterSeconds))
    return sendError(reply, status, error.message)
  }
  if (reply.request.is404) return sendError(reply, 404, 'not found')
  if (bodyProblemOf(error) !== undefined)
    return sendError(reply, 400, 'the body must be of the type application/json')
  log.error({ requestId, err: error }, 'request failed')
  return sendError(reply, 500, 'internal error')
}
