/** One process of the tree: reads its settings, opens what it needs, starts its roles, waits, stops in reverse. */
import { Registry } from 'prom-client'
import { processKind, readConfig } from './config.ts'
import { measureEventLoop } from './lib/event-loop.ts'
import { systemClock } from './lib/clock.ts'
import { createLog } from './lib/log.ts'
import type { Part } from './roles/context.ts'
import { startServing } from './roles/serving.ts'
import { startWorking } from './roles/working.ts'
import { createDb } from './store/db.ts'
import { openSealer } from './store/sealing.ts'
import { childCannotStart, childReady, joinSupervisor, onDrain, shareMetrics } from './supervisor/child.ts'

const config = readConfig()
const kind = processKind() ?? 'all'
const log = createLog(config.logLevel, { process: kind })
const registry = new Registry()
const parts: Part[] = []

joinSupervisor({ drainMs: config.drainMs })
measureEventLoop(registry, kind)
shareMetrics(registry)
onDrain(async () => {
  const [database, ...roles] = parts
  // Side by side, or a caller who uploads slowly would use up the time in which the worker hands its lanes back.
  const stopped = await Promise.allSettled(roles.map((part) => part.stop()))
  await database?.stop()
  for (const result of stopped) if (result.status === 'rejected') throw result.reason
})

async function start(): Promise<void> {
  if (config.databaseUrl === undefined) throw new Error('A process of the tree is started by "pombo start".')
  const db = createDb({
    url: config.databaseUrl,
    connections: config.databaseConnections,
    log,
    applicationName: `pombo ${kind}`,
  })
  parts.push({ stop: () => db.close() })
  const context = { config, db, sealer: await openSealer(db, config), clock: systemClock, log, registry }
  if (kind !== 'serve') parts.push(await startWorking(context))
  if (kind !== 'worker') parts.push(await startServing(context))
}

try {
  await start()
  childReady()
} catch (error) {
  log.error({ err: error }, 'cannot start')
  childCannotStart(error instanceof Error ? error.message : String(error))
  process.exitCode = 1
}
