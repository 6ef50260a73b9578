/** Looks whether this machine and its database can carry Pombo, and says of everything whether it is well and what to do. */
import { access, constants, stat } from 'node:fs/promises'
import { freeBytesAt } from '../lib/disk-space.ts'
import type { Clock } from '../lib/clock.ts'
import { createSealer } from '../lib/secrets.ts'
import { databaseFolder, findOldLanes, findPartitionFaults } from '../store/alerts.ts'
import type { Db, Queryable } from '../store/db.ts'
import {
  findHeldUp,
  hasSchema,
  listOpenAlerts,
  listPausedLines,
  listWorkers,
  readServerFacts,
  readServerTime,
} from '../store/examination.ts'
import { compareMigrations, readMigrations } from '../store/migrate.ts'
import { partitionName } from '../store/partitions.ts'
import { sampleSealedValues } from '../store/sealed-values.ts'
import { keyFile } from '../store/sealing-key.ts'
import { readSealingCheck, readSealingKey, type KeySource } from '../store/sealing.ts'

export type FindingState = 'ok' | 'warn' | 'fail'
export type Finding = {
  check: string
  state: FindingState
  detail: string
  /** What to do about it. */
  advice?: string
}

type Verdict = Omit<Finding, 'check'>

const ok = (detail: string): Verdict => ({ state: 'ok', detail })
const warn = (detail: string, advice: string): Verdict => ({ state: 'warn', detail, advice })
const fail = (detail: string, advice: string): Verdict => ({ state: 'fail', detail, advice })

const mib = 1024 * 1024
const oldestPostgres = 150_000
const oldestNode = 24

/** A check that breaks is a finding too, and keeps none of the others from being made. */
async function look(check: string, make: () => Promise<Verdict>): Promise<Finding> {
  try {
    return { check, ...(await make()) }
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error)
    return { check, ...fail(`could not be looked at: ${detail}`, 'Correct this first.') }
  }
}

export type MachineFacts = { nodeVersion: string; dataDir: string; minFreeBytes: number }

export async function examineMachine(facts: MachineFacts): Promise<Finding[]> {
  const { nodeVersion, dataDir, minFreeBytes } = facts
  const major = Number.parseInt(nodeVersion.replace(/^v/, ''), 10)
  return [
    await look('node', async () =>
      major >= oldestNode
        ? ok(nodeVersion)
        : fail(`${nodeVersion} is too old`, 'Start Pombo by "npm start", which brings its own.'),
    ),
    await look('data folder', async () => {
      try {
        await access(dataDir, constants.W_OK)
      } catch (error) {
        return (error as NodeJS.ErrnoException).code === 'ENOENT'
          ? warn(`${dataDir} is not there yet`, 'The first start makes it.')
          : fail(`${dataDir} cannot be written`, 'Correct its owner and mode, or set POMBO_DATA_DIR.')
      }
      const mode = await stat(keyFile(dataDir)).then(
        (key) => key.mode & 0o777,
        () => undefined,
      )
      return mode !== undefined && (mode & 0o077) !== 0 && process.platform !== 'win32'
        ? warn(`others can read ${keyFile(dataDir)}`, `chmod 600 ${keyFile(dataDir)}`)
        : ok(dataDir)
    }),
    await look('disk space', async () => judgeSpace(await freeBytesAt(await nearest(dataDir)), minFreeBytes)),
  ]
}

function judgeSpace(free: number, minFreeBytes: number): Verdict {
  const shown = `${Math.floor(free / mib)} MiB free`
  const bound = `${Math.floor(minFreeBytes / mib)} MiB`
  if (free < minFreeBytes) return fail(shown, `Below ${bound} nothing is accepted: free some space.`)
  if (free < 4 * minFreeBytes) return warn(shown, `Below ${bound} nothing is accepted: free some space soon.`)
  return ok(shown)
}

/** The folder itself, or the first above it that is there. */
async function nearest(folder: string): Promise<string> {
  for (let path = folder; ; path = path.replace(/[/\\][^/\\]*$/, '') || '/')
    if (path === '/' || (await stat(path).catch(() => undefined))) return path
}

export type DatabaseFacts = {
  db: Queryable
  clock: Clock
  keySource: KeySource
  /** Of this node with its present settings. */
  neededConnections: number
  minFreeBytes: number
}

/** On one connection that waits for nothing long: a table that somebody holds is a finding, not an end of the look. */
export async function examineDatabase(given: Omit<DatabaseFacts, 'db'> & { db: Db }): Promise<Finding[]> {
  const connection = await given.db.connect()
  try {
    await connection.query("set lock_timeout = '2s'; set statement_timeout = '10s'")
    return await examineAll({ ...given, db: connection })
  } finally {
    connection.release(true)
  }
}

