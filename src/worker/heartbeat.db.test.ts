import { Registry } from 'prom-client'
import { expect, onTestFinished, test } from 'vitest'
import { testDatabase } from '../../test/harness/database.ts'
import { testSealer } from '../../test/harness/factories.ts'
import { until } from '../../test/harness/http.ts'
import { systemClock } from '../lib/clock.ts'
import { silentLog } from '../lib/log.ts'
import { createOutbound } from '../lib/outbound/index.ts'
import { createDb } from '../store/db.ts'
import { startDelivery } from './delivery.ts'

test('the heart beats on while everything else of the lanes waits for a connection', async () => {
  const { db, url } = await testDatabase()
  const lanes = createDb({ url, connections: 1, log: silentLog })
  const beats = createDb({ url, connections: 1, log: silentLog })
  const outbound = createOutbound({ exceptions: { allows: () => false } })
  const delivery = await startDelivery({
    db: lanes,
    beats,
    clock: systemClock,
    log: silentLog,
    sealer: testSealer,
    outbound,
    publicUrl: 'http://127.0.0.1:1',
    nodeName: 'busy',
    registry: new Registry(),
    report: async () => {},
  })
  const held = await lanes.connect()
  onTestFinished(async () => {
    await delivery.close()
    await Promise.all([outbound.close(), lanes.close(), beats.close()])
  })
  const beatAt = async () =>
    (await db.query<{ at: string }>(`select beat_at::text as at from worker where name = 'busy'`))[0]?.at
  const before = await beatAt()
  expect(before).toBeDefined()
  await until('the next beat', async () => (await beatAt()) !== before)
  held.release()
})
