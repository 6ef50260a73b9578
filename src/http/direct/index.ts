/** The Direct Message API: one route per channel. */
import type { Surface } from '../server.ts'
import { bodyProblemOf, sendFault } from '../errors.ts'
import { readRawBodies } from '../read-body.ts'
import type { BodyBudget } from '../tracking.ts'
import { createChannelDoor, type DoorDeps } from './channel-door.ts'
import { sendFieldErrors } from './replies.ts'
import type { DirectRoute } from './route.ts'
import { createSend, type SendDeps } from './send.ts'
import { sendEmail } from './send-email.ts'
import { sendSms } from './send-sms.ts'
import { sendWhatsapp } from './send-whatsapp.ts'
import type { SharedIn } from './wire.ts'

export type DirectDeps = SendDeps & DoorDeps & { budget: BodyBudget; config: { maxBodyBytes: number } }

export const createDirectSurface =
  (deps: DirectDeps): Surface =>
  (scope) => {
    scope.setErrorHandler((error, _request, reply) =>
      bodyProblemOf(error) === undefined
        ? sendFault(reply, error, deps.log)
        : sendFieldErrors({ reply, isDryRun: false }, { body: ['must be of the type application/json'] }),
    )
    readRawBodies(scope, { budget: deps.budget, maxBytes: deps.config.maxBodyBytes })
    const add = <In extends SharedIn>(route: DirectRoute<In>) => {
      const door = createChannelDoor(deps, route.channel)
      scope.post(route.path, { onRequest: door.onRequest }, createSend(deps, door, route))
    }
    add(sendEmail)
    add(sendSms)
    add(sendWhatsapp)
  }
