/** The event-loop delay that the processes of Pombo themselves report. */
export async function eventLoopDelays(port: number): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}/metrics`, { signal: AbortSignal.timeout(10_000) })
  return describeDelays(await response.text())
}

/** `serve p99 3.1 ms, longest 12 ms; worker …` */
export function describeDelays(metrics: string): string {
  const found = new Map<string, Map<string, number>>()
  const line = /^pombo_event_loop_delay_seconds\{([^}]*)\} (\S+)$/gm
  for (const [, labels = '', value] of metrics.matchAll(line)) {
    const label = (name: string) => new RegExp(`${name}="([^"]*)"`).exec(labels)?.[1] ?? ''
    const ofProcess = found.get(label('process')) ?? new Map<string, number>()
    found.set(label('process'), ofProcess.set(label('quantile'), Number(value) * 1000))
  }
  if (found.size === 0) return 'not told by this Pombo'
  const show = (ms: number | undefined) => (ms === undefined ? '–' : `${ms.toFixed(1)} ms`)
  return [...found]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(
      ([process, delays]) =>
        `${process} p50 ${show(delays.get('0.5'))}, p99 ${show(delays.get('0.99'))}, longest ${show(delays.get('1'))}`,
    )
    .join('; ')
}
