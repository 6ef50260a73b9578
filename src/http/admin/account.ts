/** One's own account: password, second factor, sessions. For people only, never for keys. */
import { Type } from 'typebox'
import { checkCode, checkOwnPassword } from '../../flows/sign-in.ts'
import { showId } from '../../lib/ids.ts'
import { hashToken } from '../../lib/secrets.ts'
import { matchTotp, newRecoveryCodes, newTotpSecret, recoveryKey, totpUrl } from '../../lib/totp.ts'
import { endSession, endSessions, listSessions } from '../../store/sessions.ts'
import { beginTotp, readTotp, removeTotp, saveRecoveryCodes, useTotpStep } from '../../store/totp.ts'
import { changePassword } from '../../store/users.ts'
import type { Caller } from './caller.ts'
import { changed, conflict, done, invalid, notFound, unlessSaved } from './replies.ts'
import { change, read, type Call, type Route } from './route.ts'
import { idOf, instant, optionalText, text } from './wire.ts'
import type { TObject } from 'typebox'

type Person = Extract<Caller, { kind: 'user' }>

/** The permission table lets no key come here. */
function personOf(caller: Caller): Person {
  if (caller.kind !== 'user') throw new Error('Only people have an account.')
  return caller
}

/** Outside of the change's transaction, which a wrong password rolls back: the guess is counted all the same. */
const isPasswordRight = (
  { deps, caller }: Pick<Call<TObject, TObject>, 'deps' | 'caller'>,
  password: string,
): Promise<boolean> => checkOwnPassword(deps, personOf(caller), password)

const wrongPassword = invalid({ field: 'currentPassword', message: 'is wrong' })
const currentPassword = text('The password of now.', 1000)

const SessionOut = Type.Object({
  id: idOf('ses', 'The session.'),
  createdAt: instant('When it began.'),
  seenAt: instant('When it was last used, to the minute.'),
  expiresAt: instant('When it ends at the latest.'),
  address: Type.String(),
  userAgent: Type.String(),
  isCurrent: Type.Boolean(),
})

const RecoveryOut = Type.Object({
  recoveryCodes: Type.Array(Type.String(), { description: 'Each is good once; shown now and never again.' }),
})

async function newCodes(call: Pick<Call<TObject, TObject>, 'db' | 'companyId' | 'caller' | 'now'>) {
  const codes = newRecoveryCodes()
  await saveRecoveryCodes(
    call.db,
    call.companyId,
    personOf(call.caller).userId,
    codes.map((code) => hashToken(recoveryKey(code))),
    call.now,
  )
  return { recoveryCodes: codes }
}

