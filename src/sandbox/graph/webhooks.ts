/**
 * Webhooks to the business: signed on the exact bytes, batched, repeated until answered with 2xx. The provider
 * repeats for seven days; here ten tries within about a quarter of an hour are enough for a restart in between.
 */
import { createHmac } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Clock } from '../../lib/clock.ts'
import type { SandboxLog } from '../types.ts'

export type WebhookChange = { field: string; value: object }
export type WebhookAttempt = {
  at: string
  url: string
  status: number | string
  tries: number
  changes: number
}

export type WebhookSender = {
  send(url: string, change: WebhookChange): void
  attempts(): WebhookAttempt[]
  /** The provider's own check of a new address: it must give the challenge back. */
  verify(url: string): Promise<{ ok: boolean; status: number | string }>
  idle(): Promise<void>
  stop(): void
}

const maxWaiting = 50_000
const maxBatch = 50
const maxInFlight = 4
const maxTries = 10
const timeoutMs = 10_000
const maxAttemptsKept = 200

/** Non-ASCII characters leave as \uXXXX, as the provider writes them: who signs re-serialised JSON notices here. */
export const asciiJson = (value: unknown): string =>
  JSON.stringify(value).replaceAll(
    /[\u0080-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

export const signWebhook = (appSecret: string, body: string | Buffer): string =>
  `sha256=${createHmac('sha256', appSecret).update(body).digest('hex')}`

export function createWebhookSender(options: {
  wabaId: string
  appSecret: string
  verifyToken: string
  isAllowed: (url: string) => boolean
  /** The wait before the first repetition; it doubles each time, up to five minutes. */
  retryMs?: number
  clock: Clock
  log: SandboxLog
}): WebhookSender {
  const { retryMs = 1_000, clock, log } = options
  const queues = new Map<string, { waiting: WebhookChange[]; inFlight: number }>()
  const attempts: WebhookAttempt[] = []
  const stopped = new AbortController()
  let idleListeners: (() => void)[] = []

  function note(attempt: WebhookAttempt): void {
    attempts.push(attempt)
    if (attempts.length > maxAttemptsKept) attempts.shift()
  }

  async function post(url: string, body: string): Promise<number | string> {
    if (!options.isAllowed(url)) return 'the address is not on loopback and not among the allowed hosts'
    try {
      const answer = await fetch(url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'user-agent': 'facebookexternalua',
          'x-hub-signature-256': signWebhook(options.appSecret, body),
        },
        body,
        redirect: 'manual',
        signal: AbortSignal.any([stopped.signal, AbortSignal.timeout(timeoutMs)]),
      })
      await answer.body?.cancel()
      return answer.status
    } catch (fault) {
      const { cause } = fault as { cause?: { code?: string } }
      return cause?.code ?? (fault as Error).name
    }
  }

  async function deliver(url: string, changes: WebhookChange[]): Promise<void> {
    const time = Math.floor(clock.now().getTime() / 1000)
    const body = asciiJson({
      object: 'whatsapp_business_account',
      entry: [{ id: options.wabaId, time, changes }],
    })
    for (let tries = 1; tries <= maxTries && !stopped.signal.aborted; tries++) {
      const status = await post(url, body)
      note({ at: clock.now().toISOString(), url, status, tries, changes: changes.length })
      if (typeof status === 'number' && status >= 200 && status < 300) return
      if (tries === maxTries) {
        log.warn(
          { url, status, changes: changes.length },
          'A sandbox webhook was given up after its last try.',
        )
        return
      }
      await delay(Math.min(300_000, retryMs * 2 ** (tries - 1)), undefined, { signal: stopped.signal }).catch(
        () => {},
      )
    }
  }

  function pump(url: string): void {
    const queue = queues.get(url)
    if (!queue) return
    while (queue.inFlight < maxInFlight && queue.waiting.length > 0) {
      queue.inFlight++
      const changes = queue.waiting.splice(0, maxBatch)
      deliver(url, changes)
        .catch((fault: unknown) =>
          log.error({ url, cause: String(fault) }, 'A sandbox webhook failed unexpectedly.'),
        )
        .finally(() => {
          queue.inFlight--
          pump(url)
        })
    }
    if (queue.inFlight > 0) return
    queues.delete(url)
    if (queues.size > 0) return
    const listeners = idleListeners
    idleListeners = []
    for (const listener of listeners) listener()
  }

  return {
    send(url, change) {
      if (stopped.signal.aborted) return
      const queue = queues.get(url) ?? { waiting: [], inFlight: 0 }
      queues.set(url, queue)
      queue.waiting.push(change)
      if (queue.waiting.length > maxWaiting) queue.waiting.shift()
      // In the next turn: what happens in one go travels in one request.
      if (queue.waiting.length === 1) setImmediate(pump, url)
    },
    attempts: () => [...attempts],
    async verify(url) {
      const challenge = String(Math.floor(clock.now().getTime()))
      const asked = new URL(url)
      asked.searchParams.set('hub.mode', 'subscribe')
      asked.searchParams.set('hub.verify_token', options.verifyToken)
      asked.searchParams.set('hub.challenge', challenge)
      if (!options.isAllowed(url)) return { ok: false, status: 'not allowed' }
      try {
        const answer = await fetch(asked, { redirect: 'manual', signal: AbortSignal.timeout(timeoutMs) })
        const text = (await answer.text()).slice(0, 1_000)
        return { ok: answer.status === 200 && text === challenge, status: answer.status }
      } catch (fault) {
        return { ok: false, status: (fault as Error).name }
      }
    },
    idle: () =>
      queues.size === 0 ? Promise.resolve() : new Promise((resolve) => idleListeners.push(resolve)),
    stop: () => stopped.abort(),
  }
}
