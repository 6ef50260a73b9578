import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../test/harness/database.ts'
import {
  makeCompany,
  makeContact,
  must,
  openWindows,
  type TestCompany,
} from '../../test/harness/factories.ts'
import { stateOf, storeMessage, type MessageWish } from '../../test/harness/messages.ts'
import { readDigits } from '../domain/address.ts'
import type { MessageContent } from '../domain/message.ts'
import { silentLog } from '../lib/log.ts'
import { CatalogueCache } from '../store/catalogue.ts'
import { suspendCompany } from '../store/companies.ts'
import { setMarketingOptedOut, setOptedOutChannels } from '../store/contacts.ts'
import { createDb, type Db } from '../store/db.ts'
import { createRestrictionList } from '../store/restriction-lists.ts'
import { addRestrictionEntries } from '../store/restrictions.ts'
import { createRule } from '../store/rules.ts'
import { readTimeline } from '../store/timeline.ts'
import { contentKey } from './content-key.ts'
import { releaseDeferred, type ReleaseContext } from './release-deferred.ts'
import type { StateChange } from './state-change.ts'

let database: TestDatabase
let db: Db
let company: TestCompany
// A Monday, in the middle of the day.
let nowMs = Date.UTC(2026, 10, 16, 12)
const clock = { now: () => new Date(nowMs) }
const hourMs = 3_600_000

beforeAll(async () => {
  database = await createTestDatabase()
  db = database.db
})
afterAll(() => database.drop())
beforeEach(async () => {
  // What an earlier test left waiting would count among the released of this one.
  await db.query('delete from outbox')
  company = await makeCompany(db)
})

const context = (own: Db = db): ReleaseContext => ({
  db: own,
  clock,
  log: silentLog,
  catalogues: new CatalogueCache(own),
})

const defer = (wish: MessageWish = {}) =>
  storeMessage(db, company, {
    state: 'queued',
    acceptedAt: new Date(nowMs - hourMs),
    outbox: {
      isDeferred: true,
      dueAt: new Date(nowMs - 1_000),
      expiresAt: new Date(nowMs - 1_000 + 24 * hourMs),
    },
    ...wish,
  })

const outboxOf = async (id: string) =>
  (
    await db.query<{ isDeferred: boolean; dueAt: Date; expiresAt: Date }>(
      'select is_deferred as "isDeferred", due_at as "dueAt", expires_at as "expiresAt" from outbox where message_id = $1',
      [id],
    )
  )[0]

