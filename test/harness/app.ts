/**
 * The HTTP surfaces inside the test's own process: real sockets on free ports, a database of its own, business time
 * that moves when told to. Several nodes are several servers with pools of their own on one database.
 */
import { Registry } from 'prom-client'
import { readConfig, type Config } from '../../src/config.ts'
import { findDriver } from '../../src/drivers/registry.ts'
import { createAcceptor, type Acceptor } from '../../src/flows/accept-message.ts'
import { createDatabaseCheck } from '../../src/flows/check-database.ts'
import { createTokenChecker } from '../../src/flows/check-tokens.ts'
import { createRateLimits } from '../../src/flows/limit-rates.ts'
import { createLogIn } from '../../src/flows/log-in.ts'
import { createImportRunner } from '../../src/flows/run-imports.ts'
import { createSignIn } from '../../src/flows/sign-in.ts'
import { createStoreAttachments } from '../../src/flows/store-attachments.ts'
import { createProviderTemplates } from '../../src/flows/submit-template.ts'
import { createAdminSurface } from '../../src/http/admin/index.ts'
import { createLiveFeed } from '../../src/http/admin/live.ts'
import { createAddressReader } from '../../src/http/client-address.ts'
import { createLargeBodyReader } from '../../src/http/large-bodies.ts'
import { createLifecycle, type Lifecycle } from '../../src/http/lifecycle.ts'
import { listen, type Listening } from '../../src/http/listen.ts'
import { createDirectSurface } from '../../src/http/direct/index.ts'
import { createHttpMetrics } from '../../src/http/metrics.ts'
import { createOpsSurface } from '../../src/http/ops/index.ts'
import { createBodyBudget } from '../../src/http/tracking.ts'
import { createUnifiedSurface } from '../../src/http/unified/index.ts'
import type { Clock } from '../../src/lib/clock.ts'
import { createLog } from '../../src/lib/log.ts'
import { createOutbound, readExceptions } from '../../src/lib/outbound/index.ts'
import { createDb, type Db } from '../../src/store/db.ts'
import { createTestDatabase } from './database.ts'
import { makeCompany, testSealer, type CompanyOverrides, type TestCompany } from './factories.ts'
import { startPgProxy, type PgProxy } from './pg-proxy.ts'

export type MovableClock = Clock & {
  /** Only forward: everything that was stored stays in the past. */
  advance(ms: number): void
}

export function createMovableClock(): MovableClock {
  let aheadMs = 0
  return {
    now: () => new Date(Date.now() + aheadMs),
    advance: (ms) => void (aheadMs += ms),
  }
}

export type AppOptions = {
  /** Servers on one database, each with a pool of its own. */
  nodes?: number
  config?: Partial<Config>
  /** Puts a proxy between the nodes and PostgreSQL. */
  hasProxy?: boolean
  /** How long a request waits for a held contact or an absent database. */
  patienceMs?: number
  /** Of a sandbox that every company may look into. */
  sandboxUrl?: string
}

export type AppNode = {
  url: string
  directUrl: string
  lifecycle: Lifecycle
  acceptor: Acceptor
  db: Db
  stop(): Promise<void>
}

export type App = {
  /** Of the first node, without a trailing slash. */
  url: string
  urls: string[]
  nodes: AppNode[]
  /** The test's own look into the database: never through the proxy, never a node's pool. */
  db: Db
  clock: MovableClock
  proxy: PgProxy
  /** Every line logged so far, as written. */
  logLines: string[]
  makeCompany(overrides?: CompanyOverrides): Promise<TestCompany>
  stop(): Promise<void>
}

