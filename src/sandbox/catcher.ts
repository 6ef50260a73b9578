/** Catches callbacks of the software under test and says of each whether its signature holds (Standard Webhooks). */
import { createHmac } from 'node:crypto'
import type { Clock } from '../lib/clock.ts'
import { equalBytes } from '../lib/secrets.ts'
import { readBody, sendJson } from './http.ts'
import type { Exchange } from './http.ts'

export type Verdict = 'valid' | 'invalid' | 'unsigned' | 'stale'

export type CaughtCallback = {
  sequence: number
  name: string
  receivedAt: string
  method: string
  headers: Record<string, string>
  body: string
  verdict: Verdict
  webhookId?: string
  answered: number
}

export type Catcher = {
  handle(exchange: Exchange, name: string): Promise<void>
  list(filter: { name?: string; after?: number }): CaughtCallback[]
  clear(): void
  setSecrets(secrets: string[]): void
  /** The status that callbacks under this name get; 200 unless told. */
  setAnswer(name: string, status: number): void
  subscribe(listener: (callback: CaughtCallback) => void): () => void
}

const maxKept = 5_000
const maxBodyBytes = 1024 * 1024
const toleranceSeconds = 5 * 60

export function verifyStandardWebhook(
  secrets: string[],
  headers: Record<string, string | string[] | undefined>,
  body: Buffer,
  nowMs: number,
): Verdict {
  const [id, timestamp, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map(
    (name) => headers[name],
  )
  if (typeof id !== 'string' || typeof timestamp !== 'string' || typeof signatures !== 'string')
    return 'unsigned'
  const given = signatures
    .split(' ')
    .filter((part) => part.startsWith('v1,'))
    .map((part) => Buffer.from(part.slice(3)))
  const isSigned = secrets.some((secret) => {
    const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
    const expected = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')
    return given.some((signature) => equalBytes(signature, Buffer.from(expected)))
  })
  if (!isSigned) return 'invalid'
  return Math.abs(nowMs / 1000 - Number(timestamp)) <= toleranceSeconds ? 'valid' : 'stale'
}

export function createCatcher(options: { secrets: string[]; clock: Clock }): Catcher {
  const { clock } = options
  let { secrets } = options
  let caught: CaughtCallback[] = []
  let lastSequence = 0
  const answers = new Map<string, number>()
  const listeners = new Set<(callback: CaughtCallback) => void>()

  return {
    async handle({ request, response, method }, name) {
      const body = await readBody(request, maxBodyBytes)
      if (!body) return sendJson(response, 413, { error: { field: 'body', message: 'is larger than 1 MiB' } })
      const now = clock.now()
      const answered = answers.get(name) ?? 200
      const callback: CaughtCallback = {
        sequence: ++lastSequence,
        name,
        receivedAt: now.toISOString(),
        method,
        headers: Object.fromEntries(
          Object.entries(request.headers).map(([key, value]) => [key, String(value)]),
        ),
        body: body.toString('utf8'),
        verdict: verifyStandardWebhook(secrets, request.headers, body, now.getTime()),
        webhookId: request.headers['webhook-id'] as string | undefined,
        answered,
      }
      caught.push(callback)
      if (caught.length > maxKept * 2) caught = caught.slice(-maxKept)
      for (const listener of listeners) listener(callback)
      sendJson(response, answered, { received: true, verdict: callback.verdict })
    },
    list: ({ name, after = 0 }) =>
      caught
        .filter((callback) => callback.sequence > after && (name === undefined || callback.name === name))
        .slice(-maxKept),
    clear() {
      caught = []
    },
    setSecrets(next) {
      secrets = next
    },
    setAnswer(name, status) {
      if (answers.size >= 1_000) answers.clear()
      answers.set(name, status)
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}
