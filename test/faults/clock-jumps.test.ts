/** A clock that is set: by hand, by NTP after a long sleep, or wrongly and back again. */
import { afterEach, expect, test } from 'vitest'
import { createStage, eventually, type Stage } from '../harness/stage.ts'

let stage: Stage
afterEach(() => stage.close())

const hours = 3_600_000

/** Both ways, unlike the clock of most tests. */
function createSettableClock() {
  let aheadMs = 0
  return { now: () => new Date(Date.now() + aheadMs), set: (ms: number) => void (aheadMs = ms) }
}

const allSent = async (count: number) => (await stage.states())['sent'] === count
const expectEachOnce = (ids: string[]) =>
  expect(stage.smsc.taken.map(({ messageId }) => messageId).toSorted()).toEqual(ids.toSorted())

test('forward and back while messages leave: each leaves once, and no line changes hands', async () => {
  const clock = createSettableClock()
  stage = await createStage({ lines: 2, line: { ratePerSecond: 100 } })
  await stage.startWorker({ clock })
  const lanes = () => stage.db.query('select line_id, owner_id, epoch from lane order by line_id')
  await eventually(
    'lines are driven',
    async () => (await stage.db.query('select 1 from lane where owner_id is null')).length === 0,
  )
  const before = await lanes()
  const ids: string[] = []
  for (const aheadMs of [5 * hours, -2 * hours, 0]) {
    clock.set(aheadMs)
    for (const { id } of stage.lines)
      ids.push(...(await stage.seed({ count: 50, lineId: id, acceptedAt: clock.now() })))
    await eventually('all have left', () => allSent(ids.length), 30_000)
  }
  expectEachOnce(ids)
  // Leases follow the database's clock, so nobody was taken for dead.
  expect(await lanes()).toEqual(before)
})

test('two workers whose clocks differ by hours: each message leaves once', async () => {
  const ahead = createSettableClock()
  ahead.set(3 * hours)
  stage = await createStage({ lines: 4, line: { ratePerSecond: 100 } })
  await stage.startWorker({ clock: ahead })
  await stage.startWorker()
  const ids: string[] = []
  for (const { id } of stage.lines) ids.push(...(await stage.seed({ count: 50, lineId: id })))
  await eventually('all have left', () => allSent(ids.length), 30_000)
  expectEachOnce(ids)
  expect([...stage.smsc.mostBound.values()].every((sessions) => sessions === 1)).toBe(true)
})

test('what was accepted by a clock that was ahead waits until that moment, and is not lost', async () => {
  const clock = createSettableClock()
  stage = await createStage()
  const early = await stage.seed({ count: 5, acceptedAt: new Date(Date.now() + hours) })
  await stage.startWorker({ clock })
  const now = await stage.seed({ count: 5 })
  await eventually('those of now have left', () => allSent(5))
  expectEachOnce(now)
  clock.set(hours + 1_000)
  await eventually('all have left', () => allSent(10))
  expectEachOnce([...early, ...now])
})
