/** The worker process: housekeeping, and the demo's sandbox. */
import { startDemoSandbox } from '../flows/demo/sandbox.ts'
import { housekeepingTasks } from '../flows/keep-house.ts'
import { startHousekeeping } from '../worker/housekeeping.ts'
import type { Part, RoleContext } from './context.ts'

export async function startWorking(context: RoleContext): Promise<Part> {
  const { db, clock, log } = context
  const sandbox = context.config.isDemo ? await startDemoSandbox(context) : undefined
  const housekeeping = startHousekeeping(housekeepingTasks({ db, clock, log }), log)
  return {
    async stop() {
      await housekeeping.stop()
      await sandbox?.stop()
    },
  }
}
