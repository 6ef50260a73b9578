/**
 * The door of both APIs. Who calls is looked up in the database when the headers are here, before a byte of the body
 * is read. A caller whom this process has seen before is let in on that memory, with a body that is small: the
 * accepting transaction proves it, since it finds the token alive and nothing about the company changed since. What is
 * answered without that transaction is answered after a look. So a token that was replaced is dead at once, and the
 * look-up, a round trip for every request, is spared where it would tell nothing new.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Outcome } from '../domain/outcome.ts'
import type { CallerLook } from '../flows/check-tokens.ts'
import type { RateLimits } from '../flows/limit-rates.ts'
import type { Sender } from '../flows/submission.ts'
import { TooManyRequestsError } from '../lib/unavailable.ts'
import { bearerToken } from './bearer.ts'
import { isJsonType } from './read-body.ts'

/** What to answer. `isProven`: the accepting transaction has seen who calls. */
export type Answer = { isProven: boolean; send(): FastifyReply }

export const proven = (send: () => FastifyReply): Answer => ({ isProven: true, send })
/** Judged by the request alone. */
export const unproven = (send: () => FastifyReply): Answer => ({ isProven: false, send })

export type AnsweredOutcome = Exclude<Outcome, { kind: 'unproven' }>

/** Before a caller that was recalled has something stored. */
export const lookFirst = unproven(() => {
  throw new Error('The caller was looked up and is unproven still.')
})

/** What the accepting transaction says, unless it says that the caller has to be looked up. */
export const answerOutcome = (outcome: Outcome, send: (outcome: AnsweredOutcome) => FastifyReply): Answer =>
  outcome.kind === 'unproven' ? lookFirst : proven(() => send(outcome))

export type Door<Caller> = {
  onRequest(request: FastifyRequest, reply: FastifyReply, next: (error?: Error) => void): void
  /** Runs a second time when the first answer needs a caller who was looked up. */
  answer(
    request: FastifyRequest,
    reply: FastifyReply,
    work: (caller: Caller) => Promise<Answer>,
  ): Promise<FastifyReply>
}

export type DoorOptions<Caller> = {
  callers: CallerLook<Caller>
  limits: RateLimits
  sendUnauthorized(reply: FastifyReply): FastifyReply
  /** What else a known caller may lack. */
  refusalOf?(caller: Caller, request: FastifyRequest): ((reply: FastifyReply) => FastifyReply) | undefined
}

const maxRecalledBodyBytes = 64 * 1024

const visitorKey = Symbol('visitor')
type Visitor<Caller> = { token: string; caller: Caller }

export function createDoor<Caller extends { sender: Sender }>({
  callers,
  limits,
  sendUnauthorized,
  refusalOf = () => undefined,
}: DoorOptions<Caller>): Door<Caller> {
  type WithVisitor = FastifyRequest & { [visitorKey]?: Visitor<Caller> }

  /** Undefined: was refused, and told so. */
  const lookUp = async (
    token: string,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<Caller | undefined> => {
    const caller = await callers.lookUp(token)
    const refusal = caller === undefined ? sendUnauthorized : refusalOf(caller, request)
    if (refusal === undefined) return caller
    refusal(reply)
    return undefined
  }

  const letIn = (request: FastifyRequest, visitor: Visitor<Caller>): Error | undefined => {
    if (!limits.admitSender(visitor.caller.sender)) return new TooManyRequestsError('too many requests', 1)
    ;(request as WithVisitor)[visitorKey] = visitor
    return undefined
  }

  const lookUpAndLetIn = async (
    token: string,
    request: FastifyRequest,
    reply: FastifyReply,
    next: (error?: Error) => void,
  ): Promise<void> => {
    let fault: Error | undefined
    try {
      const caller = await lookUp(token, request, reply)
      if (caller === undefined) return
      fault = letIn(request, { token, caller })
    } catch (error) {
      fault = error as Error
    }
    next(fault)
  }

  return {
    onRequest(request, reply, next) {
      const token = bearerToken(request.raw.headers.authorization)
      if (token === undefined) return void sendUnauthorized(reply)
      const recalled = mayBeRecalled(request) ? callers.recall(token) : undefined
      if (recalled !== undefined && refusalOf(recalled, request) === undefined)
        return next(letIn(request, { token, caller: recalled }))
      void lookUpAndLetIn(token, request, reply, next)
      return undefined
    },

    async answer(request, reply, work) {
      const visitor = (request as WithVisitor)[visitorKey]
      if (visitor === undefined) throw new Error('The route has no door in front of it.')
      let { caller } = visitor
      for (;;) {
        const answer = await work(caller)
        if (answer.isProven || !isRecalled(caller)) return answer.send()
        const found = await lookUp(visitor.token, request, reply)
        if (found === undefined) return reply
        caller = found
      }
    },
  }
}

export const isRecalled = ({ sender }: { sender: Sender }): boolean =>
  sender.kind !== 'console_user' && sender.recalledAtVersion !== undefined

/** Small, of a kind that will be read, and meant to be sent: then the accepting transaction is where it goes. */
function mayBeRecalled({ raw: { headers } }: FastifyRequest): boolean {
  const length = headers['content-length']
  return (
    length !== undefined &&
    Number(length) <= maxRecalledBodyBytes &&
    headers['pombo-dry-run'] === undefined &&
    headers['content-encoding'] === undefined &&
    isJsonType(headers['content-type'])
  )
}
