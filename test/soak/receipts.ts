/** Receipts as providers really send them: most soon, some late, some twice, some never, some wrong at first. */
import type { Random } from './random.ts'

export type Planned = {
  mark: string
  id: string
  /** True when it was taken. */
  send(state: 'delivered' | 'failed', id: string): Promise<boolean>
  /** Also reports on messages that never were, and contradicts itself. */
  isLying: boolean
}

export type Receipts = {
  /** Marks of messages of which a receipt was taken. */
  acknowledged: Set<string>
  plan(planned: Planned): void
  /** Not yet sent, or being sent again. */
  readonly pending: number
  close(): void
}

const maxTries = 5

export function createReceipts(
  random: Random,
  onReported: (mark: string, state: 'delivered' | 'failed') => void,
): Receipts {
  const timers = new Set<NodeJS.Timeout>()
  const acknowledged = new Set<string>()
  let pending = 0

  function later(delayMs: number, work: () => void): void {
    const timer = setTimeout(() => {
      timers.delete(timer)
      work()
    }, delayMs)
    timers.add(timer)
  }

  function deliver(planned: Planned, state: 'delivered' | 'failed', delayMs: number, tries = 1): void {
    pending++
    later(delayMs, () => {
      // Before it leaves: that nobody answers does not mean that nobody read it.
      onReported(planned.mark, state)
      void planned
        .send(state, planned.id)
        .catch(() => false)
        .then((isTaken) => {
          pending--
          if (isTaken) acknowledged.add(planned.mark)
          if (!isTaken && tries < maxTries) deliver(planned, state, 1_000, tries + 1)
        })
    })
  }

  return {
    acknowledged,
    plan(planned) {
      const dice = random.next()
      if (planned.isLying) {
        later(50, () => void planned.send('delivered', `never-${planned.id}`).catch(() => false))
        deliver(planned, 'delivered', 200)
        deliver(planned, 'failed', 300)
        return
      }
      if (dice < 0.05) return
      const delayMs = dice < 0.1 ? 5_000 : 100 + random.next() * 600
      if (dice >= 0.1 && dice < 0.13) return deliver(planned, 'failed', delayMs)
      // An answer that is overtaken by its receipt.
      if (dice >= 0.13 && dice < 0.2) deliver(planned, 'delivered', 0)
      if (dice >= 0.2 && dice < 0.3) deliver(planned, 'delivered', delayMs * 2)
      deliver(planned, 'delivered', delayMs)
    },
    get pending() {
      return pending
    },
    close() {
      for (const timer of timers) clearTimeout(timer)
    },
  }
}
