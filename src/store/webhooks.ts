/** The webhook of a company, and the secrets that callbacks are signed with. */
import { randomBytes } from 'node:crypto'
import { notSaved, saved, type Saved } from '../domain/saved.ts'
import { hostFault, readUrl } from '../lib/outbound/judge-url.ts'
import type { Exceptions } from '../lib/outbound/index.ts'
import type { Sealer } from '../lib/secrets.ts'
import { clearAlert } from './alerts.ts'
import { callbackEvents } from './callbacks.ts'
import type { Queryable } from './db.ts'

export type Webhook = {
  url: string
  /** Full names (`message.sent`); empty: all. */
  events: string[]
  disabledAt: Date | null
  disabledReason: string | null
  createdAt: Date
}

export type WebhookInput = { url: string; events?: readonly string[]; isEnabled?: boolean }

export const webhookEvents: readonly string[] = callbackEvents.map((event) => `message.${event}`)

const columns = `url, events, disabled_at as "disabledAt", disabled_reason as "disabledReason", created_at as "createdAt"`

/** As Standard Webhooks wants it: 24 to 64 bytes in base64 behind `whsec_`. */
export const newWebhookSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`

function check({ url, events = [] }: WebhookInput, exceptions: Exceptions) {
  const reading = readUrl(url)
  const unknown = events.filter((event) => !webhookEvents.includes(event))
  const problems = unknown.map((event) => ({
    field: 'events',
    message: `"${event}" is no event; there are ${webhookEvents.join(', ')}`,
  }))
  if (!reading.ok) return [{ field: 'url', message: reading.reason }, ...problems]
  const { hostname, port, protocol } = reading.url
  if (exceptions.allows('callbacks', hostname, Number(port) || (protocol === 'https:' ? 443 : 80)))
    return problems
  const fault = hostFault(hostname)
  return fault === undefined ? problems : [{ field: 'url', message: fault }, ...problems]
}

export type SavedWebhook = Webhook & {
  /** Only when the webhook is new: a change keeps the secret. */
  secret: string | undefined
}

/**
 * Sets or changes it; one that was switched off works again. Events that wait go to the new address, which starts
 * with a clean record.
 */
export async function saveWebhook(
  { db, sealer, exceptions }: { db: Queryable; sealer: Sealer; exceptions: Exceptions },
  companyId: string,
  input: WebhookInput,
  now: Date,
): Promise<Saved<SavedWebhook>> {
  const problems = check(input, exceptions)
  if (problems.length > 0) return notSaved(...problems)
  const secret = newWebhookSecret()
  const isEnabled = input.isEnabled ?? true
  const [row] = await db.query<Webhook & { isNew: boolean }>(
    `insert into webhook (company_id, url, events, secret_sealed, disabled_at, disabled_reason) values ($1, $2, $3, $4, $5, $6)
     on conflict (company_id) do update set url = excluded.url, events = excluded.events, disabled_at = excluded.disabled_at,
       disabled_reason = excluded.disabled_reason
     returning ${columns}, xmax = 0 as "isNew"`,
    [
      companyId,
      input.url,
      [...(input.events ?? [])],
      sealer.seal(secret),
      isEnabled ? null : now,
      isEnabled ? null : 'switched off',
    ],
  )
  await forgetTrouble(db, companyId, now)
  const { isNew, ...webhook } = row!
  return saved({ ...webhook, secret: isNew ? secret : undefined })
}

export async function findWebhook(db: Queryable, companyId: string): Promise<Webhook | undefined> {
  return (await db.query<Webhook>(`select ${columns} from webhook where company_id = $1`, [companyId]))[0]
}

/** What still waits for it is given up by whoever comes to deliver it. */
export async function removeWebhook(db: Queryable, companyId: string, now: Date): Promise<boolean> {
  const rows = await db.query('delete from webhook where company_id = $1 returning 1', [companyId])
  await forgetTrouble(db, companyId, now)
  return rows.length > 0
}

/** Whatever was wrong with the webhook was wrong with one that is no longer. */
async function forgetTrouble(db: Queryable, companyId: string, now: Date): Promise<void> {
  await db.query(`delete from callback_endpoint where company_id = $1 and endpoint = 'webhook'`, [companyId])
  await clearAlert(db, 'webhook_gone', companyId, now)
  await clearAlert(db, 'callback_endpoint_dead', `${companyId} webhook`, now)
}

/** Whose secret: that of callbacks whose address came with the request, or that of the webhook. */
export type SecretOwner = 'callbacks' | 'webhook'

const secretColumns: Record<SecretOwner, { table: string; key: string; column: string }> = {
  callbacks: { table: 'company', key: 'id', column: 'callback_secret' },
  webhook: { table: 'webhook', key: 'company_id', column: 'secret' },
}

export async function readSecret(
  db: Queryable,
  sealer: Sealer,
  companyId: string,
  owner: SecretOwner,
): Promise<string | undefined> {
  const { table, key, column } = secretColumns[owner]
  const [row] = await db.query<{ sealed: Buffer }>(
    `select ${column}_sealed as sealed from ${table} where ${key} = $1`,
    [companyId],
  )
  return row && sealer.open(row.sealed)
}

/** A new secret; the one it replaces signs along until `previousUntil`, the one before that is dead. */
export async function replaceSecret(
  db: Queryable,
  sealer: Sealer,
  companyId: string,
  owner: SecretOwner,
  previousUntil: Date,
): Promise<string | undefined> {
  const { table, key, column } = secretColumns[owner]
  const secret = newWebhookSecret()
  const rows = await db.query(
    `update ${table} set previous_${column}_sealed = ${column}_sealed, previous_${column}_until = $3, ${column}_sealed = $2
     where ${key} = $1 returning 1`,
    [companyId, sealer.seal(secret), previousUntil],
  )
  return rows.length > 0 ? secret : undefined
}
