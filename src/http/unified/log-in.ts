/** `POST /v1/login` */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { LogIn } from '../../flows/log-in.ts'
import type { Log } from '../../lib/log.ts'
import { compileReader } from '../../lib/read-json.ts'
import { TooManyRequestsError } from '../../lib/unavailable.ts'
import type { AddressReader } from '../client-address.ts'
import { jsonType, sendError } from '../errors.ts'
import { parseJson } from '../parse-json.ts'
import { takeBody } from '../read-body.ts'
import { sendBadRequest, sendFieldErrors } from './replies.ts'
import { LoginIn } from './wire.ts'

const readLogin = compileReader(LoginIn)

export const createLogInRoute =
  (deps: { logIn: LogIn; addressOf: AddressReader; log: Log }) =>
  async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const context = { reply, isDryRun: false }
    reply.header('cache-control', 'no-store')
    const raw = takeBody(request)
    if (raw === 'too_large') return sendBadRequest(context, 'the body is too large')
    if (raw === 'media_type') return sendBadRequest(context, 'the body must be of the type application/json')
    const parsed = parseJson(raw)
    if (!parsed.ok) return sendBadRequest(context, parsed.message)
    const reading = readLogin(parsed.value)
    if (!reading.ok) return sendFieldErrors(context, reading.errors)

    const { Company: company, Username: username, Password: password } = reading.value
    const address = deps.addressOf(request.raw)
    const outcome = await deps.logIn({ company, username, password, address })
    switch (outcome.kind) {
      case 'logged_in':
        return reply
          .code(200)
          .header('content-type', jsonType)
          .send(
            `{"access_token":"${outcome.token}","expires_in":${outcome.expiresInSeconds},"refresh_token":"","token_type":"bearer"}`,
          )
      case 'refused':
        deps.log.info({ requestId: request.id, address }, 'login refused')
        return sendError(reply, 401, 'company, user or password is wrong')
      case 'locked':
        throw new TooManyRequestsError('too many refused logins, try again later', outcome.retryAfterSeconds)
    }
  }
