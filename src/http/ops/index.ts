/** Health and metrics. */
import type { FastifyReply } from 'fastify'
import { jsonType } from '../errors.ts'
import { closedReason, type Lifecycle } from '../lifecycle.ts'
import type { Surface } from '../server.ts'

/** Resolves to what is missing, in words; undefined when all is well. */
export type ReadinessCheck = () => Promise<string | undefined>

export type OpsDeps = {
  lifecycle: Lifecycle
  /** Asked at most once a second, however many probes there are. */
  checks: ReadinessCheck[]
  metrics(): Promise<{ contentType: string; text: string }>
}

const checkTimeoutMs = 3_000
const checkAgainAfterMs = 1_000

export const createOpsSurface =
  (deps: OpsDeps): Surface =>
  (scope) => {
    const whatIsMissing = createReadiness(deps)
    scope.get('/health/live', (_request, reply) => sendStatus(reply, 200, { status: 'live' }))
    scope.get('/health/ready', async (_request, reply) => {
      const reason = closedReason(deps.lifecycle) ?? (await whatIsMissing())
      return reason === undefined
        ? sendStatus(reply, 200, { status: 'ready' })
        : sendStatus(reply.header('retry-after', '1'), 503, { status: 'not ready', reason })
    })
    scope.get('/metrics', async (_request, reply) => {
      const { contentType, text } = await deps.metrics()
      return reply.header('content-type', contentType).send(text)
    })
  }

const sendStatus = (reply: FastifyReply, status: number, body: { status: string; reason?: string }) =>
  reply
    .code(status)
    .header('content-type', jsonType)
    .header('cache-control', 'no-store')
    .send(JSON.stringify({ ...body, requestId: reply.request.id }))

function createReadiness({ checks }: OpsDeps): () => Promise<string | undefined> {
  let askedAt = -Infinity
  let answer: Promise<string | undefined> = Promise.resolve(undefined)
  return () => {
    if (performance.now() - askedAt < checkAgainAfterMs) return answer
    askedAt = performance.now()
    answer = firstMissing(checks)
    return answer
  }
}

async function firstMissing(checks: ReadinessCheck[]): Promise<string | undefined> {
  const results = await Promise.all(checks.map(withTimeout))
  return results.find((result) => result !== undefined)
}

async function withTimeout(check: ReadinessCheck): Promise<string | undefined> {
  let timer: NodeJS.Timeout | undefined
  const timedOut = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve('a check did not answer in time'), checkTimeoutMs)
  })
  try {
    return await Promise.race([check(), timedOut])
  } catch {
    return 'a check failed'
  } finally {
    clearTimeout(timer)
  }
}
