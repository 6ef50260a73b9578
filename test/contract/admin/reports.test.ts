/** Reports from counters, folded or not, and live pages. */
import http from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { latencyBucket, latencyBucketEndMs } from '../../../src/domain/latency.ts'
import { showId } from '../../../src/lib/ids.ts'
import { foldReportDeltas } from '../../../src/store/housekeeping.ts'
import type { App } from '../../harness/app.ts'
import type { TestCompany } from '../../harness/factories.ts'
import { until } from '../../harness/http.ts'
import { storeMessage } from '../../harness/messages.ts'
import { base, signInAs, startAdmin, type Client } from './support.ts'

let app: App
let company: TestCompany
let client: Client

beforeAll(async () => {
  app = await startAdmin()
  company = await app.makeCompany({ timeZone: 'America/Sao_Paulo' })
  client = (await signInAs(app, company, 'viewer')).client
})
afterAll(() => app.stop())

type Delta = { hour: string; channel?: string; outcome: string; bucket?: number; count: number }

const count = (of: TestCompany, delta: Delta) =>
  app.db.query(
    `insert into report_delta (company_id, hour, api, channel, line_id, outcome, latency_bucket, count)
      values ($1, $2, 'unified', $3, $4, $5, $6, $7)`,
    [
      of.id,
      delta.hour,
      delta.channel ?? 'sms',
      of.lines.sms[0]!.id,
      delta.outcome,
      delta.bucket,
      delta.count,
    ],
  )

const rows = async (query: string) => {
  const answer = await client.get(`/reports?from=2026-10-01&to=2026-10-10&${query}`)
  expect(answer.status, answer.text).toBe(200)
  return answer.body['rows'] as Record<string, unknown>[]
}

test('counts by any dimension, in days of the company, the same before and after folding', async () => {
  const other = await app.makeCompany()
  // 01:00 in UTC is the evening before in São Paulo.
  await count(company, { hour: '2026-10-03T01:00:00Z', outcome: 'queued', count: 5 })
  await count(company, { hour: '2026-10-03T12:00:00Z', outcome: 'queued', count: 7 })
  await count(company, { hour: '2026-10-03T12:00:00Z', channel: 'email', outcome: 'queued', count: 2 })
  for (const ms of [1000, 1000, 1000, 60_000])
    await count(company, {
      hour: '2026-10-03T12:00:00Z',
      outcome: 'delivered',
      bucket: latencyBucket(ms),
      count: 1,
    })
  await count(other, { hour: '2026-10-03T12:00:00Z', outcome: 'queued', count: 1000 })
  await count(company, { hour: '2026-11-03T12:00:00Z', outcome: 'queued', count: 99 })
  const look = async () => ({
    days: await rows('groupBy=day'),
    channels: await rows('groupBy=channel,outcome'),
    lines: await rows(`groupBy=line&lineId=${showId('lin', company.lines.sms[0]!.id)}&channel=sms`),
  })
  const before = await look()
  expect(before.days).toEqual([
    { of: { day: '2026-10-02' }, counts: { queued: 5 } },
    {
      of: { day: '2026-10-03' },
      counts: { queued: 9, delivered: 4 },
      medianMs: Math.round(latencyBucketEndMs(latencyBucket(1000))),
      p95Ms: Math.round(latencyBucketEndMs(latencyBucket(60_000))),
      p99Ms: Math.round(latencyBucketEndMs(latencyBucket(60_000))),
    },
  ])
  expect(before.channels.map(({ of }) => of)).toEqual([
    { channel: 'email', outcome: 'queued' },
    { channel: 'sms', outcome: 'delivered' },
    { channel: 'sms', outcome: 'queued' },
  ])
  expect(before.lines).toMatchObject([
    { of: { line: showId('lin', company.lines.sms[0]!.id) }, counts: { queued: 12, delivered: 4 } },
  ])
  await foldReportDeltas(app.db, 3)
  expect(await look()).toEqual(before)
  while ((await foldReportDeltas(app.db, 100)) > 0);
  expect(await app.db.query('select 1 from report_delta')).toEqual([])
  expect(await look()).toEqual(before)
  // A second round of the same hour and bucket adds up.
  await count(company, {
    hour: '2026-10-03T12:00:00Z',
    outcome: 'delivered',
    bucket: latencyBucket(1000),
    count: 1,
  })
  await foldReportDeltas(app.db, 100)
  expect(
    (await rows('groupBy=outcome')).find(({ of }) => (of as { outcome: string }).outcome === 'delivered'),
  ).toMatchObject({ counts: { delivered: 5 } })
})

