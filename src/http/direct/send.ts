/** One send route, after the token: shape, values, then the accept path; all that is wrong is said at once. */
import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Problem, Verdict } from '../../domain/outcome.ts'
import type { SendRequest } from '../../domain/send-request.ts'
import type { DirectCaller } from '../../flows/check-tokens.ts'
import type { AcceptMessage, Submission } from '../../flows/submission.ts'
import type { Log } from '../../lib/log.ts'
import type { Exceptions } from '../../lib/outbound/index.ts'
import { addError, type FieldErrors } from '../../lib/read-json.ts'
import { parseJson } from '../parse-json.ts'
import { takeBody } from '../read-body.ts'
import { readSendHeaders, type SendHeaders } from '../send-headers.ts'
import { answerOutcome, unproven, type Answer, type Door } from '../door.ts'
import {
  sendFieldErrors,
  sendForbidden,
  sendOutcome,
  sendUnauthorized,
  type ReplyContext,
} from './replies.ts'
import { fieldOf } from './places.ts'
import { asSent, toRequest, type DirectRoute } from './route.ts'
import type { SharedIn } from './wire.ts'

export type SendDeps = { accept: AcceptMessage; exceptions: Exceptions; log: Log }

const bodyProblems = {
  too_large: 'is too large',
  media_type: 'must be of the type application/json',
} as const

const maxLoggedFields = 50

export function createSend<In extends SharedIn>(
  deps: SendDeps,
  door: Door<DirectCaller>,
  route: DirectRoute<In>,
) {
  const work = async (
    request: FastifyRequest,
    reply: FastifyReply,
    caller: DirectCaller,
  ): Promise<Answer> => {
    const headers = readSendHeaders(request.raw.headers)
    const context: ReplyContext = { reply, isDryRun: headers.isDryRun }
    const refuse = (errors: FieldErrors, verdicts?: Verdict[]) => {
      const fields = Object.keys(errors).slice(0, maxLoggedFields)
      deps.log.info({ requestId: request.id, companyId: caller.companyId, fields }, 'bad request')
      return sendFieldErrors(context, errors, verdicts)
    }
    const raw = takeBody(request)
    const parsed = typeof raw === 'string' ? undefined : parseJson(raw)
    if (typeof raw === 'string' || !parsed?.ok) {
      const fault = typeof raw === 'string' ? bodyProblems[raw] : parsed!.ok ? '' : parsed!.message
      const errors = addError(copyOf(headers.errors), 'body', fault.replace(/^the body /, ''))
      return unproven(() => refuse(errors))
    }

    const reading = route.read(parsed.value)
    const body: Partial<In> = (reading.ok ? reading.value : reading.partial) ?? {}
    let errors = reading.ok ? undefined : withoutUnusedCallback(reading.errors, body)
    const fail = (path: string, message: string): undefined => {
      errors = addError(errors, path, message)
      return undefined
    }
    const sendRequest = toRequest(route, body, deps.exceptions, fail, (path) => errors?.[path] !== undefined)
    const fields = route.variableFields(body)
    const pathsOf = (problems: Problem[], known?: FieldErrors) => {
      let all = copyOf(known)
      for (const { at, message } of problems) {
        const path = fieldOf(at, fields)
        // Of a field that could not be read nothing more can be said.
        if (!isWithin(known, path)) all = addError(all, path, message)
      }
      return asSent(all ?? {}, parsed.value)
    }

    const submission = createSubmission(route, caller, request.id, sendRequest, headers, raw)
    if (errors === undefined && headers.errors === undefined) {
      return answerOutcome(await deps.accept(submission), (outcome) =>
        outcome.kind === 'invalid'
          ? refuse(pathsOf(outcome.problems), outcome.verdicts)
          : sendOutcome(context, outcome),
      )
    }

    // Wrong already: nothing is sent, but what the accept path would say about the rest is said now as well.
    const outcome = await deps.accept({ ...submission, isDryRun: true, idempotency: undefined })
    return answerOutcome(outcome, ({ kind }) => {
      if (kind === 'unauthorized') return sendUnauthorized(reply)
      if (kind === 'suspended') return sendForbidden(reply)
      const found = pathsOf(outcome.kind === 'invalid' ? outcome.problems : [], errors)
      return refuse({ ...found, ...headers.errors })
    })
  }
  return (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> =>
    door.answer(request, reply, (caller) => work(request, reply, caller))
}

function createSubmission(
  { path }: Pick<DirectRoute<SharedIn>, 'path'>,
  caller: DirectCaller,
  requestId: string,
  request: SendRequest,
  { idempotencyKey: key, isDryRun }: SendHeaders,
  raw: Buffer,
): Submission {
  const submission: Submission = { sender: caller.sender, request, requestId, isDryRun }
  if (key !== undefined && !isDryRun)
    submission.idempotency = { route: path, key, bodyHash: createHash('sha256').update(raw).digest() }
  return submission
}

/** `callback_details` without a url is as if not given, so what else is in it cannot be wrong. */
function withoutUnusedCallback(errors: FieldErrors, body: Partial<SharedIn>): FieldErrors | undefined {
  if (body.callback_details === undefined || body.callback_details.url !== undefined) return errors
  if (errors['callback_details.url'] !== undefined) return errors
  let used: FieldErrors | undefined
  for (const [path, messages] of Object.entries(errors))
    if (!path.startsWith('callback_details.'))
      for (const message of messages) used = addError(used, path, message)
  return used
}

const isWithin = (errors: FieldErrors | undefined, path: string): boolean =>
  errors !== undefined && Object.keys(errors).some((known) => path === known || path.startsWith(`${known}.`))

const copyOf = (errors: FieldErrors | undefined): FieldErrors | undefined => {
  let copy: FieldErrors | undefined
  for (const [path, messages] of Object.entries(errors ?? {}))
    for (const message of messages) copy = addError(copy, path, message)
  return copy
}
