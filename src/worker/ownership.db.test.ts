import { afterEach, describe, expect, test } from 'vitest'
import { silentLog } from '../lib/log.ts'
import { createSettler } from '../lanes/settler.ts'
import type { Settlement } from '../store/outbox.ts'
import { claimMessages, putBack, settleMessages, type ClaimedMessage } from '../store/outbox.ts'
import { acquireLanes, beat, ownedLanes } from '../store/lanes.ts'
import { newId } from '../lib/ids.ts'
import { createStage, eventually, type Stage } from '../../test/harness/stage.ts'

let stage: Stage
afterEach(() => stage.close())

/** Answers that wait until the test lets them go. */
function holdAnswers() {
  const gate = Promise.withResolvers<void>()
  stage.smsc.answer = async (taken) => {
    await gate.promise
    return { messageId: taken.messageId }
  }
  return gate
}

const expireLeases = () => stage.db.query("update worker set beat_at = now() - interval '1 minute'")

const owners = () =>
  stage.db.query<{ ownerId: string | null; epoch: number }>(
    'select owner_id as "ownerId", epoch from lane order by line_id',
  )

/** A worker of the test's own that owns all lanes but drives nothing. */
async function takeLanes(): Promise<string> {
  const id = newId()
  await beat(stage.db, { id, name: id }, true)
  await acquireLanes(stage.db, id)
  return id
}

async function claim(workerId: string, epoch: number, free = 100): Promise<ClaimedMessage[]> {
  const wish = { line_id: stage.lines[0]!.id, epoch, free, single_share: 0, deferred_share: 0 }
  return await claimMessages(stage.db, workerId, [wish], stage.clock.now())
}

const sent = (message: ClaimedMessage, changes: Partial<Settlement> = {}): Settlement => ({
  ...putBack(message, new Date()),
  state: 'sent',
  provider_ids: [message.messageId],
  ...changes,
})

describe('claiming and settling', () => {
  test('no more than asked for, each once, and nothing for an older epoch', async () => {
    stage = await createStage()
    await stage.seed({ count: 10 })
    const worker = await takeLanes()
    const first = await claim(worker, 1, 4)
    expect(first).toHaveLength(4)
    expect(await claim(worker, 0)).toEqual([])
    expect(await claim(newId(), 1)).toEqual([])
    expect(await claim(worker, 1)).toHaveLength(6)
    expect(await claim(worker, 1)).toEqual([])
  })

  test('a hand-over is settled once: not again, not by an older epoch, not by an earlier attempt', async () => {
    stage = await createStage()
    const [id] = await stage.seed({ count: 1 })
    const worker = await takeLanes()
    const [first] = await claim(worker, 1)
    expect(await settleMessages(stage.db, [putBack(first!, new Date())])).toEqual(new Set([id]))
    const [second] = await claim(worker, 1)
    expect(second).toMatchObject({ messageId: id, epoch: 1, attempts: 2 })
    // The answer to the first was lost, so it is written again, while the second is under way.
    expect(await settleMessages(stage.db, [putBack(first!, new Date())])).toEqual(new Set())
    expect(await settleMessages(stage.db, [sent(second!, { epoch: 0 })])).toEqual(new Set())
    expect((await stage.stateOf(id!)).state).toBe('queued')
    expect(await settleMessages(stage.db, [sent(second!)])).toEqual(new Set([id]))
    expect(await settleMessages(stage.db, [sent(second!)])).toEqual(new Set())
    expect(await stage.db.query('select sum(count)::int as count from report_delta')).toEqual([{ count: 1 }])
  })

  test('a claim and a change of owner do not pass each other', async () => {
    stage = await createStage()
    await stage.seed({ count: 5 })
    const worker = await takeLanes()
    const connection = await stage.db.connect()
    await connection.query('begin')
    const wish = { line_id: stage.lines[0]!.id, epoch: 1, free: 5, single_share: 0, deferred_share: 0 }
    expect(await claimMessages(connection, worker, [wish], stage.clock.now())).toHaveLength(5)
    await expireLeases()
    const other = newId()
    await beat(stage.db, { id: other, name: other }, true)
    // While the claim is not committed the lane is not to be had: its marks would never be seen.
    expect((await acquireLanes(stage.db, other)).taken).toEqual([])
    await connection.query('commit')
    connection.release()
    expect((await acquireLanes(stage.db, other)).taken).toHaveLength(1)
  })

  test('words that cannot be stored cost the others nothing, and the hand-over stays recorded', async () => {
    stage = await createStage()
    const ids = await stage.seed({ count: 40 })
    const claimed = await claim(await takeLanes(), 1)
    const settled = new Set<string>()
    const settler = createSettler({
      db: stage.db,
      log: silentLog,
      onSettled: (_, ours) => {
        for (const id of ours) settled.add(id)
      },
    })
    const odd = [
      { event: { kind: 'sent', detail: { words: 'a\0b' } } },
      { provider_ids: ['zero\0'] },
      { provider_ids: [Array.from({ length: 9_000 }, (_, index) => index).join('')] },
      { error_message: 'half \ud800' },
      { error_code: '\0' },
    ]
    for (const [index, message] of claimed.entries())
      settler.add(sent(message, index % 5 === 0 ? odd[(index / 5) % 5] : {}))
    await settler.drain()
    expect([...settled].toSorted()).toEqual(ids)
    expect(await stage.states()).toEqual({ sent: 40 })
    expect(await stage.db.query('select 1 from outbox')).toEqual([])
  })
})

