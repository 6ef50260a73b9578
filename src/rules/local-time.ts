/**
 * Wall clocks of time zones, by way of Intl (Node 24 has no Temporal). "Local" numbers are milliseconds since 1970
 * as the zone's own clock shows them, so that days and minutes of the day are plain arithmetic.
 */
export const minuteMs = 60_000
export const dayMs = 86_400_000
const minutesPerDay = 1440

const formats = new Map<string, Intl.DateTimeFormat>()

function formatOf(timeZone: string): Intl.DateTimeFormat {
  let format = formats.get(timeZone)
  if (format === undefined) {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
    // Names are checked when a rule or company is saved; the bound is for spellings that differ in case only.
    if (formats.size >= 1000) formats.clear()
    formats.set(timeZone, format)
  }
  return format
}

export function isTimeZone(name: string): boolean {
  try {
    formatOf(name)
    return true
  } catch {
    return false
  }
}

/** By way of Intl, which costs 3 µs. */
function shownOffset(timeZone: string, at: number): number {
  const shown = formatOf(timeZone).format(at).match(/\d+/g)
  const [month, day, year, hours, minutes, seconds] = shown?.map(Number) ?? []
  if (seconds === undefined) throw new Error(`Intl shows the time of ${timeZone} in a form not known here.`)
  return Date.UTC(year!, month! - 1, day, hours, minutes, seconds) - at
}

// A day (of UTC) that starts and ends with the same offset has it throughout, so all but two days of the year are
// answered from here in 0.05 µs. NaN marks a day with a change.
const offsetsByDay = new Map<string, Map<number, number>>()
const maxDaysKept = 2000

/** What the zone's clock is ahead of UTC at that instant. */
export function offsetAt(timeZone: string, at: number): number {
  let days = offsetsByDay.get(timeZone)
  if (days === undefined) {
    if (offsetsByDay.size >= 1000) offsetsByDay.clear()
    offsetsByDay.set(timeZone, (days = new Map()))
  }
  const day = Math.floor(at / dayMs)
  let offsetMs = days.get(day)
  if (offsetMs === undefined) {
    offsetMs = shownOffset(timeZone, day * dayMs)
    if (offsetMs !== shownOffset(timeZone, (day + 1) * dayMs)) offsetMs = NaN
    if (days.size >= maxDaysKept) days.clear()
    days.set(day, offsetMs)
  }
  return Number.isNaN(offsetMs) ? shownOffset(timeZone, Math.floor(at / minuteMs) * minuteMs) : offsetMs
}

export const localAt = (timeZone: string, at: number): number => at + offsetAt(timeZone, at)

/** Local midnight of the local day. */
export const dayOf = (local: number): number => Math.floor(local / dayMs) * dayMs

export const minuteOfDay = (local: number): number => Math.floor(local / minuteMs) % minutesPerDay

/** Monday is 0. 1 January 1970 was a Thursday. */
export const weekdayOf = (local: number): number => (Math.floor(local / dayMs) + 3) % 7

/** `2026-12-25` */
export const dateOf = (local: number): string => new Date(local).toISOString().slice(0, 10)

/** The instant in (`from`, `to`] at which the zone's offset changes, when it does; clocks change on full minutes. */
export function changeBetween(timeZone: string, from: number, to: number): number | undefined {
  const before = offsetAt(timeZone, from)
  if (before === offsetAt(timeZone, to)) return undefined
  let low = Math.floor(from / minuteMs)
  let high = Math.floor(to / minuteMs)
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if (offsetAt(timeZone, middle * minuteMs) === before) low = middle
    else high = middle
  }
  return high * minuteMs
}

// Offsets lie between -12 and +14 hours, so what happens at a local time happens within these bounds.
const earliestMs = 15 * 3_600_000
const latestMs = 13 * 3_600_000

/**
 * The first instant at which the zone's clock shows `local` or later. Where the clock is put forward over that
 * time, this is the moment of the change; where it is put back over it, the first of the two.
 */
export function instantOf(timeZone: string, local: number): number {
  const from = local - earliestMs
  const to = local + latestMs
  const beforeChange = local - offsetAt(timeZone, from)
  const change = changeBetween(timeZone, from, to)
  if (change === undefined || beforeChange < change) return beforeChange
  return Math.max(change, local - offsetAt(timeZone, to))
}

/** Every instant at which the zone's clock shows exactly `local`: none, one or two. */
export function instantsOf(timeZone: string, local: number): number[] {
  const candidates = new Set([
    local - offsetAt(timeZone, local - earliestMs),
    local - offsetAt(timeZone, local + latestMs),
  ])
  return [...candidates].filter((at) => localAt(timeZone, at) === local).toSorted((a, b) => a - b)
}
