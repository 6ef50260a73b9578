/**
 * Delivery in a process of its own that a test may kill at any moment:
 * `node delivery-process.ts '{"databaseUrl": "...", "smscPort": 1, "name": "..."}'`. Says `ready`; SIGTERM drains.
 */
import { Registry } from 'prom-client'
import { createReportRecorder } from '../../src/flows/record-reports.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { createLog } from '../../src/lib/log.ts'
import { createOutbound, readExceptions } from '../../src/lib/outbound/index.ts'
import { createDb } from '../../src/store/db.ts'
import { startDelivery } from '../../src/worker/delivery.ts'
import { testSealer } from './factories.ts'

const { databaseUrl, smscPort, name } = JSON.parse(process.argv[2] ?? '{}') as Record<string, string>
const log = createLog('warn')
const db = createDb({ url: databaseUrl!, connections: 4, log, isForLookups: true })
const exceptions = readExceptions([`brokers=127.0.0.1:${smscPort}`])
if (!exceptions.ok) throw new Error(exceptions.reason)
const recorder = createReportRecorder({ db, clock: systemClock, log })
const delivery = await startDelivery({
  db,
  clock: systemClock,
  log,
  sealer: testSealer,
  outbound: createOutbound(exceptions),
  publicUrl: 'http://127.0.0.1:1',
  nodeName: name!,
  registry: new Registry(),
  report: (line, reports) => recorder.report(line, reports),
})
process.stdout.write('{"kind":"ready"}\n')
process.on('SIGTERM', () => {
  void (async () => {
    await delivery.close()
    await recorder.drain()
    await db.close()
    process.exit(0)
  })()
})
