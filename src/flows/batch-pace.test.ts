import { expect, test } from 'vitest'
import { createBatchPace } from './batch-pace.ts'

const start = () => {
  let now = 1_000
  const pace = createBatchPace(2, () => now)
  return { pace, pass: (ms: number) => (now += ms) }
}

test('a lone request starts at once, also after another', () => {
  const { pace } = start()
  expect(pace.delayMs(1, 0)).toBe(0)
  pace.ended({ size: 1, tookMs: 20, waiting: 0 })
  expect(pace.delayMs(1, 0)).toBe(0)
})

test('nothing waiting, nothing to start', () => {
  expect(start().pace.delayMs(0, 0)).toBeUndefined()
})

test('beside a batch in flight another starts when that one takes long, if there is a place', () => {
  const { pace, pass } = start()
  pace.started()
  pass(10)
  expect(pace.delayMs(200, 1)).toBe(15)
  pass(20)
  expect(pace.delayMs(1, 1)).toBe(0)
  expect(pace.delayMs(200, 2)).toBeUndefined()
})

test('those who were just answered are waited for, for as long as their batch took', () => {
  const { pace, pass } = start()
  pace.ended({ size: 16, tookMs: 2, waiting: 10 })
  expect(pace.delayMs(10, 0)).toBe(2)
  pass(1)
  expect(pace.delayMs(25, 0)).toBe(1)
  expect(pace.delayMs(26, 0)).toBe(0)
  pass(1)
  expect(pace.delayMs(11, 0)).toBe(0)
})

test('after a slow batch the wait stays short', () => {
  const { pace } = start()
  pace.ended({ size: 200, tookMs: 4_000, waiting: 0 })
  expect(pace.delayMs(1, 0)).toBe(10)
})
