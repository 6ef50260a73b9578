import { expect, test } from 'vitest'
import { daysBetween, hoursBetween, isEmpty, rangeStart, successOf } from './outcomes.ts'

test('every hour and every day of a range is there, also where clocks change', () => {
  const from = new Date('2026-03-28T22:30:00Z')
  const to = new Date('2026-03-30T22:30:00Z')
  expect(hoursBetween(from, new Date('2026-03-29T00:00:00Z'))).toEqual([
    '2026-03-28T22:00:00Z',
    '2026-03-28T23:00:00Z',
  ])
  // Berlin is ahead by one hour, then two.
  expect(daysBetween(from, to, 'Europe/Berlin')).toEqual([
    '2026-03-28',
    '2026-03-29',
    '2026-03-30',
    '2026-03-31',
  ])
  expect(daysBetween(from, to, 'America/Sao_Paulo')).toEqual(['2026-03-28', '2026-03-29', '2026-03-30'])
})

test('a rate needs outcomes; what is on its way or refused is none', () => {
  expect(successOf({ counts: { queued: 5, sent: 3, blocked: 2 } })).toBeUndefined()
  expect(successOf({ counts: { delivered: 3, read: 2, failed: 1 } })).toBe(0.75)
  expect(isEmpty({ counts: {} })).toBe(true)
  expect(isEmpty({ counts: { blocked: 1 } })).toBe(false)
})

test('a range of days begins with a day of the zone, one of 24 hours with an hour', () => {
  const now = new Date('2026-11-15T01:20:00Z')
  // Still the 14th in São Paulo; New York has left summer time within the range.
  expect(rangeStart(7, now, 'America/Sao_Paulo')).toEqual(new Date('2026-11-08T03:00:00Z'))
  expect(rangeStart(30, now, 'America/New_York')).toEqual(new Date('2026-10-16T04:00:00Z'))
  expect(rangeStart(7, now, 'UTC')).toEqual(new Date('2026-11-09T00:00:00Z'))
  expect(rangeStart(1, now, 'UTC')).toEqual(new Date('2026-11-14T02:00:00Z'))
})
