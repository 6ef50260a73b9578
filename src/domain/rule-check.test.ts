import { describe, expect, test } from 'vitest'
import { checkRule } from './rule-check.ts'
import type { RuleSettings } from './rule.ts'

const day = [{ from: 480, to: 1200 }]
const hours: Extract<RuleSettings, { kind: 'allowed_hours' }> = {
  kind: 'allowed_hours',
  timeZone: 'America/Sao_Paulo',
  weekdays: [day, day, day, day, day, [], []],
  holidays: ['2026-12-25'],
}
const fields = (settings: unknown, more: object = {}) =>
  checkRule({ settings: settings as RuleSettings, ...more }).map(({ field }) => field)

describe('a rule that may be saved', () => {
  test.each<[object, object?]>([
    [hours],
    [{ ...hours, timeZone: '' }],
    [{ ...hours, weekdays: [[], [], [], [], [], [], [{ from: 0, to: 1440 }]] }],
    [hours, { action: 'defer' }],
    [{ kind: 'frequency_cap', limit: 1, period: 'week' }, { action: 'defer' }],
    [{ kind: 'duplicate', withinMinutes: 43_200 }],
    [{ kind: 'segment_channel' }, { segmentIds: ['x'] }],
    [{ kind: 'opt_out' }],
  ])('%j', (settings, more) => {
    expect(fields(settings, more)).toEqual([])
  })
})

describe('a rule that may not', () => {
  test.each<[string, object, object?]>([
    ['timeZone', { ...hours, timeZone: 'Atlantis' }],
    ['weekdays', { ...hours, weekdays: [day] }],
    ['weekdays[1][0]', { ...hours, weekdays: [[], [{ from: 600, to: 600 }], [], [], [], [], []] }],
    ['weekdays[6][0]', { ...hours, weekdays: [[], [], [], [], [], [], [{ from: 0, to: 1441 }]] }],
    ['holidays[0]', { ...hours, holidays: ['2026-02-30'] }],
    ['holidays[0]', { ...hours, holidays: ['25/12/2026'] }],
    ['limit', { kind: 'frequency_cap', limit: 0, period: 'day' }],
    ['limit', { kind: 'frequency_cap', limit: 1.5, period: 'day' }],
    ['period', { kind: 'frequency_cap', limit: 1, period: 'year' }],
    ['withinMinutes', { kind: 'duplicate', withinMinutes: 43_201 }],
    ['action', { kind: 'opt_out' }, { action: 'defer' }],
    ['action', { kind: 'template_state' }, { action: 'defer' }],
    ['segmentIds', { kind: 'segment_channel' }],
  ])('%s of %j', (field, settings, more) => {
    expect(fields(settings, more)).toEqual([field])
  })
})
