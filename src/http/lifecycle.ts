/**
 * Whether this process serves, and why not: `starting` until everything is up, `leaving` when it is about to stop and
 * says so but still serves whoever comes, `draining` once it takes nothing more.
 */
export type Lifecycle = { phase: 'starting' | 'serving' | 'leaving' | 'draining' }

export const createLifecycle = (): Lifecycle => ({ phase: 'starting' })

export const closedReason = (lifecycle: Lifecycle): string | undefined => {
  switch (lifecycle.phase) {
    case 'starting':
      return 'the server is starting'
    case 'leaving':
    case 'draining':
      return 'the server is stopping'
    case 'serving':
      return undefined
  }
}
