import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { FileLock } from '../../lib/file-lock.ts'
import { findBinaries, type Binaries } from './binaries.ts'
import {
  assertPortFree,
  databaseUrl,
  isAnswered,
  openEndpoint,
  removeShortPath,
  removeStaleSocket,
  type Endpoint,
} from './endpoint.ts'
import { lockDataDir, openDataDir } from './data-dir.ts'
import { EmbeddedError, fileFault } from './errors.ts'
import { findHome, giveTo, openHome, type Home } from './home.ts'
import { DATABASE, initialise, isInitialised, PASSWORD_FILE, USER } from './initialise.ts'
import { isAlive, readPostmaster, stopOrphans } from './postmaster.ts'
import { openServerLog } from './server-log.ts'
import {
  launch,
  stopServer,
  waitUntilReady,
  type EmbeddedExit,
  type EmbeddedLog,
  type Server,
} from './server-process.ts'
import { serverConf } from './settings.ts'

export type EmbeddedOptions = {
  dataDir: string
  log: EmbeddedLog
  /** Off only for tests: a crash of the machine then loses data. */
  fsync?: boolean
  /** A loopback port instead of the private socket. */
  port?: number
  /** The data folder's lock when the caller holds it already; else it is taken here and released by `stop`. */
  lock?: FileLock
}

export type EmbeddedPostgres = {
  /** Of the database `pombo`, with the password: never for a log or a command line. */
  url: string
  pid: number
  /** Settles when the server ends, asked or not; its lock stays until `stop`. */
  exited: Promise<EmbeddedExit>
  stop(): Promise<void>
}

export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  try {
    const dataDir = await openDataDir(options.dataDir)
    const lock = options.lock ?? lockDataDir(dataDir)
    const release = () => {
      if (!options.lock) lock.release()
    }
    try {
      return await start({ ...options, dataDir }, release)
    } catch (error) {
      release()
      throw error
    }
  } catch (error) {
    throw fileFault(error, options.dataDir)
  }
}

/** The address of the server that some Pombo runs on this data folder right now, for commands beside it. */
export async function runningUrl(dataDir: string): Promise<string | undefined> {
  const home = await findHome(dataDir)
  const postmaster = await readPostmaster(home.data)
  if (!postmaster?.isReady || !isAlive(postmaster.pid)) return undefined
  const password = await readFile(join(home.data, PASSWORD_FILE), 'utf8').catch(() => undefined)
  if (password === undefined) return undefined
  const socketDir = postmaster.socketDir || undefined
  return databaseUrl({
    socketDir,
    port: socketDir ? undefined : postmaster.port,
    user: USER,
    password,
    database: DATABASE,
  })
}

async function start(options: EmbeddedOptions, release: () => void): Promise<EmbeddedPostgres> {
  const { dataDir, log, fsync = true } = options
  const home = await openHome(dataDir)
  const homeLock = home.isMoved ? lockDataDir(home.folder) : undefined
  let endpoint: Endpoint | undefined
  try {
    const binaries = await findBinaries(home.account)
    sayWhere(home, binaries, log)
    await prepareData(home, binaries, { dataDir, isDurable: fsync, log })
    endpoint = await openEndpoint(home, options.port)
    if (endpoint.socketDir) await clearSocket(endpoint.socketDir, dataDir)
    if (options.port !== undefined) await assertPortFree(options.port)
    const confFile = join(home.data, 'pombo.conf')
    await writeFile(confFile, serverConf({ ...endpoint, isDurable: fsync }), { mode: 0o600 })
    await giveTo(home.account, confFile)
    const password = await readFile(join(home.data, PASSWORD_FILE), 'utf8')
    const serverLog = await openServerLog(home.logFile)
    const server = await launch(home, binaries, serverLog)
    await waitUntilReady(server, { home, serverLog, log, dataDir, port: endpoint.port })
    const cleanUp = async () => {
      serverLog.stop()
      await endpoint?.close()
      homeLock?.release()
      release()
    }
    return running(server, databaseUrl({ ...endpoint, user: USER, password, database: DATABASE }), cleanUp)
  } catch (error) {
    await endpoint?.close()
    homeLock?.release()
    throw error
  }
}

function running(server: Server, url: string, cleanUp: () => Promise<void>): EmbeddedPostgres {
  let stopping: Promise<void> | undefined
  const stop = async () => {
    await stopServer(server)
    await cleanUp()
  }
  return { url, pid: server.pid, exited: server.exited, stop: () => (stopping ??= stop()) }
}

async function prepareData(
  home: Home,
  binaries: Binaries,
  options: { dataDir: string; isDurable: boolean; log: EmbeddedLog },
): Promise<void> {
  if (!(await isInitialised(home))) {
    options.log.info({ folder: home.folder }, 'making a new database')
    await initialise({ home, binaries, ...options })
    return
  }
  await assertSameMajor(home, binaries, options.dataDir)
  const { stoppedPids, socketDir } = await stopOrphans(home.data)
  if (socketDir) await removeShortPath(socketDir)
  if (stoppedPids.length > 0)
    options.log.warn({ pids: stoppedPids }, 'stopped the PostgreSQL that an earlier Pombo left behind')
}

async function clearSocket(socketDir: string, dataDir: string): Promise<void> {
  if (await isAnswered(socketDir)) {
    const text = `A PostgreSQL outside of this container still works on the data folder ${dataDir}: stop it first.`
    throw new EmbeddedError('in_use', text)
  }
  await removeStaleSocket(socketDir)
}

async function assertSameMajor(home: Home, binaries: Binaries, dataDir: string): Promise<void> {
  const text = await readFile(join(home.data, 'PG_VERSION'), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return ''
    throw error
  })
  const major = Number.parseInt(text, 10)
  if (major === binaries.major) return
  const holds = Number.isNaN(major) ? 'no PostgreSQL database' : `a database of PostgreSQL ${major}`
  const sentence = `The data folder ${dataDir} holds ${holds}, and this Pombo brings PostgreSQL ${binaries.major}: back it up with the Pombo that made it and restore it here, or set POMBO_DATA_DIR to another folder.`
  throw new EmbeddedError('other_version', sentence)
}

function sayWhere(home: Home, binaries: Binaries, log: EmbeddedLog): void {
  if (!home.isMoved && !binaries.isCopy) return
  const facts = { account: home.account?.name, database: home.folder, binaries: binaries.postgres }
  log.info(
    facts,
    `the user ${home.account?.name} that PostgreSQL runs as cannot reach this folder: what it needs is kept under /var/lib/pombo`,
  )
}
