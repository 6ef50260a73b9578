/** Runs every rule that applies and returns every verdict, so that a refusal can name all its reasons. */
import { apis, channels, type Api, type Channel } from '../domain/channel.ts'
import type { Verdict } from '../domain/outcome.ts'
import type { Rule, RuleKind } from '../domain/rule.ts'
import { checkAllowedHours } from './allowed-hours.ts'
import { checkDuplicate, duplicateCounter } from './duplicate.ts'
import type { Conflict, CounterFacts, CounterRaise, RuleFacts } from './facts.ts'
import { capCounter, checkFrequencyCap } from './frequency-cap.ts'
import { dayMs } from './local-time.ts'
import { checkOptOut } from './opt-out.ts'
import { checkRestrictionList } from './restriction-list.ts'
import { checkSegmentChannel } from './segment-channel.ts'
import { checkTemplateState } from './template-state.ts'

/** Hold without being written down; a company's own rules of the same kind take their place. */
const builtIn = (kind: 'opt_out' | 'template_state'): Rule => ({
  id: `built-in-${kind}`,
  name: kind,
  action: 'block',
  apis: [...apis],
  channels: [...channels],
  segmentIds: [],
  settings: { kind },
})
const builtInRules: readonly Rule[] = [builtIn('opt_out'), builtIn('template_state')]

/**
 * One verdict for each rule that applies, passed or not: the built-in ones first, then in the order given. Any
 * `block` among them refuses; when the only ones that did not pass say `defer`, `firstAllowedAt` has a moment.
 */
export function runRules(rules: readonly Rule[], facts: RuleFacts): Verdict[] {
  const verdicts = applicable(rules, facts).map((rule) => verdictOf(rule, facts))
  const isDeferred = verdicts.some((verdict) => verdict.action === 'defer')
  const isBlocked = verdicts.some((verdict) => verdict.action === 'block')
  if (!isDeferred || isBlocked || firstAllowedAt(rules, facts) !== undefined) return verdicts
  // Waiting would never end (two rules whose hours do not meet): then the answer is no, and at once.
  return verdicts.map((verdict) => (verdict.action === 'defer' ? { ...verdict, action: 'block' } : verdict))
}

function verdictOf(rule: Rule, facts: RuleFacts): Verdict {
  const conflict = check(rule, facts)
  const verdict: Verdict = { rule: rule.settings.kind, passed: conflict === undefined }
  if (!builtInRules.includes(rule)) verdict.ruleId = rule.id
  if (conflict === undefined) return verdict
  // A rule that knows no moment at which it would say yes has nothing to wait for.
  verdict.action = rule.action === 'defer' && conflict.nextAllowedAt !== undefined ? 'defer' : 'block'
  return { ...verdict, ...conflict }
}

const horizonMs = 366 * dayMs
/** Two rules with hours that never meet step over each other a few times a day; this is enough for a year. */
const maxSteps = 5000

/**
 * The first moment at which every rule that applies says yes, found by going from each no to the next possible
 * yes; undefined when there is none within a year.
 */
export function firstAllowedAt(rules: readonly Rule[], facts: RuleFacts): Date | undefined {
  const relevant = applicable(rules, facts)
  const latest = facts.now.getTime() + horizonMs
  let moment = facts.now
  for (let step = 0; step < maxSteps && moment.getTime() <= latest; step++) {
    const factsThen = { ...facts, now: moment }
    let next = moment
    for (const rule of relevant) {
      const conflict = check(rule, factsThen)
      if (conflict === undefined) continue
      if (conflict.nextAllowedAt === undefined) return undefined
      if (conflict.nextAllowedAt > next) next = conflict.nextAllowedAt
    }
    if (next === moment) return moment
    moment = next
  }
  return undefined
}

/**
 * The counters that decide about a message, and that it raises once it is accepted (a deferred one when it is
 * released): load them before, raise them after with `at` as given.
 */
export function countersOf(rules: readonly Rule[], facts: CounterFacts): CounterRaise[] {
  const raises: CounterRaise[] = []
  let hasDuplicate = false
  for (const rule of rules) {
    const { settings } = rule
    if (!isCounting(settings)) continue
    if (!applies(rule, facts.api, facts.channel, facts.segmentId)) continue
    if (settings.kind === 'frequency_cap') raises.push(capCounter(settings, facts, rule))
    else if (!hasDuplicate) {
      hasDuplicate = true
      raises.push(duplicateCounter(facts))
    }
  }
  return raises
}

const applicable = (rules: readonly Rule[], facts: RuleFacts): Rule[] =>
  withBuiltIn(rules).filter(
    (rule) =>
      applies(rule, facts.api, facts.channel, facts.segmentId) &&
      (rule.settings.kind !== 'template_state' || facts.template !== undefined),
  )

/** Put together once for the rules of a company, not once per message. */
const completed = new WeakMap<readonly Rule[], readonly Rule[]>()

function withBuiltIn(rules: readonly Rule[]): readonly Rule[] {
  const known = completed.get(rules)
  if (known !== undefined) return known
  const kinds = new Set<RuleKind>(rules.map((rule) => rule.settings.kind))
  const complete = [...builtInRules.filter((rule) => !kinds.has(rule.settings.kind)), ...rules]
  completed.set(rules, complete)
  return complete
}

const isCounting = (
  settings: Rule['settings'],
): settings is Extract<Rule['settings'], { kind: 'frequency_cap' | 'duplicate' }> =>
  settings.kind === 'frequency_cap' || settings.kind === 'duplicate'

/** May a rule count such a message? `segmentId`: undefined while it is not known. */
export const mayCount = (
  rules: readonly Rule[],
  api: Api,
  channel: Channel,
  segmentId: string | null | undefined,
): boolean =>
  rules.some(
    (rule) =>
      isCounting(rule.settings) && applies(rule, api, channel, segmentId ?? rule.segmentIds[0] ?? null),
  )

/** For segments on channels the narrowing is the rule itself, so it is always looked at. */
const applies = (rule: Rule, api: Api, channel: Channel, segmentId: string | null): boolean =>
  rule.apis.includes(api) &&
  (rule.settings.kind === 'segment_channel' ||
    (rule.channels.includes(channel) &&
      (rule.segmentIds.length === 0 || (segmentId !== null && rule.segmentIds.includes(segmentId)))))

function check(rule: Rule, facts: RuleFacts): Conflict | undefined {
  const { settings } = rule
  switch (settings.kind) {
    case 'restriction_list':
      return checkRestrictionList(settings, facts, rule)
    case 'opt_out':
      return checkOptOut(settings, facts, rule)
    case 'allowed_hours':
      return checkAllowedHours(settings, facts, rule)
    case 'frequency_cap':
      return checkFrequencyCap(settings, facts, rule)
    case 'duplicate':
      return checkDuplicate(settings, facts, rule)
    case 'segment_channel':
      return checkSegmentChannel(settings, facts, rule)
    case 'template_state':
      return checkTemplateState(settings, facts, rule)
  }
}
