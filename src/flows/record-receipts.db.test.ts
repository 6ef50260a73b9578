import { randomUUID } from 'node:crypto'
import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../test/harness/database.ts'
import { makeCompany, type TestCompany } from '../../test/harness/factories.ts'
import { stateOf, storeMessage } from '../../test/harness/messages.ts'
import type { ReceiptState } from '../domain/receipt.ts'
import type { Receipt } from '../drivers/driver.ts'
import { showId } from '../lib/ids.ts'
import { silentLog } from '../lib/log.ts'
import { createDb, type Db } from '../store/db.ts'
import {
  matchEarlyReceipts,
  recordReceipts,
  type ReceiptContext,
  type ReceiptEntry,
} from './record-receipts.ts'
import { queueCallbacks } from './queue-callbacks.ts'
import type { StateChange } from './state-change.ts'

let database: TestDatabase
let db: Db
let company: TestCompany
let nowMs = Date.now()
const clock = { now: () => new Date(nowMs) }

beforeAll(async () => {
  database = await createTestDatabase()
  db = database.db
  company = await makeCompany(db)
})
afterAll(() => database.drop())

const context = (overrides: Partial<ReceiptContext> = {}): ReceiptContext => ({
  db,
  clock,
  log: silentLog,
  ...overrides,
})

const providerId = () => randomUUID()

const entry = (
  receipt: Partial<Receipt> & { state: ReceiptState },
  channel: 'sms' | 'whatsapp' = 'sms',
): ReceiptEntry => ({
  lineId: company.lines[channel][0]!.id,
  companyId: company.id,
  receipt: { at: clock.now(), ...receipt },
  receivedAt: clock.now(),
})

const eventsOf = (id: string) =>
  db.query<{ kind: string; detail: Record<string, unknown> }>(
    'select kind, detail from message_history where message_id = $1 order by at, place',
    [id],
  )

/** What the deltas of a company add up to, by outcome. */
async function outcomesOf(own: TestCompany): Promise<Record<string, number>> {
  const rows = await db.query<{ outcome: string; count: number }>(
    'select outcome, sum(count)::int as count from report_delta where company_id = $1 group by 1',
    [own.id],
  )
  return Object.fromEntries(rows.map((row) => [row.outcome, row.count]))
}

