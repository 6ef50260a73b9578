import { afterEach, describe, expect, test } from 'vitest'
import { status } from '../lib/smpp/index.ts'
import { startTestSandbox } from '../sandbox/testing.ts'
import { failOver } from '../store/lanes.ts'
import { listLanes } from '../store/overviews.ts'
import { changeLine, changeLineSettings, pauseLine } from '../store/lines.ts'
import { testSealer } from '../../test/harness/factories.ts'
import { createStage, eventually, type Stage } from '../../test/harness/stage.ts'

let stage: Stage
afterEach(() => stage.close())

const settings = (changes: Record<string, unknown> = {}) => ({
  host: '127.0.0.1',
  port: stage.smsc.port,
  systemId: 'line1',
  ...changes,
})

const openAlerts = () =>
  stage.db.query<{ subject: string; message: string }>(
    "select subject, message from alert where kind = 'line_paused' and cleared_at is null",
  )

const outboxOf = async (id: string) =>
  (
    await stage.db.query<{ attempts: number; dueAt: Date; epoch: number | null; takenIds: string[] | null }>(
      `select attempts, due_at as "dueAt", handed_over_epoch as epoch, taken_ids as "takenIds" from outbox where message_id = $1`,
      [id],
    )
  )[0]

const reports = () =>
  stage.db.query<{ outcome: string; count: number }>(
    'select outcome, sum(count)::int as count from report_delta group by outcome order by outcome',
  )

