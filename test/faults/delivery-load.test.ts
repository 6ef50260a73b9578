/** Lines that do not slow each other, and backlogs that do not slow what is urgent. */
import { afterEach, expect, test } from 'vitest'
import { changeLine } from '../../src/store/lines.ts'
import { freePort } from '../harness/program.ts'
import { createStage, eventually, type Stage } from '../harness/stage.ts'

let stage: Stage
afterEach(() => stage.close())

const perLine = 200
const goodLines = 48
/** A line alone needs eight seconds: it is the rate that decides, not the machine. */
const ratePerSecond = 25

/** From the first message that left to the last, over the good lines. */
async function timeOfGoodLines(): Promise<number> {
  const isGood = (systemId: string) => Number(systemId.slice(4)) <= goodLines
  const good = () => stage.smsc.taken.filter(({ systemId }) => isGood(systemId))
  await eventually('the good lines are done', () => good().length === goodLines * perLine, 90_000)
  const times = good().map(({ atMs }) => atMs)
  return Math.max(...times) - Math.min(...times)
}

test('10,000 messages over 50 lines, one dead and one ten times slower: the other 48 finish as if alone', async () => {
  const line = { ratePerSecond, inFlightLimit: 4 }
  stage = await createStage({ lines: goodLines, line })
  for (const { id } of stage.lines) await stage.seed({ count: perLine, lineId: id })
  await stage.startWorker()
  const aloneMs = await timeOfGoodLines()
  await stage.close()

  stage = await createStage({ lines: goodLines, line })
  const dead = await stage.addLine({ ...line, settings: { port: await freePort() } })
  const slow = await stage.addLine(line)
  // Four in flight, each answered after 1.6 s: two and a half a second.
  stage.smsc.answer = async (taken) => {
    if (taken.systemId === 'line50') await new Promise((resolve) => setTimeout(resolve, 1_600))
    return { messageId: taken.messageId }
  }
  for (const { id } of stage.lines) await stage.seed({ count: perLine, lineId: id })
  expect(await stage.states()).toEqual({ queued: 10_000 })
  await stage.startWorker()
  const togetherMs = await timeOfGoodLines()
  expect(togetherMs / aloneMs).toBeLessThan(1.3)
  expect(await stage.states(dead.id)).toEqual({ queued: perLine })
  const slowTaken = stage.smsc.of('line50').length
  expect(slowTaken).toBeGreaterThan(0)
  expect(slowTaken).toBeLessThan(perLine / 2)
  await stage.db.query('delete from outbox where line_id = $1 and handed_over_epoch is null', [slow.id])
})

/** `POMBO_TEST_BACKLOG=1000000` is the full size. */
const backlog = Number(process.env['POMBO_TEST_BACKLOG'] ?? 200_000)

/** How long a line took for `count` messages after its first `from`. */
async function timeFor(systemId: string, from: number, count: number): Promise<number> {
  const isThere = () => stage.smsc.of(systemId).length > from + count
  await eventually(`${from + count} on ${systemId}`, isThere, 60_000)
  const taken = stage.smsc.of(systemId)
  return taken[from + count]!.atMs - taken[from]!.atMs
}

test('very many waiting on a line: it is as quick as with few, and slows no other line and no verification code', async () => {
  stage = await createStage({ lines: 2, line: { inFlightLimit: 32 } })
  const [full, other] = stage.lines
  await stage.startWorker()
  // Statements are planned while the tables are all but empty.
  await stage.seed({ count: 2_000 })
  const few = await timeFor('line1', 200, 1_500)
  await stage.seed({ count: 2_000, lineId: other!.id })
  const fewOther = await timeFor('line2', 200, 1_500)
  await eventually('empty', async () => (await stage.states())['queued'] === undefined, 60_000)

  // In bites that a statement's time-out allows.
  for (let left = backlog; left > 0; left -= 100_000) await stage.seed({ count: Math.min(left, 100_000) })
  // The disk is still busy with what was just written: the best of three stretches tells what a claim costs.
  const stretches: number[] = []
  for (let turn = 0; turn < 3; turn++)
    stretches.push(await timeFor('line1', stage.smsc.of('line1').length, 1_500))
  expect(Math.min(...stretches) / few).toBeLessThan(4)
  // Two lines share the machine now.
  await stage.seed({ count: 2_000, lineId: other!.id })
  expect((await timeFor('line2', 2_200, 1_500)) / fewOther).toBeLessThan(6)

  // At a rate that lets them wait, a code overtakes all but what a tenth of a second lets leave at once.
  await changeLine(stage.db, stage.company.id, full!.id, { ratePerSecond: 50 })
  const isRateHeld = async () => (await timeFor('line1', stage.smsc.of('line1').length, 10)) > 100
  await eventually('the rate holds', isRateHeld, 30_000)
  for (let count = 0; count < 5; count++) {
    const before = stage.smsc.of('line1').length
    const [code] = await stage.seed({ count: 1, priority: 0 })
    const committed = stage.smsc.of('line1').length
    const place = () => stage.smsc.of('line1').findIndex(({ messageId }) => messageId === code)
    await eventually('the code has left', () => place() >= 0)
    expect(place() - before).toBeLessThanOrEqual(committed - before + 10)
  }
})
