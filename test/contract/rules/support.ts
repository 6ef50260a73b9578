/** Rules for contract tests: made as the console would make them. */
import type { RestrictionField } from '../../../src/domain/restriction.ts'
import type { HoursOfDay } from '../../../src/domain/rule.ts'
import { createRestrictionList } from '../../../src/store/restriction-lists.ts'
import { addRestrictionEntries } from '../../../src/store/restrictions.ts'
import { createRule, type RuleInput } from '../../../src/store/rules.ts'
import type { App } from '../../harness/app.ts'
import { must } from '../../harness/factories.ts'

export const addRule = (app: App, companyId: string, input: Omit<RuleInput, 'name'> & { name?: string }) =>
  createRule(app.db, companyId, { name: 'A rule', ...input })

let lists = 0

/** A list with entries, and the rule that makes it count. */
export async function addList(
  app: App,
  companyId: string,
  entries: { field: RestrictionField; value: string; isPrefix?: boolean; expiresAt?: Date }[],
  rule: Partial<RuleInput> = {},
): Promise<{ id: string; name: string }> {
  const list = must(await createRestrictionList(app.db, companyId, `List ${++lists}`))
  const { problems } = await addRestrictionEntries(app.db, list.id, entries)
  if (problems.length > 0) throw new Error(problems.map((problem) => problem.reason).join('; '))
  await createRule(app.db, companyId, {
    name: list.name,
    ...rule,
    settings: { kind: 'restriction_list', listId: list.id },
  })
  return list
}

export const minuteMs = 60_000
export const hourMs = 60 * minuteMs
export const dayMs = 24 * hourMs

type Week = Extract<RuleInput['settings'], { kind: 'allowed_hours' }>['weekdays']
const everyDay = (spans: HoursOfDay[]): Week => [spans, spans, spans, spans, spans, spans, spans]

/** Open for one minute of the day (in UTC) that starts `minutes` from `now`, rounded down. */
export function minuteFrom(now: Date, minutes: number) {
  const at = new Date(Math.floor(now.getTime() / minuteMs) * minuteMs + minutes * minuteMs)
  const from = at.getUTCHours() * 60 + at.getUTCMinutes()
  return {
    at,
    settings: {
      kind: 'allowed_hours' as const,
      timeZone: 'UTC',
      weekdays: everyDay([{ from, to: from + 1 }]),
      holidays: [] as string[],
    },
  }
}

export const neverOpen = {
  kind: 'allowed_hours' as const,
  timeZone: 'UTC',
  weekdays: everyDay([]),
  holidays: [] as string[],
}
export const alwaysOpen = { ...neverOpen, weekdays: everyDay([{ from: 0, to: 1440 }]) }
