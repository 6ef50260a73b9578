/** What a route answers, as values; `send` turns them into statuses and bodies. */
import type { FastifyReply } from 'fastify'
import type { FieldProblem, Saved } from '../../domain/saved.ts'
import type { FieldErrors } from '../../lib/read-json.ts'
import { addError } from '../../lib/read-json.ts'
import { jsonType } from '../errors.ts'

export type Refused = {
  kind: 'refused'
  status: 400 | 401 | 403 | 404 | 409 | 412
  message: string
  errors?: FieldErrors
}

export type Done = {
  kind: 'done'
  status?: 200 | 201 | 202 | 204
  body?: unknown
  /** Of the record in the body: its ETag. */
  version?: string
  headers?: Record<string, string>
}

/** The handler has written the answer itself: a file, a stream. */
export type Sent = { kind: 'sent' }

export type Reply = Done | Refused | Sent

/** What a change leaves in the audit log; no secrets and no message contents. */
export type Trace = {
  nounId?: string
  detail?: Record<string, unknown>
  /** Where one route does several things. */
  action?: string
}

export type Changed = (Done & { trace: Trace; afterCommit?(): void }) | Refused

export const done = (body?: unknown, version?: string): Done => ({ kind: 'done', body, version })

export const changed = (body: unknown, trace: Trace, more: Partial<Done> = {}): Changed => ({
  kind: 'done',
  body,
  trace,
  ...more,
})

export const notFound: Refused = { kind: 'refused', status: 404, message: 'not found' }

export const conflict = (message: string, field?: string): Refused => ({
  kind: 'refused',
  status: 409,
  message,
  errors: field === undefined ? undefined : { [field]: [message] },
})

export const forbidden = (message: string): Refused => ({ kind: 'refused', status: 403, message })

export function invalid(...problems: FieldProblem[]): Refused {
  let errors: FieldErrors | undefined
  for (const { field, message } of problems) errors = addError(errors, field, message)
  return { kind: 'refused', status: 400, message: summary(errors ?? {}), errors }
}

export const invalidFields = (errors: FieldErrors): Refused => ({
  kind: 'refused',
  status: 400,
  message: summary(errors),
  errors,
})

/** "name must not be empty", or how many more there are. */
function summary(errors: FieldErrors): string {
  const all = Object.entries(errors).flatMap(([field, messages]) =>
    messages.map((message) => (field === '' ? message : `${field} ${message}`)),
  )
  return all.length > 1 ? `${all[0]} (and ${all.length - 1} more)` : (all[0] ?? 'the request is not valid')
}

/** Undefined is "no such thing"; problems are the caller's. */
export function unlessSaved(result: Saved<unknown> | undefined): Refused | undefined {
  if (result === undefined) return notFound
  return result.ok ? undefined : invalid(...result.problems)
}

export function send(reply: FastifyReply, answer: Done | Refused): FastifyReply {
  if (answer.kind === 'refused')
    return reply
      .code(answer.status)
      .header('content-type', jsonType)
      .header('cache-control', 'no-store')
      .send(
        JSON.stringify({
          message: answer.message,
          ...(answer.errors && { errors: answer.errors }),
          requestId: reply.request.id,
        }),
      )
  reply.header('cache-control', 'no-store')
  for (const [name, value] of Object.entries(answer.headers ?? {})) reply.header(name, value)
  if (answer.version !== undefined) reply.header('etag', `"${answer.version}"`)
  const hasBody = answer.body !== undefined
  return hasBody
    ? reply
        .code(answer.status ?? 200)
        .header('content-type', jsonType)
        .send(JSON.stringify(answer.body))
    : reply.code(answer.status ?? 204).send()
}
