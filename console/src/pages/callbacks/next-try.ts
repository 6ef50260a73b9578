/** What happens next with a callback, in words. */
import type { ItemOf } from '../../api.ts'
import { formatRelative } from '../../format.ts'
import { text } from '../../text/index.ts'

const words = text.callbacks.nextTry
export type CallbackItem = ItemOf<'GET /callbacks'>

export function nextTry(callback: CallbackItem, now: number, closedUntil?: string | null): string {
  const { state, attempts, dueAt } = callback
  switch (state) {
    case 'delivered':
      return words.delivered(attempts)
    case 'given_up':
      return words.givenUp(attempts)
    case 'waiting': {
      if (closedUntil && Date.parse(closedUntil) > now)
        return words.closed(formatRelative(new Date(closedUntil), now))
      if (Date.parse(dueAt) <= now + 1_000) return words.soon
      const when = formatRelative(new Date(dueAt), now)
      return attempts === 0 ? words.first(when) : words.again(attempts + 1, when)
    }
  }
}

export const lastAnswer = ({ lastStatus, lastError }: CallbackItem): string | undefined =>
  lastStatus === null ? (lastError ?? undefined) : text.callbacks.status(lastStatus)
