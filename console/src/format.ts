/** Numbers, instants, sizes and durations as people read them, in the browser's language and zone. */

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })
const exact = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'long' })
const short = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
})
const numbers = new Intl.NumberFormat('en')
const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })
const percents = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 1 })

export const formatExact = (at: Date): string => exact.format(at)
export const formatShort = (at: Date): string => short.format(at)
export const formatNumber = (value: number): string => numbers.format(value)
export const formatCompact = (value: number): string => compact.format(value)
export const formatPercent = (share: number): string => percents.format(share)

const steps = [
  { unit: 'second', ms: 1_000, below: 60_000 },
  { unit: 'minute', ms: 60_000, below: 3_600_000 },
  { unit: 'hour', ms: 3_600_000, below: 86_400_000 },
  { unit: 'day', ms: 86_400_000, below: 30 * 86_400_000 },
  { unit: 'month', ms: 30 * 86_400_000, below: 365 * 86_400_000 },
] as const

export function formatRelative(at: Date, now: number): string {
  const ms = at.getTime() - now
  const step = steps.find(({ below }) => Math.abs(ms) < below) ?? {
    unit: 'year' as const,
    ms: 365 * 86_400_000,
  }
  return relative.format(Math.trunc(ms / step.ms), step.unit)
}

/** 850 ms, 4.2 s, 3 min 5 s, 2 h 10 min. */
export function formatDuration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`
  if (ms < 59_950) return `${(ms / 1_000).toFixed(1)} s`
  const seconds = Math.round(ms / 1_000)
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

export function formatBytes(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`
  const units = ['KiB', 'MiB', 'GiB']
  let value = bytes / 1024
  let unit = 0
  for (; value >= 1024 && unit < units.length - 1; unit += 1) value /= 1024
  return `${value.toFixed(value < 10 ? 1 : 0)} ${units[unit]}`
}

/** Between `<input type="datetime-local">`, which knows no zone, and instants of the API. */
export function toLocalInput(instant: string): string {
  const at = new Date(instant)
  if (Number.isNaN(at.getTime())) return ''
  const shifted = new Date(at.getTime() - at.getTimezoneOffset() * 60_000)
  return shifted.toISOString().slice(0, 16)
}
export function fromLocalInput(local: string): string {
  const at = new Date(local)
  return local === '' || Number.isNaN(at.getTime()) ? '' : at.toISOString()
}
