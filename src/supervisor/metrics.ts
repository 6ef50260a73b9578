import { AggregatorRegistry, Counter, Registry } from 'prom-client'
import type { Slot } from './slot.ts'

/** A process that is busy or just dying is left out rather than waited for. */
const ANSWER_WITHIN_MS = 2_000

export type MetricsCollector = {
  collect(slots: Slot[]): Promise<string>
  /** A child's answer. */
  take(slot: Slot, id: number, values: object[]): void
}

/** Sums the metrics of all children and adds the supervisor's own. */
export function createMetricsCollector(): MetricsCollector {
  const pending = new Map<number, { take(slot: Slot, values: object[]): void }>()
  let lastId = 0
  return {
    async collect(slots) {
      const own = await ownMetrics(slots)
      const asked = new Set(slots.filter((slot) => slot.isReady()))
      const parts: object[][] = [own]
      const id = ++lastId
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ANSWER_WITHIN_MS)
        const settleWhenAll = () => {
          if (asked.size > 0) return
          clearTimeout(timer)
          resolve()
        }
        pending.set(id, {
          take(slot, values) {
            if (asked.delete(slot)) parts.push(values)
            settleWhenAll()
          },
        })
        for (const slot of asked) slot.send({ pombo: 'collect-metrics', id })
        settleWhenAll()
      })
      pending.delete(id)
      return AggregatorRegistry.aggregate(parts).metrics()
    },
    take: (slot, id, values) => pending.get(id)?.take(slot, values),
  }
}

async function ownMetrics(slots: Slot[]): Promise<object[]> {
  const registry = new Registry()
  const restarts = new Counter({
    name: 'pombo_process_restarts_total',
    help: 'Processes that died and were started again',
    labelNames: ['process'],
    registers: [registry],
  })
  for (const slot of slots) restarts.inc({ process: slot.name }, slot.restarts())
  return registry.getMetricsAsJSON()
}