describe('a worker that is gone', () => {
  test('what it had handed over is unknown, what it had not is sent, by the next one at once', async () => {
    stage = await createStage({ line: { inFlightLimit: 6 } })
    const ids = await stage.seed({ count: 20 })
    const dead = await takeLanes()
    const marked = await claim(dead, 1, 6)
    await expireLeases()
    await stage.startWorker()
    await eventually('all settled', async () => {
      const { sent: done, unknown } = await stage.states()
      return done === 14 && unknown === 6
    })
    const doubted = marked.map(({ messageId }) => messageId).toSorted()
    expect(await stage.stateOf(doubted[0]!)).toMatchObject({ errorCode: 'worker_lost' })
    expect((await stage.events(doubted[0]!)).map(({ kind }) => kind)).toEqual(['unknown'])
    expect(await stage.db.query('select message_id as id from unknown_message order by 1')).toEqual(
      doubted.map((id) => ({ id })),
    )
    expect(stage.smsc.taken.map(({ messageId }) => messageId).toSorted()).toEqual(
      ids.filter((id) => !doubted.includes(id)),
    )
    expect(
      await stage.db.query(
        'select outcome, sum(count)::int as count from report_delta group by 1 order by 1',
      ),
    ).toEqual([
      { outcome: 'sent', count: 14 },
      { outcome: 'unknown', count: 6 },
    ])
  })

  test('what it had handed over on a line that is gone since is unknown when its time is over', async () => {
    stage = await createStage({ lines: 2 })
    const [id] = await stage.seed({ count: 1 })
    await claim(await takeLanes(), 1)
    await stage.db.query('delete from line where id = $1', [stage.lines[0]!.id])
    stage.clock.advance(25 * 3_600_000)
    await stage.startWorker()
    await eventually('unknown', async () => (await stage.states())['unknown'] === 1)
    expect(await stage.db.query('select message_id as id from unknown_message')).toEqual([{ id }])
  })

  test('the same node, started again, does not wait for its own lease', async () => {
    stage = await createStage()
    await beat(stage.db, { id: newId(), name: 'node' }, true)
    const [{ id } = { id: '' }] = await stage.db.query<{ id: string }>('select id from worker')
    await acquireLanes(stage.db, id)
    await stage.seed({ count: 1 })
    await stage.startWorker({ name: 'node' })
    await eventually('sent', async () => (await stage.states())['sent'] === 1)
    expect(await owners()).toMatchObject([{ epoch: 2 }])
  })

  test('one that comes back finds its settling refused, and hands nothing more over', async () => {
    stage = await createStage({ hasProxy: true })
    const gate = holdAnswers()
    const ids = await stage.seed({ count: 3, contacts: 1 })
    await stage.startWorker()
    await eventually('the first is in flight', () => stage.smsc.taken.length === 1)
    stage.proxy.pause()
    await expireLeases()
    stage.smsc.answer = undefined
    await stage.startWorker({ isDirect: true })
    await eventually('three unknown', async () => (await stage.states())['unknown'] === 3)
    gate.resolve()
    stage.proxy.resume()
    await stage.seed({ count: 1 })
    await eventually('the new owner goes on', async () => (await stage.states())['sent'] === 1)
    expect(await stage.states()).toEqual({ unknown: 3, sent: 1 })
    await eventually('one session is left', () => stage.smsc.bound.get('line1') === 1)
    // The second and third waited for the first; whatever became of them, nothing left twice.
    const seen = stage.smsc.taken.map(({ messageId }) => messageId)
    expect(new Set(seen).size).toBe(seen.length)
    expect(seen.filter((id) => ids.includes(id))).toContain(ids[0])
  })
})

