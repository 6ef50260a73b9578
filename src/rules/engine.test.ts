import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { HoursOfDay, Rule, RuleSettings } from '../domain/rule.ts'
import { countersOf, firstAllowedAt, runRules } from './engine.ts'
import { raised, type CounterValue, type RuleFacts } from './facts.ts'
import { dateOf, localAt, minuteMs, minuteOfDay, weekdayOf } from './local-time.ts'

const now = new Date('2026-05-06T15:00:00Z') // a Wednesday

const facts = (changes: Partial<RuleFacts> = {}): RuleFacts => ({
  now,
  api: 'direct',
  channel: 'sms',
  segmentId: null,
  timeZone: 'America/Sao_Paulo',
  optedOutChannels: [],
  template: { name: 'Welcome', isEnabled: true, approval: 'approved' },
  restrictionHits: [],
  counter: () => undefined,
  contentKey: () => 'content',
  ...changes,
})

let made = 0
const rule = (settings: RuleSettings, changes: Partial<Omit<Rule, 'settings'>> = {}): Rule => ({
  id: `rule-${++made}`,
  name: 'Quiet',
  action: 'block',
  apis: ['unified', 'direct'],
  channels: ['email', 'sms', 'whatsapp'],
  segmentIds: [],
  ...changes,
  settings,
})

const list = (listId: string, listName = listId) => rule({ kind: 'restriction_list', listId, listName })
const phoneHit = (listId: string, expiresAt?: Date) =>
  ({ listId, field: 'phone', value: '5531988881234', isPrefix: false, expiresAt }) as const

type Hours = Extract<RuleSettings, { kind: 'allowed_hours' }>
const hours = (spans: HoursOfDay[], changes: Partial<Hours> = {}): Hours => ({
  kind: 'allowed_hours',
  timeZone: 'America/Sao_Paulo',
  weekdays: [spans, spans, spans, spans, spans, [], []],
  holidays: [],
  ...changes,
})

const failedOf = (rules: Rule[], given: RuleFacts) =>
  runRules(rules, given).filter((verdict) => !verdict.passed)
const reasonsOf = (rules: Rule[], given: RuleFacts) => failedOf(rules, given).map((verdict) => verdict.reason)

