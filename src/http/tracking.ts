/** What the server remembers of each request under way: one small object on the request, one listener. */
import type { IncomingMessage } from 'node:http'

export type Track = {
  startedAt: number
  /** Bytes of the request's body that count against the bound on bodies in flight. */
  heldBytes: number
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
    route: 'unknown',
    requestId: '',
  })

/** Bytes of request bodies held by this process, from the first chunk until the answer has left. */
export type BodyBudget = { readonly limitBytes: number; heldBytes: number }

export const createBodyBudget = (limitBytes: number): BodyBudget => ({ limitBytes, heldBytes: 0 })
