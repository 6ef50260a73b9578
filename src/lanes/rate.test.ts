import fc from 'fast-check'
import { expect, test } from 'vitest'
import { backoffMs } from './backoff.ts'
import { Rate } from './rate.ts'

test('a tenth of a second at once, then one after another', () => {
  const rate = new Rate(100, 0)
  expect(rate.available(0)).toBe(10)
  rate.take(10)
  expect(rate.available(0)).toBe(0)
  expect(rate.waitMs(0)).toBe(10)
  expect(rate.available(10)).toBe(1)
  expect(rate.waitMs(10)).toBe(0)
})

test('a slow line sends one at a time, and is not slowed by looks that come late', () => {
  const rate = new Rate(4, 0)
  let sent = 0
  // Each look comes 40 ms after the moment it was told.
  for (let nowMs = 0; nowMs <= 100_000; nowMs += rate.waitMs(nowMs) + 40) {
    const free = rate.available(nowMs)
    expect(free).toBeLessThanOrEqual(1)
    rate.take(free)
    sent += free
  }
  expect(sent).toBeGreaterThan(395)
  expect(sent).toBeLessThanOrEqual(402)
})

test('whatever the looks, never more than the rate and one burst', () => {
  fc.assert(
    fc.property(
      fc.double({ min: 0.1, max: 5_000, noNaN: true }),
      fc.array(fc.integer({ min: 0, max: 2_000 }), { maxLength: 60 }),
      (perSecond, pauses) => {
        const rate = new Rate(perSecond, 0)
        let nowMs = 0
        let sent = 0
        for (const pause of pauses) {
          nowMs += pause
          const free = rate.available(nowMs)
          rate.take(free)
          sent += free
        }
        expect(sent).toBeLessThanOrEqual(
          (nowMs * perSecond) / 1000 + Math.max(1, perSecond / 10) + perSecond / 20 + 1e-6,
        )
      },
    ),
  )
})

test('a new rate holds at once, and brings no burst of the old one', () => {
  const rate = new Rate(1_000, 0)
  rate.change(10, 0)
  expect(rate.available(0)).toBe(1)
  rate.take(1)
  expect(rate.waitMs(0)).toBe(100)
  rate.change(1_000, 0)
  expect(rate.available(100)).toBe(100)
})

test('time that runs backwards gives nothing', () => {
  const rate = new Rate(10, 1_000)
  rate.take(1)
  expect(rate.available(0)).toBe(0)
})

test('pauses double up to their limit, with a quarter of jitter either way', () => {
  const options = { firstMs: 100, maxMs: 1_000 }
  const middle = [1, 2, 3, 4, 5, 50, 5_000].map((tries) =>
    backoffMs(tries, { ...options, random: () => 0.5 }),
  )
  expect(middle).toEqual([100, 200, 400, 800, 1_000, 1_000, 1_000])
  expect(backoffMs(0, { ...options, random: () => 0 })).toBe(75)
  expect(backoffMs(1, { ...options, random: () => 0.999999 })).toBe(125)
})
