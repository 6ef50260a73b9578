/**
 * One-click unsubscribe (RFC 8058). The address in a message carries who it is for and a proof that we wrote it, so
 * that nothing has to be looked up to tell a true one from a guess. It works as long as the contact exists, also when
 * the message itself is long gone.
 */
import { priorities } from '../domain/message.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { equalBytes, type Sealer } from '../lib/secrets.ts'
import { optOutOf } from '../store/contacts.ts'
import type { Db } from '../store/db.ts'
import { findCompanyName, tellUnsubscribed } from '../store/unsubscribes.ts'

export type UnsubscribeOf = { companyId: string; contactId: string; messageId: string }

const purpose = 'unsubscribe'
const idBytes = 16
/** 128 bits: nobody guesses it. */
const proofBytes = 16

const bytesOf = (id: string): Buffer => Buffer.from(id.replaceAll('-', ''), 'hex')
const idOf = (bytes: Buffer): string =>
  bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')

const proofOf = (sealer: Sealer, data: Buffer): Buffer => sealer.mac(purpose, data).subarray(0, proofBytes)

export function writeUnsubscribeToken(
  sealer: Sealer,
  { companyId, contactId, messageId }: UnsubscribeOf,
): string {
  const data = Buffer.concat([companyId, contactId, messageId].map(bytesOf))
  return Buffer.concat([data, proofOf(sealer, data)]).toString('base64url')
}

export function readUnsubscribeToken(sealer: Sealer, token: string): UnsubscribeOf | undefined {
  const bytes = Buffer.from(token, 'base64url')
  if (bytes.length !== 3 * idBytes + proofBytes || bytes.toString('base64url') !== token) return undefined
  const data = bytes.subarray(0, 3 * idBytes)
  if (!equalBytes(bytes.subarray(3 * idBytes), proofOf(sealer, data))) return undefined
  const [companyId, contactId, messageId] = [0, 1, 2].map((place) =>
    idOf(data.subarray(place * idBytes, (place + 1) * idBytes)),
  )
  return { companyId: companyId!, contactId: contactId!, messageId: messageId! }
}

/** Undefined for verification codes, which nobody subscribes to, and while nothing is reachable over https. */
export function createUnsubscribeUrls({
  sealer,
  publicUrl,
  log,
}: {
  sealer: Sealer
  publicUrl: string
  log: Log
}): (message: UnsubscribeOf & { priority: number }) => string | undefined {
  let hasWarned = false
  return (message) => {
    if (message.priority === priorities.verification) return undefined
    if (publicUrl.startsWith('https://'))
      return `${publicUrl}/unsubscribe/${writeUnsubscribeToken(sealer, message)}`
    if (!hasWarned)
      log.warn('e-mail leaves without unsubscribe address: POMBO_PUBLIC_URL must begin with https')
    hasWarned = true
    return undefined
  }
}

export type Unsubscribe = {
  /** Whom one would unsubscribe from; undefined when the token is not ours. Changes nothing. */
  see(token: string): Promise<{ companyName: string } | undefined>
  /** False when the token is not ours. A second time, or for a contact that is gone, it is as well. */
  unsubscribe(token: string): Promise<boolean>
}

export const createUnsubscribe = ({
  db,
  sealer,
  clock,
  log,
}: {
  db: Db
  sealer: Sealer
  clock: Clock
  log: Log
}): Unsubscribe => ({
  async see(token) {
    const named = readUnsubscribeToken(sealer, token)
    return named && { companyName: (await findCompanyName(db, named.companyId)) ?? '' }
  },
  async unsubscribe(token) {
    const named = readUnsubscribeToken(sealer, token)
    if (named === undefined) return false
    const { companyId, contactId, messageId } = named
    await db.transaction(async (connection) => {
      if (!(await optOutOf(connection, companyId, contactId, 'email'))) return
      await tellUnsubscribed(connection, companyId, messageId, clock.now())
      log.info({ companyId, contactId }, 'a contact unsubscribed from e-mail')
    })
    return true
  },
})