describe('rules', () => {
  test('every rule that applies has a verdict, built-in ones first, then in the order given', () => {
    const rules = [list('b'), rule({ kind: 'frequency_cap', limit: 1, period: 'day' }), list('a')]
    expect(runRules(rules, facts())).toEqual([
      { rule: 'opt_out', passed: true },
      { rule: 'template_state', passed: true },
      { rule: 'restriction_list', ruleId: rules[0]!.id, passed: true },
      { rule: 'frequency_cap', ruleId: rules[1]!.id, passed: true },
      { rule: 'restriction_list', ruleId: rules[2]!.id, passed: true },
    ])
  })

  test('all lists that match are named, each once, with every field that matched', () => {
    const given = facts({
      restrictionHits: [
        { listId: 'two', field: 'contract', value: 'c1', isPrefix: true },
        phoneHit('one'),
        phoneHit('two'),
        phoneHit('other'),
      ],
    })
    expect(failedOf([list('one', 'Fraud'), list('two', 'Law'), list('three')], given)).toMatchObject([
      { reason: 'phone number is on the restriction list "Fraud"', matched: 'phone 5531988881234' },
      {
        reason: 'phone number and contract code are on the restriction list "Law"',
        matched: 'phone 5531988881234, contract c1…',
      },
    ])
  })

  test('an entry with an expiry says when it ends, and can be waited for', () => {
    const expiresAt = new Date('2026-05-07T00:00:00Z')
    const deferring = { ...list('one'), action: 'defer' } as const
    const given = facts({ restrictionHits: [phoneHit('one', expiresAt)] })
    expect(failedOf([deferring], given)).toMatchObject([{ action: 'defer', nextAllowedAt: expiresAt }])
    expect(firstAllowedAt([deferring], given)).toEqual(expiresAt)
    expect(failedOf([deferring], { ...given, now: expiresAt })).toEqual([])
    // Another one without end: nothing to wait for.
    const forGood = facts({ restrictionHits: [phoneHit('one', expiresAt), phoneHit('one')] })
    expect(failedOf([deferring], forGood)).toMatchObject([{ action: 'block' }])
    expect(firstAllowedAt([deferring], forGood)).toBeUndefined()
  })

  test('opt-out and the state of the template hold without any rule, for both APIs', () => {
    for (const api of ['unified', 'direct'] as const) {
      const given = facts({
        api,
        optedOutChannels: ['sms'],
        template: { name: 'Welcome', isEnabled: false, approval: 'approved' },
      })
      expect(failedOf([], given)).toMatchObject([
        { rule: 'opt_out', action: 'block', reason: 'recipient has opted out of SMS' },
        { rule: 'template_state', action: 'block', reason: 'template "Welcome" is disabled' },
      ])
      expect(failedOf([], { ...given, channel: 'email', template: undefined })).toEqual([])
    }
  })

  test.each([
    ['whatsapp', 'marketing', true],
    ['whatsapp', 'utility', false],
    ['whatsapp', 'authentication', false],
    ['sms', 'marketing', false],
  ] as const)(
    'who wants no marketing: on %s a template of %s is refused: %s',
    (channel, category, isRefused) => {
      const template = {
        name: 'Offers',
        isEnabled: true,
        approval: 'approved',
        content: { provider: { category } },
      } as const
      const given = facts({ channel, template, isMarketingOptedOut: true })
      expect(reasonsOf([], given)).toEqual(
        isRefused ? ['recipient has opted out of marketing on WhatsApp'] : [],
      )
      expect(failedOf([], { ...given, isMarketingOptedOut: false })).toEqual([])
      // Free text within the window answers a person; it is no template.
      expect(failedOf([], { ...given, template: undefined })).toEqual([])
    },
  )

  test('a mailbox that does not exist is refused for e-mail only', () => {
    const given = facts({ channel: 'email', emailBouncedAt: new Date('2026-05-01T23:59:00Z') })
    expect(failedOf([], given)).toMatchObject([
      {
        rule: 'opt_out',
        action: 'block',
        reason: 'e-mail address of the recipient does not exist (bounced on 2026-05-01)',
      },
    ])
    expect(failedOf([], { ...given, channel: 'sms' })).toEqual([])
  })

  test.each(['pending', 'rejected', 'paused', 'disabled'] as const)(
    'a template that is %s is refused',
    (approval) => {
      const given = facts({ template: { name: 'Welcome', isEnabled: true, approval } })
      expect(reasonsOf([], given)).toEqual([`template "Welcome" is not approved (${approval})`])
    },
  )

  test('free text has no template to judge', () => {
    expect(runRules([], facts({ template: undefined }))).toEqual([{ rule: 'opt_out', passed: true }])
  })

  test('a rule of the company narrows the built-in one', () => {
    const narrowed = rule({ kind: 'opt_out' }, { channels: ['email'] })
    expect(failedOf([narrowed], facts({ optedOutChannels: ['sms'] }))).toEqual([])
    expect(failedOf([narrowed], facts({ channel: 'email', optedOutChannels: ['email'] }))).toHaveLength(1)
  })

  test('a rule is narrowed by API, channel and segment', () => {
    const given = facts({ restrictionHits: [phoneHit('one')], segmentId: 'gold' })
    const narrowed = (changes: Partial<Rule>) => failedOf([{ ...list('one'), ...changes }], given).length
    expect(narrowed({ apis: ['direct'] })).toBe(1)
    expect(narrowed({ apis: ['unified'] })).toBe(0)
    expect(narrowed({ channels: ['sms', 'email'] })).toBe(1)
    expect(narrowed({ channels: ['email'] })).toBe(0)
    expect(narrowed({ segmentIds: ['gold', 'silver'] })).toBe(1)
    expect(narrowed({ segmentIds: ['silver'] })).toBe(0)
    expect(failedOf([{ ...list('one'), segmentIds: ['gold'] }], { ...given, segmentId: null })).toEqual([])
  })

  test('a segment may be kept off a channel', () => {
    const noSms = rule({ kind: 'segment_channel' }, { channels: ['sms'], segmentIds: ['gold'] })
    expect(reasonsOf([noSms], facts({ segmentId: 'gold' }))).toEqual([
      'segment is not allowed on this channel by the rule "Quiet"',
    ])
    expect(reasonsOf([noSms], facts({ segmentId: 'gold', channel: 'email' }))).toEqual([])
    expect(reasonsOf([noSms], facts({ segmentId: 'silver' }))).toEqual([])
    expect(reasonsOf([noSms], facts())).toEqual([])
  })

  test('a cap lets through as many as its limit in each period, whatever the order of clocks', () => {
    const cap = rule({ kind: 'frequency_cap', limit: 3, period: 'day' })
    const counters = new Map<string, CounterValue>()
    const send = (at: Date) => {
      const given = facts({ now: at, counter: (key) => counters.get(key) })
      const failed = failedOf([cap], given)
      if (failed.length === 0)
        for (const raise of countersOf([cap], given))
          counters.set(raise.key, raised(counters.get(raise.key), raise))
      return failed
    }
    const results = Array.from({ length: 5 }, () => send(now))
    expect(results.map((failed) => failed.length)).toEqual([0, 0, 0, 1, 1])
    expect(results[4]).toMatchObject([
      {
        reason: 'recipient has reached the limit of 3 per day of the rule "Quiet"',
        matched: '3 since 2026-05-06T03:00:00.000Z',
        nextAllowedAt: new Date('2026-05-07T03:00:00Z'),
      },
    ])
    expect(send(new Date('2026-05-07T02:59:59.999Z'))).toHaveLength(1)
    expect(send(new Date('2026-05-07T03:00:00Z'))).toHaveLength(0)
    // A node that is still in the day before counts along with the new day.
    expect(send(new Date('2026-05-07T02:59:59Z'))).toHaveLength(0)
    expect(send(new Date('2026-05-07T03:00:01Z'))).toHaveLength(0)
    expect(send(new Date('2026-05-07T03:00:02Z'))).toHaveLength(1)
  })

  test('a cap of nothing is never worth waiting for', () => {
    const cap = rule({ kind: 'frequency_cap', limit: 0, period: 'hour' }, { action: 'defer' })
    expect(failedOf([cap], facts())).toMatchObject([{ action: 'block' }])
  })

  test('in any sequence of sends no period has more than the limit, and none is refused below it', () => {
    const cap = rule({ kind: 'frequency_cap', limit: 2, period: 'hour' })
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 600 }), { maxLength: 40 }), (minutes) => {
        const counters = new Map<string, CounterValue>()
        const perHour = new Map<number, number>()
        for (const minute of minutes.toSorted((a, b) => a - b)) {
          const at = new Date(now.getTime() + minute * minuteMs)
          const given = facts({ now: at, counter: (key) => counters.get(key) })
          const hour = Math.floor(minute / 60)
          const before = perHour.get(hour) ?? 0
          const isAllowed = failedOf([cap], given).length === 0
          expect(isAllowed).toBe(before < 2)
          if (!isAllowed) continue
          perHour.set(hour, before + 1)
          for (const raise of countersOf([cap], given))
            counters.set(raise.key, raised(counters.get(raise.key), raise))
        }
      }),
    )
  })

  test('a duplicate is refused until its minutes are over', () => {
    const duplicate = rule({ kind: 'duplicate', withinMinutes: 10 })
    const [raise] = countersOf([duplicate], facts())
    expect(raise).toEqual({ key: 'dup:content', at: now })
    const later = (ms: number, contentKey = 'content') =>
      failedOf(
        [duplicate],
        facts({
          now: new Date(now.getTime() + ms),
          contentKey: () => contentKey,
          counter: (key) => (key === 'dup:content' ? { count: 1, at: now } : undefined),
        }),
      )
    expect(later(10 * minuteMs - 1)).toMatchObject([
      {
        reason: 'same message was accepted for this recipient within 10 minutes',
        nextAllowedAt: new Date(now.getTime() + 10 * minuteMs),
      },
    ])
    expect(later(10 * minuteMs)).toEqual([])
    expect(later(0, 'other')).toEqual([])
  })

  test('counters are those of the rules that apply, each once', () => {
    const rules = [
      rule({ kind: 'duplicate', withinMinutes: 1 }),
      rule({ kind: 'duplicate', withinMinutes: 5 }),
      rule({ kind: 'frequency_cap', limit: 1, period: 'day' }, { channels: ['email'] }),
      rule({ kind: 'frequency_cap', limit: 1, period: 'week' }, { id: 'weekly' }),
    ]
    expect(countersOf(rules, facts())).toEqual([
      { key: 'dup:content', at: now },
      { key: 'cap:weekly:week', at: new Date('2026-05-04T03:00:00Z') },
    ])
  })

  test('a block beside a deferral refuses, and both reasons are there', () => {
    const rules = [rule(hours([]), { action: 'defer' }), list('one')]
    const given = facts({ restrictionHits: [phoneHit('one')] })
    expect(failedOf(rules, given).map((verdict) => verdict.action)).toEqual(['block', 'block'])
    const morning = [rule(hours([{ from: 0, to: 60 }]), { action: 'defer' }), list('one')]
    expect(failedOf(morning, given).map((verdict) => verdict.action)).toEqual(['defer', 'block'])
  })

  test('deferring rules that never agree refuse at once', () => {
    const rules = [
      rule(hours([{ from: 0, to: 60 }]), { action: 'defer' }),
      rule(hours([{ from: 60, to: 120 }]), { action: 'defer' }),
    ]
    expect(firstAllowedAt(rules, facts())).toBeUndefined()
    expect(failedOf(rules, facts()).map((verdict) => verdict.action)).toEqual(['block', 'block'])
  })

  test('the first moment is one that all rules allow, not only those that fail now', () => {
    const office = hours([{ from: 8 * 60, to: 20 * 60 }])
    const cap = rule({ kind: 'frequency_cap', limit: 1, period: 'day' }, { action: 'defer' })
    const friday = new Date('2026-05-08T15:00:00Z')
    const given = facts({ now: friday, counter: () => ({ count: 1, at: new Date('2026-05-08T03:00:00Z') }) })
    // The cap would allow Saturday at midnight; the hours, which pass now, would not.
    expect(firstAllowedAt([cap, rule(office)], given)).toEqual(new Date('2026-05-11T11:00:00Z'))
  })

  test('holidays are closed all day', () => {
    const office = hours([{ from: 0, to: 1440 }], { holidays: ['2026-05-06', '2026-05-07'] })
    expect(failedOf([rule(office)], facts())).toMatchObject([
      {
        reason: 'outside the hours of the rule "Quiet"',
        matched: '2026-05-06 12:00 in America/Sao_Paulo',
        nextAllowedAt: new Date('2026-05-08T03:00:00Z'),
      },
    ])
  })

  test("hours without a time zone of their own go by the company's", () => {
    const noon = hours([{ from: 720, to: 721 }], { timeZone: '' })
    expect(failedOf([rule(noon)], facts())).toEqual([])
    expect(failedOf([rule(noon)], facts({ timeZone: 'UTC' }))).toHaveLength(1)
  })
})

