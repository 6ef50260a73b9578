/** What delivering callbacks tells operators. */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import type { CallbackResult } from '../store/callback-delivery.ts'

export function createCallbackMetrics(registry: Registry) {
  const registers = [registry]
  const attempts = new Counter({
    name: 'pombo_callback_attempts_total',
    help: 'Attempts to deliver callbacks, by what came of them: delivered, retry, given_up.',
    labelNames: ['outcome'],
    registers,
  })
  const seconds = new Histogram({
    name: 'pombo_callback_seconds',
    help: 'How long receivers of callbacks take to answer.',
    buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15],
    registers,
  })
  const waiting = new Gauge({
    name: 'pombo_callbacks_waiting',
    help: 'Callbacks that are not delivered yet (counted up to 10,000).',
    registers,
  })
  const oldest = new Gauge({
    name: 'pombo_callbacks_oldest_seconds',
    help: 'Age of the oldest event that is not delivered yet.',
    registers,
  })
  const failing = new Gauge({
    name: 'pombo_callback_endpoints_failing',
    help: 'Endpoints of callbacks whose last answer was no success.',
    registers,
  })
  return {
    attempted({ state, duration_ms: durationMs }: CallbackResult): void {
      attempts.inc({ outcome: state === 'waiting' ? 'retry' : state })
      seconds.observe(durationMs / 1000)
    },
    depth(depth: { waiting: number; oldestAt: Date | null; failing: number }, now: Date): void {
      waiting.set(depth.waiting)
      oldest.set(depth.oldestAt === null ? 0 : Math.max(0, now.getTime() - depth.oldestAt.getTime()) / 1000)
      failing.set(depth.failing)
    },
  }
}
