import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../test/harness/database.ts'
import { makeCompany, type TestCompany } from '../../test/harness/factories.ts'
import { newId } from '../lib/ids.ts'
import { storeFile } from '../store/files.ts'
import { foldReportDeltas, removeUnusedFiles } from '../store/housekeeping.ts'
import { createMediaItem } from '../store/media.ts'
import { housekeepingJobs } from './keep-house.ts'

let database: TestDatabase
let company: TestCompany
beforeAll(async () => {
  database = await createTestDatabase()
  company = await makeCompany(database.db)
})
afterAll(() => database.drop())

const now = new Date('2030-06-01T12:00:00Z')
const clock = { now: () => now }
const ago = (ms: number) => new Date(now.getTime() - ms)
const hour = 3_600_000

const runJob = async (name: string) => {
  const job = housekeepingJobs({ db: database.db, clock, retentionMonths: 13 }).find(
    (candidate) => candidate.name === name,
  )
  await job!.run()
}

test('idempotency records go after 24 hours, not before', async () => {
  const { db } = database
  for (const [key, at] of [
    ['old', ago(24 * hour + 1)],
    ['young', ago(24 * hour - 1)],
  ] as const)
    await db.query(
      "insert into idempotency (company_id, route, key, body_hash, message_id, request_id, answer, created_at) values ($1, '/v1', $2, '', $3, '', '{}', $4)",
      [company.id, key, newId(), at],
    )
  await runJob('idempotency records')
  expect(await db.query('select key from idempotency')).toEqual([{ key: 'young' }])
})

test('refused logins go when no lock-out can need them any more', async () => {
  const { db } = database
  await db.query(
    "insert into login_failure (triple_key, address_key, failed_at) values ('', '', $1), ('', '', $2)",
    [ago(hour), ago(60_000)],
  )
  await runJob('login failures')
  expect(await db.query('select failed_at as at from login_failure')).toEqual([{ at: ago(60_000) }])
})

test('counters add up while they are folded in bites by several nodes at once', async () => {
  const { db } = database
  const add = (outcome: string, count: number, lineId: string | null) =>
    db.query(
      "insert into report_delta (company_id, hour, api, channel, line_id, outcome, count) values ($1, $2, 'unified', 'sms', $3, $4, $5)",
      [company.id, now, lineId, outcome, count],
    )
  const lineId = company.lines.sms[0]!.id
  for (let batch = 1; batch <= 20; batch++) {
    await add('accepted', batch, lineId)
    await add('blocked', 1, null)
  }
  const folded = await Promise.all(Array.from({ length: 4 }, () => foldReportDeltas(db, 10)))
  expect(folded.reduce((sum, count) => sum + count, 0)).toBeGreaterThan(0)
  await runJob('report counters')
  expect(await db.query('select 1 from report_delta')).toEqual([])
  expect(
    await db.query('select outcome, line_id as "lineId", count from report_hour order by outcome'),
  ).toEqual([
    { outcome: 'accepted', lineId, count: 210 },
    { outcome: 'blocked', lineId: null, count: 20 },
  ])
})

test('a file goes when nobody needs it: not in the library, not young, not in a waiting message', async () => {
  const { db } = database
  const store = (text: string) => storeFile(db, company.id, Buffer.from(text))
  const [unused, young] = [await store('unused'), await store('young')]
  const [waiting, doubted] = [await store('waiting'), await store('doubted')]
  const picture = await createMediaItem(db, company.id, { name: 'kept.png', bytes: Buffer.from('kept') })
  const storeMessage = async (hash: string): Promise<string> => {
    const id = newId()
    const files = [{ name: 'w', source: { kind: 'stored', hash, size: 7 } }]
    await db.query(
      `insert into message (id, company_id, api, channel, state, recipient, request_id, content, priority, accepted_at, expires_at)
        values ($1, $2, 'unified', 'email', 'queued', 'x', 'x', $3, 1, now(), now())`,
      [id, company.id, { kind: 'text', text: '', files }],
    )
    return id
  }
  const lineId = company.lines.email[0]!.id
  await db.query(
    'insert into outbox (message_id, company_id, line_id, contact_id, priority, due_at, expires_at) values ($1, $2, $3, $4, 1, now(), now())',
    [await storeMessage(waiting.hash), company.id, lineId, newId()],
  )
  await db.query(
    `insert into unknown_message (message_id, company_id, line_id, contact_id, priority, expires_at, is_pinned, attempts, resolve_at)
      values ($1, $2, $3, $4, 1, now(), false, 1, now())`,
    [await storeMessage(doubted.hash), company.id, lineId, newId()],
  )
  await db.query("update file set referenced_at = $1 where hash <> decode($2, 'hex')", [
    ago(49 * hour),
    young.hash,
  ])
  await db.query("update file set referenced_at = $1 where hash = decode($2, 'hex')", [
    ago(47 * hour),
    young.hash,
  ])
  await runJob('unused files')
  const left = await db.query<{ hash: string }>("select encode(hash, 'hex') as hash from file")
  expect(left.map(({ hash }) => hash).toSorted()).toEqual(
    [young.hash, waiting.hash, doubted.hash, picture.ok ? picture.value.hash : ''].toSorted(),
  )
  expect(left.map(({ hash }) => hash)).not.toContain(unused.hash)
  expect(await db.query('select 1 from file_chunk')).toHaveLength(4)
  // Those that are needed were looked at once, and do not stand in the way of the next.
  expect(await removeUnusedFiles(db, ago(48 * hour), 10)).toBe(0)
})

test('partitions are made ahead of time', async () => {
  await runJob('partitions')
  const rows = await database.db.query<{ name: string }>(
    "select relname as name from pg_class where relname ~ '^message_2030_..$' order by relname",
  )
  expect(rows.map(({ name }) => name)).toEqual([
    'message_2030_05',
    'message_2030_06',
    'message_2030_07',
    'message_2030_08',
    'message_2030_09',
  ])
})
