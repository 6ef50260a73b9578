/** How lines are doing, kept fresh by live events; and what that means in words. */
import { useQueryClient } from '@tanstack/react-query'
import type { AnswerOf, Answered, ItemOf } from '../../api.ts'
import type { Tone } from '../../components/tag.tsx'
import { useLive } from '../../hooks/use-live.ts'
import { keyOf, useApiQuery } from '../../queries.ts'
import { useCan } from '../../session.ts'
import { text } from '../../text/index.ts'

const words = text.channels

export type Line = ItemOf<'GET /lines'>
export type OneLine = AnswerOf<'GET /lines/:id'>
export type Lane = ItemOf<'GET /lanes'>

const freshEveryMs = 30_000

/** By line; empty for roles that may not see them. */
export function useLanes(): ReadonlyMap<string, Lane> {
  const client = useQueryClient()
  const mayLook = useCan()('GET /lanes')
  const { data } = useApiQuery('/lanes', {}, { everyMs: freshEveryMs })
  useLive(
    {
      lane: (lane) =>
        client.setQueryData<Answered<'GET /lanes'>>(
          keyOf('GET /lanes'),
          (before) => before && { ...before, data: { items: withLane(before.data, lane) } },
        ),
    },
    { isOn: mayLook },
  )
  return new Map((data?.items ?? []).map((lane) => [lane.lineId, lane]))
}

const withLane = ({ items }: AnswerOf<'GET /lanes'>, lane: Lane): Lane[] =>
  items.some(({ lineId }) => lineId === lane.lineId)
    ? items.map((one) => (one.lineId === lane.lineId ? lane : one))
    : [...items, lane]

export type Health = { tone: Tone; label: string; detail: string; until?: string }

export function healthOf(line: Pick<Line, 'isEnabled' | 'isPaused' | 'pausedReason'>, lane?: Lane): Health {
  const { states } = words
  // A live lane knows of a pause before the list is read again.
  const { isEnabled, isPaused, pausedReason } = lane ?? line
  if (isEnabled === false) return { tone: 'neutral', label: states.off, detail: words.offHint }
  if (isPaused)
    return {
      tone: 'warn',
      label: states.paused,
      detail: pausedReason === null ? words.pausedHint : sentence(pausedReason),
    }
  if (lane === undefined) return { tone: 'neutral', label: states.unknown, detail: words.unknownHint }
  if (!lane.isDriven) return { tone: 'bad', label: states.notDriven, detail: words.notDrivenHint }
  if (lane.heldUntil !== null)
    return {
      tone: 'warn',
      label: states.held,
      detail: faultOf(lane) ?? words.heldHint,
      until: lane.heldUntil,
    }
  if (lane.isUp === false)
    return { tone: 'bad', label: states.down, detail: sentence(lane.healthDetail ?? words.downHint) }
  if (lane.isUp === null) return { tone: 'neutral', label: states.starting, detail: words.startingHint }
  return { tone: 'good', label: states.up, detail: sentence(lane.healthDetail ?? '') }
}

/** The last fault in words; the provider's own follow. */
export function faultOf({ lastError }: Lane): string | undefined {
  if (lastError === null) return undefined
  const meaning = words.errorKinds[lastError.kind]
  const said = sentence(lastError.message)
  return meaning === undefined ? said : `${meaning} ${said}`
}

export const sentence = (given: string): string => {
  const trimmed = given.trim()
  if (trimmed === '') return ''
  const capital = trimmed.charAt(0).toUpperCase() + trimmed.slice(1)
  return /[.!?…]$/.test(capital) ? capital : `${capital}.`
}

/** +55 31987650010, or the e-mail address. */
export const addressOf = ({
  email,
  countryCode,
  phoneNumber,
}: Pick<Line, 'email' | 'countryCode' | 'phoneNumber'>): string =>
  email ?? `+${countryCode ?? ''} ${phoneNumber ?? ''}`