describe('what comes of a hand-over', () => {
  test('taken: sent, with the id of the provider, an event and a count', async () => {
    stage = await createStage()
    const [id] = await stage.seed({ count: 1 })
    await stage.startWorker()
    await eventually('sent', async () => (await stage.states())['sent'] === 1)
    expect(await outboxOf(id!)).toBeUndefined()
    expect(await stage.db.query('select message_id, part, parts from provider_reference')).toEqual([
      { message_id: id, part: 1, parts: 1 },
    ])
    expect(await stage.events(id!)).toMatchObject([
      { kind: 'sent', detail: { attempt: 1, providerIds: ['id-1'] } },
    ])
    expect(await reports()).toEqual([{ outcome: 'sent', count: 1 }])
  })

  test('many: each once, in batches', async () => {
    stage = await createStage()
    const ids = await stage.seed({ count: 2_000 })
    const worker = await stage.startWorker()
    await eventually('all sent', async () => (await stage.states())['sent'] === 2_000)
    expect(stage.smsc.taken.map(({ messageId }) => messageId).toSorted()).toEqual(ids)
    expect(worker.roundTrips()).toBeLessThan(1_000)
    expect((await reports()).map(({ outcome, count }) => [outcome, count])).toEqual([['sent', 2_000]])
  })

  test('taken by a mail server that keeps the mailboxes: delivered; by any other: sent', async () => {
    stage = await createStage({ lines: 0 })
    const sandbox = await startTestSandbox()
    const { host, port, user, password } = sandbox.smtp
    const settings = { host, port, canBeUnverified: true, username: user, password, systemId: undefined }
    for (const hasMailboxes of [true, false]) {
      const email = `${hasMailboxes ? 'keeps' : 'relays'}@company.example`
      const phone = { countryCode: undefined, phoneNumber: undefined }
      const line = await stage.addLine({
        ...phone,
        channel: 'email',
        email,
        driver: 'smtp',
        settings: { ...settings, hasMailboxes },
      })
      await stage.seed({
        count: 1,
        channel: 'email',
        lineId: line.id,
        content: { kind: 'text', subject: 'Hi', text: 'Hello', files: [] },
      })
    }
    await stage.db.query("update message set recipient = 'ana@people.example'")
    await stage.startWorker({ peers: [`${host}:${port}`] })
    await eventually('both left', async () => (await stage.states())['queued'] === undefined)
    expect(await stage.states(stage.lines[0]!.id)).toEqual({ delivered: 1 })
    expect(await stage.states(stage.lines[1]!.id)).toEqual({ sent: 1 })
    expect(await reports()).toEqual([
      { outcome: 'delivered', count: 1 },
      { outcome: 'sent', count: 2 },
    ])
    expect(
      await stage.db.query(
        "select 1 from report_delta where outcome = 'delivered' and latency_bucket is not null",
      ),
    ).toHaveLength(1)
    await sandbox.stop()
  })

  test('refused for good: failed, with the words of the provider', async () => {
    stage = await createStage()
    stage.smsc.answer = () => ({ status: status.ESME_RINVDSTADR })
    const [id] = await stage.seed({ count: 1 })
    await stage.startWorker()
    await eventually('failed', async () => (await stage.states())['failed'] === 1)
    expect(await stage.stateOf(id!)).toMatchObject({ errorCode: '0x0b' })
    expect(await stage.events(id!)).toMatchObject([
      {
        kind: 'attempt',
        detail: { error: { kind: 'rejected' }, exchange: { response: expect.any(String) } },
      },
    ])
    expect(await reports()).toEqual([{ outcome: 'failed', count: 1 }])
  })

  test('wants no more messages: failed, and the contact is opted out of the channel', async () => {
    stage = await createStage({ line: { settings: { statusMeanings: '0x410=opted_out' } } })
    stage.smsc.answer = () => ({ status: 0x410 })
    const [id] = await stage.seed({ count: 1 })
    await stage.db.query(
      `insert into contact (id, company_id, phone_key) select contact_id, company_id, 'k' from message where id = $1`,
      [id],
    )
    await stage.startWorker()
    await eventually('failed', async () => (await stage.states())['failed'] === 1)
    expect(await stage.db.query('select opted_out_channels as channels from contact')).toEqual([
      { channels: ['sms'] },
    ])
  })

  test('trouble that may pass: tried again after a pause, in its own time', async () => {
    stage = await createStage()
    stage.smsc.answer = () => ({ status: status.ESME_RSUBMITFAIL })
    const [id] = await stage.seed({ count: 1 })
    await stage.startWorker()
    await eventually(
      'one attempt',
      async () => (await outboxOf(id!))?.epoch === null && stage.smsc.taken.length === 1,
    )
    const waiting = (await outboxOf(id!))!
    expect(waiting.dueAt.getTime() - stage.clock.now().getTime()).toBeGreaterThan(2_000)
    expect((await stage.stateOf(id!)).state).toBe('queued')
    stage.smsc.answer = undefined
    stage.clock.advance(7_000)
    await eventually('sent', async () => (await stage.states())['sent'] === 1)
    expect((await stage.events(id!)).map(({ kind }) => kind)).toEqual(['attempt', 'sent'])
    expect((await stage.stateOf(id!)).errorCode).toBeNull()
  })

  test('throttled: the whole line waits as long as the provider said, then all leave', async () => {
    stage = await createStage({ line: { settings: { throttleSeconds: 2 } } })
    stage.smsc.answer = () => ({ status: status.ESME_RTHROTTLED })
    await stage.seed({ count: 20 })
    await stage.startWorker()
    await eventually('throttled', () => stage.smsc.taken.length > 0)
    await eventually(
      'put back',
      async () =>
        (await stage.db.query('select 1 from outbox where handed_over_epoch is not null')).length === 0,
    )
    const throttledAtMs = stage.smsc.taken.at(-1)!.atMs
    const before = stage.smsc.taken.length
    stage.smsc.answer = undefined
    stage.clock.advance(2_000)
    await eventually('all sent', async () => (await stage.states())['sent'] === 20)
    expect(stage.smsc.taken[before]!.atMs - throttledAtMs).toBeGreaterThan(1_900)
  })

  test('how the line is doing is told: bound, held by the breaker, its last fault', async () => {
    stage = await createStage({ line: { settings: { throttleSeconds: 60 } } })
    await stage.startWorker()
    const health = async () => (await listLanes(stage.db, [stage.company.id], stage.clock.now()))[0]!
    await eventually('bound', async () => (await health()).isUp === true)
    expect(await health()).toMatchObject({ healthDetail: 'bound as line1', heldUntil: null, lastError: null })
    stage.smsc.answer = () => ({ status: status.ESME_RTHROTTLED })
    await stage.seed({ count: 1 })
    await eventually('held', async () => (await health()).heldUntil !== null)
    expect(await health()).toMatchObject({ isUp: true, lastError: { kind: 'throttled' } })
  })

  test('no answer: unknown, waiting for a receipt, never sent again by itself', async () => {
    stage = await createStage({ line: { settings: { answerTimeoutSeconds: 1 } } })
    stage.smsc.answer = () => undefined
    const [id] = await stage.seed({ count: 1 })
    await stage.startWorker()
    await eventually('unknown', async () => (await stage.states())['unknown'] === 1)
    expect(
      await stage.db.query('select message_id, attempts, resolve_at > now() as waits from unknown_message'),
    ).toEqual([{ message_id: id, attempts: 1, waits: true }])
    expect(await outboxOf(id!)).toBeUndefined()
    expect(stage.smsc.taken).toHaveLength(1)
    expect(await reports()).toEqual([{ outcome: 'unknown', count: 1 }])
  })

  test('a connection cut in the middle: the window is unknown, the rest is sent', async () => {
    stage = await createStage({ line: { inFlightLimit: 8 } })
    stage.smsc.answer = () => undefined
    const ids = await stage.seed({ count: 30 })
    await stage.startWorker()
    await eventually('a full window', () => stage.smsc.taken.length === 8)
    stage.smsc.answer = undefined
    stage.smsc.cut()
    await eventually('all settled', async () => {
      const { sent, unknown } = await stage.states()
      return sent === 22 && unknown === 8
    })
    expect(stage.smsc.taken.map(({ messageId }) => messageId).toSorted()).toEqual(ids)
  })

  test('a provider that takes and never answers does not swallow what waits', async () => {
    stage = await createStage({ line: { inFlightLimit: 10, settings: { answerTimeoutSeconds: 1 } } })
    stage.smsc.answer = () => undefined
    await stage.seed({ count: 500 })
    await stage.startWorker()
    await eventually('a window in doubt', async () => ((await stage.states())['unknown'] ?? 0) >= 10)
    // The breaker lets one at a time try it, with growing pauses.
    await eventually('and one more', async () => ((await stage.states())['unknown'] ?? 0) >= 11)
    expect((await stage.states())['unknown']).toBeLessThan(20)
  })

  test('a provider that gives one id to many messages means the newest by it, and harms none', async () => {
    stage = await createStage()
    stage.smsc.answer = () => ({ messageId: 'the same' })
    const ids = await stage.seed({ count: 64, contacts: 1 })
    await stage.startWorker()
    await eventually('all sent', async () => (await stage.states())['sent'] === 64)
    expect(await stage.db.query('select message_id as id from provider_reference')).toEqual([
      { id: ids.at(-1) },
    ])
  })
})

