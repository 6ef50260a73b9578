/** Which events there are, what they carry, and that each comes once and in order. */
import { describe, expect, test } from 'vitest'
import { receiveInbound } from '../../../src/flows/receive-inbound.ts'
import { releaseDeferred } from '../../../src/flows/release-deferred.ts'
import { resolveUnknown } from '../../../src/flows/resolve-unknown.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { CatalogueCache } from '../../../src/store/catalogue.ts'
import { doubtOrphans, expireMessages } from '../../../src/store/outbox.ts'
import { saveWebhook } from '../../../src/store/webhooks.ts'
import { makeCompany, must, testSealer } from '../../harness/factories.ts'
import {
  allAre,
  queued,
  receiverOfTest,
  report,
  rowsOf,
  sent,
  settle,
  startWorker,
  told,
  useWorld,
  verify,
  type Call,
  type Sent,
} from './support.ts'

const world = useWorld()
const everywhere = { allows: () => true }

const setWebhook = async (companyId: string, url: string, events: string[] = []) =>
  must(
    await saveWebhook(
      { db: world.db, sealer: testSealer, exceptions: everywhere },
      companyId,
      { url, events },
      world.clock.now(),
    ),
  )

const types = (calls: Call[]) => calls.map((call) => call.body.type)

describe('a callback', () => {
  test('has exactly these fields, and a signature that the library of receivers accepts', async () => {
    const receiver = await receiverOfTest()
    startWorker(world)
    const before = world.clock.now()
    const message = await sent(world, `${receiver.url}/hook?a=1`, {
      templateId: world.company.templates['appointment-reminder']!.id,
      segmentId: world.company.segments[0].id,
      customFields: { order: '77', empty: '' },
    })
    const [call] = await receiver.take('/hook?a=1', 1)
    expect(verify(world.company.callbackSecret, call!)).toEqual(call!.body)
    expect(JSON.parse(call!.text)).toEqual({
      type: 'message.sent',
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      data: {
        messageId: message.shown,
        requestId: 'req_1',
        channel: 'sms',
        status: 'sent',
        recipient: message.recipient,
        template_code: 'appointment-reminder',
        contract_code: 'CT-1',
        document_number: '123',
        segment: 'First segment',
        custom_fields: { order: '77', empty: '' },
      },
    })
    expect(Date.parse(call!.body.timestamp)).toBeGreaterThanOrEqual(before.getTime())
    expect(call!.headers).toMatchObject({ 'content-type': 'application/json' })
    expect(call!.headers['webhook-id']).toMatch(/^[a-z0-9_]+$/)
    await allAre(world, message.id, 'delivered')
  })

  test('of a message without template and segment says null', async () => {
    const receiver = await receiverOfTest()
    startWorker(world)
    await sent(world, `${receiver.url}/`)
    const [call] = await receiver.take('/', 1)
    expect(call!.body.data).toMatchObject({ template_code: null, segment: null, custom_fields: {} })
  })

  test('without callback and webhook nothing is queued', async () => {
    const message = await sent(world, null)
    await report(world, message, ['delivered', 'read'])
    expect(await rowsOf(world, message.id)).toEqual([])
  })
})

