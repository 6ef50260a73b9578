import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../test/harness/database.ts'
import { makeCompany, type TestCompany } from '../../test/harness/factories.ts'
import { storeMessage } from '../../test/harness/messages.ts'
import { recordReceipts } from '../flows/record-receipts.ts'
import { systemClock } from '../lib/clock.ts'
import { newId } from '../lib/ids.ts'
import { silentLog } from '../lib/log.ts'
import { createDb, type Db, type Queryable } from './db.ts'
import { claimMessages, expireMessages, putBack, settleMessages } from './outbox.ts'

let database: TestDatabase
/** As the worker has it. */
let db: Db
let company: TestCompany
const workerId = newId()

beforeAll(async () => {
  database = await createTestDatabase()
  company = await makeCompany(database.db)
  await database.db.query('update lane set owner_id = $1, epoch = 7', [workerId])
  db = createDb({ url: database.url, connections: 1, log: silentLog, isForLookups: true })
})
afterAll(async () => {
  await db.close()
  await database.drop()
})

/** How many entries of the queue the work reads, through whichever index, or without one. */
async function entriesRead(work: () => Promise<unknown>): Promise<number> {
  const count = async () => {
    await db.query('select pg_stat_force_next_flush()', [])
    const [row] = await db.query<{ read: number }>(
      `select coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0) +
         (select coalesce(sum(idx_tup_read), 0) from pg_stat_user_indexes where relname = 'outbox') as read
       from pg_stat_user_tables where relname = 'outbox'`,
      [],
    )
    return row!.read
  }
  const before = await count()
  await work()
  return (await count()) - before
}

const settleOne = async (lineId: string) => {
  const wish = { line_id: lineId, epoch: 7, free: 1, single_share: 0, deferred_share: 0 }
  const [claimed] = await claimMessages(db, workerId, [wish], new Date())
  const settlement = { ...putBack(claimed!, new Date()), state: 'sent' as const, provider_ids: [newId()] }
  const context = { db, clock: systemClock, log: silentLog }
  expect(await settleMessages(db, [settlement])).toEqual(new Set([claimed!.messageId]))
  const receipt = { providerId: settlement.provider_ids[0], state: 'delivered' as const, at: new Date() }
  const entry = { lineId, companyId: company.id, receipt, receivedAt: new Date() }
  expect(await recordReceipts(context, [entry])).toMatchObject({ matched: 1 })
  expect(await expireMessages(db, new Date())).toEqual([])
}

test('plans that were made while the queue was known to be empty find entries by their keys', async () => {
  const { lineId } = await storeMessage(database.db, company, { state: 'queued', outbox: {} })
  const fill = (entries: number) =>
    database.db.query(
      `insert into outbox (message_id, company_id, line_id, contact_id, priority, due_at, expires_at, is_deferred)
       select gen_random_uuid(), $1, $2, gen_random_uuid(), 2, now() + interval '1 hour', now() + interval '1 day', false
       from generate_series(1, $3)`,
      [company.id, lineId, entries],
    )
  await settleOne(lineId)
  await fill(500)
  await database.db.query('delete from outbox')
  // As it leaves a queue that somebody uses meanwhile: pages, and nothing in them.
  await database.db.query('vacuum (truncate false) outbox')
  // The first six runs decide which plan is kept.
  for (let round = 0; round < 8; round++) {
    await storeMessage(database.db, company, { state: 'queued', outbox: {} })
    await settleOne(lineId)
  }
  await fill(3_000)
  // Claimed an hour ago and not settled yet.
  await database.db.query(
    'update outbox set handed_over_epoch = 7 where message_id in (select message_id from outbox limit 1000)',
  )
  await storeMessage(database.db, company, { state: 'queued', outbox: {} })
  const read = await entriesRead(() => settleOne(lineId))
  expect(read).toBeGreaterThan(0)
  expect(read).toBeLessThan(100)
})

test('a settlement that waited for its own first try changes nothing of what was claimed anew', async () => {
  const { id, lineId } = await storeMessage(database.db, company, { state: 'queued', outbox: {} })
  const wish = { line_id: lineId, epoch: 7, free: 5, single_share: 0, deferred_share: 0 }
  const claim = (connection: Queryable) => claimMessages(connection, workerId, [wish], new Date())
  const [claimed] = await claim(db)
  expect(claimed?.messageId).toBe(id)
  const again = [putBack(claimed!, new Date())]
  const first = await database.db.connect()
  await first.query('begin')
  expect(await settleMessages(first, again)).toEqual(new Set([id]))
  expect(await claim(first)).toMatchObject([{ messageId: id, attempts: 2 }])
  const second = settleMessages(db, again)
  await expect
    .poll(() =>
      database.db.query(`select 1 from pg_stat_activity where wait_event_type = 'Lock' and state = 'active'`),
    )
    .not.toEqual([])
  await first.query('commit')
  first.release()
  expect(await second).toEqual(new Set())
  expect(
    await database.db.query(
      'select handed_over_epoch::int as epoch, attempts from outbox where message_id = $1',
      [id],
    ),
  ).toEqual([{ epoch: 7, attempts: 2 }])
})