describe('a line that the provider does not accept', () => {
  test('is paused with an alert, keeps its messages, and sends them when it is resumed', async () => {
    stage = await createStage()
    const [line] = stage.lines
    stage.smsc.bindStatus = status.ESME_RINVPASWD
    await stage.seed({ count: 5 })
    await stage.startWorker()
    await eventually('paused', async () => (await openAlerts()).length === 1)
    expect(await openAlerts()).toMatchObject([
      { subject: line!.id, message: expect.stringContaining('ESME_RINVPASWD') },
    ])
    expect(await stage.states()).toEqual({ queued: 5 })
    stage.smsc.bindStatus = 0
    await pauseLine(stage.db, stage.company.id, line!.id, null)
    await eventually('all sent', async () => (await stage.states())['sent'] === 5)
    await eventually('no alert', async () => (await openAlerts()).length === 0)
    expect(stage.smsc.mostBound.get('line1')).toBe(1)
  })

  test('settings that cannot be used stop this line alone', async () => {
    stage = await createStage({ lines: 3 })
    await stage.db.query('update line set settings = settings || $2 where id = $1', [
      stage.lines[0]!.id,
      { statusMeanings: 'nonsense' },
    ])
    await stage.db.query('update line set secrets_sealed = $2 where id = $1', [
      stage.lines[1]!.id,
      Buffer.from('?'),
    ])
    await stage.seed({ count: 3, lineId: stage.lines[2]!.id })
    await stage.startWorker()
    await eventually('the third line sends', async () => (await stage.states())['sent'] === 3)
    await eventually('two alerts', async () => (await openAlerts()).length === 2)
  })

  test('the pause is written down when the database was away at that moment', async () => {
    stage = await createStage({ hasProxy: true })
    stage.smsc.answer = () => ({ status: status.ESME_RINVSRCADR })
    const cut = stage.proxy.cutAt('before', /set paused_at/)
    await stage.seed({ count: 1 })
    await stage.startWorker()
    await cut
    await eventually('paused after all', async () => (await openAlerts()).length === 1)
    expect(stage.smsc.taken).toHaveLength(1)
  })
})

