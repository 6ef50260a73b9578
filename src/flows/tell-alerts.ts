/** Tells the operator of alerts, by e-mail and by webhook, each by itself and until it is taken or given up. */
import type { Driver, DriverContext } from '../drivers/driver.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { Outbound } from '../lib/outbound/index.ts'
import {
  claimNotices,
  makeNotices,
  postponeNotice,
  removeNotice,
  type AlertNotice,
  type AlertWay,
} from '../store/alert-notices.ts'
import type { Queryable } from '../store/db.ts'

/** Throws when it was not taken. */
export type TellAlert = (notice: AlertNotice) => Promise<void>
export type AlertWays = Partial<Record<AlertWay, TellAlert>>

const limit = 20
/** Longer than all of them take. */
const leaseMs = 10 * 60_000
const timeoutMs = 15_000
const maxTries = 10
/** 1, 2, 4, … minutes: eight hours in all. */
const backoffMs = (tries: number): number => 60_000 * 2 ** (tries - 1)

/** One bite; returns how many were tried. */
export async function tellAlerts(
  { db, clock, log }: { db: Queryable; clock: Clock; log: Log },
  ways: AlertWays,
): Promise<number> {
  const now = clock.now()
  const known = (['email', 'webhook'] as const).filter((way) => ways[way] !== undefined)
  await makeNotices(db, known, now)
  const notices = await claimNotices(db, now, new Date(now.getTime() + leaseMs), limit)
  for (const notice of notices) {
    const tell = ways[notice.way]
    try {
      // A way that was switched off since has nobody to tell.
      if (tell) await tell(notice)
      await removeNotice(db, notice)
    } catch (error) {
      const isGivenUp = notice.tries >= maxTries
      log.warn(
        { err: error, alertId: notice.alertId, way: notice.way, isGivenUp },
        'an alert could not be told',
      )
      if (isGivenUp) await removeNotice(db, notice)
      else await postponeNotice(db, notice, new Date(clock.now().getTime() + backoffMs(notice.tries)))
    }
  }
  return notices.length
}

const titleOf = ({ event, kind }: AlertNotice): string =>
  event === 'raised' ? `Alert: ${kind}` : `Over: ${kind}`

const wordsOf = (notice: AlertNotice): string =>
  `${notice.event === 'raised' ? '' : 'Over: '}${notice.message}${notice.companyName === null ? '' : ` (company ${notice.companyName})`}`

/** `text` is what chat tools show; the rest is for programs. The id is the same on every try. */
export const createAlertWebhook =
  (outbound: Outbound, url: string): TellAlert =>
  async (notice) => {
    const { alertId, event, kind, subject, message, companyId, raisedAt, clearedAt } = notice
    const { status } = await outbound.fetch('callbacks', url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'webhook-id': `${alertId}-${event}` },
      body: JSON.stringify({
        type: `alert.${event}`,
        timestamp: event === 'raised' ? raisedAt : clearedAt,
        text: `Pombo: ${wordsOf(notice)}`,
        data: { id: alertId, kind, subject, message, companyId, raisedAt, clearedAt },
      }),
      timeoutMs,
      maxBytes: 64 * 1024,
    })
    if (status < 200 || status >= 300) throw new Error(`the webhook answered HTTP ${status}`)
  }

export type AlertEmail = { smtpUrl: string; from: string; to: readonly string[] }

/** Settings of the smtp driver from an address such as `smtps://user:password@host:465`. */
export function readSmtpUrl(text: string): Record<string, unknown> {
  const url = new URL(text)
  const isTls = url.protocol === 'smtps:'
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: Number(url.port) || (isTls ? 465 : 587),
    security: isTls ? 'tls' : (url.searchParams.get('security') ?? 'starttls'),
    ...(url.username === ''
      ? {}
      : { username: decodeURIComponent(url.username), password: decodeURIComponent(url.password) }),
    connections: 1,
    answerTimeoutSeconds: timeoutMs / 1000,
  }
}

/** As an exception of the outbound guard names it. */
export const mailServerOf = (smtpUrl: string): string =>
  `${new URL(smtpUrl).hostname}:${String(readSmtpUrl(smtpUrl).port)}`

/**
 * The operator's own mail server and none of a company's lines: those may be what the alert is about. A connection
 * for each alert, since they are rare.
 */
export const createAlertEmail =
  (smtp: Driver, context: DriverContext, { smtpUrl, from, to }: AlertEmail): TellAlert =>
  async (notice) => {
    const settings = readSmtpUrl(smtpUrl)
    const session = smtp.open(
      { id: 'alerts', channel: 'email', address: from, settings, hookUrl: '' },
      context,
    )
    try {
      for (const [place, recipient] of to.entries()) {
        const result = await session.send({
          id: `alert-${notice.alertId}-${notice.event}-${place}`,
          recipient,
          content: {
            kind: 'text',
            subject: `[Pombo] ${titleOf(notice)}`,
            text: `${wordsOf(notice)}\n\nSince ${notice.raisedAt.toISOString()}${notice.clearedAt ? ` until ${notice.clearedAt.toISOString()}` : ''}.\n`,
            files: [],
          },
          files: new Map(),
          expiresAt: new Date(context.clock.now().getTime() + 3_600_000),
          attempt: notice.tries,
        })
        if (!result.ok) throw new Error(`${result.error.code}: ${result.error.message}`)
      }
    } finally {
      await session.close()
    }
  }
