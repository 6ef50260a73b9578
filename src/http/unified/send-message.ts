/** `POST /v1/sendmessage`, after the token: the order of the checks is part of the contract. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { AcceptMessage, Submission } from '../../flows/submission.ts'
import type { StoreAttachments } from '../../flows/store-attachments.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import type { FieldErrors } from '../../lib/read-json.ts'
import { rememberHashes } from '../../lib/remember-hashes.ts'
import type { ApiCaller } from '../../flows/check-tokens.ts'
import { answerOutcome, isRecalled, lookFirst, unproven, type Answer, type Door } from '../door.ts'
import type { ReadBody } from '../large-bodies.ts'
import { takeBody } from '../read-body.ts'
import { readSendHeaders } from '../send-headers.ts'
import { isPrivateToken } from './private-token.ts'
import { noTextMessage, sendBadRequest, sendFieldErrors, sendOutcome, type ReplyContext } from './replies.ts'
import { toSendRequest } from './to-send-request.ts'

export type SendMessageDeps = {
  door: Door<ApiCaller>
  accept: AcceptMessage
  storeAttachments: StoreAttachments
  readBody: ReadBody
  clock: Clock
  log: Log
}

/** Idempotency keys are kept per company and route. */
const route = '/v1/sendmessage'

const tokenError: FieldErrors = { platformPrivateToken: ['is not the private token of this account'] }

export function createSendMessage(deps: SendMessageDeps) {
  const hashOf = rememberHashes()
  const work = async (request: FastifyRequest, reply: FastifyReply, caller: ApiCaller): Promise<Answer> => {
    const headers = readSendHeaders(request.raw.headers)
    const context: ReplyContext = { reply, isDryRun: headers.isDryRun }
    const raw = takeBody(request)
    const refuse = (message: string) => unproven(() => sendBadRequest(context, message))
    if (raw === 'too_large') return refuse('the body is too large')
    if (raw === 'media_type') return refuse('the body must be of the type application/json')

    const isKeyed = headers.idempotencyKey !== undefined && !headers.isDryRun
    const read = await deps.readBody(raw, isKeyed)
    if (read.kind === 'not_an_object') return refuse(read.message)
    if (read.kind === 'no_text') return refuse(noTextMessage)
    const { privateToken } = read
    if (typeof privateToken !== 'string' || !isPrivateToken(hashOf(privateToken), caller, deps.clock.now()))
      return unproven(() => sendFieldErrors(context, tokenError))

    const translation = toSendRequest(read.body, read.files, read.filePlaces, read.errors)
    if (headers.errors !== undefined || !translation.ok) {
      const errors = { ...(translation.ok ? {} : translation.errors), ...headers.errors }
      return unproven(() => {
        const fields = Object.keys(errors).slice(0, 50)
        deps.log.info({ requestId: request.id, companyId: caller.companyId, fields }, 'bad request')
        return sendFieldErrors(context, errors)
      })
    }
    if (read.filePlaces !== undefined) context.filePlaces = read.filePlaces
    if (!headers.isDryRun && translation.attachments.length > 0) {
      if (isRecalled(caller)) return lookFirst
      await deps.storeAttachments(caller.companyId, translation.attachments)
    }

    const submission: Submission = {
      sender: caller.sender,
      request: translation.request,
      requestId: request.id,
      isDryRun: headers.isDryRun,
    }
    if (isKeyed)
      submission.idempotency = { route, key: headers.idempotencyKey!, bodyHash: Buffer.from(read.bodyHash!) }
    return answerOutcome(await deps.accept(submission), (outcome) => sendOutcome(context, outcome))
  }
  return (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> =>
    deps.door.answer(request, reply, (caller) => work(request, reply, caller))
}
