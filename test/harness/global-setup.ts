import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import type { TestProject } from 'vitest/node'
import { takeFileLock } from '../../src/lib/file-lock.ts'
import { startEmbedded } from '../../src/store/embedded/index.ts'
import { stopOrphans } from '../../src/store/embedded/postmaster.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** A superuser's address on the server of this run; test/harness/database.ts clones databases there. */
    databaseUrl: string
  }
}

const FOLDER_PREFIX = 'pombo-test-'
/** Databases with this prefix belong to tests; an external server is cleared of those that a killed run left. */
export const TEST_DATABASE_PREFIX = 'pombo_test_'
const RUN_LOCK = 7_266_266

export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const external = process.env['TEST_DATABASE_URL']
  const server = external ? await openExternal(external) : await openEmbedded()
  project.provide('databaseUrl', server.url)
  return server.close
}

async function openEmbedded() {
  await removeLeftoverFolders()
  const dataDir = await mkdtemp(join(tmpdir(), FOLDER_PREFIX))
  const quiet = { info: () => undefined, warn: () => undefined }
  const server = await startEmbedded({ dataDir, log: quiet, fsync: false })
  const close = async () => {
    await server.stop()
    await rm(dataDir, { recursive: true, force: true })
  }
  return { url: server.url, close }
}

/** Every run holds the lock shared while it lives; who gets it alone knows that all test databases are leftovers. */
async function openExternal(url: string) {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 10_000 })
  await client.connect()
  await dropIfAlone(client)
  await client.query('SELECT pg_advisory_lock_shared($1)', [RUN_LOCK])
  const close = async () => {
    await client.query('SELECT pg_advisory_unlock_shared($1)', [RUN_LOCK])
    await dropIfAlone(client)
    await client.end()
  }
  return { url, close }
}

async function dropIfAlone(client: Client): Promise<void> {
  const alone = await client.query<{ got: boolean }>('SELECT pg_try_advisory_lock($1) AS got', [RUN_LOCK])
  if (!alone.rows[0]?.got) return
  await dropTestDatabases(client)
  await client.query('SELECT pg_advisory_unlock($1)', [RUN_LOCK])
}

async function dropTestDatabases(client: Client): Promise<void> {
  const found = await client.query<{ name: string }>(
    'SELECT datname AS name FROM pg_database WHERE starts_with(datname, $1)',
    [TEST_DATABASE_PREFIX],
  )
  for (const { name } of found.rows) {
    await client.query(`ALTER DATABASE ${client.escapeIdentifier(name)} IS_TEMPLATE false`)
    await client.query(`DROP DATABASE IF EXISTS ${client.escapeIdentifier(name)} WITH (FORCE)`)
  }
}

/** Folders of runs that were killed: nobody holds their lock. */
async function removeLeftoverFolders(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    if (!name.startsWith(FOLDER_PREFIX)) continue
    const folder = join(tmpdir(), name)
    try {
      // One that another run has just made is not locked yet.
      if (Date.now() - (await stat(folder)).birthtimeMs < 60_000) continue
      const lock = takeFileLock(join(folder, 'pombo.lock'))
      if (!lock) continue
      await stopOrphans(join(folder, 'postgres', 'data'))
      lock.release()
      await rm(folder, { recursive: true, force: true })
    } catch {
      // Another user's folder, or one that another run removes right now.
    }
  }
}
