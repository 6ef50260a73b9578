/** What the server remembers of each request under way: one small object on the request, one listener. */
import type { IncomingMessage } from 'node:http'

export type Track = {
  startedAt: number
  /** Bytes of the request's body that count against the bound on bodies in flight. */
  heldBytes: number
  /** The handler is at work: it holds the body, also when the caller has gone away. */
  isAtWork: boolean
  /** The route's pattern, for metrics; never the path itself, which has no bound. */
  route: string
  /** What the log knows the request by. */
  requestId: string
}

const key = Symbol('track')

/** Made on the first call, which is the server's own. */
export const trackOf = (req: IncomingMessage): Track =>
  ((req as IncomingMessage & { [key]?: Track })[key] ??= {
    startedAt: performance.now(),
    heldBytes: 0,
    isAtWork: false,
    route: 'unknown',
    requestId: '',
  })

/** Bytes of request bodies held by this process, from the first chunk until the work on it is done or its caller is gone. */
export type BodyBudget = { readonly limitBytes: number; heldBytes: number }

export const createBodyBudget = (limitBytes: number): BodyBudget => ({ limitBytes, heldBytes: 0 })

/** Called when the handler is done and when the response is closed, whichever comes first, but not during the work. */
export function giveBack(budget: BodyBudget, track: Track): void {
  if (track.isAtWork) return
  budget.heldBytes -= track.heldBytes
  track.heldBytes = 0
}
