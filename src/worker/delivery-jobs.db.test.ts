import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../test/harness/database.ts'
import { makeCompany, randomMobile, type TestCompany } from '../../test/harness/factories.ts'
import { until } from '../../test/harness/http.ts'
import type { FileBytes, LineSession } from '../drivers/driver.ts'
import { receiveInbound } from '../flows/receive-inbound.ts'
import { systemClock } from '../lib/clock.ts'
import { newId } from '../lib/ids.ts'
import { silentLog } from '../lib/log.ts'
import type { Db } from '../store/db.ts'
import type { Delivery } from './delivery.ts'
import { deliveryJobs } from './delivery-jobs.ts'
import { runJobs } from './jobs.ts'

let database: TestDatabase
let db: Db
let company: TestCompany
beforeAll(async () => {
  database = await createTestDatabase()
  db = database.db
  company = await makeCompany(db)
})
afterAll(() => database.drop())

const receive = (lineId: string, providerMediaId: string) =>
  receiveInbound({ db, clock: systemClock, log: silentLog }, [
    {
      lineId,
      companyId: company.id,
      receivedAt: new Date(),
      message: {
        providerId: newId(),
        from: randomMobile(),
        text: '',
        at: new Date(),
        kind: 'media',
        media: [{ providerMediaId, mimeType: 'image/png' }],
      },
    },
  ])

type Fetches = Record<string, (id: string) => Promise<FileBytes>>

/** Sessions that fetch as told; nothing else of a delivery is asked for. */
function deliveryOf(sessions: Fetches): Delivery {
  const driven = new Map(
    Object.entries(sessions).map(([id, fetchMedia]) => {
      const session: Pick<LineSession, 'fetchMedia'> = { fetchMedia }
      return [id, { line: { id }, session }]
    }),
  )
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the jobs under test look at no more than this
  return {
    wake() {},
    lines: { values: () => driven.values(), get: (id: string) => driven.get(id) },
  } as unknown as Delivery
}

function run(sessions: Fetches): void {
  const jobs = deliveryJobs({ db, clock: systemClock, log: silentLog, delivery: deliveryOf(sessions) })
  const running = runJobs(
    jobs
      .filter(({ name }) => name !== 'ask providers for template approvals')
      .map((job) => ({ ...job, everyMs: 20 })),
    silentLog,
  )
  onTestFinished(() => running.close())
}

const stateOf = async (providerMediaId: string) =>
  (
    await db.query<{ state: string; hash: Buffer | null }>(
      'select state, hash from inbound_media where provider_media_id = $1',
      [providerMediaId],
    )
  )[0]

test('received files are fetched, and a line whose host hangs holds up no other', async () => {
  const [slow, quick] = company.lines.whatsapp
  await receive(slow!.id, 'slow-1')
  await receive(quick!.id, 'quick-1')
  const asked: string[] = []
  const hanging = Promise.withResolvers<FileBytes>()
  onTestFinished(() => hanging.resolve({ bytes: Buffer.from('late'), name: '', mimeType: '' }))
  run({
    [slow!.id]: (id) => {
      asked.push(id)
      return hanging.promise
    },
    [quick!.id]: async (id) => ({
      bytes: Buffer.from(`bytes of ${id}`),
      name: 'a.png',
      mimeType: 'image/png',
    }),
  })
  await until('the quick one is stored', async () => (await stateOf('quick-1'))?.state === 'stored')
  // One that comes while the other line still hangs.
  await receive(quick!.id, 'quick-2')
  await until('the next one too', async () => (await stateOf('quick-2'))?.state === 'stored')
  expect(asked).toEqual(['slow-1'])
  expect(await stateOf('slow-1')).toMatchObject({ state: 'pending' })
})

test('unknown outcomes of messages that are gone are forgotten', async () => {
  await db.query(
    `insert into unknown_message (message_id, company_id, line_id, contact_id, priority, expires_at, is_pinned, attempts, resolve_at)
      values ($1, $2, $3, $4, 1, now(), false, 1, now() - interval '1 hour')`,
    [newId(), company.id, company.lines.sms[0]!.id, newId()],
  )
  run({})
  await until('gone', async () => (await db.query('select 1 from unknown_message')).length === 0)
})

test('early receipts are worked through in one turn, however many came before their messages', async () => {
  await db.query(
    `insert into early_receipt (line_id, provider_id, receipt, received_at, try_at)
      select $1, 'not ours ' || n, '{"state": "delivered", "at": "2026-01-01T00:00:00Z"}', now() - interval '2 hours', now()
      from generate_series(1, 2500) n`,
    [company.lines.sms[0]!.id],
  )
  const job = deliveryJobs({ db, clock: systemClock, log: silentLog, delivery: deliveryOf({}) }).find(
    ({ name }) => name === 'match early receipts',
  )!
  await job.run(AbortSignal.abort())
  expect(await db.query('select count(*) from early_receipt')).toEqual([{ count: 2500 }])
  await job.run(new AbortController().signal)
  expect(await db.query('select count(*) from early_receipt')).toEqual([{ count: 0 }])
})
