import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Period } from '../domain/rule.ts'
import { dateOf, localAt, minuteMs, minuteOfDay, offsetAt, weekdayOf } from './local-time.ts'
import { periodAt } from './periods.ts'

const bounds = (period: Period, zone: string, iso: string) => {
  const { startAt, endAt } = periodAt(period, zone, new Date(iso))
  return [startAt.toISOString(), endAt.toISOString()]
}

describe('fixed periods', () => {
  test.each<[Period, string, string, string, string]>([
    [
      'hour',
      'America/Sao_Paulo',
      '2026-05-01T12:34:56.789Z',
      '2026-05-01T12:00:00.000Z',
      '2026-05-01T13:00:00.000Z',
    ],
    [
      'hour',
      'Asia/Kathmandu',
      '2026-05-01T12:34:00Z',
      '2026-05-01T12:15:00.000Z',
      '2026-05-01T13:15:00.000Z',
    ],
    [
      'day',
      'America/Sao_Paulo',
      '2026-05-02T01:00:00Z',
      '2026-05-01T03:00:00.000Z',
      '2026-05-02T03:00:00.000Z',
    ],
    ['week', 'UTC', '2026-11-15T02:00:00Z', '2026-11-09T00:00:00.000Z', '2026-11-16T00:00:00.000Z'],
    [
      'month',
      'America/Sao_Paulo',
      '2026-01-01T02:59:59Z',
      '2025-12-01T03:00:00.000Z',
      '2026-01-01T03:00:00.000Z',
    ],
    // Days of 23 and 25 hours.
    [
      'day',
      'America/New_York',
      '2026-03-08T12:00:00Z',
      '2026-03-08T05:00:00.000Z',
      '2026-03-09T04:00:00.000Z',
    ],
    [
      'day',
      'America/New_York',
      '2026-11-01T12:00:00Z',
      '2026-11-01T04:00:00.000Z',
      '2026-11-02T05:00:00.000Z',
    ],
    // The hour from one to two happens twice: two periods.
    [
      'hour',
      'America/New_York',
      '2026-11-01T05:30:00Z',
      '2026-11-01T05:00:00.000Z',
      '2026-11-01T06:00:00.000Z',
    ],
    [
      'hour',
      'America/New_York',
      '2026-11-01T06:30:00Z',
      '2026-11-01T06:00:00.000Z',
      '2026-11-01T07:00:00.000Z',
    ],
    // Lord Howe goes from 02:00 to 01:30 on 5 April 2026 at 15:00 UTC of the day before.
    [
      'hour',
      'Australia/Lord_Howe',
      '2026-04-04T15:10:00Z',
      '2026-04-04T15:00:00.000Z',
      '2026-04-04T15:30:00.000Z',
    ],
  ])('%s in %s around %s', (period, zone, iso, start, end) => {
    expect(bounds(period, zone, iso)).toEqual([start, end])
  })

  test('where a clock is put back over midnight, the date that comes again belongs to the new day', () => {
    // Newfoundland, 7 November 2010: one minute after midnight it was 23:01 of the sixth again.
    const start = '2010-11-07T02:30:00.000Z'
    for (const at of [start, '2010-11-07T02:45:00Z', '2010-11-07T03:45:00Z'])
      expect(bounds('day', 'America/St_Johns', at)).toEqual([start, '2010-11-08T03:30:00.000Z'])
    expect(bounds('day', 'America/St_Johns', '2010-11-07T02:29:00Z')[1]).toBe(start)
  })

  const zones = [
    'America/New_York',
    'Australia/Lord_Howe',
    'America/Sao_Paulo',
    'Africa/Casablanca',
    'America/St_Johns',
  ]
  const minutes = fc.integer({ min: Date.UTC(2008, 0, 1) / minuteMs, max: Date.UTC(2032, 0, 1) / minuteMs })

  test('periods follow each other without gap or overlap, and every instant lies in its own', () => {
    fc.assert(
      fc.property(
        fc.constantFrom<Period>('hour', 'day', 'week', 'month'),
        fc.constantFrom(...zones),
        minutes,
        (period, zone, minute) => {
          const at = new Date(minute * minuteMs + 12_345)
          const { startAt, endAt } = periodAt(period, zone, at)
          expect(startAt <= at && at < endAt).toBe(true)
          expect(periodAt(period, zone, startAt)).toEqual({ startAt, endAt })
          expect(periodAt(period, zone, new Date(endAt.getTime() - 1))).toEqual({ startAt, endAt })
          expect(periodAt(period, zone, endAt).startAt).toEqual(endAt)
        },
      ),
      { numRuns: 400 },
    )
  })

  test('every minute of a week with a change agrees with a slow count of hours and dates', () => {
    for (const [zone, from] of [
      ['America/New_York', Date.UTC(2026, 2, 5)],
      ['America/New_York', Date.UTC(2026, 9, 29)],
      ['America/Sao_Paulo', Date.UTC(2018, 10, 1)],
      ['America/Sao_Paulo', Date.UTC(2018, 1, 15)],
      ['Australia/Lord_Howe', Date.UTC(2026, 3, 2)],
    ] as const) {
      // Slow reference: walk the minutes; a new hour starts where hour or offset differ, a new day at a new date.
      let hourLabel = ''
      let date = ''
      let hourStart = 0
      let dayStart = 0
      for (let at = from; at < from + 7 * 86_400_000; at += minuteMs) {
        const local = localAt(zone, at)
        const label = `${dateOf(local)} ${Math.floor(minuteOfDay(local) / 60)} ${offsetAt(zone, at)}`
        if (label !== hourLabel) [hourLabel, hourStart] = [label, at]
        if (dateOf(local) > date) [date, dayStart] = [dateOf(local), at]
        if (at < from + 86_400_000) continue
        if (periodAt('hour', zone, new Date(at)).startAt.getTime() !== hourStart)
          expect.fail(`hour in ${zone} at ${new Date(at).toISOString()}`)
        if (periodAt('day', zone, new Date(at)).startAt.getTime() !== dayStart)
          expect.fail(`day in ${zone} at ${new Date(at).toISOString()}`)
      }
    }
  }, 60_000)

  test('weeks start on Monday, months on the first', () => {
    fc.assert(
      fc.property(fc.constantFrom(...zones.slice(0, 4)), minutes, (zone, minute) => {
        const at = new Date(minute * minuteMs)
        expect(weekdayOf(localAt(zone, periodAt('week', zone, at).startAt.getTime()))).toBe(0)
        expect(dateOf(localAt(zone, periodAt('month', zone, at).startAt.getTime())).slice(8)).toBe('01')
      }),
      { numRuns: 100 },
    )
  })
})
