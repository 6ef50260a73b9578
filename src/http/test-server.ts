/** For tests: surfaces on a real socket with the server's own defaults, closed when the test ends. */
import { Registry } from 'prom-client'
import { onTestFinished } from 'vitest'
import { noRateLimits } from '../flows/limit-rates.ts'
import { silentLog } from '../lib/log.ts'
import { createAddressReader } from './client-address.ts'
import { listen, type Listening, type ListenConfig, type Surfaces } from './listen.ts'
import { createHttpMetrics } from './metrics.ts'
import type { ServerDeps } from './server.ts'
import { createBodyBudget } from './tracking.ts'

export function testServerDeps(overrides: Partial<ServerDeps> = {}): ServerDeps {
  const budget = createBodyBudget(256 * 1024 * 1024)
  return {
    config: { maxBodyBytes: 1024 * 1024, maxConnections: 1000, tls: undefined },
    log: silentLog,
    lifecycle: { phase: 'serving' },
    budget,
    metrics: createHttpMetrics(new Registry(), overrides.budget ?? budget),
    addressOf: createAddressReader([]),
    limits: noRateLimits,
    ...overrides,
  }
}

export async function serve(
  surfaces: Partial<Surfaces>,
  deps: ServerDeps = testServerDeps(),
  config: Partial<ListenConfig> = {},
): Promise<Listening> {
  const listening = await listen(
    {
      host: '127.0.0.1',
      port: 0,
      directPort: undefined,
      consolePort: undefined,
      tls: undefined,
      leaveMs: 0,
      drainMs: 1000,
      ...config,
    },
    deps,
    { main: [], direct: [], console: [], ...surfaces },
  )
  onTestFinished(() => listening.close())
  return listening
}
