/** The same channel, recipient, template and rendered content was accepted a short while ago. */
import type { Check, CounterFacts, CounterRaise } from './facts.ts'
import { minuteMs } from './local-time.ts'

const keyOf = (facts: CounterFacts): string => `dup:${facts.contentKey()}`

export const duplicateCounter = (facts: CounterFacts): CounterRaise => ({ key: keyOf(facts), at: facts.now })

export const checkDuplicate: Check<'duplicate'> = (settings, facts) => {
  const last = facts.counter(keyOf(facts))
  if (last === undefined) return undefined
  const allowedAt = new Date(last.at.getTime() + settings.withinMinutes * minuteMs)
  if (allowedAt <= facts.now) return undefined
  return {
    reason: `same message was accepted for this recipient within ${minutes(settings.withinMinutes)}`,
    matched: last.at.toISOString(),
    nextAllowedAt: allowedAt,
  }
}

const minutes = (count: number): string => (count === 1 ? '1 minute' : `${count} minutes`)
