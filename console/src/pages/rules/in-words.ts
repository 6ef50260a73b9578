/** What a rule does, as a sentence. */
import type { ItemOf } from '../../api.ts'
import { formatNumber } from '../../format.ts'
import { text } from '../../text/index.ts'

const words = text.rules

export type Rule = ItemOf<'GET /rules'>
export type Kind = Rule['kind']
export type Span = { from: number; to: number }

/** Kinds that know when they will say yes. */
export const deferringKinds: readonly Kind[] = [
  'restriction_list',
  'allowed_hours',
  'frequency_cap',
  'duplicate',
]

/** Hold without being written down, unless the company has its own of the kind. */
export const builtInKinds = ['opt_out', 'template_state'] as const

export type Names = { listName(id: string): string | undefined; segmentName(id: string): string | undefined }

export function ruleInWords(rule: Rule, names: Names): string {
  const isDeferring = rule.action === 'defer'
  const verb = isDeferring ? words.holdsBack : words.refuses
  return `${verb} ${objectOf(rule, names)}${isDeferring ? (words.until[rule.kind] ?? '') : ''}.`
}

function objectOf(rule: Rule, names: Names): string {
  const { sentences } = words
  const settings = rule.settings ?? {}
  switch (rule.kind) {
    case 'restriction_list':
      return sentences.restriction_list(names.listName(settings.listId ?? '') ?? words.goneList)
    case 'opt_out':
      return sentences.opt_out
    case 'allowed_hours':
      return sentences.allowed_hours(
        hoursInWords(settings.weekdays ?? [], settings.holidays ?? []),
        settings.timeZone || words.companyZone,
      )
    case 'frequency_cap':
      return sentences.frequency_cap(formatNumber(settings.limit ?? 0), settings.period ?? 'day')
    case 'duplicate':
      return sentences.duplicate(spanInWords(settings.withinMinutes ?? 0))
    case 'segment_channel':
      return sentences.segment_channel(
        segmentNames(rule, names).join(', '),
        (rule.channels ?? []).map((channel) => text.common.channels[channel]).join(', '),
      )
    case 'template_state':
      return sentences.template_state
  }
}

const segmentNames = ({ segmentIds }: Rule, { segmentName }: Names): string[] =>
  (segmentIds ?? []).map((id) => segmentName(id) ?? id)

export function spanInWords(minutes: number): string {
  if (minutes % 1440 === 0 && minutes > 0) return words.daysSpan(minutes / 1440)
  if (minutes % 60 === 0 && minutes > 0) return words.hours(minutes / 60)
  return words.minutes(minutes)
}

export const timeOf = (minute: number): string =>
  `${String(Math.floor(minute / 60) % 24).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`

const spansInWords = (spans: readonly Span[]): string =>
  spans.some(({ from, to }) => from === 0 && to === 1440)
    ? words.allDay
    : spans.map(({ from, to }) => `${timeOf(from)}–${timeOf(to)}`).join(' and ')

/** Mon–Fri 09:00–18:00, Sat 09:00–12:00. */
export function hoursInWords(weekdays: readonly (readonly Span[])[], holidays: readonly string[]): string {
  const runs: { first: number; last: number; hours: string }[] = []
  for (const [day, spans] of weekdays.entries()) {
    if (spans.length === 0) continue
    const hours = spansInWords(spans)
    const before = runs.at(-1)
    if (before && before.last === day - 1 && before.hours === hours) before.last = day
    else runs.push({ first: day, last: day, hours })
  }
  if (runs.length === 0) return words.never
  const days = runs.map(({ first, last, hours }) => {
    const name = words.shortDays[first]
    return `${first === last ? name : `${name}–${words.shortDays[last]}`} ${hours}`
  })
  return days.join(', ') + (holidays.length > 0 ? words.holidays(holidays.length) : '')
}

/** Which messages it looks at: both APIs and all channels are not worth a word. */
export function scopeInWords(rule: Rule, names: Names): string {
  const apis = rule.apis ?? []
  const channels = rule.channels ?? []
  // Of this kind, channels and segments are the rule itself.
  const isItself = rule.kind === 'segment_channel'
  const parts = [
    apis.length < 2 && apis.map((api) => text.common.apis[api]).join(', '),
    !isItself && channels.length < 3 && channels.map((channel) => text.common.channels[channel]).join(', '),
    !isItself && (rule.segmentIds ?? []).length > 0 && words.segmentsOf(segmentNames(rule, names)),
  ].filter((part) => typeof part === 'string')
  return parts.length === 0 ? words.everything : parts.join('; ')
}
