import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { lastLatencyBucket, latencyBucket, latencyBucketEndMs, latencyPercentileMs } from './latency.ts'

test('a time lies in its bucket, above the end of the one before', () => {
  fc.assert(
    fc.property(fc.double({ min: 0, max: 200_000_000, noNaN: true }), (ms) => {
      const bucket = latencyBucket(ms)
      expect(ms).toBeLessThanOrEqual(latencyBucketEndMs(bucket))
      if (bucket > 0) expect(ms).toBeGreaterThan(latencyBucketEndMs(bucket - 1) * 0.999_999)
    }),
  )
})

test('a day is within the buckets, two days are in the last, and a clock behind ours counts as nothing', () => {
  expect(latencyBucket(86_400_000)).toBeLessThan(lastLatencyBucket)
  expect(latencyBucket(2 * 86_400_000)).toBe(lastLatencyBucket)
  expect(latencyBucket(-5_000)).toBe(0)
})

test('a percentile is the end of the bucket that holds it', () => {
  const counts = new Map([
    [latencyBucket(100), 90],
    [latencyBucket(5_000), 10],
  ])
  const median = latencyPercentileMs(counts, 0.5)!
  expect(median).toBeGreaterThanOrEqual(100)
  expect(median).toBeLessThan(130)
  expect(latencyPercentileMs(counts, 0.99)).toBeGreaterThanOrEqual(5_000)
  expect(latencyPercentileMs(new Map(), 0.5)).toBeUndefined()
})
