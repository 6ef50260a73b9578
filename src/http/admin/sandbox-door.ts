/** The way to the sandbox, which listens on loopback and asks nobody who they are: this API does. */
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { FastifyReply } from 'fastify'
import { conflict, invalid, notFound, type Refused } from './replies.ts'
import type { AdminDeps } from './deps.ts'

export type SandboxCaller = { deps: AdminDeps; companyId: string }

type Asked<T> = { ok: true; value: T } | { ok: false; refused: Refused }

/** Longer than an act of the sandbox takes; a one-click unsubscribe waits up to 10 s for its receiver. */
const timeoutMs = 15_000

export const noSandbox: Refused = { ...notFound, message: 'no sandbox runs here' }
const silent = conflict('the sandbox does not answer')

async function reach(
  { deps, companyId }: SandboxCaller,
  path: string,
  init: RequestInit,
): Promise<Asked<Response>> {
  const base = await deps.findSandbox(companyId)
  if (base === undefined) return { ok: false, refused: noSandbox }
  try {
    return { ok: true, value: await fetch(base + path, { redirect: 'error', ...init }) }
  } catch (error) {
    deps.log.debug({ err: error }, 'the sandbox does not answer')
    return { ok: false, refused: init.method === 'GET' ? noSandbox : silent }
  }
}

/** Asks and reads the answer; what the sandbox refuses becomes a refusal of ours. */
export async function askSandbox(
  caller: SandboxCaller,
  method: 'GET' | 'POST' | 'PUT' | 'DELETE',
  path: string,
  body?: unknown,
): Promise<Asked<Record<string, unknown>>> {
  const reached = await reach(caller, path, {
    method,
    signal: AbortSignal.timeout(timeoutMs),
    ...(body !== undefined && {
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
    }),
  })
  if (!reached.ok) return reached
  const answer = reached.value
  const content = (await answer.json().catch(() => ({}))) as Record<string, unknown>
  return answer.ok
    ? { ok: true, value: content }
    : { ok: false, refused: refusalOf(answer.status, content['error']) }
}

function refusalOf(status: number, error: unknown): Refused {
  const { field, message = 'the sandbox refused it' } = (error ?? {}) as { field?: string; message?: string }
  if (status === 404) return notFound
  return status === 400 && field !== undefined ? invalid({ field, message }) : conflict(message)
}

/** Of a file: what a browser must know to treat it as data of others, which it is. */
const passedHeaders = [
  'content-type',
  'content-length',
  'content-disposition',
  'content-security-policy',
  'x-content-type-options',
  'referrer-policy',
]

/** Passes a file or a stream of events on, as it comes, until one of both sides ends. */
export async function passOn(
  caller: SandboxCaller,
  path: string,
  reply: FastifyReply,
  { isEndless = false } = {},
): Promise<Refused | { kind: 'sent' }> {
  const left = new AbortController()
  reply.raw.once('close', () => left.abort())
  const signals = isEndless ? [left.signal] : [left.signal, AbortSignal.timeout(timeoutMs)]
  const reached = await reach(caller, path, { method: 'GET', signal: AbortSignal.any(signals) })
  if (!reached.ok) return reached.refused
  const { value: answer } = reached
  if (!answer.ok || answer.body === null) {
    await answer.body?.cancel()
    return answer.status === 503 ? noSandbox : notFound
  }
  reply.hijack()
  reply.raw.writeHead(200, {
    ...Object.fromEntries(
      passedHeaders.flatMap((name) => {
        const value = answer.headers.get(name)
        return value === null ? [] : [[name, value]]
      }),
    ),
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
    'x-request-id': reply.request.id,
  })
  // Either side may leave at any moment; that is how such a stream ends.
  await pipeline(Readable.fromWeb(answer.body), reply.raw).catch(() => {})
  return { kind: 'sent' }
}
