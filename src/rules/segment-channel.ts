/** The segments that the rule names may not be reached on the channels that it names. */
import type { Check } from './facts.ts'

export const checkSegmentChannel: Check<'segment_channel'> = (_settings, facts, rule) => {
  if (facts.segmentId === null || !rule.segmentIds.includes(facts.segmentId)) return undefined
  if (!rule.channels.includes(facts.channel)) return undefined
  return { reason: `segment is not allowed on this channel by the rule "${rule.name}"` }
}
