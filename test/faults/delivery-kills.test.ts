/** Workers that are killed at any moment, judged by what the provider's own log says. */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterEach, expect, test } from 'vitest'
import { resolveUnknown } from '../../src/flows/resolve-unknown.ts'
import { readLines } from '../harness/lines.ts'
import { createStage, eventually, type Stage } from '../harness/stage.ts'

const program = fileURLToPath(new URL('../harness/delivery-process.ts', import.meta.url))
const running: ChildProcess[] = []
let stage: Stage

afterEach(async () => {
  for (const child of running.splice(0)) await kill(child)
  await stage.close()
})

async function start(name: string): Promise<ChildProcess> {
  const options = { databaseUrl: stage.databaseUrl, smscPort: stage.smsc.port, name }
  const child = spawn(process.execPath, [program, JSON.stringify(options)], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  running.push(child)
  await readLines(child).find((line) => line['kind'] === 'ready')
  return child
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}

/** Answers take a while, so that there is always something in flight. */
function answerSlowly(maxMs: number) {
  stage.smsc.answer = async (taken) => {
    await new Promise((resolve) => setTimeout(resolve, Math.random() * maxMs))
    return { messageId: taken.messageId }
  }
}

const lines = 5
const perLine = 400
const window = 16

test('kill -9 in the middle, many times: nothing lost, nothing twice, at most a window of each line unknown', async () => {
  stage = await createStage({ lines, line: { inFlightLimit: window, ratePerSecond: 200 } })
  answerSlowly(30)
  const ids: string[] = []
  for (const line of stage.lines)
    ids.push(...(await stage.seed({ count: perLine, contacts: 150, lineId: line.id })))
  let kills = 0
  for (
    let worker = await start('node');
    stage.smsc.taken.length < ids.length * 0.8;
    worker = await start('node')
  ) {
    const before = stage.smsc.taken.length
    // Somewhere in the middle of a burst.
    const after = 20 + Math.random() * 200
    await eventually('messages leave', () => stage.smsc.taken.length > before + after, 30_000)
    await kill(worker)
    kills++
    // Whatever bears a mark now will be called unknown.
    for (const { marked } of await stage.db.query<{ marked: number }>(
      'select count(*)::int as marked from outbox where handed_over_epoch is not null group by line_id',
    ))
      expect(marked).toBeLessThanOrEqual(window)
  }
  expect(kills).toBeGreaterThan(5)
  await eventually('all settled', async () => (await stage.states())['queued'] === undefined, 60_000)

  const { sent, unknown, ...others } = await stage.states()
  expect(others).toEqual({})
  expect(sent! + (unknown ?? 0)).toBe(ids.length)
  expect(unknown ?? 0).toBeLessThanOrEqual(kills * lines * window)
  expect(await stage.db.query('select 1 from outbox')).toEqual([])
  // What the provider saw: each at most once, and everything that is called sent.
  const seen = new Set(stage.smsc.taken.map(({ messageId }) => messageId))
  expect(seen.size).toBe(stage.smsc.taken.length)
  const rows = await stage.db.query<{ id: string; state: string }>('select id, state from message')
  expect(rows.filter(({ id, state }) => state === 'sent' && !seen.has(id))).toEqual([])
  expect([...seen].filter((id) => !ids.includes(id))).toEqual([])

  // With the policy to send again, what was unknown leaves a second time, and nothing else does.
  const doubted = new Set(rows.flatMap(({ id, state }) => (state === 'unknown' ? [id] : [])))
  await stage.db.query("update company set unknown_policy = 'send_again'")
  const clock = { now: () => new Date(Date.now() + 11 * 60_000) }
  await resolveUnknown({ db: stage.db, clock }, 10_000)
  await stage.db.query('update outbox set due_at = now()')
  await eventually('all sent', async () => (await stage.states())['sent'] === ids.length, 60_000)
  const counts = Map.groupBy(stage.smsc.taken, ({ messageId }) => messageId)
  const twice = [...counts].flatMap(([id, taken]) => (taken.length > 1 ? [id] : []))
  expect(twice.filter((id) => !doubted.has(id))).toEqual([])
  expect([...counts].filter(([, taken]) => taken.length > 2)).toEqual([])
  expect(counts.size).toBe(ids.length)
})

test('two workers never drive one line at once; when one is killed the other takes over', async () => {
  stage = await createStage({ lines: 6, line: { inFlightLimit: 8, ratePerSecond: 100 } })
  answerSlowly(20)
  const first = await start('first')
  await start('second')
  const seedAll = async () => {
    const ids: string[] = []
    for (const line of stage.lines) ids.push(...(await stage.seed({ count: 100, lineId: line.id })))
    return ids
  }
  const ids = await seedAll()
  await eventually('both drive', async () => {
    const rows = await stage.db.query('select distinct owner_id from lane where owner_id is not null')
    return rows.length === 2 && stage.smsc.taken.length > 100
  })
  await kill(first)
  ids.push(...(await seedAll()))
  await eventually('all settled', async () => (await stage.states())['queued'] === undefined, 60_000)
  const { sent, unknown = 0 } = await stage.states()
  expect(sent! + unknown).toBe(ids.length)
  expect(unknown).toBeLessThanOrEqual(3 * 8)
  expect([...stage.smsc.mostBound.values()]).toEqual([1, 1, 1, 1, 1, 1])
  const seen = stage.smsc.taken.map(({ messageId }) => messageId)
  expect(new Set(seen).size).toBe(seen.length)
  expect(await stage.db.query('select distinct owner_id from lane')).toHaveLength(1)
})
