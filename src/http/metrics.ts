/** Counts and times of answers. Children are looked up once per route and status, not per request. */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import type { BodyBudget } from './tracking.ts'

export type HttpMetrics = {
  answered(route: string, status: number, seconds: number): void
}

export function createHttpMetrics(registry: Registry, budget: BodyBudget): HttpMetrics {
  const registers = [registry]
  const answers = new Counter({
    name: 'pombo_http_answers_total',
    help: 'Answers by route and status.',
    labelNames: ['route', 'status'],
    registers,
  })
  const times = new Histogram({
    name: 'pombo_http_answer_seconds',
    help: 'Time from the request line to the end of the answer.',
    labelNames: ['route'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers,
  })
  new Gauge({
    name: 'pombo_http_body_bytes_in_flight',
    help: 'Bytes of request bodies held.',
    registers,
    collect() {
      this.set(budget.heldBytes)
    },
  })

  type Route = { time: { observe(seconds: number): void }; byStatus: Map<number, { inc(): void }> }
  const routes = new Map<string, Route>()
  return {
    answered(route, status, seconds) {
      let known = routes.get(route)
      if (known === undefined) {
        known = { time: times.labels(route), byStatus: new Map() }
        routes.set(route, known)
      }
      let count = known.byStatus.get(status)
      if (count === undefined) {
        count = answers.labels(route, String(status))
        known.byStatus.set(status, count)
      }
      count.inc()
      known.time.observe(seconds)
    },
  }
}
