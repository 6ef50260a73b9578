/** What the sandbox's own tests share: a sandbox on free ports, its API, and a receiver of webhooks. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { systemClock } from '../lib/clock.ts'
import { silentLog } from '../lib/log.ts'
import { startSandbox } from './sandbox.ts'
import type { Sandbox, SandboxOptions } from './sandbox.ts'

// oxlint-disable-next-line typescript/no-explicit-any -- tests look into answers; a wrong path fails the test
export type Loose = any

export const startTestSandbox = (options: Partial<SandboxOptions> = {}): Promise<Sandbox> =>
  startSandbox({ clock: systemClock, log: silentLog, ...options })

export async function callApi(
  sandbox: Sandbox,
  path: string,
  method = 'GET',
  body?: unknown,
): Promise<{ status: number; body: Loose }> {
  const answer = await fetch(`${sandbox.url}${path}`, {
    method,
    ...(body === undefined
      ? {}
      : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  })
  return { status: answer.status, body: await answer.json() }
}

export async function callGraph(
  sandbox: Sandbox,
  path: string,
  method = 'GET',
  body?: unknown,
  token = sandbox.graph.accessToken,
): Promise<{ status: number; body: Loose }> {
  const answer = await fetch(`${sandbox.graph.baseUrl}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  return { status: answer.status, body: await answer.json() }
}

/** Asks again until the answer is there; the test's own time-out is the end of it. */
export async function until<Found>(
  ask: () => Found | undefined | Promise<Found | undefined>,
): Promise<Found> {
  for (;;) {
    const found = await ask()
    if (found !== undefined) return found
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

export type CaughtWebhook = {
  raw: string
  headers: Record<string, string | string[] | undefined>
  body: Loose
}

/** A business that receives webhooks; `answer` gives the status for the n-th request, from 1. */
export async function startReceiver(answer: (count: number) => number = () => 200) {
  const caught: CaughtWebhook[] = []
  let count = 0
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const status = answer(++count)
      const raw = Buffer.concat(chunks).toString('utf8')
      const challenge = new URL(request.url ?? '/', 'http://x').searchParams.get('hub.challenge')
      if (request.method === 'POST' && status === 200)
        caught.push({ raw, headers: request.headers, body: JSON.parse(raw) })
      response.writeHead(status).end(challenge ?? '')
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const values = (): Loose[] =>
    caught.flatMap(({ body }) =>
      body.entry.flatMap((entry: Loose) => entry.changes.map((change: Loose) => change.value)),
    )
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`,
    caught,
    requests: () => count,
    values,
    statuses: (): Loose[] => values().flatMap((value) => value.statuses ?? []),
    messages: (): Loose[] => values().flatMap((value) => value.messages ?? []),
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
