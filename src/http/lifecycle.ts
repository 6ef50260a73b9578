/** Whether this process serves, and why not: `starting` until everything is up, `draining` once it stops. */
export type Lifecycle = { phase: 'starting' | 'serving' | 'draining' }

export const createLifecycle = (): Lifecycle => ({ phase: 'starting' })

export const closedReason = (lifecycle: Lifecycle): string | undefined => {
  switch (lifecycle.phase) {
    case 'starting':
      return 'the server is starting'
    case 'draining':
      return 'the server is stopping'
    case 'serving':
      return undefined
  }
}
