/** The admin API: who calls is judged when the headers are here, before a byte of the body is read. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { asUnavailable } from '../../flows/database-faults.ts'
import { bodyProblemOf, sendFault } from '../errors.ts'
import { readRawBodies } from '../read-body.ts'
import type { Surface } from '../server.ts'
import { findCaller, isForeign, type Caller } from './caller.ts'
import type { AdminDeps } from './deps.ts'
import { isAllowed, permissions, type Permission } from './permissions.ts'
import { forbidden, invalid, send } from './replies.ts'
import type { Route } from './route.ts'
import { routes } from './routes.ts'
import { signInRoute, signOutRoute } from './session.ts'

export const prefix = '/admin/v1'

const callerKey = Symbol('caller')
type WithCaller = FastifyRequest & { [callerKey]?: Caller }

/** The largest file that the media library takes, and some room. */
const maxMediaBytes = 26 * 1024 * 1024

export const createAdminSurface =
  (deps: AdminDeps): Surface =>
  async (scope) => {
    scope.setErrorHandler((error, _request, reply) =>
      bodyProblemOf(error) === undefined
        ? sendFault(reply, isOfDatabase(error) ? asUnavailable(error) : error, deps.log)
        : send(reply, invalid({ field: 'body', message: 'must be of the type application/json' })),
    )
    const ofKind = (kind: 'json' | 'bytes' | 'stream') =>
      routes.filter((route) => (route.bodyKind ?? 'json') === kind)
    await scope.register(async (json: FastifyInstance) => {
      readRawBodies(json, { budget: deps.budget, maxBytes: deps.config.maxBodyBytes })
      json.post(`${prefix}/session`, signInRoute(deps))
      json.delete(`${prefix}/session`, signOutRoute(deps))
      for (const route of ofKind('json')) mount(json, deps, route)
    })
    await scope.register(async (bytes: FastifyInstance) => {
      readRawBodies(bytes, { budget: deps.budget, maxBytes: maxMediaBytes, isWanted: () => true })
      for (const route of ofKind('bytes')) mount(bytes, deps, route)
    })
    await scope.register(async (stream: FastifyInstance) => {
      stream.removeAllContentTypeParsers()
      stream.addContentTypeParser(
        '*',
        (_request: FastifyRequest, payload: unknown, done: (error: null, body: unknown) => void) =>
          done(null, payload),
      )
      for (const route of ofKind('stream')) mount(stream, deps, route)
    })
  }

/** Errors of the driver have a code, or one of these texts; any other is a fault of ours and stays one. */
const isOfDatabase = (error: unknown): boolean =>
  error instanceof Error &&
  ('severity' in error ||
    'errno' in error ||
    /^(Connection terminated|timeout e|Query read timeout|connect E)/i.test(error.message))

function mount(scope: FastifyInstance, deps: AdminDeps, route: Route): void {
  const permission = permissions[`${route.method} ${route.path}`]
  if (permission === undefined)
    throw new Error(`${route.method} ${route.path} has no line in permissions.ts.`)
  scope.route({
    method: route.method,
    url: prefix + route.path,
    onRequest: createDoor(deps, route, permission),
    // Imports may be larger than any other body; they are counted as they are stored.
    ...(route.bodyKind === 'stream' && { bodyLimit: Number.MAX_SAFE_INTEGER }),
    async handler(request, reply) {
      const answer = await route.run(deps, callerOf(request), request, reply)
      return answer.kind === 'sent' ? reply : send(reply, answer)
    },
  })
}

const createDoor =
  (deps: AdminDeps, route: Route, permission: Permission) =>
  async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> => {
    const caller = await findCaller(deps, request.raw)
    if (caller === undefined)
      return send(reply, { kind: 'refused', status: 401, message: 'sign in, or give a key' })
    if (caller.kind === 'user' && route.method !== 'GET') {
      const foreign = isForeign(deps, request.raw)
      if (foreign !== undefined) return send(reply, forbidden(foreign))
    }
    if (!isAllowed(caller, permission)) return send(reply, forbidden('your role does not allow this'))
    ;(request as WithCaller)[callerKey] = caller
    return undefined
  }

function callerOf(request: FastifyRequest): Caller {
  const caller = (request as WithCaller)[callerKey]
  if (caller === undefined) throw new Error('The route has no door in front of it.')
  return caller
}
