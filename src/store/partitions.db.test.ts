import { expect, it } from 'vitest'
import { testDatabase } from '../../test/harness/database.ts'
import { firstIdAt } from '../lib/ids.ts'
import { dropPartitionsBefore, ensurePartitions, forgetMessagesBefore } from './partitions.ts'

it('retention drops whole months, with what points into them, and keeps the rest', async () => {
  const { db } = await testDatabase()
  const old = new Date('2025-01-15T00:00:00Z')
  await ensurePartitions(db, old)
  const company = firstIdAt(old)
  await db.query(
    `insert into message_trouble (company_id, state, message_id) values ($1, 'failed', $2), ($1, 'failed', $3)`,
    [company, firstIdAt(old), firstIdAt(new Date('2025-03-02T00:00:00Z'))],
  )
  const before = new Date('2025-03-01T00:00:00Z')
  const dropped = await dropPartitionsBefore(db, before)
  expect(dropped.toSorted()).toEqual([
    'message_2024_12',
    'message_2025_01',
    'message_2025_02',
    'message_event_2024_12',
    'message_event_2025_01',
    'message_event_2025_02',
  ])
  expect(await forgetMessagesBefore(db, before, 100)).toBe(1)
  expect(await dropPartitionsBefore(db, before)).toEqual([])
  expect(await db.query('select 1 from message_trouble')).toHaveLength(1)
})
