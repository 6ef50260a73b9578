import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../test/harness/database.ts'
import { makeCompany, type TestCompany } from '../../test/harness/factories.ts'
import { stateOf, storeMessage } from '../../test/harness/messages.ts'
import { showId } from '../lib/ids.ts'
import { silentLog } from '../lib/log.ts'
import { createDb, type Db } from '../store/db.ts'
import { readTimeline } from '../store/timeline.ts'
import { recordReceipts } from './record-receipts.ts'
import { resolveUnknown } from './resolve-unknown.ts'
import type { StateChange } from './state-change.ts'

let database: TestDatabase
let db: Db
let patient: TestCompany
let eager: TestCompany
let nowMs = Date.now()
const clock = { now: () => new Date(nowMs) }
const before = () => new Date(nowMs - 1)

beforeAll(async () => {
  database = await createTestDatabase()
  db = database.db
  patient = await makeCompany(db)
  eager = await makeCompany(db, undefined, { unknownPolicy: 'send_again' })
})
afterAll(() => database.drop())

const kindsOf = async (company: TestCompany, id: string) =>
  (await readTimeline(db, company.id, id))!.events.map(({ kind }) => kind)

describe('a message whose outcome is not known', () => {
  it('is left to a person by default, once, and shown so', async () => {
    const message = await storeMessage(db, patient, { state: 'unknown', resolveAt: before() })
    expect(await resolveUnknown({ db, clock })).toMatchObject({ left: 1, sentAgain: 0, expired: 0 })
    expect(await resolveUnknown({ db, clock })).toMatchObject({ left: 0 })
    expect(await stateOf(db, message.id)).toBe('unknown')
    expect(await kindsOf(patient, message.id)).toEqual(['left_unknown'])
  })

  it('waits until its time is up', async () => {
    const message = await storeMessage(db, eager, { state: 'unknown', resolveAt: new Date(nowMs + 60_000) })
    expect(await resolveUnknown({ db, clock })).toMatchObject({ left: 0, sentAgain: 0 })
    expect((await readTimeline(db, eager.id, message.id))!.unknownUntil).toEqual(new Date(nowMs + 60_000))
    nowMs += 61_000
    const changes: StateChange[] = []
    const onChanged = async (_: unknown, told: readonly StateChange[]) => void changes.push(...told)
    const resolved = await resolveUnknown({ db, clock, onChanged })
    expect(resolved).toMatchObject({ sentAgain: 1, lineIds: new Set([message.lineId]) })
    expect(changes).toMatchObject([{ messageId: message.id, from: 'unknown', to: 'queued' }])
  })

  it('is sent again where the company wants it, without the parts that were taken', async () => {
    const taken = randomUUID()
    const message = await storeMessage(db, eager, {
      state: 'unknown',
      resolveAt: before(),
      providerIds: [null, taken, null],
    })
    await resolveUnknown({ db, clock })
    expect(
      await db.query(
        'select taken_ids, attempts, is_pinned, handed_over_epoch from outbox where message_id = $1',
        [message.id],
      ),
    ).toEqual([{ taken_ids: [null, taken, null], attempts: 2, is_pinned: true, handed_over_epoch: null }])
    expect(await readTimeline(db, eager.id, message.id)).toMatchObject({
      state: 'queued',
      waiting: { reason: 'retry', attempts: 2 },
    })
  })

  it('expires instead when it would come too late', async () => {
    const message = await storeMessage(db, eager, {
      state: 'unknown',
      resolveAt: before(),
      expiresAt: before(),
    })
    await resolveUnknown({ db, clock })
    expect(await stateOf(db, message.id)).toBe('expired')
  })

  it('is not touched when a receipt came before', async () => {
    const message = await storeMessage(db, eager, { state: 'unknown', resolveAt: before() })
    const receipt = { messageId: showId('msg', message.id), state: 'delivered' as const, at: clock.now() }
    await recordReceipts({ db, clock, log: silentLog }, [
      { lineId: message.lineId, companyId: eager.id, receipt, receivedAt: clock.now() },
    ])
    expect(await resolveUnknown({ db, clock })).toMatchObject({ left: 0, sentAgain: 0, expired: 0 })
    expect(await stateOf(db, message.id)).toBe('delivered')
  })

  it('is decided once when nodes and receipts race: queued and in the outbox, or delivered and in neither', async () => {
    const other = createDb({ url: database.url, connections: 4, log: silentLog })
    const messages = []
    for (let index = 0; index < 60; index++)
      messages.push(await storeMessage(db, eager, { state: 'unknown', resolveAt: before() }))
    const ids = messages.map(({ id }) => id)
    const receipts = messages.map(({ id, lineId }) => ({
      lineId,
      companyId: eager.id,
      receivedAt: clock.now(),
      receipt: { messageId: showId('msg', id), state: 'delivered' as const, at: clock.now() },
    }))
    const again = []
    for (let at = 0; at < 60; at += 10) {
      again.push(resolveUnknown({ db, clock }, 15), resolveUnknown({ db: other, clock }, 15))
      again.push(recordReceipts({ db, clock, log: silentLog }, receipts.slice(at, at + 10)))
    }
    await Promise.all(again)
    await other.close()
    const rows = await db.query<{ state: string; queued: number; waits: number; again: number }>(
      `select m.state, (select count(*)::int from outbox o where o.message_id = m.id) as queued,
         (select count(*)::int from unknown_message u where u.message_id = m.id) as waits,
         (select count(*)::int from message_event e where e.message_id = m.id and e.kind = 'sent_again') as again
       from message m where m.id = any($1)`,
      [ids],
    )
    expect(rows).toHaveLength(60)
    for (const { state, queued, waits, again: sentAgain } of rows) {
      if (state === 'queued')
        expect({ queued, waits, sentAgain }).toEqual({ queued: 1, waits: 0, sentAgain: 1 })
      else expect({ state, queued, sentAgain }).toEqual({ state: 'delivered', queued: 0, sentAgain: 0 })
    }
  })
})
