/** What rules look at. All of it is loaded before, for a whole batch; rules themselves ask nobody. */
import type { Api, Channel } from '../domain/channel.ts'
import type { CounterValue } from '../domain/counter.ts'
import type { RestrictionHit } from '../domain/restriction.ts'
import type { Rule, RuleKind, RuleSettings } from '../domain/rule.ts'
import type { Approval } from '../domain/template.ts'

export type { CounterRaise, CounterValue } from '../domain/counter.ts'
export { raised } from '../domain/counter.ts'
export type { RestrictionField, RestrictionHit } from '../domain/restriction.ts'

export type RuleFacts = {
  now: Date
  api: Api
  channel: Channel
  segmentId: string | null
  /** The company's. */
  timeZone: string
  optedOutChannels: readonly Channel[]
  /** The recipient wants no marketing on WhatsApp. */
  isMarketingOptedOut?: boolean
  /** When a mail server said that the recipient's mailbox does not exist. */
  emailBouncedAt?: Date | null
  template?: {
    name: string
    isEnabled: boolean
    approval: Approval
    content?: { provider?: { category: 'marketing' | 'utility' | 'authentication' } }
  }
  /** All hits of this request over all lists of the company. */
  restrictionHits: readonly RestrictionHit[]
  /** Counters of this contact. */
  counter(key: string): CounterValue | undefined
  /** Identifies channel, recipient, template and rendered content (a hash). */
  contentKey(): string
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
