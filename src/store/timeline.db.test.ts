import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../test/harness/database.ts'
import { makeCompany, type TestCompany } from '../../test/harness/factories.ts'
import { storeMessage } from '../../test/harness/messages.ts'
import { recordReceipts } from '../flows/record-receipts.ts'
import { systemClock } from '../lib/clock.ts'
import { newId } from '../lib/ids.ts'
import { silentLog } from '../lib/log.ts'
import type { Db } from './db.ts'
import { pauseLine } from './lines.ts'
import { claimMessages, putBack, settleMessages, type ClaimedMessage, type Settlement } from './outbox.ts'
import { readTimeline } from './timeline.ts'

let database: TestDatabase
let db: Db
let company: TestCompany
const workerId = newId()

beforeAll(async () => {
  database = await createTestDatabase()
  db = database.db
  company = await makeCompany(db)
  await db.query('update lane set owner_id = $1, epoch = 7', [workerId])
})
afterAll(() => database.drop())

const claim = (lineId: string) =>
  claimMessages(
    db,
    workerId,
    [{ line_id: lineId, epoch: 7, free: 5, single_share: 0, deferred_share: 0 }],
    new Date(),
  )

const settlement = (claimed: ClaimedMessage[], result: Partial<Settlement>): Settlement => ({
  ...putBack(claimed[0]!, new Date()),
  state: 'sent',
  ...result,
})

it('tells the whole way of a message: waiting, sending, a failed attempt with its exchange, sent, delivered', async () => {
  const { id, lineId } = await storeMessage(db, company, { state: 'queued', outbox: {} })
  const read = async () => (await readTimeline(db, company.id, id))!
  expect(await read()).toMatchObject({ state: 'queued', waiting: { reason: 'queue', attempts: 0 } })

  const first = await claim(lineId)
  expect(await read()).toMatchObject({ state: 'sending', waiting: null })

  const exchange = { request: 'submit_sm', response: 'ESME_RTHROTTLED' }
  const error = { kind: 'throttled', code: '0x58', message: 'throttled' }
  await settleMessages(db, [
    settlement(first, {
      state: 'queued',
      due_at: new Date(),
      event: { kind: 'attempt', detail: { attempt: 1, error }, exchange },
    }),
  ])
  expect(await read()).toMatchObject({ state: 'queued', waiting: { reason: 'retry', attempts: 1 } })

  await pauseLine(db, company.id, lineId, { at: new Date(), reason: 'test' })
  expect(await read()).toMatchObject({ waiting: { reason: 'line_paused' } })
  await pauseLine(db, company.id, lineId, null)

  const providerId = randomUUID()
  const second = await claim(lineId)
  // The receipt is quicker than our own record of the hand-over.
  const receipt = { providerId, state: 'delivered' as const, at: new Date() }
  const context = { db, clock: systemClock, log: silentLog }
  const entry = { lineId, companyId: company.id, receipt, receivedAt: new Date() }
  expect(await recordReceipts(context, [entry])).toEqual({ matched: 0, early: 1, dropped: 0 })
  await settleMessages(db, [
    settlement(second, {
      provider_ids: [providerId],
      event: { kind: 'sent', detail: { attempt: 2, providerIds: [providerId] } },
    }),
  ])
  expect(await read()).toMatchObject({ state: 'sent', providerIds: [{ part: 1, providerId }] })
  await recordReceipts(context, [entry])
  const timeline = await read()
  expect(timeline).toMatchObject({ state: 'delivered', waiting: null, error: null })
  // By the time each was known: the receipt came before the record of the hand-over.
  expect(timeline.events.map(({ kind }) => kind).toSorted()).toEqual(['attempt', 'receipt', 'sent'])
  expect(timeline.events[0]!.detail).toMatchObject({ error, exchange })
})

it('is of its own company only', async () => {
  const stranger = await makeCompany(db)
  const { id } = await storeMessage(db, company)
  expect(await readTimeline(db, stranger.id, id)).toBeUndefined()
  expect(await readTimeline(db, company.id, newId())).toBeUndefined()
})
