/** Messages leave on certain weekdays, at certain hours of a time zone, and not on holidays. */
import type { Check, SettingsOf } from './facts.ts'
import {
  changeBetween,
  dateOf,
  dayMs,
  dayOf,
  instantOf,
  instantsOf,
  localAt,
  minuteMs,
  minuteOfDay,
  weekdayOf,
} from './local-time.ts'

type Hours = SettingsOf<'allowed_hours'>

export const checkAllowedHours: Check<'allowed_hours'> = (settings, facts, rule) => {
  const hours = settings.timeZone === '' ? { ...settings, timeZone: facts.timeZone } : settings
  const now = facts.now.getTime()
  if (isOpen(hours, now)) return undefined
  const next = nextOpening(hours, now)
  const local = localAt(hours.timeZone, now)
  return {
    reason: `outside the hours of the rule "${rule.name}"`,
    matched: `${new Date(local).toISOString().slice(0, 16).replace('T', ' ')} in ${hours.timeZone}`,
    nextAllowedAt: next === undefined ? undefined : new Date(next),
  }
}

function isOpen(hours: Hours, at: number): boolean {
  const local = localAt(hours.timeZone, at)
  const minute = minuteOfDay(local)
  return hoursOfDay(hours, dayOf(local)).some(({ from, to }) => from <= minute && minute < to)
}

const hoursOfDay = (hours: Hours, day: number) =>
  hours.holidays.length > 0 && hours.holidays.includes(dateOf(day)) ? [] : hours.weekdays[weekdayOf(day)]!

/** A year and a day finds every yearly pattern. */
const horizonDays = 366

/**
 * The first open instant after a closed one. Hours open when the clock shows their first minute, when a day starts
 * with a change of the clock, or when a change lands in the middle of them; these are the only candidates.
 */
function nextOpening(hours: Hours, closedAt: number): number | undefined {
  const firstDay = dayOf(localAt(hours.timeZone, closedAt))
  let found: number | undefined
  for (let ahead = 0; ahead <= horizonDays; ahead++) {
    const opening = openingsOn(hours, firstDay + ahead * dayMs)
      .filter((at) => at > closedAt && isOpen(hours, at))
      .reduce<number | undefined>((first, at) => (first === undefined || at < first ? at : first), undefined)
    // Where a clock is put back over midnight two dates overlap, so the day after has a say.
    if (found !== undefined) return opening === undefined ? found : Math.min(found, opening)
    found = opening
  }
  return found
}

function openingsOn(hours: Hours, day: number): number[] {
  const spans = hoursOfDay(hours, day)
  if (spans.length === 0) return []
  const start = instantOf(hours.timeZone, day)
  const change = changeBetween(hours.timeZone, start - minuteMs, start + dayMs + 3 * 3_600_000)
  return [
    ...spans.flatMap(({ from }) => instantsOf(hours.timeZone, day + from * minuteMs)),
    ...(change === undefined ? [] : [change]),
  ]
}
