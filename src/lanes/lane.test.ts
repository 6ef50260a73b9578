import { expect, test } from 'vitest'
import { Lane } from './lane.ts'

const limits = { ratePerSecond: 100_000, window: 10, isPaused: false }
const makeLane = (changes: Partial<typeof limits> = {}) => new Lane('line', 1, { ...limits, ...changes }, 0)

test('no more in flight than the window, and a slot is free only when it is settled', () => {
  const lane = makeLane()
  expect(lane.freeSlots(0)).toBe(10)
  lane.reserve(10)
  expect(lane.freeSlots(0)).toBe(0)
  lane.claimed(10, 7)
  expect(lane.inFlight).toBe(7)
  expect(lane.freeSlots(0)).toBe(3)
  lane.settled(7)
  expect(lane.freeSlots(0)).toBe(10)
})

test('no more than the rate allows, and it says when to look again', () => {
  const lane = makeLane({ ratePerSecond: 20, window: 100 })
  expect(lane.freeSlots(0)).toBe(2)
  lane.reserve(2)
  lane.claimed(2, 2)
  expect(lane.freeSlots(0)).toBe(0)
  expect(lane.nextLookMs(0)).toBe(50)
  lane.mayHaveWork = false
  expect(lane.nextLookMs(0)).toBeUndefined()
})

test('paused or stopped it takes nothing, and needs no look', () => {
  const lane = makeLane({ isPaused: true })
  expect([lane.freeSlots(0), lane.isOpen(0), lane.isDown(0), lane.nextLookMs(0)]).toEqual([
    0,
    false,
    true,
    undefined,
  ])
  lane.change(limits, 0)
  expect([lane.freeSlots(0), lane.isOpen(0), lane.isDown(0)]).toEqual([10, true, false])
  lane.stop()
  expect([lane.freeSlots(0), lane.isOpen(0), lane.nextLookMs(0)]).toEqual([0, false, undefined])
})

test('is idle only when a claim under way has ended too', async () => {
  const lane = makeLane()
  lane.reserve(5)
  lane.stop()
  let isIdle = false
  const idle = lane.whenIdle(60_000).then(() => (isIdle = true))
  lane.claimed(5, 1)
  await Promise.resolve()
  expect(isIdle).toBe(false)
  lane.settled(1)
  await idle
  await lane.whenIdle(60_000)
  lane.reserve(1)
  await lane.whenIdle(1)
  expect(lane.inFlight).toBe(1)
})

test('the breaker: one step for all that fail together, one message to try, then the whole window', () => {
  const lane = makeLane()
  lane.backOff(0)
  lane.backOff(1)
  lane.backOff(2)
  expect(lane.freeSlots(100)).toBe(0)
  const opensAtMs = lane.nextLookMs(0)!
  // One step of a second, give or take the jitter.
  expect(opensAtMs).toBeGreaterThanOrEqual(750)
  expect(opensAtMs).toBeLessThanOrEqual(1_250)
  expect(lane.freeSlots(opensAtMs)).toBe(1)
  lane.backOff(opensAtMs)
  const again = lane.nextLookMs(opensAtMs)!
  expect(again).toBeGreaterThanOrEqual(1_500)
  lane.succeeded(opensAtMs + again)
  expect(lane.freeSlots(opensAtMs + again)).toBe(10)
})

test("a provider's own time wins, the longest of several, and is not undone by answers to earlier messages", () => {
  const lane = makeLane()
  lane.backOff(1_000, { askedMs: 5_000 })
  lane.backOff(1_001, { askedMs: 30_000 })
  lane.backOff(1_002, { askedMs: 2_000 })
  lane.succeeded(999)
  expect(lane.freeSlots(31_000)).toBe(0)
  expect(lane.freeSlots(31_001)).toBe(1)
  lane.succeeded(31_001)
  expect(lane.freeSlots(31_001)).toBe(10)
})

test('a provider that asks for no time at all is not hammered', () => {
  const lane = makeLane()
  lane.backOff(0, { askedMs: 0 })
  expect(lane.freeSlots(50)).toBe(0)
})

test('one without an answer closes nothing, several in a row do, and answers between them forgive', () => {
  const lane = makeLane()
  for (let count = 0; count < 20; count++) {
    lane.doubted(0)
    lane.doubted(0)
    lane.succeeded(0)
  }
  expect(lane.freeSlots(0)).toBe(10)
  for (let count = 0; count < 5; count++) lane.doubted(0)
  expect(lane.freeSlots(0)).toBe(0)
  // The one that tries the line gets no answer either: longer.
  const opensAtMs = lane.nextLookMs(0)!
  expect(lane.freeSlots(opensAtMs)).toBe(1)
  lane.doubted(opensAtMs)
  expect(lane.freeSlots(opensAtMs + 1_400)).toBe(0)
})

test('is down when it was out of reach for a while, not when it is throttled', () => {
  const lane = makeLane()
  lane.backOff(0, { isAway: true })
  expect(lane.isDown(9_000)).toBe(false)
  lane.backOff(9_000, { isAway: true })
  expect(lane.isDown(10_000)).toBe(true)
  lane.succeeded(10_000)
  expect(lane.isDown(20_000)).toBe(false)
  lane.backOff(20_000, { askedMs: 3_600_000 })
  expect(lane.isDown(60_000)).toBe(false)
})

test('a person who resumes it opens it at once', () => {
  const lane = makeLane()
  lane.backOff(1_000, { askedMs: 3_600_000, isAway: true })
  lane.resume()
  expect(lane.freeSlots(1_001)).toBe(10)
})

test('the classes below get their share, also when slots come one by one', () => {
  for (const step of [1, 3, 10, 200]) {
    const lane = makeLane()
    let single = 0
    let deferred = 0
    for (let slots = 0; slots < 6_000; slots += step) {
      const shares = lane.shares(step)
      expect(shares.single + shares.deferred).toBeLessThanOrEqual(step)
      single += shares.single
      deferred += shares.deferred
    }
    expect(single).toBeGreaterThan(590)
    expect(single).toBeLessThanOrEqual(600)
    expect(deferred).toBeGreaterThan(290)
    expect(deferred).toBeLessThanOrEqual(300)
  }
})

test('one contact after another in order, others meanwhile, also after one that failed', async () => {
  const lane = makeLane()
  const seen: string[] = []
  const gates = new Map<string, PromiseWithResolvers<void>>()
  const run = (key: string, name: string) =>
    lane.inOrder(key, async () => {
      seen.push(name)
      const gate = Promise.withResolvers<void>()
      gates.set(name, gate)
      await gate.promise
    })
  const first = run('ana', 'a1')
  const second = run('ana', 'a2')
  const third = run('ana', 'a3')
  void run('bob', 'b1')
  expect(seen).toEqual(['a1', 'b1'])
  gates.get('a1')!.reject(new Error('a fault of ours'))
  await expect(first).rejects.toThrow('a fault')
  expect(seen).toEqual(['a1', 'b1', 'a2'])
  gates.get('a2')!.resolve()
  await second
  gates.get('a3')!.resolve()
  await third
  expect(seen).toEqual(['a1', 'b1', 'a2', 'a3'])
  gates.get('b1')!.resolve()
})