/** Slow and plain: is this minute open? */
const isOpenSlowly = (settings: Hours, at: number): boolean => {
  const local = localAt(settings.timeZone, at)
  const minute = minuteOfDay(local)
  const spans = settings.weekdays[weekdayOf(local)]!
  return (
    !settings.holidays.includes(dateOf(local)) && spans.some(({ from, to }) => minute >= from && minute < to)
  )
}

const span = fc
  .tuple(fc.integer({ min: 0, max: 287 }), fc.integer({ min: 1, max: 288 }))
  .filter(([from, to]) => from < to)
  .map(([from, to]): HoursOfDay => ({ from: from * 5, to: to * 5 }))
const spansOfDay = fc.array(span, { maxLength: 2 })
const anyWeek = fc.tuple(spansOfDay, spansOfDay, spansOfDay, spansOfDay, spansOfDay, spansOfDay, spansOfDay)

/** Weeks around changes of the clock: forward, back, over midnight both ways, and by thirty minutes. */
const changes = [
  ['America/New_York', '2026-03-06'],
  ['America/New_York', '2026-10-30'],
  ['Europe/Lisbon', '2026-10-23'],
  ['America/Sao_Paulo', '2018-11-02'],
  ['America/Sao_Paulo', '2018-02-15'],
  ['Australia/Lord_Howe', '2026-04-03'],
  ['Australia/Lord_Howe', '2026-10-02'],
] as const

