import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  changeBetween,
  instantOf,
  instantsOf,
  isTimeZone,
  localAt,
  minuteMs,
  offsetAt,
} from './local-time.ts'

const at = (iso: string) => Date.parse(iso)
const hour = 3_600_000

describe('local time', () => {
  test.each([
    ['America/Sao_Paulo', '2026-07-01T12:00:00Z', -3],
    ['America/New_York', '2026-01-01T12:00:00Z', -5],
    ['America/New_York', '2026-07-01T12:00:00Z', -4],
    ['Asia/Kathmandu', '2026-07-01T12:00:00Z', 5.75],
    ['Pacific/Kiritimati', '2026-07-01T12:00:00Z', 14],
    ['UTC', '1969-12-31T23:59:30Z', 0],
  ])('%s at %s is %d hours from UTC', (zone, iso, hours) => {
    expect(offsetAt(zone, at(iso)) / hour).toBe(hours)
  })

  test('the moment of a change is found to the minute', () => {
    const from = at('2026-03-08T00:00:00Z')
    expect(changeBetween('America/New_York', from, from + 24 * hour)).toBe(at('2026-03-08T07:00:00Z'))
    expect(changeBetween('America/New_York', from + 24 * hour, from + 48 * hour)).toBeUndefined()
  })

  test('a time that a change leaves out is reached at the change, and shown by no instant', () => {
    const local = at('2026-03-08T02:30:00Z')
    expect(instantOf('America/New_York', local)).toBe(at('2026-03-08T07:00:00Z'))
    expect(instantsOf('America/New_York', local)).toEqual([])
  })

  test('a time that a change repeats is shown by two instants, the first of which reaches it', () => {
    const local = at('2026-11-01T01:30:00Z')
    expect(instantsOf('America/New_York', local)).toEqual([
      at('2026-11-01T05:30:00Z'),
      at('2026-11-01T06:30:00Z'),
    ])
    expect(instantOf('America/New_York', local)).toBe(at('2026-11-01T05:30:00Z'))
  })

  test('a day without midnight starts when the clock jumps over it', () => {
    // Brazil put its clocks forward at midnight: 4 November 2018 started at 01:00.
    expect(instantOf('America/Sao_Paulo', at('2018-11-04T00:00:00Z'))).toBe(at('2018-11-04T03:00:00Z'))
  })

  test('every instant is among those of its own local time, and is not later than its first', () => {
    const zones = [
      'America/New_York',
      'Europe/Lisbon',
      'Australia/Lord_Howe',
      'America/Sao_Paulo',
      'Asia/Gaza',
    ]
    fc.assert(
      fc.property(
        fc.constantFrom(...zones),
        fc.integer({
          min: at('2015-01-01T00:00:00Z') / minuteMs,
          max: at('2035-01-01T00:00:00Z') / minuteMs,
        }),
        (zone, minute) => {
          const instant = minute * minuteMs
          const local = localAt(zone, instant)
          expect(instantsOf(zone, local)).toContain(instant)
          expect(instantOf(zone, local)).toBeLessThanOrEqual(instant)
        },
      ),
      { numRuns: 300 },
    )
  })

  test('names of zones are known or not', () => {
    expect(isTimeZone('America/Sao_Paulo')).toBe(true)
    expect(isTimeZone('America/Atlantis')).toBe(false)
    expect(isTimeZone('')).toBe(false)
  })
})
