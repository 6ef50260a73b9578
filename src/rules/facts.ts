/** What rules look at. All of it is loaded before, for a whole batch; rules themselves ask nobody. */
import type { Api, Channel } from '../domain/channel.ts'
import type { Rule, RuleKind, RuleSettings } from '../domain/rule.ts'
import type { Approval } from '../domain/template.ts'

export type RestrictionField = 'phone' | 'email' | 'document' | 'contract'

export type RestrictionHit = {
  listId: string
  field: RestrictionField
  /** The entry's own value, as kept. */
  value: string
  isPrefix: boolean
  expiresAt?: Date
}

/** A counter of one contact: for caps `at` is the start of the period counted, for duplicates the last time. */
export type CounterValue = { count: number; at: Date }

export type CounterRaise = { key: string; at: Date }

export type RuleFacts = {
  now: Date
  api: Api
  channel: Channel
  segmentId: string | null
  /** The company's. */
  timeZone: string
  optedOutChannels: readonly Channel[]
  template?: { name: string; isEnabled: boolean; approval: Approval }
  /** All hits of this request over all lists of the company. */
  restrictionHits: readonly RestrictionHit[]
  /** Counters of this contact. */
  counter(key: string): CounterValue | undefined
  /** Identifies channel, recipient, template and rendered content (a hash). */
  contentKey: string
}

/** As much of the facts as is known before counters are loaded. */
export type CounterFacts = Pick<
  RuleFacts,
  'now' | 'api' | 'channel' | 'segmentId' | 'timeZone' | 'contentKey'
>

/** Why a rule says no. `nextAllowedAt` is missing when no moment is known at which it would say yes. */
export type Conflict = { reason: string; matched?: string; nextAllowedAt?: Date }

export type SettingsOf<K extends RuleKind> = Extract<RuleSettings, { kind: K }>

/** Facts in, conflict or nothing out. */
export type Check<K extends RuleKind> = (
  settings: SettingsOf<K>,
  facts: RuleFacts,
  rule: Rule,
) => Conflict | undefined

/**
 * A counter after a raise: a later `at` (the next period, a new sending) starts again at one; the same or an
 * earlier one, as from a node whose clock is behind, counts along. `store/counters.ts` says the same in SQL.
 */
export function raised(counter: CounterValue | undefined, raise: CounterRaise): CounterValue {
  if (counter === undefined || counter.at < raise.at) return { count: 1, at: raise.at }
  return { count: counter.count + 1, at: counter.at }
}
