/** The worker process: delivery, housekeeping, and the demo's sandbox. */
import os from 'node:os'
import { addressesOf } from '../flows/addresses.ts'
import { withDemoCatcher } from '../flows/demo/catcher.ts'
import { findDemoPeers, startDemoSandbox } from '../flows/demo/sandbox.ts'
import { housekeepingJobs } from '../flows/keep-house.ts'
import { queueCallbacks, queueReceived } from '../flows/queue-callbacks.ts'
import { createReportRecorder } from '../flows/record-reports.ts'
import { createOutbound } from '../lib/outbound/index.ts'
import { startCallbacks } from '../worker/callbacks.ts'
import { startDelivery } from '../worker/delivery.ts'
import { deliveryJobs } from '../worker/delivery-jobs.ts'
import { runJobs } from '../worker/jobs.ts'
import { outboundExceptions, type Part, type RoleContext } from './context.ts'

export async function startWorking(context: RoleContext): Promise<Part> {
  const { config, db, clock, log } = context
  const sandbox = config.isDemo ? await startDemoSandbox(context) : undefined
  const housekeeping = runJobs(housekeepingJobs({ db, clock, retentionMonths: config.retentionMonths }), log)
  const delivery = config.roles.includes('worker') ? await startDelivering(context) : undefined
  return {
    async stop() {
      await delivery?.stop()
      await housekeeping.close()
      await sandbox?.stop()
    },
  }
}

async function startDelivering(context: RoleContext): Promise<Part> {
  const { config, db, clock, log } = context
  // Line hosts on loopback are refused, but for the sandbox's own ports.
  const peers = config.isDemo ? await findDemoPeers(db) : []
  const allowed = outboundExceptions(
    config,
    peers.map((peer) => `brokers=${peer}`),
  )
  const catcher = config.isDemo ? await withDemoCatcher(allowed, context) : undefined
  const outbound = createOutbound({ exceptions: catcher?.exceptions ?? allowed })
  const told = { onChanged: queueCallbacks, onReceived: queueReceived }
  const recorder = createReportRecorder({ db, clock, log, ...told })
  const delivery = await startDelivery({
    ...context,
    outbound,
    publicUrl: addressesOf(config).unified,
    // One Pombo per data folder is held by a lock, so this names the node and nobody else.
    nodeName: `${os.hostname()}:${config.dataDir}`,
    report: (line, reports) => recorder.report(line, reports),
  })
  const callbacks = startCallbacks({ ...context, outbound })
  const jobs = runJobs(deliveryJobs({ db, clock, log, delivery, ...told }), log)
  return {
    async stop() {
      await jobs.close()
      await delivery.close()
      await recorder.drain()
      await callbacks.close()
      catcher?.close()
      await outbound.close()
    },
  }
}
