/** Receipts that are due later. Stopping forgets them, as a provider that goes away does. */
import type { ReceiptStep } from './chaos.ts'

export type ReceiptTimer = {
  schedule(steps: ReceiptStep[], tell: (receipt: number) => void): void
  after(ms: number, tell: () => void): void
  stop(): void
}

export function createReceiptTimer(): ReceiptTimer {
  const timers = new Set<NodeJS.Timeout>()
  let isStopped = false
  function after(ms: number, tell: () => void): void {
    if (isStopped) return
    const timer = setTimeout(() => {
      timers.delete(timer)
      tell()
    }, ms)
    timers.add(timer)
  }
  return {
    after,
    schedule(steps, tell) {
      for (const { receipt, afterMs } of steps) after(afterMs, () => tell(receipt))
    },
    stop() {
      isStopped = true
      for (const timer of timers) clearTimeout(timer)
      timers.clear()
    },
  }
}