describe('time', () => {
  test('expires what could not leave in time, also on a paused line', async () => {
    stage = await createStage({ lines: 2 })
    await pauseLine(stage.db, stage.company.id, stage.lines[1]!.id, { at: new Date(), reason: 'test' })
    const expiresAt = new Date(stage.clock.now().getTime() - 1)
    const [open] = await stage.seed({ count: 1, expiresAt })
    const [paused] = await stage.seed({ count: 1, expiresAt, lineId: stage.lines[1]!.id })
    const [later] = await stage.seed({ count: 1, lineId: stage.lines[1]!.id })
    await stage.startWorker()
    await eventually('expired', async () => (await stage.states())['expired'] === 2)
    for (const id of [open!, paused!]) {
      expect(await stage.stateOf(id)).toMatchObject({ state: 'expired', errorCode: 'expired' })
      expect((await stage.events(id)).map(({ kind }) => kind)).toEqual(['expired'])
    }
    expect((await stage.stateOf(later!)).state).toBe('queued')
    expect(stage.smsc.taken).toEqual([])
    expect(await reports()).toEqual([{ outcome: 'expired', count: 2 }])
  })

  test('what is scheduled or deferred is left alone until its time', async () => {
    stage = await createStage()
    const later = new Date(stage.clock.now().getTime() + 60_000)
    await stage.seed({ count: 2, dueAt: later })
    await stage.seed({ count: 2, isDeferred: true })
    const [now] = await stage.seed({ count: 1 })
    await stage.startWorker()
    await eventually('the due one', async () => (await stage.states())['sent'] === 1)
    expect(stage.smsc.taken.map(({ messageId }) => messageId)).toEqual([now])
    stage.clock.advance(61_000)
    await eventually('the scheduled ones', async () => (await stage.states())['sent'] === 3)
    expect((await stage.states())['queued']).toBe(2)
  })
})

describe('order', () => {
  test('of one contact: as accepted, however slow the answers; others do not wait', async () => {
    stage = await createStage({ line: { inFlightLimit: 50 } })
    const delays = [30, 1, 15, 3]
    let count = 0
    let inFlight = 0
    let most = 0
    stage.smsc.answer = async (taken) => {
      most = Math.max(most, ++inFlight)
      await new Promise((resolve) => setTimeout(resolve, delays[count++ % delays.length]))
      inFlight--
      return { messageId: taken.messageId }
    }
    const ids = await stage.seed({ count: 60, contacts: 4 })
    await stage.startWorker()
    await eventually('all sent', async () => (await stage.states())['sent'] === 60)
    const bySender = Map.groupBy(stage.smsc.taken, ({ destination }) => destination)
    expect(bySender.size).toBe(4)
    for (const taken of bySender.values()) {
      const order = taken.map(({ messageId }) => messageId)
      expect(order).toEqual(ids.filter((id) => order.includes(id)))
    }
    expect(most).toBeGreaterThan(1)
    expect(most).toBeLessThanOrEqual(4)
  })

  test('one in back-off holds nobody', async () => {
    stage = await createStage()
    const ids = await stage.seed({ count: 3, contacts: 1 })
    stage.smsc.answer = (taken) =>
      taken.messageId === ids[0] ? { status: status.ESME_RSUBMITFAIL } : { messageId: taken.messageId }
    await stage.startWorker()
    await eventually('the others are sent', async () => (await stage.states())['sent'] === 2)
    expect((await stage.stateOf(ids[0]!)).state).toBe('queued')
  })

  test('a higher class first, with a share for those below', async () => {
    stage = await createStage({ line: { inFlightLimit: 1 } })
    const classes = new Map<string, number>()
    for (const priority of [2, 1, 0])
      for (const id of await stage.seed({ count: 200, priority })) classes.set(id, priority)
    await stage.startWorker()
    await eventually('two hundred left', () => stage.smsc.taken.length >= 200)
    const first = stage.smsc.taken.slice(0, 200).map(({ messageId }) => classes.get(messageId)!)
    const share = [0, 1, 2].map((priority) => first.filter((one) => one === priority).length)
    // 170, 20 and 10, give or take one for the fractions.
    expect(share[1]).toBeGreaterThanOrEqual(19)
    expect(share[1]).toBeLessThanOrEqual(21)
    expect(share[2]).toBeGreaterThanOrEqual(9)
    expect(share[2]).toBeLessThanOrEqual(11)
    await eventually('all sent', async () => (await stage.states())['sent'] === 600)
  })
})

