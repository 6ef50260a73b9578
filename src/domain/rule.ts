/** Rules of a company, as kept; what each looks at is in `rules/`. */
import type { Api, Channel } from './channel.ts'

export const ruleKinds = [
  'restriction_list',
  'opt_out',
  'allowed_hours',
  'frequency_cap',
  'duplicate',
  'segment_channel',
  'template_state',
] as const
export type RuleKind = (typeof ruleKinds)[number]

export type Period = 'hour' | 'day' | 'week' | 'month'

/** Minutes of the day, `from` included, `to` not; `to` may be 1440. */
export type HoursOfDay = { from: number; to: number }

export type RuleSettings =
  | { kind: 'restriction_list'; listId: string; listName: string }
  | { kind: 'opt_out' }
  | {
      kind: 'allowed_hours'
      timeZone: string
      /** Monday first; an empty list means nothing leaves that day. */
      weekdays: [
        HoursOfDay[],
        HoursOfDay[],
        HoursOfDay[],
        HoursOfDay[],
        HoursOfDay[],
        HoursOfDay[],
        HoursOfDay[],
      ]
      /** Local dates, `2026-12-25`. */
      holidays: string[]
    }
  | { kind: 'frequency_cap'; limit: number; period: Period }
  | { kind: 'duplicate'; withinMinutes: number }
  /** The segments named by the rule are not allowed on its channels. */
  | { kind: 'segment_channel' }
  | { kind: 'template_state' }

export type Rule = {
  id: string
  name: string
  action: 'block' | 'defer'
  apis: Api[]
  channels: Channel[]
  /** Narrowed to these segments; empty: all. */
  segmentIds: string[]
  settings: RuleSettings
}
