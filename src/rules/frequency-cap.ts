/** So many accepted messages for one recipient in a fixed period of the company's time zone. */
import type { Period, Rule } from '../domain/rule.ts'
import type { Check, CounterFacts, CounterRaise, SettingsOf } from './facts.ts'
import { periodAt } from './periods.ts'

// The period is part of the key: when a rule is changed from hours to days, counting starts again.
const keyOf = (rule: Rule, period: Period): string => `cap:${rule.id}:${period}`

export const capCounter = (
  settings: SettingsOf<'frequency_cap'>,
  facts: CounterFacts,
  rule: Rule,
): CounterRaise => ({
  key: keyOf(rule, settings.period),
  at: periodAt(settings.period, facts.timeZone, facts.now).startAt,
})

export const checkFrequencyCap: Check<'frequency_cap'> = (settings, facts, rule) => {
  const { startAt, endAt } = periodAt(settings.period, facts.timeZone, facts.now)
  const counter = facts.counter(keyOf(rule, settings.period))
  const count = counter === undefined || counter.at < startAt ? 0 : counter.count
  if (count < settings.limit) return undefined
  return {
    reason: `recipient has reached the limit of ${settings.limit} per ${settings.period} of the rule "${rule.name}"`,
    matched: `${count} since ${startAt.toISOString()}`,
    // A limit of nothing is reached in every period to come.
    nextAllowedAt: settings.limit > 0 ? endAt : undefined,
  }
}