describe('a receipt', () => {
  it('moves its message, and is in its timeline with the words of the provider', async () => {
    const id = providerId()
    const message = await storeMessage(db, company, { providerIds: [id] })
    const error = { code: '131026', message: 'Message undeliverable' }
    await recordReceipts(context(), [entry({ providerId: id, state: 'failed', error })])
    expect(
      await db.query('select state, error_code, error_message from message where id = $1', [message.id]),
    ).toEqual([{ state: 'failed', error_code: '131026', error_message: 'Message undeliverable' }])
    expect(await eventsOf(message.id)).toMatchObject([
      { kind: 'receipt', detail: { state: 'failed', providerId: id, error } },
    ])
  })

  it('that comes later and knows better mends a failure, and repeated leaves no second trace', async () => {
    const id = providerId()
    const message = await storeMessage(db, company, { providerIds: [id] })
    await recordReceipts(context(), [entry({ providerId: id, state: 'failed' })])
    for (let time = 0; time < 3; time++)
      await recordReceipts(context(), [entry({ providerId: id, state: 'delivered' })])
    expect(await db.query('select state, error_code from message where id = $1', [message.id])).toEqual([
      { state: 'delivered', error_code: null },
    ])
    expect((await eventsOf(message.id)).map(({ detail }) => detail['state'])).toEqual(['failed', 'delivered'])
  })

  it('changes nothing on what was blocked, and nothing of another line', async () => {
    const id = providerId()
    const blocked = await storeMessage(db, company, { providerIds: [id], state: 'blocked' })
    const other = await storeMessage(db, company, { channel: 'whatsapp', providerIds: [`other ${id}`] })
    await recordReceipts(context(), [
      entry({ providerId: id, state: 'delivered' }),
      entry({ providerId: `other ${id}`, state: 'delivered' }),
    ])
    expect(await stateOf(db, blocked.id)).toBe('blocked')
    expect(await stateOf(db, other.id)).toBe('sent')
  })

  it('tells every change in order inside the transaction, which fails with whoever listens', async () => {
    const id = providerId()
    const message = await storeMessage(db, company, { providerIds: [id] })
    const entries = [entry({ providerId: id, state: 'read' }), entry({ providerId: id, state: 'delivered' })]
    const failing = context({ onChanged: () => Promise.reject(new Error('cannot write the callback')) })
    await expect(recordReceipts(failing, entries)).rejects.toThrow('cannot write the callback')
    expect(await stateOf(db, message.id)).toBe('sent')

    const told: StateChange[] = []
    await recordReceipts(context({ onChanged: async (_, changes) => void told.push(...changes) }), entries)
    expect(told).toMatchObject([
      { messageId: message.id, companyId: company.id, from: 'sent', to: 'delivered' },
      { messageId: message.id, from: 'delivered', to: 'read' },
    ])
  })

  it('that says the person wants no more opts the contact out of the channel, once', async () => {
    const id = providerId()
    const message = await storeMessage(db, company, { channel: 'whatsapp', providerIds: [id] })
    for (let time = 0; time < 2; time++)
      await recordReceipts(context(), [
        entry({ providerId: id, state: 'failed', isOptOut: true }, 'whatsapp'),
      ])
    expect(
      await db.query('select opted_out_channels from contact where id = $1', [message.contactId]),
    ).toEqual([{ opted_out_channels: ['whatsapp'] }])
  })

  it('that says the person wants no marketing stops marketing only, and keeps the first time', async () => {
    const id = providerId()
    const message = await storeMessage(db, company, { channel: 'whatsapp', providerIds: [id] })
    const told = entry({ providerId: id, state: 'failed', isMarketingOptOut: true }, 'whatsapp')
    const contact = () =>
      db.query<{ at: Date; channels: string[] }>(
        'select marketing_opted_out_at as at, opted_out_channels as channels from contact where id = $1',
        [message.contactId],
      )
    await recordReceipts(context(), [told])
    const [first] = await contact()
    expect(first).toEqual({ at: expect.any(Date), channels: [] })
    await recordReceipts(context(), [told])
    expect(await contact()).toEqual([first])
  })

  it('costs the same round trips for one and for three hundred', async () => {
    const count = async (messages: number) => {
      const ids = Array.from({ length: messages }, providerId)
      for (const id of ids) await storeMessage(db, company, { providerIds: [id] })
      const before = db.roundTrips
      const { matched } = await recordReceipts(
        context(),
        ids.map((id) => entry({ providerId: id, state: 'delivered' })),
      )
      expect(matched).toBe(messages)
      return db.roundTrips - before
    }
    expect(await count(1)).toBe(3)
    expect(await count(300)).toBe(3)
  })

  it('queues callbacks only where somebody asked to be told', async () => {
    const count = async (callback: object | null) => {
      const id = providerId()
      const message = await storeMessage(db, company, { providerIds: [id] })
      await db.query('update message set callback = $2 where id = $1', [message.id, callback])
      const before = db.roundTrips
      await recordReceipts(context({ onChanged: queueCallbacks }), [
        entry({ providerId: id, state: 'delivered' }),
      ])
      const trips = db.roundTrips - before
      return {
        trips,
        queued: (await db.query('select 1 from callback where subject_id = $1', [message.id])).length,
      }
    }
    expect(await count(null)).toEqual({ trips: 3, queued: 0 })
    expect(await count({ url: 'https://example.com/heard' })).toEqual({ trips: 4, queued: 1 })
  })
})

