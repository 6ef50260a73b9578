/** The worker process: delivery, housekeeping, and the demo's sandbox. */
import os from 'node:os'
import { nodeName } from '../config.ts'
import type { DriverContext } from '../drivers/driver.ts'
import { findDriver } from '../drivers/registry.ts'
import { addressesOf } from '../flows/addresses.ts'
import { diskOf } from '../flows/guard-disk.ts'
import { createAlertEmail, createAlertWebhook, mailServerOf, type AlertWays } from '../flows/tell-alerts.ts'
import { withDemoCatcher } from '../flows/demo/catcher.ts'
import { findDemoPeers, startDemoSandbox } from '../flows/demo/sandbox.ts'
import { housekeepingJobs } from '../flows/keep-house.ts'
import { queueCallbacks, queueReceived } from '../flows/queue-callbacks.ts'
import { createReportRecorder } from '../flows/record-reports.ts'
import { createOutbound } from '../lib/outbound/index.ts'
import { createDb } from '../store/db.ts'
import { startCallbacks } from '../worker/callbacks.ts'
import { startDelivery } from '../worker/delivery.ts'
import { deliveryJobs } from '../worker/delivery-jobs.ts'
import { runJobs } from '../worker/jobs.ts'
import { watchJobs } from '../worker/watch.ts'
import { outboundExceptions, type Part, type RoleContext } from './context.ts'

export async function startWorking(context: RoleContext): Promise<Part> {
  const { config, db, clock, log } = context
  const sandbox = config.isDemo ? await startDemoSandbox(context) : undefined
  const watching = startWatching(context)
  const housekeeping = runJobs(housekeepingJobs({ db, clock, retentionMonths: config.retentionMonths }), log)
  const delivery = config.roles.includes('worker') ? await startDelivering(context) : undefined
  return {
    async stop() {
      await delivery?.stop()
      await housekeeping.close()
      await watching.stop()
      await sandbox?.stop()
    },
  }
}

/** One claims, two settle, one is for everything else of the lanes. */
const dispatchConnections = 4

/** Alerts leave by ways of their own: what they are about may be a line, or the guard of one. */
function startWatching({ config, db, clock, log }: RoleContext): Part {
  const { webhookUrl, email, maxLaneAgeMs } = config.alerts
  const outbound = createOutbound({
    exceptions: outboundExceptions(
      config,
      // The operator's own word, so it may be on this machine; for this purpose alone.
      email ? [`brokers=${mailServerOf(email.smtpUrl)}`] : [],
    ),
  })
  const driverContext: DriverContext = {
    clock,
    log,
    report: async () => {},
    fetch: (url, request) => outbound.fetch('brokers', url, request),
    connect: (target) => outbound.connect('brokers', target),
  }
  const ways: AlertWays = {
    ...(webhookUrl && { webhook: createAlertWebhook(outbound, webhookUrl) }),
    ...(email && { email: createAlertEmail(findDriver('smtp')!, driverContext, email) }),
  }
  const disk = {
    // The same after a restart, so that it can be cleared.
    nodeName: `${os.hostname()}:${config.dataDir}`,
    measure: diskOf(db),
    minFreeBytes: config.minFreeDiskBytes,
  }
  const jobs = runJobs(
    watchJobs({ db, clock, log, maxLaneAgeMs, ways, ...(config.minFreeDiskBytes > 0 && { disk }) }),
    log,
  )
  return {
    async stop() {
      await jobs.close()
      await outbound.close()
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
  // Their own connections: no slow job may keep an outcome or a report waiting, and nothing at all a heartbeat.
  const dispatch = { url: db.url, log, applicationName: 'pombo dispatch', isForLookups: true }
  const lanes = createDb({ ...dispatch, connections: dispatchConnections })
  const beats = createDb({ ...dispatch, connections: 1 })
  const reports = createDb({ ...dispatch, connections: 2, applicationName: 'pombo reports' })
  const recorder = createReportRecorder({ db: reports, clock, log, ...told })
  const delivery = await startDelivery({
    ...context,
    db: lanes,
    beats,
    outbound,
    publicUrl: addressesOf(config).unified,
    nodeName: nodeName(),
    drainMs: config.drainMs,
    report: (line, reports) => recorder.report(line, reports),
  })
  const callbacks = startCallbacks({ ...context, outbound })
  const jobs = runJobs(deliveryJobs({ db, clock, log, delivery, ...told }), log)
  return {
    async stop() {
      await jobs.close()
      await delivery.close()
      await lanes.close()
      await beats.close()
      await recorder.drain()
      await reports.close()
      await callbacks.close()
      catcher?.close()
      await outbound.close()
    },
  }
}
