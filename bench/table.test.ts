import { expect, test } from 'vitest'
import { judge, markdownLines, tableLines, type Result } from './table.ts'
import { targets, type Target } from './targets.ts'

const more: Target = { id: 'more', measurement: 'accept', what: 'a rate', better: 'more', gate: 1, goal: 2 }
const less: Target = { id: 'less', measurement: 'growth', what: 'a time', better: 'less', gate: 2, goal: 1 }
const goalOnly: Target = { id: 'goal', measurement: 'receipts', what: 'a wish', better: 'more', goal: 2 }
const of = (...values: number[]): Result => ({ id: 'x', values, details: [] })

test('more is better, or less is, as the row says', () => {
  expect([0.9, 1, 1.9, 2].map((value) => judge(more, of(value)))).toEqual(['missed', 'gate', 'gate', 'goal'])
  expect([2.1, 2, 1.1, 1].map((value) => judge(less, of(value)))).toEqual(['missed', 'gate', 'gate', 'goal'])
})

test('a row without a gate cannot be missed', () => {
  expect(judge(goalOnly, of(1))).toBe('no gate')
  expect(judge(goalOnly, of(2))).toBe('goal')
})

test('the median is judged, or the peak where that is asked for', () => {
  expect(judge(more, of(0.1, 1.5, 1.5))).toBe('gate')
  expect(judge(less, { ...of(0.5, 0.5, 3), judgedBy: 'peak' })).toBe('missed')
})

test('a fault misses the gate whatever the value is', () => {
  expect(judge(less, { ...of(0.5), fault: 'not flat' })).toBe('missed')
})

test('what was measured on another scale is not judged', () => {
  expect(judge(less, { ...of(0.5), unjudged: 'with fewer messages' })).toBe('not judged')
})

const table = (results: Map<string, Result>) => ({
  targets: [more, less, goalOnly],
  results,
  reasonOf: () => 'not measured (full run)',
})

test('a row that was not measured says so and is never shown as passed', () => {
  const lines = tableLines(table(new Map([['more', of(1.2, 1.5, 1.3)]])))
  expect(lines.find((line) => line.includes('a rate'))).toMatch(
    /^ok +a rate +1\.30 +1\.20–1\.50 +≥ 1\.00 +≥ 2\.00$/,
  )
  const skipped = lines.filter((line) => line.includes('not measured (full run)'))
  expect(skipped).toHaveLength(2)
  for (const line of skipped) expect(line).toMatch(/^ +a /)
  expect(judge(less, undefined)).toBe('not measured')
})

test('a missed row and its reason stand out', () => {
  const lines = tableLines(table(new Map([['less', { ...of(3), fault: 'not flat', details: ['why'] }]])))
  const at = lines.findIndex((line) => line.startsWith('FAIL  a time'))
  expect(lines.slice(at + 1, at + 3).map((line) => line.trim())).toEqual(['not flat', 'why'])
})

test('the same as Markdown, a line for each row', () => {
  const lines = markdownLines(table(new Map([['less', of(0.5)]])))
  expect(lines).toHaveLength(5)
  expect(lines).toContain('| a time | 0.50 (0.50–0.50) | 2.00 | 1.00 | GOAL |')
  expect(lines).toContain('| a rate | not measured (full run) | 1.00 | 2.00 |  |')
})

test('gates and goals of the real rows point the same way', () => {
  for (const target of targets as readonly Target[]) {
    if (target.gate === undefined || target.goal === undefined) continue
    const isStricter = target.better === 'more' ? target.goal >= target.gate : target.goal <= target.gate
    expect(isStricter, target.id).toBe(true)
  }
})
