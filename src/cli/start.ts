/** `pombo start`: prepares the database once, then hands over to the supervisor. */
import { childEnvironment, readConfig, type Config } from '../config.ts'
import { readQuickstart } from '../flows/demo/quickstart.ts'
import { decideFirstStart } from '../flows/first-start.ts'
import { systemClock } from '../lib/clock.ts'
import { createLog, type Log } from '../lib/log.ts'
import { createDb, type Db } from '../store/db.ts'
import { readServerTime } from '../store/examination.ts'
import { migrate } from '../store/migrate.ts'
import { prepareSealer } from '../store/sealing.ts'
import { runSupervisor } from '../supervisor/index.ts'
import { addressesOf } from '../flows/addresses.ts'
import type { Command } from './command.ts'
import { greeting } from './greeting.ts'
import { explain } from './explain.ts'
import { CommandError } from './command.ts'
import type { Io } from './io.ts'

export const start: Command = {
  summary: 'Start Pombo on this machine.',
  detail:
    'Runs until it gets SIGTERM or Ctrl-C, then finishes what is in flight. On an empty database it creates a demo company, unless POMBO_DEMO is false.',
  options: {
    roles: {
      type: 'string',
      describe: 'What this node does: any of unified, direct, hooks, admin, worker, separated by commas.',
      value: 'ROLES',
    },
  },
  async run(given, io) {
    const roles = given.text('roles')
    const overrides: Record<string, string> = roles === undefined ? {} : { POMBO_ROLES: roles }
    const config = readConfig(childEnvironment(overrides))
    const log = createLog(config.logLevel, { process: 'supervisor' })
    return runSupervisor({
      config,
      log,
      childEnv: (extra) => childEnvironment({ ...overrides, ...extra }),
      prepare: (facts) => prepare({ ...config, port: facts.port }, facts.databaseUrl, log),
      onReady: ({ port }) => void greet({ ...config, port }, io, log),
    })
  },
}

/** Migrations, the sealing key and the demo company: once per start, under the migration lock. */
async function prepare(config: Config, databaseUrl: string, log: Log): Promise<void> {
  const db = createDb({ url: databaseUrl, connections: 4, log, applicationName: 'pombo start' })
  try {
    await compareClocks(db, log)
    await migrate(db, log, async (connection) => {
      const sealer = await prepareSealer(connection, config)
      await decideFirstStart(connection, {
        sealer,
        clock: systemClock,
        log,
        dataDir: config.dataDir,
        isDemo: config.isDemo,
        addresses: addressesOf(config),
      })
    })
  } catch (error) {
    // The address may be the embedded database's own, which the person never typed.
    const sentence = explain(error, databaseUrl)
    throw sentence === undefined ? error : new CommandError(sentence, { cause: error })
  } finally {
    await db.close()
  }
}

const toleratedSkewMs = 2_000

/** Leases follow the database's clock and rules ours: where they differ, an operator should know before a customer does. */
async function compareClocks(db: Db, log: Log): Promise<void> {
  const before = Date.now()
  const there = (await readServerTime(db)).getTime()
  const skewMs = there < before ? before - there : Math.max(0, there - Date.now())
  if (skewMs > toleratedSkewMs)
    log.warn({ skewMs }, "this machine's clock differs from the database's; let both keep their time by NTP")
}

/** On a terminal the whole welcome; elsewhere only where the file is, since logs hold no secrets. */
async function greet(config: Config, io: Io, log: Log): Promise<void> {
  const quickstart = config.isDemo ? await readQuickstart(config.dataDir) : undefined
  if (io.isTerminal) io.out(greeting(io, config, quickstart))
  else
    log.info(
      { ...addressesOf(config), ...(quickstart && { quickstart: `${config.dataDir}/quickstart.json` }) },
      'ready',
    )
}