export const accountRoutes: Route[] = [
  change({
    method: 'POST',
    path: '/account/password',
    noun: 'account',
    action: 'change_password',
    summary: 'Change my password',
    description: 'Ends all other sessions.',
    body: Type.Object({ currentPassword, newPassword: text('At least 8 characters.', 256) }),
    async handle(call) {
      const { db, companyId, body, caller } = call
      const { userId, sessionId } = personOf(caller)
      if (!(await isPasswordRight(call, body.currentPassword))) return wrongPassword
      const result = await changePassword(db, companyId, userId, body.newPassword)
      if (result && !result.ok)
        return invalid(...result.problems.map(({ message }) => ({ field: 'newPassword', message })))
      if (!result?.ok) return unlessSaved(result)!
      await endSessions(db, companyId, userId, sessionId)
      return changed(undefined, { nounId: showId('usr', userId) })
    },
  }),
  read({
    method: 'GET',
    path: '/account/totp',
    summary: 'Do I have a second factor',
    answer: Type.Object({ isSetUp: Type.Boolean(), recoveryCodesLeft: Type.Integer() }),
    async handle({ deps, db, companyId, caller }) {
      const totp = await readTotp(db, deps.sealer, companyId, personOf(caller).userId)
      return done({
        isSetUp: totp?.isConfirmed ?? false,
        recoveryCodesLeft: totp?.isConfirmed ? totp.recoveryCodesLeft : 0,
      })
    },
  }),
  change({
    method: 'POST',
    path: '/account/totp',
    noun: 'account',
    action: 'begin_totp',
    summary: 'Begin a second factor',
    description: 'Gives the secret for the authenticator app; it counts once a first code has confirmed it.',
    body: Type.Object({ currentPassword }),
    answer: Type.Object({ secret: Type.String(), url: Type.String({ description: 'For a QR code.' }) }),
    async handle(call) {
      const { deps, db, companyId, body, caller } = call
      const { userId, name, companyName } = personOf(caller)
      if (!(await isPasswordRight(call, body.currentPassword))) return wrongPassword
      const secret = newTotpSecret()
      if (!(await beginTotp(db, deps.sealer, companyId, userId, secret)))
        return conflict('a second factor is set up already; remove it first')
      return changed(
        { secret, url: totpUrl(secret, 'Pombo', `${name} (${companyName})`) },
        { nounId: showId('usr', userId) },
      )
    },
  }),
  change({
    method: 'PUT',
    path: '/account/totp',
    noun: 'account',
    action: 'confirm_totp',
    summary: 'Confirm the second factor with a first code',
    body: Type.Object({ code: text('Six digits of the app.', 20) }),
    answer: RecoveryOut,
    async handle(call) {
      const { deps, db, companyId, body, caller, now } = call
      const { userId } = personOf(caller)
      const totp = await readTotp(db, deps.sealer, companyId, userId)
      if (totp === undefined) return conflict('no second factor was begun')
      if (totp.isConfirmed) return conflict('it is confirmed already')
      const step = matchTotp(totp.secret, body.code.replaceAll(/\s/g, ''), now)
      if (step === undefined || !(await useTotpStep(db, companyId, userId, step)))
        return invalid({ field: 'code', message: 'is wrong' })
      return changed(await newCodes(call), { nounId: showId('usr', userId) })
    },
  }),
  change({
    method: 'POST',
    path: '/account/recovery-codes',
    noun: 'account',
    action: 'renew_recovery_codes',
    summary: 'Get new recovery codes',
    description: 'Those before are dead.',
    body: Type.Object({ currentPassword }),
    answer: RecoveryOut,
    async handle(call) {
      const { deps, db, companyId, body, caller } = call
      const { userId } = personOf(caller)
      if (!(await isPasswordRight(call, body.currentPassword))) return wrongPassword
      const totp = await readTotp(db, deps.sealer, companyId, userId)
      if (!totp?.isConfirmed) return conflict('there is no second factor')
      return changed(await newCodes(call), { nounId: showId('usr', userId) })
    },
  }),
  change({
    method: 'POST',
    path: '/account/totp/remove',
    noun: 'account',
    action: 'remove_totp',
    summary: 'Remove my second factor',
    body: Type.Object({ currentPassword, code: optionalText('Of the app, or a recovery code.', 50) }),
    async handle(call) {
      const { deps, db, companyId, body, caller } = call
      const person = personOf(caller)
      if (!(await isPasswordRight(call, body.currentPassword))) return wrongPassword
      if ((await checkCode(deps, db, person, body.code)) !== 'right')
        return invalid({ field: 'code', message: 'is wrong' })
      if (!(await removeTotp(db, companyId, person.userId))) return notFound
      return changed(undefined, { nounId: showId('usr', person.userId) })
    },
  }),
  read({
    method: 'GET',
    path: '/account/sessions',
    summary: 'List my sessions',
    answer: Type.Object({ items: Type.Array(SessionOut) }),
    async handle({ db, companyId, caller, now }) {
      const person = personOf(caller)
      const sessions = await listSessions(db, companyId, person.userId, now)
      return done({
        items: sessions.map((session) => ({
          ...session,
          id: showId('ses', session.id),
          isCurrent: session.id === person.sessionId,
        })),
      })
    },
  }),
  change({
    method: 'DELETE',
    path: '/account/sessions/:id',
    ids: ['ses'],
    noun: 'account',
    action: 'end_session',
    summary: 'End one of my sessions',
    async handle({ db, companyId, caller, ids: [id = ''] }) {
      if (!(await endSession(db, companyId, personOf(caller).userId, id))) return notFound
      return changed(undefined, { nounId: showId('ses', id) })
    },
  }),
]