describe('any order and any repetition', () => {
  const told = fc.array(fc.constantFrom<ReceiptState>('sent', 'failed', 'delivered', 'read'), {
    minLength: 1,
    maxLength: 5,
  })

  /** Each part must end somewhere, or a failure that was mended would still show while another part is open. */
  const finalFor = (states: ReceiptState[]): ReceiptState =>
    (['read', 'delivered', 'failed', 'sent'] as const).find((state) => states.includes(state))!

  it('ends a message in the same state', async () => {
    await fc.assert(
      fc.asyncProperty(
        told,
        fc.func(fc.integer()),
        fc.integer({ min: 1, max: 4 }),
        fc.constantFrom('sent', 'unknown'),
        async (states, order, size, start) => {
          const id = providerId()
          const message = await storeMessage(db, company, { providerIds: [id], state: start })
          const all = [...states, ...states].toSorted((a, b) => order(a) - order(b))
          for (let at = 0; at < all.length; at += size)
            await recordReceipts(
              context(),
              all.slice(at, at + size).map((state) => entry({ providerId: id, state })),
            )
          expect(await stateOf(db, message.id)).toBe(finalFor(states))
        },
      ),
      { numRuns: 60 },
    )
  })

  it('ends a message of several parts in the state of the least advanced, or failed', async () => {
    const ended = told.filter((states) => finalFor(states) !== 'sent')
    await fc.assert(
      fc.asyncProperty(
        fc.array(ended, { minLength: 2, maxLength: 3 }),
        fc.func(fc.integer()),
        fc.integer({ min: 1, max: 5 }),
        async (parts, order, size) => {
          const ids = parts.map(providerId)
          const message = await storeMessage(db, company, { providerIds: ids })
          const all = parts
            .flatMap((states, part) =>
              [...states, ...states].map((state) => ({ providerId: ids[part], state })),
            )
            .toSorted((a, b) => order(a) - order(b))
          for (let at = 0; at < all.length; at += size)
            await recordReceipts(
              context(),
              all.slice(at, at + size).map((receipt) => entry(receipt)),
            )
          const ends = parts.map(finalFor)
          const expected = (['failed', 'delivered', 'read'] as const).find((state) => ends.includes(state))
          expect(await stateOf(db, message.id)).toBe(expected)
        },
      ),
      { numRuns: 40 },
    )
  })

  it('from two nodes at once over the same messages: no deadlock, each delivered once', async () => {
    const own = await makeCompany(db)
    const other = createDb({ url: database.url, connections: 4, log: silentLog })
    const lineId = own.lines.sms[0]!.id
    const ids = Array.from({ length: 60 }, providerId)
    for (const id of ids) await storeMessage(db, own, { providerIds: [id] })
    const shuffled = () => ids.toSorted(() => Math.random() - 0.5)
    await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        recordReceipts(
          context({ db: index % 2 ? db : other }),
          shuffled().map((id) => ({
            ...entry({ providerId: id, state: index % 3 ? 'delivered' : 'read' }),
            lineId,
            companyId: own.id,
          })),
        ),
      ),
    )
    await other.close()
    expect(await outcomesOf(own)).toEqual({ delivered: 60, read: 60 })
  })
})

describe('counting', () => {
  it('takes back what was counted as failed, and counts one who read it as reached', async () => {
    const own = await makeCompany(db)
    const id = providerId()
    await storeMessage(db, own, { providerIds: [id], acceptedAt: new Date(nowMs - 5_000) })
    const tell = (state: ReceiptState) =>
      recordReceipts(context(), [
        { ...entry({ providerId: id, state }), lineId: own.lines.sms[0]!.id, companyId: own.id },
      ])
    await tell('failed')
    expect(await outcomesOf(own)).toEqual({ failed: 1 })
    await tell('read')
    expect(await outcomesOf(own)).toEqual({ failed: 0, delivered: 1, read: 1 })
    const [bucket] = await db.query<{ latency_bucket: number }>(
      "select latency_bucket from report_delta where company_id = $1 and outcome = 'delivered'",
      [own.id],
    )
    expect(bucket!.latency_bucket).toBeGreaterThan(30)
  })
})