async function examineAll(facts: DatabaseFacts): Promise<Finding[]> {
  const { db } = facts
  const findings = [
    await look('database', async () => {
      const startedAt = performance.now()
      const { version, versionNumber } = await readServerFacts(db)
      const shown = `PostgreSQL ${version}, answers in ${Math.round(performance.now() - startedAt)} ms`
      return versionNumber >= oldestPostgres ? ok(shown) : fail(shown, 'Pombo needs PostgreSQL 15 or newer.')
    }),
    await look('database settings', () => judgeSettings(facts)),
    await look('clock', () => judgeClock(facts)),
    await look('database disk', async () => {
      const folder = await databaseFolder(db)
      if (folder === undefined) return ok('on another machine, or not ours to know')
      return judgeSpace(await freeBytesAt(folder), facts.minFreeBytes)
    }),
  ]
  if (!(await hasSchema(db)))
    return [
      ...findings,
      { check: 'migrations', ...warn('the database is empty', 'The first start makes its tables.') },
    ]
  return [
    ...findings,
    await look('migrations', () => judgeMigrations(db)),
    await look('sealing key', () => judgeKey(facts)),
    await look('partitions', () => judgePartitions(facts)),
    await look('locks', () => judgeLocks(db)),
    await look('workers', () => judgeWorkers(db)),
    await look('lines', () => judgeLines(db)),
    await look('waiting messages', () => judgeWaiting(facts)),
    await look('alerts', () => judgeAlerts(db)),
  ]
}

async function judgeSettings({ db, neededConnections }: DatabaseFacts): Promise<Verdict> {
  const server = await readServerFacts(db)
  if (server.isReadOnly) return fail('it takes no writes', 'DATABASE_URL must lead to the primary server.')
  if (server.encoding !== 'UTF8')
    return fail(`its encoding is ${server.encoding}`, 'Create the database with the encoding UTF8.')
  if (server.fsync !== 'on' || server.fullPageWrites !== 'on')
    return fail(
      'fsync or full_page_writes is off',
      'Switch both on: a power cut would lose accepted messages.',
    )
  if (server.synchronousCommit === 'off')
    return fail('synchronous_commit is off', 'Switch it on: a power cut would lose accepted messages.')
  if (server.autovacuum !== 'on') return warn('autovacuum is off', 'Switch it on: the queue would grow slow.')
  const free = server.maxConnections - server.reservedConnections
  if (neededConnections > free)
    return warn(
      `this node may open ${neededConnections} connections, and the server allows ${free}`,
      'Raise max_connections, or lower POMBO_DATABASE_CONNECTIONS.',
    )
  return ok('safe and large enough')
}

async function judgeClock({ db, clock }: DatabaseFacts): Promise<Verdict> {
  const before = clock.now().getTime()
  const theirs = (await readServerTime(db)).getTime()
  const after = clock.now().getTime()
  // The answer was true at some moment between the two.
  const apartMs = Math.max(0, before - theirs, theirs - after)
  const shown = `${(apartMs / 1000).toFixed(1)} s from the database's`
  const advice = 'Let both machines keep their time by NTP: rules and expiry follow this clock.'
  if (apartMs > 60_000) return fail(shown, advice)
  return apartMs > 2_000 ? warn(shown, advice) : ok(shown)
}

async function judgeMigrations(db: Queryable): Promise<Verdict> {
  const applied = await readMigrations(db)
  const { unknown, pending } = await compareMigrations(applied)
  if (unknown.length > 0)
    return warn(
      `the database has ${unknown[0]}, which this Pombo does not know`,
      'Install the newer version.',
    )
  return pending.length > 0
    ? warn(
        `${pending.length} to come, ${pending[0]} first`,
        'The next start applies them, or "pombo migrate".',
      )
    : ok(`all ${applied.length} applied`)
}

async function judgeKey({ db, keySource }: DatabaseFacts): Promise<Verdict> {
  const check = await readSealingCheck(db)
  if (check === undefined) return ok('none yet: the first start makes it')
  const key = await readSealingKey(keySource)
  const advice = 'Copy sealing.key from the node that has it to the data folder, or set POMBO_SEALING_KEY.'
  if (key === undefined) return fail('not here', advice)
  const sealer = createSealer(key)
  if (sealer.checkValue !== check) return fail("another one than the database's", advice)
  for (const { place, value } of await sampleSealedValues(db)) {
    try {
      sealer.open(value)
    } catch {
      return fail(`it does not open a value of ${place}`, 'Restore a backup, or set those secrets anew.')
    }
  }
  return ok('opens what is stored')
}

