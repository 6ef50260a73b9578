/** The worker process: housekeeping, and the demo's sandbox. */
import { startDemoSandbox } from '../flows/demo/sandbox.ts'
import { housekeepingJobs } from '../flows/keep-house.ts'
import { runJobs } from '../worker/jobs.ts'
import type { Part, RoleContext } from './context.ts'

export async function startWorking(context: RoleContext): Promise<Part> {
  const { db, clock, log } = context
  const sandbox = context.config.isDemo ? await startDemoSandbox(context) : undefined
  const housekeeping = runJobs(housekeepingJobs({ db, clock }), log)
  return {
    async stop() {
      await housekeeping.close()
      await sandbox?.stop()
    },
  }
}