describe('a database that goes away', () => {
  test('outcomes are written when it is back, and nothing is sent twice', async () => {
    stage = await createStage({ hasProxy: true })
    const gate = holdAnswers()
    await stage.seed({ count: 20 })
    await stage.startWorker()
    await eventually('in flight', () => stage.smsc.taken.length === 20)
    stage.proxy.goAway()
    gate.resolve()
    await eventually('the answers are there', () => stage.proxy.connections === 0)
    stage.proxy.comeBack()
    await eventually('all sent', async () => (await stage.states())['sent'] === 20)
    expect(stage.smsc.taken).toHaveLength(20)
  })

  test('a settle whose answer is lost is not done twice', async () => {
    stage = await createStage({ hasProxy: true })
    const cut = stage.proxy.cutAt('after', /delete from outbox o using marked/)
    await stage.seed({ count: 5 })
    await stage.startWorker()
    await cut
    await eventually('all sent', async () => (await stage.states())['sent'] === 5)
    await stage.seed({ count: 40 })
    await eventually('the slots are free again', async () => (await stage.states())['sent'] === 45)
    expect(stage.smsc.taken).toHaveLength(45)
    expect(await stage.db.query('select sum(count)::int as count from report_delta')).toEqual([{ count: 45 }])
  })

  test('marks of a claim whose answer was lost are taken off, and the messages leave once', async () => {
    stage = await createStage({ hasProxy: true })
    const cut = stage.proxy.cutAt('after', /set handed_over_epoch = chosen\.epoch/)
    const ids = await stage.seed({ count: 10 })
    await stage.startWorker()
    await cut
    await eventually('all sent', async () => (await stage.states())['sent'] === 10)
    expect(stage.smsc.taken.map(({ messageId }) => messageId).toSorted()).toEqual(ids)
    expect(await stage.db.query('select 1 from unknown_message')).toEqual([])
  })

  test('away for longer than the lease, no session stays bound; back again, everything goes on', async () => {
    stage = await createStage({ hasProxy: true, lines: 2 })
    await stage.startWorker()
    const bound = () => (stage.smsc.bound.get('line1') ?? 0) + (stage.smsc.bound.get('line2') ?? 0)
    await eventually('bound', () => bound() === 2)
    stage.proxy.goAway()
    await eventually('unbound', () => bound() === 0)
    stage.proxy.comeBack()
    await stage.seed({ count: 2 })
    await eventually('sent', async () => (await stage.states())['sent'] === 2)
  })
})

describe('several workers', () => {
  test('share the lines evenly, and never bind one twice', async () => {
    stage = await createStage({ lines: 6 })
    await stage.startWorker()
    await eventually('all bound', () => stage.smsc.bound.size === 6)
    await stage.startWorker()
    await eventually('shared', async () => {
      const counts = Map.groupBy(await owners(), ({ ownerId }) => ownerId)
      return counts.size === 2 && [...counts.values()].every((lanes) => lanes.length === 3)
    })
    for (const line of stage.lines) await stage.seed({ count: 20, lineId: line.id })
    await eventually('all sent', async () => (await stage.states())['sent'] === 120)
    expect([...stage.smsc.mostBound.values()]).toEqual([1, 1, 1, 1, 1, 1])
    expect(stage.smsc.taken).toHaveLength(120)
  })

  test('one that ends hands its lanes back at once, the slow one last, and no answer is lost', async () => {
    stage = await createStage({ lines: 2 })
    const [slow] = stage.lines
    const gate = Promise.withResolvers<void>()
    stage.smsc.answer = async (taken) => {
      if (taken.systemId === 'line1') await gate.promise
      return { messageId: taken.messageId }
    }
    await stage.seed({ count: 3, contacts: 1 })
    const worker = await stage.startWorker()
    await eventually('in flight', () => stage.smsc.taken.length === 1)
    const closed = worker.close()
    const isFree = async (id: string) =>
      (await stage.db.query('select 1 from lane where line_id = $1 and owner_id is null', [id])).length === 1
    await eventually('the idle line is free', () => isFree(stage.lines[1]!.id))
    expect(await isFree(slow!.id)).toBe(false)
    gate.resolve()
    await closed
    expect(await isFree(slow!.id)).toBe(true)
    // Those that waited for the first were put back.
    expect(await stage.states()).toEqual({ sent: 1, queued: 2 })
    expect(await stage.db.query('select 1 from outbox where handed_over_epoch is not null')).toEqual([])
    expect(await stage.db.query('select 1 from worker')).toEqual([])
    await stage.startWorker()
    await eventually('the rest is sent', async () => (await stage.states())['sent'] === 3)
    expect(stage.smsc.mostBound.get('line1')).toBe(1)
  })

  test('a line that hangs keeps no heartbeat', async () => {
    stage = await createStage({ lines: 2 })
    const gate = holdAnswers()
    await stage.seed({ count: 1 })
    await stage.startWorker()
    await eventually('in flight', () => stage.smsc.taken.length === 1)
    const beatAt = async () =>
      (await stage.db.query<{ at: Date }>('select beat_at as at from worker'))[0]!.at.getTime()
    // Its settings change while it waits for an answer: it waits, the worker does not.
    await stage.db.query('update line set settings = settings || \'{"systemType": "x"}\' where id = $1', [
      stage.lines[0]!.id,
    ])
    const before = await beatAt()
    await eventually('three heartbeats later', async () => (await beatAt()) - before > 5_000)
    await stage.seed({ count: 1, lineId: stage.lines[1]!.id })
    stage.smsc.answer = undefined
    await eventually('the other line sends', () => stage.smsc.of('line2').length === 1)
    gate.resolve()
    await eventually('all sent', async () => (await stage.states())['sent'] === 2)
    const worker = (await owners())[0]!.ownerId!
    expect(await ownedLanes(stage.db, worker)).toHaveLength(2)
  })
})
