/**
 * What the first start on an empty database makes, and what every later one refreshes. Decided under the migration
 * lock, so that of any number of nodes exactly one makes the demo company and holds its quickstart file.
 */
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { Sealer } from '../lib/secrets.ts'
import { hasAnyCompany } from '../store/companies.ts'
import type { Queryable } from '../store/db.ts'
import { createDemo } from './demo/create.ts'
import { readQuickstart, withAddresses, writeQuickstart, type Addresses } from './demo/quickstart.ts'

export type FirstStart = {
  sealer: Sealer
  clock: Clock
  log: Log
  dataDir: string
  isDemo: boolean
  addresses: Addresses
}

/** `connection` holds the migration lock. */
export async function decideFirstStart(connection: Queryable, options: FirstStart): Promise<void> {
  const { dataDir, addresses } = options
  if (options.isDemo && !(await hasAnyCompany(connection))) {
    await makeDemo(connection, options)
    return
  }
  const quickstart = await readQuickstart(dataDir)
  if (quickstart) await writeQuickstart(dataDir, withAddresses(quickstart, addresses))
}

async function makeDemo(connection: Queryable, options: FirstStart): Promise<void> {
  const { sealer, clock, log, dataDir, addresses } = options
  await connection.query('begin')
  try {
    const transaction = {
      query: connection.query.bind(connection),
      transaction: <T>(work: (inner: Queryable) => Promise<T>) => work(connection),
    }
    const quickstart = await createDemo(transaction, { sealer, now: clock.now(), addresses })
    // Before the commit: a crash in between leaves a file for a company that is made again, with new secrets,
    // at the next start. The other way round its passwords would be lost.
    await writeQuickstart(dataDir, quickstart)
    await connection.query('commit')
  } catch (error) {
    await connection.query('rollback').catch(() => {})
    throw error
  }
  log.info('demo company created')
}
