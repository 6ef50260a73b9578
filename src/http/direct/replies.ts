/** Outcomes as the Direct Message API words them. */
import type { FastifyReply } from 'fastify'
import type { Outcome, Verdict } from '../../domain/outcome.ts'
import { showId } from '../../lib/ids.ts'
import type { FieldErrors } from '../../lib/read-json.ts'
import type { AnsweredOutcome } from '../door.ts'
import { jsonType, sendError } from '../errors.ts'

export type ReplyContext = { reply: FastifyReply; isDryRun: boolean }

/** Problems of a request are worded by its route, which knows the paths of its fields: see `send.ts`. */
export type WordedOutcome = Exclude<AnsweredOutcome, { kind: 'invalid' }>

const results = {
  accepted: 'message is being processed',
  not_sent: 'message validated but not sent: no sending service is configured for the channel',
} as const

export function sendOutcome(context: ReplyContext, outcome: WordedOutcome): FastifyReply {
  const { reply } = context
  switch (outcome.kind) {
    case 'accepted':
      return sendResult(context, 202, outcome)
    case 'not_sent':
      return sendResult(context, 200, outcome)
    case 'refused':
      return sendConflicts(context, outcome.verdicts)
    case 'key_reused':
      return sendFieldErrors(context, { 'Idempotency-Key': ['was used before with another body'] })
    case 'unauthorized':
      return sendUnauthorized(reply)
    case 'suspended':
      return sendForbidden(reply)
    case 'unavailable':
      reply.header('retry-after', String(outcome.retryAfterSeconds))
      return sendError(reply, 503, 'the message was not taken, try again')
    case 'failed':
      return sendError(reply, 500, 'internal error')
  }
}

function sendResult(
  context: ReplyContext,
  status: 200 | 202,
  outcome: Extract<Outcome, { kind: 'accepted' | 'not_sent' }>,
): FastifyReply {
  const { reply } = context
  reply.header('x-request-id', outcome.requestId)
  if (outcome.isReplay) reply.header('idempotency-replayed', 'true')
  if (outcome.messageId !== null) reply.header('pombo-message-id', showId('msg', outcome.messageId))
  return send(reply, status, { result: results[outcome.kind], ...verdictPart(context, outcome.verdicts) })
}

/** Only what refuses is a conflict: a rule that would have delayed the message does not stand in its way. */
function sendConflicts(context: ReplyContext, verdicts: Verdict[]): FastifyReply {
  const conflicts = verdicts
    .filter((verdict) => !verdict.passed && verdict.action !== 'defer')
    .map((verdict) => verdict.reason ?? verdict.rule)
  return sendRefusal(context, 409, 'message not sent: blocked by the rules of the company', {
    errors: {},
    conflicts,
    verdicts,
  })
}

/** The message names the fields, so that a log of messages alone tells what to mend. */
export function sendFieldErrors(
  context: ReplyContext,
  errors: FieldErrors,
  verdicts: Verdict[] = [],
): FastifyReply {
  const [first, ...others] = Object.entries(errors)
  const more = others.length > 0 ? `; also wrong: ${others.map(([path]) => path).join(', ')}` : ''
  const message = first === undefined ? 'the request is not valid' : `${first[0]}: ${first[1][0]}${more}`
  return sendRefusal(context, 422, message, { errors, conflicts: [], verdicts })
}

const sendRefusal = (
  context: ReplyContext,
  status: 409 | 422,
  message: string,
  parts: { errors: FieldErrors; conflicts: string[]; verdicts: Verdict[] },
): FastifyReply =>
  send(context.reply, status, {
    message,
    errors: parts.errors,
    record_errors: [],
    conflicts: parts.conflicts,
    requestId: context.reply.request.id,
    ...verdictPart(context, parts.verdicts),
  })

export const sendUnauthorized = (reply: FastifyReply): FastifyReply =>
  reply.code(401).header('www-authenticate', 'Bearer').header('content-length', '0').send()

export const sendForbidden = (reply: FastifyReply): FastifyReply =>
  reply.code(403).header('content-length', '0').send()

const send = (reply: FastifyReply, status: number, body: object): FastifyReply =>
  reply.code(status).header('content-type', jsonType).send(JSON.stringify(body))

function verdictPart({ isDryRun }: ReplyContext, verdicts: Verdict[]): { verdict?: object[] } {
  if (!isDryRun) return {}
  return {
    verdict: verdicts.map(({ rule, passed, reason, matched, nextAllowedAt }) => ({
      rule,
      passed,
      reason,
      matched,
      nextAllowedAt,
    })),
  }
}