describe('failing over', () => {
  const elsewhere = async () => {
    stage = await createStage({ lines: 2 })
    const [from, to] = stage.lines
    await changeLine(stage.db, stage.company.id, from!.id, { failoverLineIds: [to!.id] })
    // Each names the other: nothing may go to and fro.
    await changeLine(stage.db, stage.company.id, to!.id, { failoverLineIds: [from!.id] })
    await pauseLine(stage.db, stage.company.id, from!.id, { at: new Date(), reason: 'test' })
    return [from!, to!] as const
  }

  test('what is free to go goes once; pinned, scheduled and deferred messages stay', async () => {
    const [from, to] = await elsewhere()
    const later = new Date(stage.clock.now().getTime() + 60_000)
    const [pinned] = await stage.seed({ count: 1, isPinned: true })
    const [scheduled] = await stage.seed({ count: 1, dueAt: later })
    const [deferred] = await stage.seed({ count: 1, isDeferred: true })
    const free = await stage.seed({ count: 5 })
    await stage.startWorker()
    await eventually('five sent', async () => (await stage.states())['sent'] === 5)
    expect(
      stage.smsc
        .of('line2')
        .map(({ messageId }) => messageId)
        .toSorted(),
    ).toEqual(free)
    expect(await stage.stateOf(free[0]!)).toMatchObject({ lineId: to.id })
    expect((await stage.events(free[0]!)).map(({ kind }) => kind)).toEqual(['failed_over', 'sent'])
    for (const id of [pinned!, scheduled!, deferred!])
      expect(await stage.stateOf(id)).toMatchObject({ state: 'queued', lineId: from.id })
  })

  test('two lines that name each other do not throw messages to and fro', async () => {
    const [from, to] = await elsewhere()
    const [id] = await stage.seed({ count: 1 })
    await pauseLine(stage.db, stage.company.id, from.id, null)
    const lineIds = [from.id, to.id]
    const move = (line: { id: string }) =>
      failOver(stage.db, { id: line.id, failoverLineIds: lineIds }, undefined, 10, stage.clock.now())
    expect(await move(from)).toMatchObject({ seen: 1, toLineIds: [to.id] })
    expect(await move(to)).toMatchObject({ seen: 1, toLineIds: [] })
    expect(await stage.stateOf(id!)).toMatchObject({ lineId: to.id })
  })

  test('looks at what waits page by page', async () => {
    const [from, to] = await elsewhere()
    await stage.seed({ count: 5, isPinned: true })
    await stage.seed({ count: 5 })
    const line = { id: from.id, failoverLineIds: [to.id] }
    const first = await failOver(stage.db, line, undefined, 4, stage.clock.now())
    expect(first).toMatchObject({ seen: 4, toLineIds: [] })
    const second = await failOver(stage.db, line, first.last!, 4, stage.clock.now())
    expect(second).toMatchObject({ seen: 4, toLineIds: [to.id] })
    expect(await failOver(stage.db, line, second.last!, 4, stage.clock.now())).toMatchObject({ seen: 2 })
    expect(await stage.db.query('select 1 from outbox where line_id = $1', [to.id])).toHaveLength(5)
  })

  test('only to a line that serves the segment', async () => {
    const [from, to] = await elsewhere()
    const [mine, others] = stage.company.segments
    await changeLine(stage.db, stage.company.id, to.id, { segmentIds: [mine.id] })
    const [served] = await stage.seed({ count: 1, segmentId: mine.id })
    const [foreign] = await stage.seed({ count: 1, segmentId: others.id })
    await stage.startWorker()
    await eventually('one sent', async () => (await stage.states())['sent'] === 1)
    expect(await stage.stateOf(served!)).toMatchObject({ lineId: to.id })
    expect(await stage.stateOf(foreign!)).toMatchObject({ state: 'queued', lineId: from.id })
  })

  test('WhatsApp: free text only where the window is open, templates only within the account', async () => {
    stage = await createStage({ lines: 0 })
    const whatsapp = { channel: 'whatsapp', driver: 'whatsapp-cloud' } as const
    const account = (wabaId: string) => ({
      baseUrl: 'http://127.0.0.1:9',
      phoneNumberId: '1',
      accessToken: 'x',
      wabaId,
    })
    const add = async (wabaId: string) => {
      const line = await stage.addLine(whatsapp)
      await stage.db.query('update line set settings = $2, paused_at = now() where id = $1', [
        line.id,
        account(wabaId),
      ])
      return line
    }
    const [from, stranger, sister] = [await add('A'), await add('B'), await add('A')]
    await changeLine(stage.db, stage.company.id, from.id, { failoverLineIds: [stranger.id, sister.id] })
    const wish = { count: 1, lineId: from.id, channel: 'whatsapp' }
    const [closed] = await stage.seed(wish)
    const [open] = await stage.seed(wish)
    const [template] = await stage.seed({ ...wish, content: { kind: 'template' } })
    for (const [id, ageHours] of [
      [open, 23],
      [closed, 25],
    ] as const)
      await stage.db.query(
        `with c as (insert into contact (id, company_id, phone_key) select contact_id, company_id, id from message where id = $1 returning id)
         insert into contact_window (contact_id, line_id, received_at) select id, $2, now() - $3 * interval '1 hour' from c`,
        [id, stranger.id, ageHours],
      )
    await stage.db.query('update line set paused_at = null where id = any($1::uuid[])', [
      [stranger.id, sister.id],
    ])
    await failOver(
      stage.db,
      { id: from.id, failoverLineIds: [stranger.id, sister.id] },
      undefined,
      100,
      stage.clock.now(),
    )
    expect(
      [await stage.stateOf(open!), await stage.stateOf(closed!), await stage.stateOf(template!)].map(
        ({ lineId }) => lineId,
      ),
    ).toEqual([stranger.id, from.id, sister.id])
  })
})