describe('a deferred message', () => {
  it('leaves when its moment has come and everything allows it', async () => {
    const message = await defer()
    expect(await releaseDeferred(context())).toEqual({
      released: 1,
      waiting: 0,
      blocked: 0,
      lineIds: new Set([message.lineId]),
    })
    expect(await outboxOf(message.id)).toMatchObject({ isDeferred: false, dueAt: clock.now() })
    expect(await releaseDeferred(context())).toMatchObject({ released: 0 })
  })

  it('whose moment has not come stays', async () => {
    const message = await defer({ outbox: { isDeferred: true, dueAt: new Date(nowMs + 1) } })
    expect(await releaseDeferred(context())).toMatchObject({ released: 0, waiting: 0, blocked: 0 })
    expect(await readTimeline(db, company.id, message.id)).toMatchObject({
      state: 'queued',
      waiting: { reason: 'rules' },
    })
  })

  it('waits on, with the reason shown and its life counted anew, when a rule still says not yet', async () => {
    const evening = [{ from: 20 * 60, to: 22 * 60 }]
    await createRule(db, company.id, {
      name: 'Evenings',
      action: 'defer',
      settings: {
        kind: 'allowed_hours',
        timeZone: 'UTC',
        holidays: [],
        weekdays: [evening, evening, evening, evening, evening, evening, evening],
      },
    })
    const message = await defer()
    expect(await releaseDeferred(context())).toMatchObject({ released: 0, waiting: 1 })
    const tonight = new Date(Date.UTC(2026, 10, 16, 20))
    expect(await outboxOf(message.id)).toEqual({
      isDeferred: true,
      dueAt: tonight,
      expiresAt: new Date(tonight.getTime() + 24 * hourMs),
    })
    const timeline = await readTimeline(db, company.id, message.id)
    expect(timeline).toMatchObject({
      events: [{ kind: 'waits', detail: { until: tonight.toISOString() } }],
      waiting: { dueAt: tonight, verdicts: [{ rule: 'allowed_hours', passed: false, action: 'defer' }] },
    })
  })

  it('of marketing is blocked when the person wants no more of it, and any other leaves', async () => {
    const content: MessageContent = {
      kind: 'template',
      templateKind: 'text',
      name: 'x',
      language: 'en',
      parameterFormat: 'positional',
      body: [],
      buttons: [],
      preview: '',
    }
    const wish: MessageWish = { channel: 'whatsapp', content }
    const offer = await defer({ ...wish, templateId: company.templates['spring-offers']!.id })
    const { contactId, recipient } = offer
    const templateId = company.templates['order-confirmation']!.id
    const order = await defer({ ...wish, templateId, contactId, recipient })
    await setMarketingOptedOut(db, company.id, contactId, clock.now())
    expect(await releaseDeferred(context())).toMatchObject({ released: 1, blocked: 1 })
    expect(await readTimeline(db, company.id, offer.id)).toMatchObject({
      state: 'blocked',
      reasons: [{ reason: 'recipient has opted out of marketing on WhatsApp' }],
    })
    expect(await outboxOf(order.id)).toMatchObject({ isDeferred: false })
  })

  it('is blocked when the person has opted out in the meantime, with every reason', async () => {
    const list = must(await createRestrictionList(db, company.id, 'Debtors'))
    await createRule(db, company.id, {
      name: 'Debtors',
      settings: { kind: 'restriction_list', listId: list.id },
    })
    const message = await defer()
    await addRestrictionEntries(db, list.id, [{ field: 'phone', value: message.recipient }])
    await setOptedOutChannels(db, company.id, message.contactId, ['sms'])
    const changes: StateChange[] = []
    const onChanged = async (_: unknown, told: readonly StateChange[]) => void changes.push(...told)
    expect(await releaseDeferred({ ...context(), onChanged })).toMatchObject({ released: 0, blocked: 1 })
    expect(await outboxOf(message.id)).toBeUndefined()
    expect(await readTimeline(db, company.id, message.id)).toMatchObject({
      state: 'blocked',
      reasons: [{ rule: 'opt_out' }, { rule: 'restriction_list' }],
      events: [{ kind: 'blocked' }],
    })
    expect(changes).toMatchObject([{ from: 'queued', to: 'blocked', error: { code: 'blocked' } }])
    expect(
      await db.query('select outcome, count from report_delta where company_id = $1', [company.id]),
    ).toEqual([{ outcome: 'blocked', count: 1 }])
  })

  it('of free WhatsApp text is blocked when its window has closed, and leaves when it is open', async () => {
    const closed = await defer({ channel: 'whatsapp' })
    const open = await defer({ channel: 'whatsapp' })
    await openWindows(db, { id: open.contactId }, [company.lines.whatsapp[0]!], new Date(nowMs - hourMs))
    expect(await releaseDeferred(context())).toMatchObject({ released: 1, blocked: 1 })
    expect(await stateOf(db, closed.id)).toBe('blocked')
    expect(await outboxOf(open.id)).toMatchObject({ isDeferred: false })
  })

  it('counts when it is released: of three to one person under a cap of one a day, one leaves a day', async () => {
    await createRule(db, company.id, {
      name: 'One a day',
      action: 'defer',
      settings: { kind: 'frequency_cap', limit: 1, period: 'day' },
    })
    const contact = await makeContact(db, company.id)
    const recipient = contact.phone!
    const wish = { contactId: contact.id, recipient }
    const messages = [await defer(wish), await defer(wish), await defer(wish)]
    const waiting: number[] = []
    for (let day = 0; day < 3; day++) {
      await releaseDeferred(context())
      const rows = await Promise.all(messages.map(({ id }) => outboxOf(id)))
      waiting.push(rows.filter((row) => row!.isDeferred).length)
      nowMs += 24 * hourMs
    }
    expect(waiting).toEqual([2, 1, 0])
  })

  it('is known as the same content that an accepted message marked', async () => {
    await createRule(db, company.id, { name: 'Same', settings: { kind: 'duplicate', withinMinutes: 60 } })
    const content = { kind: 'text' as const, text: 'Your bill', subject: 'x', isHtml: false, files: [] }
    const message = await defer({ content })
    const reading = readDigits(message.recipient)
    const key = contentKey('sms', reading.ok ? reading.phone.key : '', null, content)
    await db.query('insert into contact_counter (contact_id, key, count, at) values ($1, $2, 1, $3)', [
      message.contactId,
      `dup:${key}`,
      new Date(nowMs - 60_000),
    ])
    expect(await releaseDeferred(context())).toMatchObject({ blocked: 1 })
  })

  it('of a suspended company waits without a trace; of an erased contact it leaves', async () => {
    const message = await defer()
    await suspendCompany(db, company.id, clock.now())
    expect(await releaseDeferred(context())).toMatchObject({ waiting: 1 })
    expect((await readTimeline(db, company.id, message.id))!.events).toEqual([])
    await suspendCompany(db, company.id, null)
    await createRule(db, company.id, {
      name: 'Cap',
      settings: { kind: 'frequency_cap', limit: 5, period: 'day' },
    })
    await db.query('delete from contact where id = $1', [message.contactId])
    nowMs += hourMs
    expect(await releaseDeferred(context())).toMatchObject({ released: 1 })
  })

  it('is decided about once when nodes race, and a person who is held elsewhere is left for the next round', async () => {
    await createRule(db, company.id, {
      name: 'Two a day',
      action: 'defer',
      settings: { kind: 'frequency_cap', limit: 2, period: 'day' },
    })
    const contact = await makeContact(db, company.id)
    for (let index = 0; index < 12; index++) await defer({ contactId: contact.id, recipient: contact.phone! })
    const other = createDb({ url: database.url, connections: 4, log: silentLog })
    const rounds = await Promise.all(
      Array.from({ length: 6 }, (_, index) => releaseDeferred(context(index % 2 ? db : other), 5)),
    )
    await other.close()
    expect(rounds.reduce((sum, { released }) => sum + released, 0)).toBe(2)

    const holder = await db.connect()
    await holder.query('begin')
    const held = await defer()
    await holder.query('select 1 from contact where id = $1 for update', [held.contactId])
    expect((await releaseDeferred(context())).lineIds.size).toBe(0)
    expect(await outboxOf(held.id)).toMatchObject({ isDeferred: true })
    await holder.query('rollback')
    holder.release()
    expect((await releaseDeferred(context())).released).toBe(1)
  })
})
