/** The Direct Message API: one route per channel. */
import type { Surface } from '../server.ts'
import { bodyProblemOf, sendFault } from '../errors.ts'
import { readRawBodies } from '../read-body.ts'
import type { BodyBudget } from '../tracking.ts'
import { createAuth, type AuthDeps } from './auth.ts'
import { sendFieldErrors } from './replies.ts'
import { createSend, type SendDeps } from './send.ts'
import { sendEmail } from './send-email.ts'
import { sendSms } from './send-sms.ts'
import { sendWhatsapp } from './send-whatsapp.ts'

export type DirectDeps = SendDeps & AuthDeps & { budget: BodyBudget; config: { maxBodyBytes: number } }

export const createDirectSurface =
  (deps: DirectDeps): Surface =>
  (scope) => {
    scope.setErrorHandler((error, _request, reply) =>
      bodyProblemOf(error) === undefined
        ? sendFault(reply, error, deps.log)
        : sendFieldErrors({ reply, isDryRun: false }, { body: ['must be of the type application/json'] }),
    )
    readRawBodies(scope, { budget: deps.budget, maxBytes: deps.config.maxBodyBytes })
    scope.post(sendEmail.path, { onRequest: createAuth(deps, 'email') }, createSend(deps, sendEmail))
    scope.post(sendSms.path, { onRequest: createAuth(deps, 'sms') }, createSend(deps, sendSms))
    scope.post(sendWhatsapp.path, { onRequest: createAuth(deps, 'whatsapp') }, createSend(deps, sendWhatsapp))
  }
