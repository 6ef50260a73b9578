/** Counts of a report: what they add up to, and the buckets of time that a chart needs. */
import type { AnswerOf } from './api.ts'
import type { MessageState } from './components/state-badge.tsx'

export type Report = AnswerOf<'GET /reports'>
export type ReportRow = Report['rows'][number]

export const countOf = ({ counts }: Pick<ReportRow, 'counts'>, ...states: MessageState[]): number =>
  states.reduce((sum, state) => sum + Number(counts[state] ?? 0), 0)

/** Delivered out of all with an outcome; undefined while there is none. */
export function successOf(row: Pick<ReportRow, 'counts'>): number | undefined {
  const delivered = countOf(row, 'delivered')
  const all = delivered + countOf(row, 'failed', 'expired', 'unknown')
  return all > 0 ? delivered / all : undefined
}

/** Ways a message can end, from good to bad: what charts stack. Who read it counts as delivered as well. */
export const endings = [
  'delivered',
  'failed',
  'expired',
  'unknown',
  'blocked',
  'not_sent',
] as const satisfies readonly MessageState[]

export const isEmpty = (row: Pick<ReportRow, 'counts'>): boolean =>
  Object.values(row.counts).every((count) => Number(count) === 0)

const hourMs = 3_600_000
const dayMs = 24 * hourMs

/** Hours of a range as the report names them. */
export function hoursBetween(from: Date, to: Date): string[] {
  const hours: string[] = []
  for (let at = Math.floor(from.getTime() / hourMs) * hourMs; at < to.getTime(); at += hourMs)
    hours.push(new Date(at).toISOString().replace(/\.\d+Z$/, 'Z'))
  return hours
}

/** Days of a range in a time zone, as the report names them. */
export function daysBetween(from: Date, to: Date, timeZone: string): string[] {
  const format = new Intl.DateTimeFormat('en-CA', { timeZone, dateStyle: 'short' })
  const last = format.format(new Date(to.getTime() - 1))
  const days: string[] = []
  // Days are counted by name: where clocks change, not every one has 24 hours.
  for (let day = format.format(from); day <= last; day = dayAfter(day)) days.push(day)
  return days
}

const dayAfter = (day: string): string =>
  new Date(Date.parse(`${day}T12:00:00Z`) + dayMs).toISOString().slice(0, 10)

/** The start of so many days, today included, in a time zone; of 24 hours, the hour that began then. */
export function rangeStart(days: number, now: Date, timeZone: string): Date {
  if (days <= 1) return new Date(Math.floor((now.getTime() - 23 * hourMs) / hourMs) * hourMs)
  const today = new Intl.DateTimeFormat('en-CA', { timeZone, dateStyle: 'short' }).format(now)
  const first = Date.parse(`${today}T00:00:00Z`) - (days - 1) * dayMs
  // Twice, since the offset of the guess may be that of the other side of a change of the clock.
  const guess = first - offsetAt(first, timeZone)
  return new Date(first - offsetAt(guess, timeZone))
}

/** How far the clock of a zone is ahead of UTC at an instant. */
function offsetAt(at: number, timeZone: string): number {
  const local = new Intl.DateTimeFormat('sv-SE', {
    timeZone,
    dateStyle: 'short',
    timeStyle: 'medium',
  }).format(at)
  return Date.parse(`${local.replace(' ', 'T')}Z`) - Math.floor(at / 1000) * 1000
}

const dayLabel = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' })

/** A day as reports name it, short enough for an axis. */
export const formatDay = (day: string): string => dayLabel.format(new Date(`${day}T12:00:00Z`))
