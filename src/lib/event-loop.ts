/** The event loop of this process, for operators. */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { Gauge, type Registry } from 'prom-client'

const delayResolutionMs = 10

/**
 * How late a process comes to what is due, since it was last asked. Of several processes of one kind the slowest
 * counts: sums of delays mean nothing.
 */
export function measureEventLoop(registry: Registry, process: string): void {
  const delays = monitorEventLoopDelay({ resolution: delayResolutionMs })
  delays.enable()
  // The histogram holds whole intervals; what is more than its own is the delay.
  const seconds = (nanoseconds: number) => Math.max(0, nanoseconds / 1e6 - delayResolutionMs) / 1000
  new Gauge({
    name: 'pombo_event_loop_delay_seconds',
    help: 'Delay of the event loop since the last collection, in the slowest process of a kind.',
    labelNames: ['process', 'quantile'],
    aggregator: 'max',
    registers: [registry],
    collect() {
      const isMeasured = delays.count > 0
      for (const quantile of [0.5, 0.99, 1])
        this.set(
          { process, quantile: String(quantile) },
          isMeasured ? seconds(delays.percentile(quantile * 100)) : 0,
        )
      delays.reset()
    },
  })
}
