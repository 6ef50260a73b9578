/** Endpoints of callbacks that take nothing: people are told, and told again when they are back. */
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { clearAlert, raiseAlert } from '../store/alerts.ts'
import { removeIdleEndpoints, takeDeadEndpoints, type EndpointNews } from '../store/callback-delivery.ts'
import { removeCallbacksBefore } from '../store/callbacks.ts'
import type { Queryable } from '../store/db.ts'

type Context = { db: Queryable; clock: Clock; log: Log }

const hours = 3_600_000
const deadAfterMs = hours
/** Longer than the schedule of retries takes from its beginning to its end. */
const forgetAfterMs = 7 * 24 * hours
const keepMs = 30 * 24 * hours
const bite = 5_000
const bitesPerTurn = 20

const subjectOf = ({ companyId, endpoint }: { companyId: string; endpoint: string }): string =>
  `${companyId} ${endpoint}`

const nameOf = (endpoint: string): string => (endpoint === 'webhook' ? 'the company webhook' : endpoint)

/** Nothing was taken for an hour. It goes on being tried, and the alert is cleared by the first success. */
export async function reportDeadEndpoints({ db, clock, log }: Context): Promise<void> {
  const now = clock.now()
  for (const dead of await takeDeadEndpoints(db, new Date(now.getTime() - deadAfterMs), now)) {
    const since = dead.failingSince.toISOString()
    const message = `Callbacks to ${nameOf(dead.endpoint)} fail since ${since}: ${dead.lastError ?? 'no reason known'}`
    log.warn({ companyId: dead.companyId, endpoint: dead.endpoint, since }, 'a callback endpoint is dead')
    await raiseAlert(
      db,
      { companyId: dead.companyId, kind: 'callback_endpoint_dead', subject: subjectOf(dead), message },
      now,
    )
  }
}

export async function reportEndpointNews(
  { db, clock, log }: Context,
  news: readonly EndpointNews[],
): Promise<void> {
  for (const each of news) {
    const { companyId, endpoint, what } = each
    switch (what) {
      case 'recovered':
        log.info({ companyId, endpoint }, 'a callback endpoint works again')
        await clearAlert(db, 'callback_endpoint_dead', subjectOf(each), clock.now())
        break
      case 'ended':
        log.warn({ companyId }, 'the receiver of a company webhook is gone')
        await raiseAlert(
          db,
          {
            companyId,
            kind: 'webhook_gone',
            subject: companyId,
            message: 'The company webhook was switched off: its receiver answered 410 (gone)',
          },
          clock.now(),
        )
    }
  }
}

/** Callbacks are kept for 30 days after they are over, their attempts with them. */
export async function tidyCallbacks(context: Context): Promise<void> {
  const { db, clock } = context
  const now = clock.now().getTime()
  await reportEndpointNews(context, await removeIdleEndpoints(db, new Date(now - forgetAfterMs)))
  for (let turn = 0; turn < bitesPerTurn; turn++)
    if ((await removeCallbacksBefore(db, new Date(now - keepMs), bite)) < bite) return
}