describe('a receipt by our own id', () => {
  it('makes an unknown outcome certain, ends the wait, and keeps the id of the provider', async () => {
    const message = await storeMessage(db, company, {
      channel: 'whatsapp',
      state: 'unknown',
      resolveAt: new Date(nowMs + 60_000),
    })
    const id = providerId()
    await recordReceipts(context(), [
      entry({ providerId: id, messageId: showId('msg', message.id), state: 'sent' }, 'whatsapp'),
    ])
    expect(await stateOf(db, message.id)).toBe('sent')
    expect(await db.query('select 1 from unknown_message where message_id = $1', [message.id])).toEqual([])
    await recordReceipts(context(), [entry({ providerId: id, state: 'delivered' }, 'whatsapp')])
    expect(await stateOf(db, message.id)).toBe('delivered')
  })

  it('gives a part whose answer was lost its place', async () => {
    const known = providerId()
    const lost = providerId()
    const message = await storeMessage(db, company, {
      channel: 'whatsapp',
      state: 'unknown',
      providerIds: [known, null],
    })
    const messageId = showId('msg', message.id)
    await recordReceipts(context(), [
      entry({ providerId: lost, messageId, state: 'sent' }, 'whatsapp'),
      entry({ providerId: lost, messageId, state: 'delivered' }, 'whatsapp'),
    ])
    expect(await stateOf(db, message.id)).toBe('sent')
    await recordReceipts(context(), [entry({ providerId: known, messageId, state: 'delivered' }, 'whatsapp')])
    expect(await stateOf(db, message.id)).toBe('delivered')
    expect(
      await db.query('select part, parts, state from provider_reference where provider_id = $1', [lost]),
    ).toEqual([{ part: 2, parts: 2, state: 'delivered' }])
  })

  it('of another company has no effect', async () => {
    const stranger = await makeCompany(db)
    const message = await storeMessage(db, company, { state: 'unknown' })
    await recordReceipts(context(), [
      {
        ...entry({ messageId: showId('msg', message.id), state: 'delivered' }),
        lineId: stranger.lines.sms[0]!.id,
        companyId: stranger.id,
      },
    ])
    expect(await stateOf(db, message.id)).toBe('unknown')
  })
})

describe('an early receipt', () => {
  it('is kept until the hand-over is recorded, and then counts', async () => {
    const id = providerId()
    const counts = await recordReceipts(context(), [
      entry({ providerId: id, state: 'sent' }),
      entry({ providerId: id, state: 'delivered' }),
    ])
    expect(counts).toEqual({ matched: 0, early: 2, dropped: 0 })
    const message = await storeMessage(db, company, { providerIds: [id] })
    nowMs += 2_000
    expect((await matchEarlyReceipts(context())).matched).toBeGreaterThanOrEqual(2)
    expect(await stateOf(db, message.id)).toBe('delivered')
  })

  it('by our own id waits while the message carries a hand-over mark', async () => {
    const message = await storeMessage(db, company, { state: 'queued', outbox: { epoch: 1 } })
    await recordReceipts(context(), [entry({ messageId: showId('msg', message.id), state: 'delivered' })])
    nowMs += 2 * 3_600_000
    await matchEarlyReceipts(context())
    expect(await stateOf(db, message.id)).toBe('queued')
    await db.query('delete from outbox where message_id = $1', [message.id])
    await db.query("update message set state = 'unknown' where id = $1", [message.id])
    nowMs += 10 * 60_000
    await matchEarlyReceipts(context())
    expect(await stateOf(db, message.id)).toBe('delivered')
  })

  it('of nobody is looked at ever more rarely, and dropped after an hour', async () => {
    const own = await makeCompany(db)
    const stray = { ...entry({ providerId: providerId(), state: 'sent' }), companyId: own.id }
    await recordReceipts(context(), [{ ...stray, lineId: own.lines.sms[0]!.id }])
    const waiting = () =>
      db.query<{ try_at: Date }>('select try_at from early_receipt where line_id = $1', [
        own.lines.sms[0]!.id,
      ])
    let looks = 0
    let dropped = 0
    while ((await waiting()).length > 0) {
      nowMs = (await waiting())[0]!.try_at.getTime()
      dropped += (await matchEarlyReceipts(context())).dropped
      looks++
    }
    expect(dropped).toBeGreaterThanOrEqual(1)
    expect(nowMs - stray.receivedAt.getTime()).toBeGreaterThanOrEqual(3_600_000)
    expect(looks).toBeLessThan(25)
  })
})
