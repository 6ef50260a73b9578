/** How a command reaches the database: DATABASE_URL, the running Pombo's, or its own for as long as it takes. */
import { setTimeout as wait } from 'node:timers/promises'
import type { Config } from '../config.ts'
import { createLog, type Log } from '../lib/log.ts'
import type { Sealer } from '../lib/secrets.ts'
import { createDb, type Db } from '../store/db.ts'
import {
  EmbeddedError,
  openDataDir,
  runningUrl,
  startEmbedded,
  type EmbeddedPostgres,
} from '../store/embedded/index.ts'
import { migrate } from '../store/migrate.ts'
import { prepareSealer } from '../store/sealing.ts'

export type Workplace = { db: Db; sealer: Sealer }

/** A Pombo that is just starting holds the lock before its database answers. */
const patienceMs = 15_000
const pauseMs = 200

export async function withDatabase<T>(
  config: Config,
  work: (workplace: Workplace) => Promise<T>,
  applicationName?: string,
): Promise<T> {
  const prepared = async (db: Db, log: Log) => {
    let sealer: Sealer | undefined
    await migrate(db, log, async (connection) => {
      sealer = await prepareSealer(connection, config)
    })
    return work({ db, sealer: sealer! })
  }
  return withDatabaseAsItIs(config, prepared, applicationName)
}

/** Neither migrated nor given a sealing key: for commands that look, or that bring all of it themselves. */
export async function withDatabaseAsItIs<T>(
  config: Config,
  work: (db: Db, log: Log) => Promise<T>,
  applicationName = 'pombo command',
): Promise<T> {
  // A command's own log would stand between its output; what goes wrong is thrown.
  const log = createLog(config.logLevel === 'debug' ? 'debug' : 'silent', { process: 'command' })
  const { url, stop } = config.databaseUrl
    ? { url: config.databaseUrl, stop: async () => {} }
    : await openEmbedded(config.dataDir, log)
  const db = createDb({ url, connections: 4, log, applicationName })
  try {
    return await work(db, log)
  } finally {
    await db.close()
    await stop()
  }
}

async function openEmbedded(
  folder: string,
  log: ReturnType<typeof createLog>,
): Promise<{ url: string; stop(): Promise<void> }> {
  const dataDir = await openDataDir(folder)
  const giveUpAt = performance.now() + patienceMs
  for (;;) {
    const url = await runningUrl(dataDir)
    if (url !== undefined) return { url, stop: async () => {} }
    try {
      const server: EmbeddedPostgres = await startEmbedded({ dataDir, log })
      return { url: server.url, stop: () => server.stop() }
    } catch (error) {
      const isStarting = error instanceof EmbeddedError && error.code === 'in_use'
      if (!isStarting || performance.now() > giveUpAt) throw error
    }
    await wait(pauseMs)
  }
}
