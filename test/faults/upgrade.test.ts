/**
 * A database as an earlier Pombo made and filled it, taken over by this one while the earlier still writes. What it
 * writes stands here in full, with the tables and columns that it knew: it may not change with the program.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { silentLog } from '../../src/lib/log.ts'
import { newId } from '../../src/lib/ids.ts'
import { hashToken } from '../../src/lib/secrets.ts'
import type { Db, Queryable } from '../../src/store/db.ts'
import {
  compareMigrations,
  createSchema,
  migrate,
  programGeneration,
  readMigrations,
  SchemaTooNewError,
} from '../../src/store/migrate.ts'
import { ensurePartitions } from '../../src/store/partitions.ts'
import { testDatabase } from '../harness/database.ts'
import { testSealer } from '../harness/factories.ts'
import { request, until } from '../harness/http.ts'
import { startProgram } from '../harness/program.ts'
import { startSmsc } from '../harness/smsc.ts'

/** Up to here the earlier program knew the schema. */
const earlier = [
  { number: 1, name: '0001_foundation.sql' },
  { number: 2, name: '0002_sending.sql' },
  { number: 3, name: '0003_delivery.sql' },
  { number: 4, name: '0004_provider_reports.sql' },
  { number: 5, name: '0005_failover.sql' },
]

async function makeEarlierSchema(db: Db): Promise<void> {
  await db.query('drop schema public cascade')
  await db.query('create schema public')
  await db.transaction((connection) => createSchema(connection, earlier))
  await ensurePartitions(db, new Date())
}

type Earlier = { companyId: string; lineId: string; token: string; privateToken: string }

async function fill(db: Queryable, smscPort: number): Promise<Earlier> {
  const [companyId, userId, lineId] = [newId(), newId(), newId()]
  const [token, privateToken] = ['an-access-token-of-before', 'a-private-token-of-before']
  await db.query(
    `insert into company (id, name, name_key, private_token_sealed, private_token_hash, callback_secret_sealed)
      values ($1, 'Of before', 'of before', $2, $3, $2)`,
    [companyId, testSealer.seal(privateToken), hashToken(privateToken)],
  )
  await db.query(
    `insert into app_user (id, company_id, name, name_key, role, password_hash) values ($1, $2, 'sender', 'sender', 'api', 'none')`,
    [userId, companyId],
  )
  await db.query(
    `insert into api_token (user_id, company_id, hash, issued_at, expires_at) values ($1, $2, $3, now(), now() + interval '1 year')`,
    [userId, companyId, hashToken(token)],
  )
  await db.query(
    `insert into line (id, company_id, name, channel, country_code, phone_number, driver, settings, secrets_sealed, is_default, rate_per_second)
      values ($1, $2, 'SMS', 'sms', 55, 31987650001, 'smpp', $3, $4, true, 1000)`,
    [
      lineId,
      companyId,
      JSON.stringify({ host: '127.0.0.1', port: smscPort, systemId: 'before' }),
      testSealer.seal(JSON.stringify({ password: 'secret' })),
    ],
  )
  return { companyId, lineId, token, privateToken }
}

/** One message as the earlier program accepted it; its text is its id. */
async function acceptAsBefore(db: Queryable, { companyId, lineId }: Earlier): Promise<string> {
  const id = newId()
  await db.query(
    `with person as (
       insert into contact (id, company_id, phone, phone_key, last_interaction_at) values ($5, $2::uuid, $4::text, $4::text, now()) returning id
     ), stored as (
       insert into message (id, company_id, api, channel, state, contact_id, recipient, line_id, request_id, content, priority, accepted_at, expires_at)
       select $1::uuid, $2::uuid, 'unified', 'sms', 'queued', id, $4::text, $3::uuid, 'req_before',
         jsonb_build_object('kind', 'text', 'text', ($1::uuid)::text, 'files', '[]'::jsonb), 1, now(), now() + interval '1 day' from person
     ), told as (
       insert into message_event (message_id, at, kind, detail) values ($1::uuid, now(), 'accepted', '{}')
     ), counted as (
       insert into report_delta (company_id, hour, api, channel, line_id, outcome, count)
       values ($2::uuid, date_trunc('hour', now()), 'unified', 'sms', $3::uuid, 'accepted', 1)
     )
     insert into outbox (message_id, company_id, line_id, contact_id, priority, due_at, expires_at, is_deferred, is_pinned)
     select $1::uuid, $2::uuid, $3::uuid, id, 1, now(), now() + interval '1 day', false, false from person`,
    [id, companyId, lineId, `5531${id.slice(-9).replaceAll(/[a-f]/g, '7')}`, newId()],
  )
  return id
}

test('a database of an earlier program is taken over while that program still accepts: everything leaves, once', async () => {
  const { db, url } = await testDatabase()
  await makeEarlierSchema(db)
  const smsc = await startSmsc()
  const before = await fill(db, smsc.port)
  const ids: string[] = []
  for (let count = 0; count < 20; count++) ids.push(await acceptAsBefore(db, before))

  let isEnding = false
  const older = (async () => {
    while (!isEnding) {
      ids.push(await acceptAsBefore(db, before))
      await wait(10)
    }
  })()
  const program = await startProgram({
    env: {
      DATABASE_URL: url,
      POMBO_DEMO: 'false',
      POMBO_SEALING_KEY: '5'.repeat(64),
      POMBO_SERVING_PROCESSES: '1',
      POMBO_LOG_LEVEL: 'silent',
      POMBO_OUTBOUND_EXCEPTIONS: `brokers=127.0.0.1:${smsc.port}`,
    },
  })
  try {
    expect((await compareMigrations(await readMigrations(db))).pending).toEqual([])
    const whenNew = ids.length
    await until('the earlier program goes on', () => ids.length > whenNew + 10)
    isEnding = true
    await older
    const answer = await request(`${program.baseUrl}/v1/sendmessage`, {
      headers: { authorization: `Bearer ${before.token}` },
      body: {
        platformPrivateToken: before.privateToken,
        channel: 2,
        text: 'Of now',
        destination: { countryCode: 55, phoneNumber: 31988887777 },
      },
    })
    expect(answer.status, answer.text).toBe(200)
    await until('everything has left', () => smsc.taken.length > ids.length, 30_000)
    expect(smsc.taken.map(({ text }) => text).toSorted()).toEqual([...ids, 'Of now'].toSorted())
    await until('and is settled', async () => (await db.query('select 1 from outbox')).length === 0)
    expect(await db.query('select distinct state from message')).toEqual([{ state: 'sent' }])
  } finally {
    isEnding = true
    await program.stop()
    await smsc.close()
  }
})

test('no migration shuts out a program that is still supported, and one that does is obeyed', async () => {
  const { db } = await testDatabase()
  await makeEarlierSchema(db)
  await migrate(db, silentLog)
  const rows = await db.query<{ oldest: number }>(
    'select max(oldest_generation) as oldest from schema_migration',
  )
  expect(rows[0]!.oldest).toBeLessThanOrEqual(programGeneration)
  await db.query(
    `insert into schema_migration (number, name, oldest_generation) values (9999, 'of tomorrow.sql', $1)`,
    [programGeneration],
  )
  // Newer than this program, but still made for it.
  await migrate(db, silentLog)
  await db.query('update schema_migration set oldest_generation = $1 where number = 9999', [
    programGeneration + 1,
  ])
  await expect(migrate(db, silentLog)).rejects.toThrow(SchemaTooNewError)
})
