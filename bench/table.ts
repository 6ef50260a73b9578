/** The result as a table. A row that was not measured says so and is never shown, or counted, as passed. */
import { median, spread } from './statistics.ts'
import type { Target } from './targets.ts'

export type Result = {
  id: string
  /** One per pair (or per start, or per sample); what is judged is their median, or their peak. */
  values: number[]
  /** Memory is judged by its peak: an average hides what the machine must have. */
  judgedBy?: 'median' | 'peak'
  /** Why the gate is missed whatever the value says, in words. */
  fault?: string
  /** Why it says nothing about gate and goal: measured on another scale than the row's. */
  unjudged?: string
  /** The numbers behind it, a line each. */
  details: string[]
}

export type Verdict = 'goal' | 'gate' | 'missed' | 'no gate' | 'not judged' | 'not measured'

export const valueOf = ({ values, judgedBy }: Result): number =>
  judgedBy === 'peak' ? Math.max(...values) : median(values)

export function judge(target: Target, result: Result | undefined): Verdict {
  if (result === undefined) return 'not measured'
  if (result.unjudged !== undefined) return 'not judged'
  const value = valueOf(result)
  const meets = (limit: number | undefined) =>
    limit !== undefined && (target.better === 'more' ? value >= limit : value <= limit)
  if (target.gate !== undefined && (result.fault !== undefined || !meets(target.gate))) return 'missed'
  if (meets(target.goal) && result.fault === undefined) return 'goal'
  return target.gate === undefined ? 'no gate' : 'gate'
}

const marks: Record<Verdict, string> = {
  goal: 'GOAL',
  gate: 'ok',
  missed: 'FAIL',
  'no gate': '-',
  'not judged': '~',
  'not measured': '',
}

const shown = (value: number | undefined, unit?: string): string => {
  if (value === undefined) return '–'
  const text = unit === 'MB' ? value.toFixed(0) : value.toFixed(2)
  return unit === undefined ? text : `${text} ${unit}`
}

export type Table = {
  targets: readonly Target[]
  results: ReadonlyMap<string, Result>
  /** What stands in the row of a target that has no result. */
  reasonOf(target: Target): string
}

export function tableLines({ targets, results, reasonOf }: Table): string[] {
  const rows = targets.map((target) => {
    const result = results.get(target.id)
    const limit = (value: number | undefined) =>
      value === undefined ? '–' : `${target.better === 'more' ? '≥' : '≤'} ${shown(value, target.unit)}`
    const cells = [marks[judge(target, result)], target.what]
    if (result === undefined) cells.push(reasonOf(target), '')
    else {
      const { min, max } = spread(result.values)
      cells.push(shown(valueOf(result), target.unit), `${shown(min)}–${shown(max)}`)
    }
    return { cells: [...cells, limit(target.gate), limit(target.goal)], result }
  })
  const header = ['', 'what', 'value', 'spread', 'gate', 'goal']
  const widths = header.map((name, at) =>
    Math.max(name.length, ...rows.map(({ cells }) => cells[at]!.length)),
  )
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, at) => cell.padEnd(widths[at]!))
      .join('  ')
      .trimEnd()
  const indent = ' '.repeat(widths[0]! + 4)
  return [
    line(header),
    line(widths.map((width) => '-'.repeat(width))),
    ...rows.flatMap(({ cells, result }) => [
      line(cells),
      ...[result?.fault, result?.unjudged].flatMap((text) =>
        text === undefined ? [] : [`${indent}${text}`],
      ),
      ...(result?.details ?? []).map((detail) => `${indent}${detail}`),
    ]),
  ]
}

/** The same rows for docs/performance.md. */
export function markdownLines({ targets, results, reasonOf }: Table): string[] {
  const rows = targets.map((target) => {
    const result = results.get(target.id)
    const range = result && spread(result.values)
    const value = result
      ? `${shown(valueOf(result), target.unit)} (${shown(range?.min)}–${shown(range?.max)})`
      : reasonOf(target)
    return `| ${target.what} | ${value} | ${shown(target.gate, target.unit)} | ${shown(target.goal, target.unit)} | ${marks[judge(target, result)]} |`
  })
  return ['| what | median (spread) | gate | goal | |', '|---|---|---|---|---|', ...rows]
}