describe('lines that change while they are driven', () => {
  test('a new rate holds without a new connection', async () => {
    stage = await createStage({ line: { ratePerSecond: 1 } })
    await stage.seed({ count: 200 })
    await stage.startWorker()
    await eventually('the first left', () => stage.smsc.taken.length > 0)
    await changeLine(stage.db, stage.company.id, stage.lines[0]!.id, { ratePerSecond: 5_000 })
    await eventually('all sent', async () => (await stage.states())['sent'] === 200)
    expect(stage.smsc.binds).toHaveLength(1)
  })

  test('new settings: what is in flight is answered first, then the old session closes and the new one opens', async () => {
    stage = await createStage({ line: { inFlightLimit: 10 } })
    const gate = Promise.withResolvers<void>()
    stage.smsc.answer = async (taken) => {
      await gate.promise
      return { messageId: taken.messageId }
    }
    const [line] = stage.lines
    await stage.seed({ count: 10 })
    const worker = await stage.startWorker()
    await eventually('in flight', () => stage.smsc.taken.length === 10)
    await changeLineSettings(
      stage.db,
      testSealer,
      stage.company.id,
      line!.id,
      settings({ password: 'other' }),
      ['password'],
    )
    await stage.seed({ count: 10 })
    const { lane } = worker.lines.get(line!.id)!
    await eventually('the line waits for its answers', () => !lane.isOpen(performance.now()))
    expect(stage.smsc.bound.get('line1')).toBe(1)
    gate.resolve()
    await eventually('all sent', async () => (await stage.states())['sent'] === 20)
    expect(stage.smsc.binds.map(({ password }) => password)).toEqual(['secret', 'other'])
    expect(stage.smsc.mostBound.get('line1')).toBe(1)
  })

  test('disabled: the session closes and messages wait; enabled again they leave', async () => {
    stage = await createStage()
    const [line] = stage.lines
    await stage.startWorker()
    await eventually('bound', () => stage.smsc.bound.get('line1') === 1)
    await changeLine(stage.db, stage.company.id, line!.id, { isEnabled: false })
    await eventually('unbound', () => stage.smsc.bound.get('line1') === 0)
    await stage.seed({ count: 3 })
    await changeLine(stage.db, stage.company.id, line!.id, { isEnabled: true })
    await eventually('all sent', async () => (await stage.states())['sent'] === 3)
  })

  test('deleted: what is in flight is still settled, the session closes, other lines go on', async () => {
    stage = await createStage({ lines: 2 })
    const gate = Promise.withResolvers<void>()
    stage.smsc.answer = async (taken) => {
      if (taken.systemId === 'line1') await gate.promise
      return { messageId: taken.messageId }
    }
    await stage.seed({ count: 4 })
    await stage.startWorker()
    await eventually('in flight', () => stage.smsc.of('line1').length === 4)
    await stage.db.query('delete from line where id = $1', [stage.lines[0]!.id])
    await stage.seed({ count: 4, lineId: stage.lines[1]!.id })
    await eventually('the other line sends', async () => (await stage.states())['sent'] === 4)
    gate.resolve()
    await eventually('all sent', async () => (await stage.states())['sent'] === 8)
    await eventually('unbound', () => stage.smsc.bound.get('line1') === 0)
  })
})
