/** Runs each task of the house at its pace, one at a time; a failed one is tried again at its next turn. */
import type { HousekeepingTask } from '../flows/keep-house.ts'
import type { Log } from '../lib/log.ts'

export type Housekeeping = { stop(): Promise<void> }

/** A task with a large backlog lets the others have their turn after this many bites. */
const bitesInARow = 20

export function startHousekeeping(tasks: readonly HousekeepingTask[], log: Log): Housekeeping {
  const dueAt = new Map(tasks.map((task) => [task, performance.now()]))
  let isStopping = false
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> = Promise.resolve()

  async function runDue(): Promise<void> {
    for (const task of tasks) {
      if (isStopping) return
      if (dueAt.get(task)! > performance.now()) continue
      let hasMore = true
      try {
        for (let bites = 0; hasMore && bites < bitesInARow && !isStopping; bites++) hasMore = await task.run()
      } catch (error) {
        hasMore = false
        log.warn({ err: error, task: task.name }, 'housekeeping failed and is tried again later')
      }
      dueAt.set(task, performance.now() + (hasMore ? 0 : task.everyMs))
    }
  }

  function schedule(): void {
    if (isStopping) return
    const waitMs = Math.max(0, Math.min(...dueAt.values()) - performance.now())
    timer = setTimeout(() => {
      running = runDue().then(schedule)
    }, waitMs)
  }

  schedule()
  return {
    async stop() {
      isStopping = true
      clearTimeout(timer)
      await running
    },
  }
}
