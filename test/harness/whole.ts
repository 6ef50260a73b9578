/**
 * The serving role as `pombo start` puts it together, in the test's own process: every surface, every route. The
 * table of routes is what the framework itself was told, so that a route that somebody adds is in it at once.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { FastifyInstance, RouteOptions } from 'fastify'
import { Registry } from 'prom-client'
import { readConfig, type Config } from '../../src/config.ts'
import { createLog, type Log } from '../../src/lib/log.ts'
import { startServing } from '../../src/roles/serving.ts'
import { startWorking } from '../../src/roles/working.ts'
import type { Part } from '../../src/roles/context.ts'
import { createDb, type Db } from '../../src/store/db.ts'
import { shareMetrics } from '../../src/supervisor/child.ts'
import { createMovableClock, type MovableClock } from './app.ts'
import { createTestDatabase } from './database.ts'
import { makeCompany, testSealer, type CompanyOverrides, type TestCompany } from './factories.ts'

export type RegisteredRoute = { method: string; url: string }

export type Whole = {
  url: string
  routes: RegisteredRoute[]
  server: Server
  /** The test's own look into the database. */
  db: Db
  databaseUrl: string
  clock: MovableClock
  log: Log
  /** Every line logged so far, as written. */
  logLines: string[]
  makeCompany(overrides?: CompanyOverrides): Promise<TestCompany>
  stop(): Promise<void>
}

export type WholeOptions = {
  config?: Partial<Config>
  /** Delivers as well: lines, callbacks, housekeeping. */
  hasWorker?: boolean
  logLevel?: string
}

export async function startWhole(options: WholeOptions = {}): Promise<Whole> {
  const database = await createTestDatabase()
  const clock = createMovableClock()
  const logLines: string[] = []
  const log = createLog(options.logLevel ?? 'info', {}, { write: (line) => void logLines.push(line) })
  const db = createDb({ url: database.url, connections: 8, log, connectTimeoutMs: 2_000 })
  const registry = new Registry()
  shareMetrics(registry)
  const config: Config = {
    ...readConfig({}),
    isDemo: false,
    port: 0,
    drainMs: 3_000,
    leaveMs: 0,
    minFreeDiskBytes: 0,
    ...options.config,
  }
  const parts: Part[] = []
  // The runner's own channel looks like a supervisor's, which nobody here answers for.
  const { send } = process
  delete process.send
  const stop = async () => {
    process.send = send
    for (const part of parts.toReversed()) await part.stop()
    await db.close()
    await database.drop()
  }
  try {
    const context = { config, db, sealer: testSealer, clock, log, registry }
    const { apps, routes } = await watchRoutes(async () => void parts.push(await startServing(context)))
    if (options.hasWorker) parts.push(await startWorking(context))
    const { server } = apps[0]!
    return {
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      routes,
      server,
      db: database.db,
      databaseUrl: database.url,
      clock,
      log,
      logLines,
      makeCompany: (overrides) => makeCompany(database.db, testSealer, overrides),
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

/** The framework says when an instance is made, before it has any route. */
async function watchRoutes(
  start: () => Promise<void>,
): Promise<{ apps: FastifyInstance[]; routes: RegisteredRoute[] }> {
  const apps: FastifyInstance[] = []
  const routes: RegisteredRoute[] = []
  const onMade = (message: unknown) => {
    const { fastify } = message as { fastify: FastifyInstance }
    apps.push(fastify)
    fastify.addHook('onRoute', ({ method, url }: RouteOptions) => {
      for (const each of [method].flat()) routes.push({ method: each, url })
    })
  }
  subscribe('fastify.initialization', onMade)
  try {
    await start()
  } finally {
    unsubscribe('fastify.initialization', onMade)
  }
  return { apps, routes }
}