describe('events', () => {
  test('sent, delivered, read: in order, each with its status and its own id', async () => {
    const receiver = await receiverOfTest()
    startWorker(world)
    const message = await sent(world, `${receiver.url}/`)
    await report(world, message, ['delivered', 'read'])
    await allAre(world, message.id, 'delivered')
    expect(types(receiver.calls)).toEqual(['message.sent', 'message.delivered', 'message.read'])
    expect(receiver.calls.map((call) => call.body.data['status'])).toEqual(['sent', 'delivered', 'read'])
    expect(new Set(receiver.calls.map((call) => call.headers['webhook-id'])).size).toBe(3)
    for (const call of receiver.calls) {
      expect(call.body.data).not.toHaveProperty('error')
      verify(world.company.callbackSecret, call)
    }
  })

  test.for<{ at: 'once' | 'one by one'; states: ('sent' | 'delivered' | 'read' | 'failed')[] }>([
    { at: 'one by one', states: ['read', 'delivered', 'sent', 'delivered', 'read'] },
    { at: 'once', states: ['read', 'delivered', 'sent', 'delivered', 'read'] },
    { at: 'once', states: ['read'] },
    { at: 'one by one', states: ['delivered', 'delivered', 'failed', 'read', 'delivered'] },
  ])('repeated and out of order ($at: $states) come once and in order', async ({ at, states }) => {
    const receiver = await receiverOfTest()
    startWorker(world)
    const message = await sent(world, `${receiver.url}/`)
    await report(world, message, states, { isAtOnce: at === 'once' })
    await report(world, message, states, { isAtOnce: at === 'once' })
    await allAre(world, message.id, 'delivered')
    expect(types(receiver.calls)).toEqual(['message.sent', 'message.delivered', 'message.read'])
  })

  test('failed by the hand-over, with the error', async () => {
    const receiver = await receiverOfTest()
    startWorker(world)
    const message = await queued(world, `${receiver.url}/`)
    await settle(world, [message], { state: 'failed', error_code: '0x0B', error_message: 'invalid address' })
    const [call] = await receiver.take('/', 1)
    expect(call!.body).toMatchObject({
      type: 'message.failed',
      data: { status: 'failed', error: { code: '0x0B', message: 'invalid address' } },
    })
  })

  test('failed and expired by a receipt; a late delivery tells better, and is told', async () => {
    const receiver = await receiverOfTest()
    startWorker(world)
    const failed = await sent(world, `${receiver.url}/failed`)
    await report(world, failed, ['failed'], { error: { code: '131026', message: 'undeliverable' } })
    await report(world, failed, ['failed', 'delivered'])
    const calls = await receiver.take('/failed', 3)
    expect(types(calls)).toEqual(['message.sent', 'message.failed', 'message.delivered'])
    expect(calls[1]!.body.data['error']).toEqual({ code: '131026', message: 'undeliverable' })
    expect(calls[2]!.body.data).not.toHaveProperty('error')

    const expired = await sent(world, `${receiver.url}/expired`)
    await report(world, expired, ['expired'])
    const [, call] = await receiver.take('/expired', 2)
    expect(call!.body).toMatchObject({ type: 'message.expired', data: { error: { code: 'expired' } } })
    await allAre(world, failed.id, 'delivered')
    await allAre(world, expired.id, 'delivered')
  })

  test('delivered by the very answer of the provider: sent is told before it', async () => {
    const receiver = await receiverOfTest()
    startWorker(world)
    const message = await queued(world, `${receiver.url}/`)
    await settle(world, [message], { state: 'delivered', provider_ids: [message.providerId] })
    await allAre(world, message.id, 'delivered')
    expect(types(receiver.calls)).toEqual(['message.sent', 'message.delivered'])
  })

  test('a message that goes back into the queue tells nothing', async () => {
    const message = await queued(world, 'http://127.0.0.1:9/')
    await settle(world, [message], { state: 'queued', due_at: world.clock.now(), error_code: 'throttled' })
    expect(await rowsOf(world, message.id)).toEqual([])
    await world.db.query('delete from outbox where message_id = $1', [message.id])
  })

  test('expired while it waited', async () => {
    const receiver = await receiverOfTest()
    startWorker(world)
    const message = await queued(world, `${receiver.url}/`, {
      expiresAt: new Date(world.clock.now().getTime() - 1),
    })
    await expireMessages(world.db, world.clock.now())
    const [call] = await receiver.take('/', 1)
    expect(call!.body).toMatchObject({
      type: 'message.expired',
      data: {
        messageId: message.shown,
        error: { code: 'expired', message: expect.stringMatching(/in time/) },
      },
    })
  })

  test('unknown once, however often it is sent again; then what a receipt tells', async () => {
    const company = await makeCompany(world.db, testSealer, { unknownPolicy: 'send_again' })
    const receiver = await receiverOfTest()
    startWorker(world)
    const message = await queued(world, `${receiver.url}/`, { company })
    const unknown = {
      state: 'unknown' as const,
      error_code: 'no_answer',
      error_message: 'the provider did not answer',
      resolve_at: new Date(world.clock.now().getTime() - 1),
    }
    await settle(world, [message], unknown)
    expect(await resolveUnknown({ ...world, db: world.db, ...told })).toMatchObject({ sentAgain: 1 })
    await settle(world, [message], unknown)
    await resolveUnknown({ ...world, db: world.db, ...told })
    await settle(world, [message])
    await allAre(world, message.id, 'delivered')
    expect(types(receiver.calls)).toEqual(['message.unknown', 'message.sent'])
    expect(receiver.calls[0]!.body.data['error']).toEqual({
      code: 'no_answer',
      message: 'the provider did not answer',
    })
  })

  test('unknown because a worker was lost, then delivered: sent and delivered are told', async () => {
    const receiver = await receiverOfTest()
    startWorker(world)
    const message = await queued(world, `${receiver.url}/`, { providerIds: [null] })
    await world.db.query('update outbox set handed_over_epoch = 1 where message_id = $1', [message.id])
    const now = world.clock.now()
    await doubtOrphans(world.db, [{ line_id: message.lineId, epoch: 99 }], now, now)
    await world.db.query(
      `insert into provider_reference (line_id, provider_id, message_id, part, parts, created_at) values ($1, $2, $3, 1, 1, $4)`,
      [message.lineId, message.providerId, message.id, now],
    )
    await report(world, message, ['delivered'])
    await allAre(world, message.id, 'delivered')
    expect(types(receiver.calls)).toEqual(['message.unknown', 'message.sent', 'message.delivered'])
    expect(receiver.calls[0]!.body.data['error']).toMatchObject({ code: 'worker_lost' })
  })

  test('blocked by a rule after it was accepted', async () => {
    const receiver = await receiverOfTest()
    startWorker(world)
    const message = await queued(world, `${receiver.url}/`, {
      outbox: { isDeferred: true, dueAt: world.clock.now() },
    })
    await world.db.query(
      `update contact set opted_out_channels = '{sms}' where id = (select contact_id from message where id = $1)`,
      [message.id],
    )
    const catalogues = new CatalogueCache(world.db)
    const released = await releaseDeferred({
      db: world.db,
      clock: world.clock,
      log: silentLog,
      catalogues,
      ...told,
    })
    expect(released).toMatchObject({ blocked: 1 })
    const [call] = await receiver.take('/', 1)
    expect(call!.body).toMatchObject({
      type: 'message.blocked',
      data: { status: 'blocked', error: { code: 'blocked', message: expect.stringMatching(/opted out/) } },
    })
  })
})

