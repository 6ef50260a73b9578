/** The unified API: login and send. */
import type { FastifyInstance } from 'fastify'
import type { TokenChecker } from '../../flows/check-tokens.ts'
import type { RateLimits } from '../../flows/limit-rates.ts'
import type { LogIn } from '../../flows/log-in.ts'
import type { AddressReader } from '../client-address.ts'
import { bodyProblemOf, sendFault } from '../errors.ts'
import { readRawBodies } from '../read-body.ts'
import type { Surface } from '../server.ts'
import type { BodyBudget } from '../tracking.ts'
import { createDoor } from '../door.ts'
import { createLogInRoute } from './log-in.ts'
import { sendBadRequest, sendUnauthorized } from './replies.ts'
import { createSendMessage, type SendMessageDeps } from './send-message.ts'

export type UnifiedDeps = Omit<SendMessageDeps, 'door'> & {
  tokens: TokenChecker
  limits: RateLimits
  logIn: LogIn
  addressOf: AddressReader
  budget: BodyBudget
  config: { maxSendBodyBytes: number; maxBodyBytes: number }
}

export const createUnifiedSurface =
  (deps: UnifiedDeps): Surface =>
  async (scope) => {
    scope.setErrorHandler((error, _request, reply) =>
      bodyProblemOf(error) === undefined
        ? sendFault(reply, error, deps.log)
        : sendBadRequest({ reply, isDryRun: false }, 'the body must be of the type application/json'),
    )
    await scope.register(async (login: FastifyInstance) => {
      readRawBodies(login, { budget: deps.budget, maxBytes: deps.config.maxBodyBytes })
      login.post('/v1/login', createLogInRoute(deps))
    })
    await scope.register(async (send: FastifyInstance) => {
      readRawBodies(send, { budget: deps.budget, maxBytes: deps.config.maxSendBodyBytes })
      const door = createDoor({ callers: deps.tokens.api, limits: deps.limits, sendUnauthorized })
      send.post('/v1/sendmessage', { onRequest: door.onRequest }, createSendMessage({ ...deps, door }))
    })
  }
