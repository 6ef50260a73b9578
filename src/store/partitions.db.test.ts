import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { testDatabase } from '../../test/harness/database.ts'
import { firstIdAt } from '../lib/ids.ts'
import {
  analyzeFilled,
  analyzeNewlyFilled,
  dropPartitionsBefore,
  ensurePartitions,
  forgetMessagesBefore,
} from './partitions.ts'

it('retention drops whole months, with what points into them, and keeps the rest', async () => {
  const { db } = await testDatabase()
  const old = new Date('2025-01-15T00:00:00Z')
  await ensurePartitions(db, old)
  const company = firstIdAt(old)
  await db.query(
    `insert into message_trouble (company_id, state, message_id) values ($1, 'failed', $2), ($1, 'failed', $3)`,
    [company, firstIdAt(old), firstIdAt(new Date('2025-03-02T00:00:00Z'))],
  )
  await db.query(
    `insert into outbox (message_id, company_id, line_id, contact_id, priority, due_at, expires_at, is_deferred)
     values ($1, $1, $1, $1, 2, now(), now(), true), ($2, $1, $1, $1, 2, now(), now(), true)`,
    [firstIdAt(old), firstIdAt(new Date('2025-03-02T00:00:00Z'))],
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
  expect(await forgetMessagesBefore(db, before, 100)).toBe(2)
  expect(await dropPartitionsBefore(db, before)).toEqual([])
  expect(await db.query('select 1 from message_trouble')).toHaveLength(1)
  expect(await db.query('select 1 from outbox')).toHaveLength(1)
})

it('a month that a wrong clock wrote into beforehand is made all the same, and takes what is its own', async () => {
  const { db } = await testDatabase()
  await ensurePartitions(db, new Date('2025-01-15T00:00:00Z'))
  const early = firstIdAt(new Date('2025-06-10T00:00:00Z'))
  const tooEarly = firstIdAt(new Date('2025-07-10T00:00:00Z'))
  for (const id of [early, tooEarly]) {
    await db.query(
      `insert into message (id, company_id, api, channel, state, recipient, request_id, content, priority, accepted_at, expires_at)
       values ($1, $2, 'direct', 'sms', 'failed', '1', 'r', '{}', 1, now(), now())`,
      [id, randomUUID()],
    )
    await db.query(`insert into message_event (message_id, at, kind) values ($1, now(), 'failed')`, [id])
  }
  await ensurePartitions(db, new Date('2025-03-15T00:00:00Z'))
  expect(await db.query('select id, tableoid::regclass::text as place from message order by id')).toEqual([
    { id: early, place: 'message_2025_06' },
    { id: tooEarly, place: 'message_default' },
  ])
  expect(await db.query('select message_id from message_event_2025_06')).toEqual([{ message_id: early }])
  // A partition like any other: the key, the trigger and the updates in place are there.
  await expect(db.query('insert into message select * from message where id = $1', [early])).rejects.toThrow(
    'duplicate key',
  )
  await db.query(`update message set state = 'unknown' where id = $1`, [early])
  expect(
    await db.query('select state from message_trouble where message_id = $1 order by 1', [early]),
  ).toEqual([{ state: 'failed' }, { state: 'unknown' }])
})

it('documents of a month are left out of the statistics, and its messages have room for their next version', async () => {
  const { db } = await testDatabase()
  await ensurePartitions(db, new Date('2025-01-15T00:00:00Z'))
  const rows = await db.query<{ name: string }>(
    `select c.relname || '.' || a.attname as name from pg_attribute a join pg_class c on c.oid = a.attrelid
      where c.relname in ('message_2025_01', 'message_event_2025_01') and a.attstattarget = 0 order by 1`,
  )
  expect(rows.map(({ name }) => name)).toEqual([
    'message_2025_01.acceptance',
    'message_2025_01.callback',
    'message_2025_01.content',
    'message_2025_01.reasons',
    'message_event_2025_01.detail',
  ])
  expect(await db.query(`select reloptions from pg_class where relname = 'message_2025_01'`)).toEqual([
    {
      reloptions: [
        'fillfactor=50',
        'autovacuum_analyze_threshold=50000',
        'autovacuum_analyze_scale_factor=0.2',
      ],
    },
  ])
})

it('a month that was analysed while it was empty is analysed again with its first rows', async () => {
  const { db } = await testDatabase()
  const now = new Date()
  await ensurePartitions(db, now)
  const known = async () =>
    (
      await db.query<{ reltuples: number }>(
        `select c.reltuples from pg_inherits i join pg_class c on c.oid = i.inhrelid
        where i.inhparent = 'message'::regclass order by 1 desc`,
      )
    ).map((row) => row.reltuples)
  // Never analysed: the planner assumes some pages.
  await analyzeFilled(db)
  expect(new Set(await known())).toEqual(new Set([-1]))
  await db.query('analyze message')
  await analyzeNewlyFilled(db)
  expect(new Set(await known())).toEqual(new Set([0]))
  await db.query(
    `insert into message (id, company_id, api, channel, state, recipient, request_id, content, priority, accepted_at, expires_at)
     values ($1, $2, 'direct', 'sms', 'failed', '1', 'r', '{}', 1, now(), now())`,
    [firstIdAt(now), randomUUID()],
  )
  await analyzeNewlyFilled(db)
  expect((await known())[0]).toBe(1)
})