async function judgePartitions({ db, clock }: DatabaseFacts): Promise<Verdict> {
  const now = clock.now()
  const names = (ahead: number) => {
    const month = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + ahead, 1))
    return [partitionName('message', month), partitionName('message_event', month)]
  }
  const { missing, filled } = await findPartitionFaults(db, [...names(0), ...names(1)])
  const { missing: later } = await findPartitionFaults(db, [...names(2), ...names(3)])
  if (missing.length > 0)
    return fail(`${missing.join(', ')} not there`, 'Start a worker, or run "pombo migrate".')
  if (filled.length > 0)
    return warn(
      `${filled.join(', ')} not empty`,
      'A clock was wrong, or a month was missing when messages came.',
    )
  return later.length > 0
    ? warn('made for less than three months ahead', 'A running worker makes them; "pombo migrate" does too.')
    : ok('three months ahead')
}

const heldUpAfter = { waitingSeconds: 10, idleSeconds: 60, longSeconds: 3600 }

async function judgeLocks(db: Queryable): Promise<Verdict> {
  const [first, ...more] = await findHeldUp(db, heldUpAfter)
  if (first === undefined) return ok('nobody is held up')
  const others = more.length > 0 ? `, and ${more.length} more` : ''
  const { who, seconds } = first
  switch (first.what) {
    case 'waiting':
      return warn(`${who} waits for a lock since ${seconds} s${others}`, 'See who holds it in pg_locks.')
    case 'idle':
      return warn(`${who} left a transaction open for ${seconds} s${others}`, 'End that session.')
    case 'long':
      return warn(
        `${who} is in one transaction for ${seconds} s${others}`,
        'It keeps old rows: end it if it is stuck.',
      )
    case 'prepared':
      return warn(
        `${who} is ${seconds} s old${others}`,
        'Commit it or roll it back: it holds its locks forever.',
      )
  }
}

const aliveSeconds = 30

async function judgeWorkers(db: Queryable): Promise<Verdict> {
  const workers = await listWorkers(db)
  const alive = workers.filter(({ silentSeconds }) => silentSeconds < aliveSeconds)
  const gone = workers.filter(({ silentSeconds, lanes }) => silentSeconds >= aliveSeconds && lanes > 0)
  if (gone.length > 0 && alive.length > 0)
    return warn(
      `${gone[0]!.name} is silent for ${gone[0]!.silentSeconds} s and still has ${gone[0]!.lanes} lines`,
      'Another worker should have taken them: look at its log.',
    )
  return ok(alive.length === 0 ? 'none runs now' : `${alive.length} at work`)
}

async function judgeLines(db: Queryable): Promise<Verdict> {
  const paused = await listPausedLines(db)
  if (paused.length === 0) return ok('none is paused')
  const shown = paused
    .slice(0, 5)
    .map(({ company, name, reason }) => `${name} of ${company} (${reason ?? 'no reason'})`)
  const more = paused.length > shown.length ? ` and ${paused.length - shown.length} more` : ''
  return warn(
    `paused: ${shown.join(', ')}${more}`,
    'Their messages wait. Correct the cause, then "pombo line resume".',
  )
}

async function judgeWaiting({ db, clock }: DatabaseFacts): Promise<Verdict> {
  const now = clock.now()
  const lanes = await findOldLanes(db, now)
  const oldest = lanes.toSorted((a, b) => a.oldestDueAt.getTime() - b.oldestDueAt.getTime())[0]
  if (oldest === undefined) return ok('none is late')
  const minutes = Math.floor((now.getTime() - oldest.oldestDueAt.getTime()) / 60_000)
  const shown = `the oldest waits for ${minutes} min on ${oldest.name}`
  const advice = oldest.isPaused
    ? 'The line is paused.'
    : 'See whether a worker runs, and the line in the log.'
  if (minutes >= 60) return fail(shown, advice)
  return minutes >= 5 ? warn(shown, advice) : ok(shown)
}

async function judgeAlerts(db: Queryable): Promise<Verdict> {
  const alerts = await listOpenAlerts(db)
  const [first] = alerts
  if (first === undefined) return ok('none is open')
  const more = alerts.length > 1 ? `, and ${alerts.length - 1} more` : ''
  return warn(`${first.kind}: ${first.message}${more}`, 'They close by themselves when their cause is gone.')
}
