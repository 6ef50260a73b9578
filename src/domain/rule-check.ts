/** What must hold of a rule before it is saved: a rule that cannot be judged would stop every message. Pure. */
import { checkTimeZone, type FieldProblem } from './saved.ts'
import type { HoursOfDay, RuleKind, RuleSettings } from './rule.ts'

/** Marks of sent contents are kept this long: no rule can ask for more. */
export const maxDuplicateMinutes = 30 * 24 * 60
const maxCap = 1_000_000
const maxHolidays = 1000
const maxSpansPerDay = 24

const problem = (field: string, message: string): FieldProblem => ({ field, message })

/** Kinds that know when they will say yes; the others cannot hold a message back, only refuse it. */
const deferringKinds: readonly RuleKind[] = [
  'restriction_list',
  'allowed_hours',
  'frequency_cap',
  'duplicate',
]

export function checkRule(rule: {
  action?: 'block' | 'defer'
  segmentIds?: readonly string[]
  settings: Omit<RuleSettings, 'listName'>
}): FieldProblem[] {
  const { action, segmentIds } = rule
  const settings = rule.settings as RuleSettings
  const problems = checkSettings(settings)
  if (action === 'defer' && !deferringKinds.includes(settings.kind))
    problems.push(problem('action', 'must be block: this kind of rule has no moment to wait for'))
  if (settings.kind === 'segment_channel' && (segmentIds ?? []).length === 0)
    problems.push(problem('segmentIds', 'must name the segments that are not allowed'))
  return problems
}

function checkSettings(settings: RuleSettings): FieldProblem[] {
  switch (settings.kind) {
    case 'allowed_hours':
      return checkHours(settings)
    case 'frequency_cap':
      return [
        ...checkWhole('limit', settings.limit, maxCap),
        ...(['hour', 'day', 'week', 'month'].includes(settings.period)
          ? []
          : [problem('period', 'must be hour, day, week or month')]),
      ]
    case 'duplicate':
      return checkWhole('withinMinutes', settings.withinMinutes, maxDuplicateMinutes)
    case 'restriction_list':
    case 'opt_out':
    case 'segment_channel':
    case 'template_state':
      return []
  }
}

const checkWhole = (field: string, value: number, max: number): FieldProblem[] =>
  Number.isInteger(value) && value >= 1 && value <= max
    ? []
    : [problem(field, `must be a whole number from 1 to ${max}`)]

function checkHours({
  timeZone,
  weekdays,
  holidays,
}: Extract<RuleSettings, { kind: 'allowed_hours' }>): FieldProblem[] {
  const problems = timeZone === '' ? [] : checkTimeZone('timeZone', timeZone)
  if (weekdays.length !== 7) problems.push(problem('weekdays', 'must have seven days, Monday first'))
  for (const [day, spans] of weekdays.entries()) {
    if (spans.length > maxSpansPerDay)
      problems.push(problem(`weekdays[${day}]`, `must have at most ${maxSpansPerDay} spans of hours`))
    for (const [index, span] of spans.entries())
      if (!isSpan(span))
        problems.push(
          problem(
            `weekdays[${day}][${index}]`,
            'must go from a minute of the day to a later one, 1440 at most',
          ),
        )
  }
  if (holidays.length > maxHolidays)
    problems.push(problem('holidays', `must have at most ${maxHolidays} dates`))
  for (const [index, date] of holidays.entries())
    if (!isDate(date)) problems.push(problem(`holidays[${index}]`, 'must be a date like 2026-12-25'))
  return problems
}

const isSpan = ({ from, to }: HoursOfDay): boolean =>
  Number.isInteger(from) && Number.isInteger(to) && from >= 0 && from < to && to <= 1440

function isDate(text: string): boolean {
  const at = new Date(`${text}T00:00:00Z`)
  return /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(at.getTime()) && at.toISOString().startsWith(text)
}