describe('allowed hours around changes of the clock', () => {
  test.each(changes)(
    'every minute of a week in %s from %s agrees with a slow reference',
    (timeZone, date) => {
      const start = Date.parse(`${date}T00:00:00Z`)
      fc.assert(
        fc.property(anyWeek, fc.boolean(), (weekdays, hasHoliday) => {
          const holidays = hasHoliday ? [dateOf(start + 2 * 86_400_000)] : []
          const settings: Hours = { kind: 'allowed_hours', timeZone, weekdays, holidays }
          const only = [rule(settings, { action: 'defer' })]
          const minutes = 7 * 1440
          // Backwards, so that the slow reference knows the next open minute.
          let next: number | undefined
          for (let index = minutes; index >= 0; index--) {
            const at = start + index * minuteMs
            const isOpen = isOpenSlowly(settings, at)
            if (isOpen) next = at
            if (next === undefined) continue
            // All minutes that open or close, and a sample of the rest.
            const isEdge = isOpen !== isOpenSlowly(settings, at - minuteMs)
            if (!isEdge && index % 37 !== 0) continue
            const given = facts({ now: new Date(at) })
            const found = firstAllowedAt(only, given)?.getTime()
            const failed = failedOf(only, given)
            if (found !== next || (failed.length === 0) !== isOpen)
              expect.fail(`at ${new Date(at).toISOString()}: ${found} instead of ${next}, open ${isOpen}`)
          }
        }),
        { numRuns: 5 },
      )
    },
  )

  test.each(changes)(
    'with two rules in %s from %s the moment found is the earliest minute that both allow',
    (timeZone, date) => {
      const start = Date.parse(`${date}T00:00:00Z`)
      fc.assert(
        fc.property(anyWeek, anyWeek, fc.integer({ min: 0, max: 3 * 1440 }), (first, second, minute) => {
          const settings = [first, second].map((weekdays): Hours => ({
            kind: 'allowed_hours',
            timeZone,
            weekdays,
            holidays: [],
          }))
          const at = start + minute * minuteMs
          let slow: number | undefined
          for (let ahead = 0; ahead < 4 * 1440 && slow === undefined; ahead++)
            if (settings.every((each) => isOpenSlowly(each, at + ahead * minuteMs)))
              slow = at + ahead * minuteMs
          if (slow === undefined) return
          const rules = settings.map((each) => rule(each, { action: 'defer' }))
          expect(firstAllowedAt(rules, facts({ now: new Date(at) }))).toEqual(new Date(slow))
        }),
        { numRuns: 20 },
      )
    },
  )
})