test('all rows add up to a total, and lines are named', async () => {
  const lineId = showId('lin', company.lines.sms[0]!.id)
  const { body } = await client.get('/reports?from=2026-10-01&to=2026-10-10&groupBy=day,line')
  expect(body['total']).toMatchObject({ of: {}, counts: { queued: 14, delivered: 5 } })
  expect(body['total']).toHaveProperty('p95Ms')
  const [line] = await app.db.query<{ name: string }>('select name from line where id = $1', [
    company.lines.sms[0]!.id,
  ])
  expect(body['names']).toEqual({ [lineId]: line!.name })
})

test('as CSV, and with ranges that make no sense refused', async () => {
  const file = await client.get('/reports?from=2026-10-01&to=2026-10-10&groupBy=day&isCsv=true')
  const [header, first] = file.text.split('\r\n')
  expect(header).toMatch(/^day,queued,sending,sent,delivered,.*,median_ms,p95_ms,p99_ms$/)
  expect(first).toMatch(/^2026-10-02,5,0,0,0,/)
  for (const query of ['from=2026-10-10&to=2026-10-01', 'from=2000-01-01&to=2026-10-01', 'groupBy=weather']) {
    const answer = await client.get(`/reports?${query}`)
    expect(answer.status, query).toBe(400)
  }
})

function listen(query: string): { text(): string; close(): void } {
  let text = ''
  const call = http.get(
    `${app.url}${base}/events${query}`,
    { headers: { cookie: client.cookie } },
    (response) => {
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => (text += chunk))
    },
  )
  call.on('error', () => {})
  return { text: () => text, close: () => call.destroy() }
}

test('live pages are told of new messages, outcomes, watched states and lanes, of their company only', async () => {
  const other = await app.makeCompany()
  const watched = await storeMessage(app.db, company, { state: 'sent' })
  const stream = listen(`?watch=${showId('msg', watched.id)}`)
  await until(
    'lanes and the state are told',
    () => stream.text().includes('event: lane') && stream.text().includes('event: state'),
  )
  const fresh = await storeMessage(app.db, company, { state: 'queued' })
  const foreign = await storeMessage(app.db, other, { state: 'queued' })
  await count(company, { hour: '2026-10-05T12:00:00Z', outcome: 'delivered', count: 3 })
  await app.db.query(`update message set state = 'delivered' where id = $1`, [watched.id])
  await until(
    'all of it is told',
    () =>
      stream.text().includes(`"${showId('msg', fresh.id)}"`) &&
      stream.text().includes(`{"id":"${showId('msg', watched.id)}","state":"delivered"}`) &&
      stream.text().includes('"outcome":"delivered","count":3'),
  )
  expect(stream.text()).not.toContain(showId('msg', foreign.id))
  expect(stream.text()).not.toContain(showId('lin', other.lines.sms[0]!.id))
  stream.close()
})

test('however many pages listen, the database is asked once a second; with none, not at all', async () => {
  const streams = Array.from({ length: 20 }, () => listen(''))
  await until('all are told', () => streams.every((stream) => stream.text().includes('event: lane')))
  const { db } = app.nodes[0]!
  const before = db.roundTrips
  const startedAt = performance.now()
  await until('two rounds went by', () => db.roundTrips - before >= 6)
  const seconds = (performance.now() - startedAt) / 1000
  expect((db.roundTrips - before) / Math.max(1, seconds)).toBeLessThan(12)
  for (const stream of streams) stream.close()
})
