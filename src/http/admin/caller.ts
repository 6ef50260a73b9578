/** Who calls the admin API: a person by the cookie of a session, or a program by a key. */
import type { IncomingMessage } from 'node:http'
import { sessionIdleMs } from '../../flows/sign-in.ts'
import { hashToken } from '../../lib/secrets.ts'
import { findAdminKey, type KeyScope } from '../../store/admin-keys.ts'
import { findSession, touchSession } from '../../store/sessions.ts'
import type { UserRole } from '../../store/users.ts'
import { bearerToken } from '../bearer.ts'
import type { AdminDeps } from './deps.ts'

export type ConsoleRole = Exclude<UserRole, 'api'>

export type Caller =
  | {
      kind: 'user'
      companyId: string
      companyName: string
      userId: string
      name: string
      role: ConsoleRole
      sessionId: string
    }
  | {
      kind: 'key'
      companyId: string
      keyId: string
      name: string
      /** As which a key counts; none with the scope `messages:own` alone. */
      role: ConsoleRole | undefined
      /** Whose messages it may read by `messages:own`. */
      ownUserId: string | undefined
    }

/** As the audit log names them. */
export const actorOf = (caller: Caller): string =>
  caller.kind === 'user' ? caller.name : `key ${caller.name}`

export const isSecure = ({ consoleUrl }: Pick<AdminDeps, 'consoleUrl'>): boolean =>
  consoleUrl.startsWith('https:')

/** The prefix makes browsers insist on HTTPS, this very host and the whole path. */
export const cookieName = (deps: Pick<AdminDeps, 'consoleUrl'>): string =>
  isSecure(deps) ? '__Host-pombo_session' : 'pombo_session'

export function sessionToken(deps: Pick<AdminDeps, 'consoleUrl'>, req: IncomingMessage): string | undefined {
  const name = `${cookieName(deps)}=`
  for (const part of (req.headers.cookie ?? '').split(';')) {
    const cookie = part.trim()
    if (cookie.startsWith(name) && /^[\w-]{43}$/.test(cookie.slice(name.length)))
      return cookie.slice(name.length)
  }
  return undefined
}

export function sessionCookie(
  deps: Pick<AdminDeps, 'consoleUrl'>,
  token: string,
  maxAgeSeconds: number,
): string {
  const secure = isSecure(deps) ? '; Secure' : ''
  return `${cookieName(deps)}=${token}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${maxAgeSeconds}${secure}`
}

const touchEveryMs = 60_000

export async function findCaller(deps: AdminDeps, req: IncomingMessage): Promise<Caller | undefined> {
  const { authorization } = req.headers
  if (authorization !== undefined) return await findKeyCaller(deps, bearerToken(authorization))
  const token = sessionToken(deps, req)
  if (token === undefined) return undefined
  const now = deps.clock.now()
  const owner = await findSession(deps.db, hashToken(token), now, sessionIdleMs)
  if (owner === undefined || owner.role === 'api') return undefined
  if (now.getTime() - owner.seenAt.getTime() > touchEveryMs) await touchSession(deps.db, owner.sessionId, now)
  const { companyId, companyName, userId, role, sessionId } = owner
  return { kind: 'user', companyId, companyName, userId, name: owner.userName, role, sessionId }
}

async function findKeyCaller(deps: AdminDeps, key: string | undefined): Promise<Caller | undefined> {
  const owner = key === undefined ? undefined : await findAdminKey(deps.db, hashToken(key))
  if (owner === undefined) return undefined
  const { keyId, companyId, name, scopes, userId } = owner
  return {
    kind: 'key',
    companyId,
    keyId,
    name,
    role: roleOf(scopes),
    ownUserId: scopes.includes('messages:own') && userId !== null ? userId : undefined,
  }
}

const roleOf = (scopes: readonly KeyScope[]): ConsoleRole | undefined =>
  scopes.includes('manage') ? 'administrator' : scopes.includes('read') ? 'viewer' : undefined

/**
 * A browser sends its cookie along whoever asked it to. SameSite=Strict stops other sites; a header that no form can
 * send, and an Origin that must be ours, stop what gets around it.
 */
export function isForeign(deps: Pick<AdminDeps, 'consoleUrl'>, req: IncomingMessage): string | undefined {
  const { headers } = req
  if (headers['x-pombo-console'] === undefined)
    return 'changes need the header X-Pombo-Console when they come with a cookie'
  if (headers['sec-fetch-site'] !== undefined && !/^(same-origin|none)$/.test(headers['sec-fetch-site']))
    return 'the request comes from another site'
  const { origin } = headers
  if (origin === undefined) return undefined
  const isOurs = origin === new URL(deps.consoleUrl).origin || hostOf(origin) === headers.host
  return isOurs ? undefined : 'the request comes from another site'
}

const hostOf = (origin: string): string | undefined =>
  URL.canParse(origin) ? new URL(origin).host : undefined
