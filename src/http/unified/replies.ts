/** Outcomes as the unified API words them: only 200, 400, 401, 404, 500, and our own 429 and 503. */
import type { FastifyReply } from 'fastify'
import type { Place, Problem, Verdict } from '../../domain/outcome.ts'
import { showId } from '../../lib/ids.ts'
import { addError, type FieldErrors } from '../../lib/read-json.ts'
import type { AnsweredOutcome } from '../door.ts'
import { jsonType } from '../errors.ts'

/** What answers about one request have in common. */
export type ReplyContext = {
  reply: FastifyReply
  isDryRun: boolean
  /** Places in the array as sent of the files that the request kept, where some were empty. */
  filePlaces?: number[]
}

export const noTextMessage = 'Object reference not set to an instance of an object.'

export const sendBadRequest = (
  context: ReplyContext,
  message: string,
  errors?: FieldErrors,
  verdicts: Verdict[] = [],
): FastifyReply => {
  const { reply } = context
  return send(
    reply,
    400,
    `{"message":${JSON.stringify(message)}${errors ? `,"errors":${JSON.stringify(errors)}` : ''},"requestId":"${reply.request.id}"${verdictPart(context, verdicts)}}`,
  )
}

/** Names the fields, so that a log of messages alone tells what to mend. */
export const sendFieldErrors = (
  context: ReplyContext,
  errors: FieldErrors,
  verdicts?: Verdict[],
): FastifyReply => {
  const [first, ...others] = Object.entries(errors)
  const more = others.length > 0 ? `; also wrong: ${others.map(([path]) => path).join(', ')}` : ''
  return sendBadRequest(context, `${first?.[0]}: ${first?.[1][0]}${more}`, errors, verdicts)
}

export function sendUnauthorized(reply: FastifyReply): FastifyReply {
  reply.header('www-authenticate', 'Bearer')
  return send(
    reply,
    401,
    `{"message":"the access token is missing, invalid or expired","requestId":"${reply.request.id}"}`,
  )
}

export function sendOutcome(context: ReplyContext, outcome: AnsweredOutcome): FastifyReply {
  const { reply } = context
  switch (outcome.kind) {
    case 'accepted': {
      if (outcome.isReplay)
        reply.header('idempotency-replayed', 'true').header('x-request-id', outcome.requestId)
      const id = outcome.messageId === null ? 'null' : `"${showId('msg', outcome.messageId)}"`
      return send(
        reply,
        200,
        `{"messageId":${id},"status":"queued","requestId":"${outcome.requestId}"${verdictPart(context, outcome.verdicts)}}`,
      )
    }
    case 'refused':
      return sendBadRequest(
        context,
        `message not sent: ${refusalReason(outcome.verdicts)}`,
        undefined,
        outcome.verdicts,
      )
    case 'invalid':
      return sendFieldErrors(context, problemErrors(context, outcome.problems), outcome.verdicts)
    case 'not_sent':
      return sendFieldErrors(
        context,
        { source: ['no line of the company serves this channel'] },
        outcome.verdicts,
      )
    case 'key_reused':
      return sendFieldErrors(context, { 'Idempotency-Key': ['was used before with another body'] })
    case 'suspended':
      return sendFieldErrors(context, { company: ['is suspended'] })
    case 'unauthorized':
      return sendUnauthorized(reply)
    case 'unavailable':
      reply.header('retry-after', String(outcome.retryAfterSeconds))
      return send(
        reply,
        503,
        `{"message":"the message was not taken, try again","requestId":"${reply.request.id}"}`,
      )
    case 'failed':
      return send(reply, 500, `{"message":"internal error","requestId":"${reply.request.id}"}`)
  }
}

const send = (reply: FastifyReply, status: number, body: string): FastifyReply =>
  reply.code(status).header('content-type', jsonType).send(body)

const contactStates = new Set(['attendance', 'recent_contact', 'window'])

/** The contact's state speaks alone, in its order; else every rule that refuses has its say. */
function refusalReason(verdicts: Verdict[]): string {
  const blocking = verdicts.filter((verdict) => !verdict.passed && verdict.action !== 'defer')
  const first = blocking[0]
  const heard = first !== undefined && contactStates.has(first.rule) ? [first] : blocking
  return heard.map((verdict) => verdict.reason ?? verdict.rule).join('; ')
}

function verdictPart(context: ReplyContext, verdicts: Verdict[]): string {
  if (!context.isDryRun) return ''
  const shown = verdicts.map(({ rule, passed, reason, matched, nextAllowedAt }) => ({
    rule,
    passed,
    reason,
    matched,
    nextAllowedAt,
  }))
  return `,"verdict":${JSON.stringify(shown)}`
}

function problemErrors(context: ReplyContext, problems: Problem[]): FieldErrors {
  let errors: FieldErrors | undefined
  for (const problem of problems) errors = addError(errors, pathOf(problem.at, context), problem.message)
  return errors ?? {}
}

function pathOf(place: Place, { filePlaces }: ReplyContext): string {
  const file = /^files\[(\d+)\]$/.exec(place)
  if (file) return `files[${filePlaces?.[Number(file[1])] ?? file[1]}]`
  return place.startsWith('variables') ? 'templateParameters' : (paths[place as NamedPlace] ?? place)
}

type NamedPlace = Exclude<Place, `variables${string}` | `files[${number}]`>

const paths: Record<NamedPlace, string> = {
  template: 'templateName',
  line: 'source',
  attendant: 'attendantUserName',
  wallet: 'contact.walletClientCode',
  // The unified API names segments by their wallet code alone.
  segment: 'contact.walletClientCode',
  text: 'text',
  what: 'text',
  subject: 'emailSubject',
  files: 'files',
  header: 'files',
  'header.value': 'files',
  idempotencyKey: 'Idempotency-Key',
  company: 'company',
}