describe('the company webhook', () => {
  test('hears of messages of both APIs that have no callback, signed with its own secret', async () => {
    const company = await makeCompany(world.db)
    const receiver = await receiverOfTest()
    const { secret } = await setWebhook(company.id, `${receiver.url}/webhook`)
    startWorker(world)
    const message = await sent(world, null, { company })
    const [call] = await receiver.take('/webhook', 1)
    expect(verify(secret!, call!)).toMatchObject({ type: 'message.sent' })
    expect(() => verify(company.callbackSecret, call!)).toThrow()
    expect(call!.body.data).toMatchObject({ messageId: message.shown, custom_fields: {} })
  })

  test('and the callback of the request both hear, each once; other companies hear nothing', async () => {
    const company = await makeCompany(world.db)
    const receiver = await receiverOfTest()
    await setWebhook(company.id, `${receiver.url}/webhook`)
    startWorker(world)
    const message = await sent(world, `${receiver.url}/callback`, { company })
    const other = await sent(world, null)
    expect((await allAre(world, message.id, 'delivered')).map((row) => row.target).toSorted()).toEqual([
      'request',
      'webhook',
    ])
    expect(await rowsOf(world, other.id)).toEqual([])
    expect(receiver.calls.map((call) => call.path).toSorted()).toEqual(['/callback', '/webhook'])
  })

  test('hears only what it asked for, and nothing while it is switched off', async () => {
    const company = await makeCompany(world.db)
    const receiver = await receiverOfTest()
    await setWebhook(company.id, receiver.url, ['message.delivered'])
    startWorker(world)
    const message = await sent(world, null, { company })
    await report({ ...world, db: world.db, company, clock: world.clock, url: '' }, message, ['delivered'])
    const rows = await allAre(world, message.id, 'delivered')
    expect(rows.map((row) => row.event)).toEqual(['delivered'])
    await world.db.query('update webhook set disabled_at = now() where company_id = $1', [company.id])
    expect(await rowsOf(world, (await sent(world, null, { company })).id)).toEqual([])
  })

  test('hears of received messages, once however often the provider repeats them', async () => {
    const company = await makeCompany(world.db)
    const receiver = await receiverOfTest()
    const { secret } = await setWebhook(company.id, receiver.url)
    startWorker(world)
    const [line] = company.lines.whatsapp
    const entry = {
      lineId: line!.id,
      companyId: company.id,
      receivedAt: world.clock.now(),
      message: {
        providerId: 'wamid.1',
        from: '5531987654321',
        text: 'Olá 🕊',
        at: world.clock.now(),
        kind: 'image' as const,
        media: [{ providerMediaId: 'm1', mimeType: 'image/jpeg', name: 'a.jpg' }],
      },
    }
    const context = { db: world.db, clock: world.clock, log: silentLog, ...told }
    await receiveInbound(context, [entry as never])
    await receiveInbound(context, [entry as never])
    const [call] = await receiver.take('/', 1)
    verify(secret!, call!)
    const { messageId } = call!.body.data
    expect(call!.body).toEqual({
      type: 'message.received',
      timestamp: entry.receivedAt.toISOString(),
      data: {
        messageId: expect.stringMatching(/^inb_[0-9a-f]{32}$/),
        channel: 'whatsapp',
        line: { id: expect.stringMatching(/^lin_/), address: '5531987650002' },
        from: '5531987654321',
        userId: null,
        profileName: null,
        kind: 'image',
        text: 'Olá 🕊',
        repliesTo: null,
        media: [{ id: `${String(messageId)}_0`, mimeType: 'image/jpeg', name: 'a.jpg' }],
      },
    })
    const rows = await world.db.query('select 1 from callback where company_id = $1', [company.id])
    expect(rows).toHaveLength(1)
  })

  test.for([
    ['url', { url: 'http://127.0.0.1/' }],
    ['url', { url: 'https://user:x@example.com/' }],
    ['url', { url: 'ftp://example.com' }],
    ['events', { url: 'https://example.com', events: ['message.flown'] }],
  ] as const)('is not saved with a wrong %s: %j', async ([field, input]) => {
    const saving = await saveWebhook(
      { db: world.db, sealer: testSealer, exceptions: { allows: () => false } },
      world.company.id,
      input,
      world.clock.now(),
    )
    expect(saving).toMatchObject({ ok: false, problems: [{ field }] })
  })

  test('a new address takes over what waits', async () => {
    const company = await makeCompany(world.db)
    const wrong = await receiverOfTest(() => 404)
    const right = await receiverOfTest()
    await setWebhook(company.id, wrong.url)
    startWorker(world)
    const message: Sent = await sent(world, null, { company })
    await wrong.take('/', 1)
    const { secret } = await setWebhook(company.id, right.url)
    expect(secret).toBeUndefined()
    world.clock.advance(10_000)
    await allAre(world, message.id, 'delivered')
    expect(right.calls[0]!.headers['webhook-id']).toBe(wrong.calls[0]!.headers['webhook-id'])
  })
})
