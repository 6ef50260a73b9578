/** The fixed periods of caps: hours, days, weeks (from Monday) and months of a time zone's own calendar. */
import type { Period } from '../domain/rule.ts'
import { changeBetween, dayMs, dayOf, instantOf, localAt, offsetAt, weekdayOf } from './local-time.ts'

export type PeriodBounds = { startAt: Date; endAt: Date }

const hourMs = 3_600_000

/** The period that `at` lies in: `startAt` is part of it, `endAt` is the next one's start. */
export function periodAt(period: Period, timeZone: string, at: Date): PeriodBounds {
  const [startAt, endAt] =
    period === 'hour' ? hourAt(timeZone, at.getTime()) : datesAt(period, timeZone, at.getTime())
  return { startAt: new Date(startAt), endAt: new Date(endAt) }
}

/**
 * When clocks are put back, the repeated hour is an hour of its own; a change in the middle of an hour (Lord Howe
 * changes by thirty minutes) ends one period and starts the next.
 */
function hourAt(timeZone: string, at: number): [number, number] {
  const pastHour = (((at + offsetAt(timeZone, at)) % hourMs) + hourMs) % hourMs
  const start = at - pastHour
  const end = start + hourMs
  const changed = changeBetween(timeZone, start, at)
  const changes = changeBetween(timeZone, at, end)
  return [changed ?? start, changes ?? end]
}

/**
 * A day starts when its date is first reached, so days never overlap: where a clock is put back over midnight,
 * the hour that is shown again under the old date belongs to the new day.
 */
function datesAt(period: 'day' | 'week' | 'month', timeZone: string, at: number): [number, number] {
  let day = dayOf(localAt(timeZone, at))
  if (instantOf(timeZone, day + dayMs) <= at) day += dayMs
  const [first, next] = datesOf(period, day)
  return [instantOf(timeZone, first), instantOf(timeZone, next)]
}

function datesOf(period: 'day' | 'week' | 'month', day: number): [number, number] {
  switch (period) {
    case 'day':
      return [day, day + dayMs]
    case 'week': {
      const monday = day - weekdayOf(day) * dayMs
      return [monday, monday + 7 * dayMs]
    }
    case 'month': {
      const date = new Date(day)
      const first = Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1)
      return [first, Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1)]
    }
  }
}