export async function startApp(options: AppOptions = {}): Promise<App> {
  const database = await createTestDatabase()
  const proxy = options.hasProxy ? await startPgProxy(database.url) : undefined
  const clock = createMovableClock()
  const logLines: string[] = []
  const nodes: AppNode[] = []
  const stop = async () => {
    for (const node of nodes) await node.stop()
    await proxy?.close()
    await database.drop()
  }
  try {
    for (let index = 0; index < (options.nodes ?? 1); index++)
      nodes.push(await startNode(options, proxy?.url ?? database.url, clock, logLines))
  } catch (error) {
    await stop()
    throw error
  }
  return {
    url: nodes[0]!.url,
    urls: nodes.map((node) => node.url),
    nodes,
    db: database.db,
    clock,
    get proxy() {
      if (!proxy) throw new Error('Started without `hasProxy`.')
      return proxy
    },
    logLines,
    makeCompany: (overrides) => makeCompany(database.db, testSealer, overrides),
    stop,
  }
}

async function startNode(
  options: AppOptions,
  databaseUrl: string,
  clock: Clock,
  logLines: string[],
): Promise<AppNode> {
  const config: Config = { ...readConfig({}), port: 0, drainMs: 5_000, leaveMs: 0, ...options.config }
  const log = createLog(config.logLevel, {}, { write: (line) => void logLines.push(line) })
  const db = createDb({ url: databaseUrl, connections: 8, log, connectTimeoutMs: 2_000 })
  const lifecycle = createLifecycle()
  const budget = createBodyBudget(config.maxBodiesInFlightBytes)
  const registry = new Registry()
  const addressOf = createAddressReader(config.trustedProxies)
  const limits = createRateLimits({ db, clock, log }, config.rateLimits)
  const largeBodies = createLargeBodyReader(1)
  const acceptor = createAcceptor({
    db,
    clock,
    log,
    queueDepth: config.acceptQueueDepth,
    patienceMs: options.patienceMs ?? 5_000,
  })
  const tokens = createTokenChecker({ db, clock })
  const unified = createUnifiedSurface({
    accept: acceptor.accept,
    storeAttachments: createStoreAttachments({ db }),
    readBody: largeBodies.read,
    clock,
    log,
    tokens,
    limits,
    logIn: createLogIn({ db, clock }),
    addressOf,
    budget,
    config,
  })
  const exceptions = readExceptions(config.outboundExceptions)
  if (!exceptions.ok) throw new Error(exceptions.reason)
  const direct = createDirectSurface({
    accept: acceptor.accept,
    exceptions: exceptions.exceptions,
    log,
    tokens,
    limits,
    addressOf,
    budget,
    config,
  })
  const outbound = createOutbound({ exceptions: exceptions.exceptions })
  const imports = createImportRunner({ db, log })
  const live = createLiveFeed({ db, clock, log })
  const admin = createAdminSurface({
    db,
    sealer: testSealer,
    clock,
    log,
    signIn: createSignIn({ db, sealer: testSealer, clock }),
    accept: acceptor.accept,
    providerTemplates: createProviderTemplates({
      db,
      sealer: testSealer,
      clock,
      log,
      outbound,
      findDriver,
      publicUrl: 'http://pombo.example',
    }),
    imports,
    live,
    exceptions: exceptions.exceptions,
    addressOf,
    budget,
    publicUrl: 'http://pombo.example',
    consoleUrl: config.publicUrl ?? 'http://pombo.example',
    apis: {
      unified: { url: 'http://pombo.example', isHere: true },
      direct: { url: 'http://pombo.example', isHere: true },
    },
    findSandbox: async () => options.sandboxUrl,
    config,
  })
  const ops = createOpsSurface({
    lifecycle,
    checks: [createDatabaseCheck(db)],
    metrics: async () => ({ contentType: registry.contentType, text: await registry.metrics() }),
  })
  const listening: Listening = await listen(
    config,
    { config, log, lifecycle, budget, metrics: createHttpMetrics(registry, budget), addressOf, limits },
    { main: [ops, unified], direct: [direct], console: [admin] },
  )
  lifecycle.phase = 'serving'
  let stopping: Promise<void> | undefined
  const stop = async () => {
    live.close()
    await listening.close()
    await imports.close()
    await acceptor.drain()
    await limits.close()
    await largeBodies.close()
    await outbound.close()
    await db.close()
  }
  return {
    url: listening.addresses.main,
    directUrl: listening.addresses.direct,
    lifecycle,
    acceptor,
    db,
    stop: () => (stopping ??= stop()),
  }
}
