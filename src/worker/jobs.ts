/** Small jobs that come round: each by itself, never two of the same at once, a fault costs one turn. */
import type { Log } from '../lib/log.ts'

export type Job = {
  name: string
  everyMs: number
  /** One that works through a backlog in bites asks before each: the process may be stopping. */
  run(stopping: AbortSignal): Promise<unknown>
}

export function runJobs(jobs: readonly Job[], log: Log): { close(): Promise<void> } {
  const running = new Set<Promise<unknown>>()
  const stopping = new AbortController()
  const timers = jobs.map((job) => {
    let isBusy = false
    const turn = () => {
      if (isBusy || stopping.signal.aborted) return
      isBusy = true
      const work = job
        .run(stopping.signal)
        .catch((error: unknown) =>
          log.warn({ err: error, job: job.name }, 'a job failed; it comes round again'),
        )
        .finally(() => {
          isBusy = false
          running.delete(work)
        })
      running.add(work)
    }
    turn()
    return setInterval(turn, job.everyMs)
  })
  return {
    async close() {
      stopping.abort()
      for (const timer of timers) clearInterval(timer)
      await Promise.all(running)
    },
  }
}
