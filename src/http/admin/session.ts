/** Signing in and out, and who one is. Signing in is the only route that asks for nothing; see `index.ts`. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { sessionMaxMs } from '../../flows/sign-in.ts'
import { showId } from '../../lib/ids.ts'
import { compileReader } from '../../lib/read-json.ts'
import { hashToken } from '../../lib/secrets.ts'
import { TooManyRequestsError } from '../../lib/unavailable.ts'
import { recordAudit } from '../../store/audit.ts'
import { endSessionByHash } from '../../store/sessions.ts'
import { parseJson } from '../parse-json.ts'
import { takeBody } from '../read-body.ts'
import { findCaller, isForeign, sessionCookie, sessionToken } from './caller.ts'
import type { AdminDeps } from './deps.ts'
import { permissionsOf } from './permissions.ts'
import { done, forbidden, invalid, invalidFields, send } from './replies.ts'
import { read, type Route } from './route.ts'
import { optionalText, text } from './wire.ts'

export const SignInBody = Type.Object({
  company: text('The company, as it is registered.'),
  username: text('A person of the console.'),
  password: text('Their password.', 1000),
  code: optionalText('Of the authenticator app, or a recovery code; when a second factor is set up.', 50),
})
const readSignIn = compileReader(SignInBody)

/** 401 with `errors.code` when the password was right and a code is asked for. */
export const signInRoute =
  (deps: AdminDeps) =>
  async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const foreign = isForeign(deps, request.raw)
    if (foreign !== undefined) return send(reply, forbidden(foreign))
    const bytes = takeBody(request)
    if (typeof bytes === 'string')
      return send(
        reply,
        invalid({
          field: 'body',
          message: bytes === 'too_large' ? 'is too large' : 'must be of the type application/json',
        }),
      )
    const parsed = parseJson(bytes)
    if (!parsed.ok)
      return send(reply, invalid({ field: 'body', message: parsed.message.replace(/^the body /, '') }))
    const reading = readSignIn(parsed.value)
    if (!reading.ok) return send(reply, invalidFields(reading.errors))
    const address = deps.addressOf(request.raw)
    const outcome = await deps.signIn({
      ...reading.value,
      address,
      userAgent: request.headers['user-agent'] ?? '',
      formerToken: sessionToken(deps, request.raw),
    })
    switch (outcome.kind) {
      case 'signed_in':
        reply.header('set-cookie', sessionCookie(deps, outcome.token, sessionMaxMs / 1000))
        return send(reply, done({ userId: showId('usr', outcome.userId), expiresAt: outcome.expiresAt }))
      case 'code_needed':
        return send(reply, {
          kind: 'refused',
          status: 401,
          message: 'a code is needed',
          errors: { code: ['is required'] },
        })
      case 'refused':
        deps.log.info({ requestId: request.id, address }, 'sign-in refused')
        return send(reply, {
          kind: 'refused',
          status: 401,
          message: 'company, user, password or code is wrong',
        })
      case 'locked':
        throw new TooManyRequestsError(
          'too many refused sign-ins, try again later',
          outcome.retryAfterSeconds,
        )
    }
  }

/** Works without a session as well: a browser that signs out wants to be rid of its cookie. */
export const signOutRoute =
  (deps: AdminDeps) =>
  async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const foreign = isForeign(deps, request.raw)
    if (foreign !== undefined) return send(reply, forbidden(foreign))
    const token = sessionToken(deps, request.raw)
    const caller = token === undefined ? undefined : await findCaller(deps, request.raw)
    if (token !== undefined && caller?.kind === 'user')
      await deps.db.transaction(async (transaction) => {
        await endSessionByHash(transaction, hashToken(token))
        await recordAudit(transaction, {
          companyId: caller.companyId,
          actor: caller.name,
          action: 'sign_out',
          noun: 'session',
          nounId: showId('usr', caller.userId),
        })
      })
    reply.header('set-cookie', sessionCookie(deps, '', 0))
    return send(reply, { kind: 'done', status: 204 })
  }

const WhoOut = Type.Object({
  kind: Type.String({ description: '`user` or `key`.' }),
  name: Type.String(),
  role: Type.Union([Type.String(), Type.Null()]),
  company: Type.Object({ id: Type.String(), name: Type.Optional(Type.String()) }),
  permissions: Type.Array(Type.String(), { description: 'Every route that may be called: `GET /users` …' }),
})

export const sessionRoutes: Route[] = [
  read({
    method: 'GET',
    path: '/session',
    summary: 'Who am I, and what may I do',
    answer: WhoOut,
    async handle({ caller }) {
      return done({
        kind: caller.kind,
        name: caller.name,
        ...(caller.kind === 'user' && { userId: showId('usr', caller.userId) }),
        role: caller.role ?? null,
        company: {
          id: showId('cmp', caller.companyId),
          ...(caller.kind === 'user' && { name: caller.companyName }),
        },
        permissions: permissionsOf(caller),
      })
    },
  }),
]
