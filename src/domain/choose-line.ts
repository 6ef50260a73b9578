/** Which line a message leaves through. Pure: chance is passed in. */
import type { Channel } from './channel.ts'
import type { Line, LineChoice } from './line.ts'

export type LineFacts = {
  channel: Channel
  lines: readonly Line[]
  segmentId: string | null
  /** Free text on WhatsApp: where the line is free to choose, one with an open window is taken. */
  hasOpenWindow?(lineId: string): boolean
  /** From 0 to below 1. */
  random(): number
}

export type ChosenLine =
  | { kind: 'line'; line: Line; isPinned: boolean }
  /** No enabled line serves the channel and segment. */
  | { kind: 'none'; message: string }
  | { kind: 'wrong'; message: string }

const serves = (line: Line, segmentId: string | null) =>
  line.segmentIds.length === 0 || (segmentId !== null && line.segmentIds.includes(segmentId))

export function chooseLine(choice: LineChoice, facts: LineFacts): ChosenLine {
  const usable = facts.lines.filter(
    (line) => line.channel === facts.channel && line.isEnabled && serves(line, facts.segmentId),
  )
  switch (choice.kind) {
    case 'exact':
      return named(
        usable,
        facts,
        (line) => line.countryCode === choice.countryCode && line.phoneNumber === choice.phoneNumber,
      )
    case 'line':
      return named(usable, facts, (line) => line.id === choice.id)
    case 'digits':
      return named(usable, facts, (line) => `${line.countryCode}${line.phoneNumber}` === choice.digits)
    case 'default': {
      const line = defaultLine(usable)
      if (line === undefined) return noLine(facts.channel)
      const isFree = choice.mayFailOver
      if (isFree && facts.hasOpenWindow && !facts.hasOpenWindow(line.id)) {
        const open = usable.find((candidate) => facts.hasOpenWindow!(candidate.id))
        if (open) return { kind: 'line', line: open, isPinned: false }
      }
      return { kind: 'line', line, isPinned: !isFree }
    }
    case 'prospect': {
      let start = defaultLine(usable)
      if (choice.phoneNumber !== undefined) {
        const found = named(
          usable,
          facts,
          (line) => line.countryCode === choice.countryCode && line.phoneNumber === choice.phoneNumber,
        )
        if (found.kind !== 'line') return found
        start = found.line
      }
      const candidates = usable.filter((line) => line.isProspect || line === start)
      if (candidates.length === 0) return noLine(facts.channel)
      const open = facts.hasOpenWindow ? candidates.filter((line) => facts.hasOpenWindow!(line.id)) : []
      return {
        kind: 'line',
        line: draw(open.length > 0 ? open : candidates, facts.random()),
        isPinned: false,
      }
    }
  }
}

function named(usable: readonly Line[], facts: LineFacts, isIt: (line: Line) => boolean): ChosenLine {
  const line = usable.find(isIt)
  if (line) return { kind: 'line', line, isPinned: true }
  const known = facts.lines.find((candidate) => candidate.channel === facts.channel && isIt(candidate))
  if (known && !known.isEnabled) return { kind: 'wrong', message: 'this line is disabled' }
  return {
    kind: 'wrong',
    message: known ? 'this line does not serve the segment' : 'there is no such line on this channel',
  }
}

const defaultLine = (usable: readonly Line[]): Line | undefined =>
  usable.find((line) => line.isDefault) ?? usable[0]

const noLine = (channel: Channel): ChosenLine => ({
  kind: 'none',
  message: `no line is configured for ${channel}`,
})

/** Weighted by what each can still take: its rate, and nothing while it is paused, unless all are. */
function draw(candidates: readonly Line[], random: number): Line {
  const weights = candidates.map((line) => (line.isPaused ? 0 : line.ratePerSecond))
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  if (total === 0) return candidates[Math.floor(random * candidates.length)]!
  let left = random * total
  for (const [index, weight] of weights.entries()) {
    left -= weight
    if (left < 0) return candidates[index]!
  }
  return candidates.at(-1)!
}
