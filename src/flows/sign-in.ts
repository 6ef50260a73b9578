/** Sign-in of a person to the console: a new session, or one and the same refusal whatever was wrong. */
import { createHash } from 'node:crypto'
import { nameKey } from '../domain/channel.ts'
import type { Clock } from '../lib/clock.ts'
import { showId } from '../lib/ids.ts'
import { hashToken, newToken, passwordQueueLength, verifyPassword, type Sealer } from '../lib/secrets.ts'
import { matchTotp, recoveryKey } from '../lib/totp.ts'
import { TooManyRequestsError, UnavailableError } from '../lib/unavailable.ts'
import { recordAudit } from '../store/audit.ts'
import type { Db, Queryable } from '../store/db.ts'
import { lockedUntil, recordFailure, type FailureKeys } from '../store/login-failures.ts'
import {
  createSession,
  endSessionByHash,
  findConsoleUser,
  readPasswordHash,
  type ConsoleUser,
} from '../store/sessions.ts'
import { readTotp, useRecoveryCode, useTotpStep } from '../store/totp.ts'
import { asUnavailable } from './database-faults.ts'
import { failureKeys, lockoutLimits } from './log-in.ts'

export type SignInRequest = {
  company: string
  username: string
  password: string
  /** Of the authenticator app, or a recovery code. */
  code?: string
  address: string
  userAgent: string
  /** A session that the browser came with: it ends, so that nobody signs in into one that they were given. */
  formerToken?: string
}

export type SignInOutcome =
  | { kind: 'signed_in'; token: string; companyId: string; userId: string; expiresAt: Date }
  | { kind: 'refused' }
  /** The password was right, and a code is asked for. */
  | { kind: 'code_needed' }
  | { kind: 'locked'; retryAfterSeconds: number }

export type SignIn = (request: SignInRequest) => Promise<SignInOutcome>

/** A session ends after half a day of silence, and after a week whatever happens. */
export const sessionIdleMs = 12 * 3_600_000
export const sessionMaxMs = 7 * 24 * 3_600_000

const maxWaitingPasswords = 1000

type Deps = { db: Db; sealer: Sealer; clock: Clock }

export const createSignIn =
  (deps: Deps): SignIn =>
  async (request) => {
    try {
      return await signIn(deps, request)
    } catch (error) {
      throw asUnavailable(error)
    }
  }

async function signIn(deps: Deps, request: SignInRequest): Promise<SignInOutcome> {
  const { db, clock } = deps
  const keys = failureKeys(request)
  const lockedBefore = await lockedUntil(db, keys, lockoutLimits, clock.now())
  if (lockedBefore) return locked(lockedBefore, clock)
  if (passwordQueueLength() >= maxWaitingPasswords)
    throw new UnavailableError('too many logins are waiting', 5)

  const user = await findConsoleUser(db, nameKey(request.company), nameKey(request.username))
  const isRight = await verifyPassword(request.password, user?.passwordHash)
  if (user === undefined || !isRight || !user.canSignIn) return refuse(db, clock, keys)
  const lockedMeanwhile = await lockedUntil(db, keys, lockoutLimits, clock.now())
  if (lockedMeanwhile) return locked(lockedMeanwhile, clock)

  const codeKeys = keysOf('code', user.userId)
  const codeLocked = await lockedUntil(db, codeKeys, lockoutLimits, clock.now())
  if (codeLocked) return locked(codeLocked, clock)
  const verdict = await checkCode(deps, db, user, request.code)
  if (verdict === 'missing') return { kind: 'code_needed' }
  if (verdict === 'wrong') {
    // Six digits can be guessed from many addresses at once: they are counted for the user, too.
    await recordFailure(db, codeKeys, lockoutLimits, clock.now())
    return refuse(db, clock, keys)
  }
  return await open(deps, user, request)
}

async function open({ db, clock }: Deps, user: ConsoleUser, request: SignInRequest): Promise<SignInOutcome> {
  const token = newToken()
  const now = clock.now()
  const expiresAt = new Date(now.getTime() + sessionMaxMs)
  await db.transaction(async (transaction) => {
    if (request.formerToken !== undefined) await endSessionByHash(transaction, hashToken(request.formerToken))
    await createSession(transaction, {
      companyId: user.companyId,
      userId: user.userId,
      hash: hashToken(token),
      now,
      expiresAt,
      address: request.address,
      userAgent: request.userAgent,
    })
    await recordAudit(transaction, {
      companyId: user.companyId,
      actor: user.name,
      action: 'sign_in',
      noun: 'session',
      nounId: showId('usr', user.userId),
      detail: { address: request.address },
    })
  })
  return { kind: 'signed_in', token, companyId: user.companyId, userId: user.userId, expiresAt }
}

export type CodeVerdict = 'right' | 'missing' | 'wrong'

/** Right as well when the user has no second factor. A code is used up by this. */
export async function checkCode(
  { sealer, clock }: Pick<Deps, 'sealer' | 'clock'>,
  db: Queryable,
  user: { companyId: string; userId: string },
  code: string | undefined,
): Promise<CodeVerdict> {
  const totp = await readTotp(db, sealer, user.companyId, user.userId)
  if (totp === undefined || !totp.isConfirmed) return 'right'
  if (code === undefined || code.trim() === '') return 'missing'
  const step = matchTotp(totp.secret, code.replaceAll(/\s/g, ''), clock.now())
  if (step !== undefined)
    return (await useTotpStep(db, user.companyId, user.userId, step)) ? 'right' : 'wrong'
  const isRecovery = await useRecoveryCode(db, user.companyId, user.userId, hashToken(recoveryKey(code)))
  return isRecovery ? 'right' : 'wrong'
}

const keysOf = (what: string, userId: string): FailureKeys => {
  const key = createHash('sha256').update(`${what} ${userId}`).digest()
  return { triple: key, address: key }
}

/** Somebody who sits down at an open session may not guess its password for as long as they like. */
export async function checkOwnPassword(
  { db, clock }: Pick<Deps, 'db' | 'clock'>,
  user: { companyId: string; userId: string },
  password: string,
): Promise<boolean> {
  const keys = keysOf('password', user.userId)
  const until = await lockedUntil(db, keys, lockoutLimits, clock.now())
  if (until) throw tooMany(until, clock)
  if (await verifyPassword(password, await readPasswordHash(db, user.companyId, user.userId))) return true
  const lockedNow = await recordFailure(db, keys, lockoutLimits, clock.now())
  if (lockedNow) throw tooMany(lockedNow, clock)
  return false
}

const tooMany = (until: Date, clock: Clock) =>
  new TooManyRequestsError('too many wrong passwords, try again later', secondsUntil(until, clock))

async function refuse(db: Db, clock: Clock, keys: FailureKeys): Promise<SignInOutcome> {
  const until = await recordFailure(db, keys, lockoutLimits, clock.now())
  return until ? locked(until, clock) : { kind: 'refused' }
}

const locked = (until: Date, clock: Clock): SignInOutcome => ({
  kind: 'locked',
  retryAfterSeconds: secondsUntil(until, clock),
})

const secondsUntil = (until: Date, clock: Clock): number =>
  Math.max(1, Math.ceil((until.getTime() - clock.now().getTime()) / 1000))
