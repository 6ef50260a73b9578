import { expect, onTestFinished, test } from 'vitest'
import { testDatabase } from '../../test/harness/database.ts'
import { until } from '../../test/harness/http.ts'
import { silentLog } from '../lib/log.ts'
import type { Db } from '../store/db.ts'
import { createRateLimits, noRateLimits, type RateLimitSettings } from './limit-rates.ts'
import type { Sender } from './submission.ts'

const sender: Sender = { kind: 'api_user', id: 'u', companyId: 'c', tokenHash: '' }
let now = new Date('2026-11-15T12:00:00Z')
const clock = { now: () => now }

function createProcess(db: Db, settings: Partial<RateLimitSettings>) {
  const limits = createRateLimits(
    { db, clock, log: silentLog },
    { perCompany: 0, perToken: 0, perAddress: 0, ...settings },
  )
  onTestFinished(() => limits.close())
  return limits
}
const admitted = (times: number, admit: () => boolean) =>
  Array.from({ length: times }, admit).filter(Boolean).length

test('one process admits exactly the limit in each second', async () => {
  const { db } = await testDatabase()
  const limits = createProcess(db, { perCompany: 5 })
  expect(admitted(20, () => limits.admitSender(sender))).toBe(5)
  expect(limits.admitSender({ ...sender, companyId: 'other' })).toBe(true)
  now = new Date(now.getTime() + 1000)
  expect(admitted(20, () => limits.admitSender(sender))).toBe(5)
})

test('processes learn from each other within an exchange', async () => {
  const { db } = await testDatabase()
  const [here, there] = [createProcess(db, { perAddress: 100 }), createProcess(db, { perAddress: 100 })]
  expect(here.hasAddressLimit).toBe(true)
  expect(admitted(100, () => here.admitAddress('192.0.2.1'))).toBe(100)
  await until('the count of the first is stored', async () => {
    const [row] = await db.query<{ count: number }>('select count from rate_window')
    return row?.count === 100
  })
  expect(there.admitAddress('192.0.2.1')).toBe(true)
  await until('the second knows', () => !there.admitAddress('192.0.2.1'))
})

test('no limits, no work', async () => {
  const { db } = await testDatabase()
  expect(createProcess(db, {})).toBe(noRateLimits)
})
