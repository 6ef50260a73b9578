/** What delivery tells operators: hand-overs by line and outcome, the time until them, and what waits. */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import type { ClaimedMessage, Settlement } from '../store/outbox.ts'

export function createDeliveryMetrics(registry: Registry) {
  const settledTotal = new Counter({
    name: 'pombo_hand_overs_total',
    help: 'Hand-overs to providers, by line and by what came of them.',
    labelNames: ['line', 'outcome'],
    registers: [registry],
  })
  const handOverSeconds = new Histogram({
    name: 'pombo_accept_to_hand_over_seconds',
    help: 'Time from accepting a message to the end of its hand-over.',
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 3600],
    registers: [registry],
  })
  const depth = new Gauge({
    name: 'pombo_lane_depth',
    help: 'Messages due on a line and not yet handed over (counted up to 10,000).',
    labelNames: ['line'],
    registers: [registry],
  })
  const oldestSeconds = new Gauge({
    name: 'pombo_lane_oldest_seconds',
    help: 'Age of the oldest message that is due on a line.',
    labelNames: ['line'],
    registers: [registry],
  })
  return {
    settled(settlement: Settlement): void {
      settledTotal.inc({
        line: settlement.line_id,
        outcome: settlement.state === 'queued' ? 'retry' : settlement.state,
      })
    },
    handedOver(message: ClaimedMessage, now: Date): void {
      handOverSeconds.observe(Math.max(0, now.getTime() - message.acceptedAt.getTime()) / 1000)
    },
    depths(lanes: readonly { lineId: string; depth: number; oldestDueAt: Date | null }[], now: Date): void {
      depth.reset()
      oldestSeconds.reset()
      for (const { lineId, depth: waiting, oldestDueAt } of lanes) {
        depth.set({ line: lineId }, waiting)
        oldestSeconds.set(
          { line: lineId },
          oldestDueAt === null ? 0 : Math.max(0, now.getTime() - oldestDueAt.getTime()) / 1000,
        )
      }
    },
  }
}
