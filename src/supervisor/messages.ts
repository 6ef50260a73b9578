/** What supervisor and children say to each other over Node's own channel between processes. */

/** `all` folds serving and working into one process, for machines with little memory. */
export type ChildKind = 'serve' | 'worker' | 'all'

/** What the whole tree looks like from above; `reasons` say in words why it is not ready. */
export type TreeState = { isReady: boolean; reasons: string[] }

export type ToChild =
  | { pombo: 'drain'; withinMs: number }
  | { pombo: 'state'; state: TreeState }
  | { pombo: 'collect-metrics'; id: number }
  | { pombo: 'metrics-text'; id: number; text: string }

export type ToSupervisor =
  | { pombo: 'ready'; facts: unknown }
  | { pombo: 'cannot-start'; sentence: string }
  | { pombo: 'metrics'; id: number; values: object[] }
  | { pombo: 'ask-metrics'; id: number }

/** Both ends are our own program of the same version: a message with our mark has our shape. */
export function isToChild(message: unknown): message is ToChild {
  return hasOurMark(message)
}

export function isToSupervisor(message: unknown): message is ToSupervisor {
  return hasOurMark(message)
}

function hasOurMark(message: unknown): boolean {
  return typeof message === 'object' && message !== null && 'pombo' in message
}
