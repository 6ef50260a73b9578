/** Login of an API user: a new token that replaces the old one, or one and the same refusal whatever was wrong. */
import { createHash } from 'node:crypto'
import { nameKey } from '../domain/channel.ts'
import type { Clock } from '../lib/clock.ts'
import { hashToken, newToken, passwordQueueLength, verifyPassword } from '../lib/secrets.ts'
import { UnavailableError } from '../lib/unavailable.ts'
import { findApiUser, replaceApiToken } from '../store/api-tokens.ts'
import type { Db } from '../store/db.ts'
import { asUnavailable } from './database-faults.ts'
import { lockedUntil, recordFailure, type FailureKeys, type LockoutLimits } from '../store/login-failures.ts'

export type LogInRequest = { company: string; username: string; password: string; address: string }

export type LogInOutcome =
  | { kind: 'logged_in'; token: string; expiresInSeconds: number }
  | { kind: 'refused' }
  | { kind: 'locked'; retryAfterSeconds: number }

export type LogIn = (request: LogInRequest) => Promise<LogInOutcome>

export const lockoutLimits: LockoutLimits = { perTriple: 10, perAddress: 50, windowMs: 5 * 60_000 }

/** A password takes about 30 ms, two at a time: past this many the last would wait for a quarter of a minute. */
const maxWaitingPasswords = 1000

export const createLogIn =
  (deps: { db: Db; clock: Clock }): LogIn =>
  async (request) => {
    try {
      return await logIn(deps, request)
    } catch (error) {
      throw asUnavailable(error)
    }
  }

async function logIn({ db, clock }: { db: Db; clock: Clock }, request: LogInRequest): Promise<LogInOutcome> {
  const keys = failureKeys(request)
  const lockedBefore = await lockedUntil(db, keys, lockoutLimits, clock.now())
  if (lockedBefore) return locked(lockedBefore, clock)
  if (passwordQueueLength() >= maxWaitingPasswords)
    throw new UnavailableError('too many logins are waiting', 5)

  const user = await findApiUser(db, nameKey(request.company), nameKey(request.username))
  // The same work for everybody: an unknown company or user is as slow as a wrong password.
  const isRight = await verifyPassword(request.password, user?.passwordHash)
  if (user === undefined || !isRight || !user.canLogIn) return refuse(db, clock, keys)

  // Guesses that waited together with those that filled the window learn nothing, not even that they were right.
  const lockedMeanwhile = await lockedUntil(db, keys, lockoutLimits, clock.now())
  if (lockedMeanwhile) return locked(lockedMeanwhile, clock)
  const token = newToken('pat_')
  const issuedAt = clock.now()
  const hasToken = await replaceApiToken(db, user, {
    hash: hashToken(token),
    issuedAt,
    expiresAt: new Date(issuedAt.getTime() + user.tokenTtlSeconds * 1000),
  })
  if (!hasToken) return refuse(db, clock, keys)
  return { kind: 'logged_in', token, expiresInSeconds: user.tokenTtlSeconds }
}

async function refuse(db: Db, clock: Clock, keys: FailureKeys): Promise<LogInOutcome> {
  const until = await recordFailure(db, keys, lockoutLimits, clock.now())
  return until ? locked(until, clock) : { kind: 'refused' }
}

const locked = (until: Date, clock: Clock): LogInOutcome => ({
  kind: 'locked',
  retryAfterSeconds: Math.max(1, Math.ceil((until.getTime() - clock.now().getTime()) / 1000)),
})

export function failureKeys({
  company,
  username,
  address,
}: Pick<LogInRequest, 'company' | 'username' | 'address'>): FailureKeys {
  const hash = (parts: string[]) => createHash('sha256').update(JSON.stringify(parts)).digest()
  return { triple: hash([nameKey(company), nameKey(username), address]), address: hash([address]) }
}
