import { expect, test } from 'vitest'
import { growth, median, percentile, ratios, spread } from './statistics.ts'

test('the median is the middle, or between the two middle ones, whatever their order', () => {
  expect(median([3, 1, 2])).toBe(2)
  expect(median([4, 1, 3, 2])).toBe(2.5)
  expect(() => median([])).toThrow(/nothing/)
})

test('the spread is from the least to the most', () => {
  expect(spread([0.3, 0.1, 0.2])).toEqual({ min: 0.1, max: 0.3 })
})

test('a percentile is a value that occurred', () => {
  const hundred = Array.from({ length: 100 }, (_, index) => index + 1)
  expect(percentile(hundred, 0.99)).toBe(99)
  expect(percentile(hundred, 0.5)).toBe(50)
  expect(percentile([7], 0.99)).toBe(7)
  expect(percentile([], 0.99)).toBe(0)
})

test('ratios are of pairs, not of medians', () => {
  expect(ratios([2, 9], [1, 3])).toEqual([2, 3])
  expect(() => ratios([1], [1, 2])).toThrow(/paired/)
})

test('growth compares the last third with the second and leaves the warm-up out', () => {
  expect(growth([1, 5, 100, 100, 100, 100])).toBe(1)
  expect(growth([0, 0, 0, 10, 10, 10, 15, 15, 15])).toBe(1.5)
  expect(() => growth([1, 2])).toThrow(/thirds/)
})
