import { createServer } from 'node:http'
import { SMTPServer } from 'smtp-server'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../test/harness/database.ts'
import { makeCompany, type TestCompany } from '../../test/harness/factories.ts'
import { storeMessage } from '../../test/harness/messages.ts'
import type { DriverContext } from '../drivers/driver.ts'
import { smtp } from '../drivers/smtp/index.ts'
import { newId } from '../lib/ids.ts'
import { silentLog } from '../lib/log.ts'
import { createOutbound, readExceptions } from '../lib/outbound/index.ts'
import { UnavailableError } from '../lib/unavailable.ts'
import { clearAlert, databaseFolder, raiseAlert, removeAlertsBefore } from '../store/alerts.ts'
import type { Db } from '../store/db.ts'
import { ensurePartitions, partitionName } from '../store/partitions.ts'
import { diskOf, unlessDiskIsLow } from './guard-disk.ts'
import { watchDisk, watchLanes, watchPartitions } from './raise-alerts.ts'
import {
  createAlertEmail,
  createAlertWebhook,
  readSmtpUrl,
  tellAlerts,
  type AlertWays,
} from './tell-alerts.ts'

let database: TestDatabase
let db: Db
let company: TestCompany
let nowMs = Date.now()
const clock = { now: () => new Date(nowMs) }
const minutes = 60_000
const context = () => ({ db, clock, log: silentLog })

beforeAll(async () => {
  database = await createTestDatabase()
  db = database.db
  company = await makeCompany(db)
})
afterAll(() => database.drop())
beforeEach(async () => {
  nowMs = Date.now()
  await db.query('delete from alert')
  await db.query('delete from outbox')
})

const openAlerts = () =>
  db.query<{ kind: string; subject: string; message: string }>(
    'select kind, subject, message from alert where cleared_at is null order by kind, subject',
  )

describe('alerts are raised once and cleared when the cause is gone', () => {
  it('of a line whose messages wait too long, but not of what is deferred, young or under way', async () => {
    const wait = (ageMs: number, more = {}) =>
      storeMessage(db, company, {
        state: 'queued',
        outbox: { dueAt: new Date(nowMs - ageMs), ...more },
      })
    await wait(14 * minutes)
    await wait(60 * minutes, { isDeferred: true })
    await wait(60 * minutes, { epoch: 7 })
    await watchLanes(context(), 15 * minutes)
    expect(await openAlerts()).toEqual([])
    const old = await wait(16 * minutes)
    for (let time = 0; time < 2; time++) await watchLanes(context(), 15 * minutes)
    expect(await openAlerts()).toEqual([
      {
        kind: 'lane_too_old',
        subject: old.lineId,
        message: expect.stringMatching(/^Messages of line SMS wait since/),
      },
    ])
    await db.query('delete from outbox where message_id = $1', [old.id])
    await watchLanes(context(), 15 * minutes)
    expect(await openAlerts()).toEqual([])
  })

  it('of partitions: one that is missing, and rows that are in none', async () => {
    await watchPartitions(context())
    expect(await openAlerts()).toEqual([])
    const now = clock.now()
    const name = partitionName(
      'message_event',
      new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1)),
    )
    await db.query(`drop table ${name}`)
    const stray = 'ffffffff-ffff-7000-8000-000000000000'
    await db.query(`insert into message_event (message_id, at, kind, detail) values ($1, now(), 'x', '{}')`, [
      stray,
    ])
    await watchPartitions(context())
    expect(await openAlerts()).toMatchObject([
      { kind: 'partition_default', subject: 'message_event_default' },
      { kind: 'partition_missing', subject: name },
    ])
    await db.query('delete from message_event where message_id = $1', [stray])
    await ensurePartitions(db, now)
    await watchPartitions(context())
    expect(await openAlerts()).toEqual([])
  })

  it('of a disk, at twice the bound, for each node by itself', async () => {
    let free = 150
    const disk = (nodeName: string) => ({ nodeName, measure: async () => free, minFreeBytes: 100 })
    await watchDisk(context(), disk('a'))
    await watchDisk(context(), disk('b'))
    expect(await openAlerts()).toMatchObject([{ kind: 'disk_low', subject: 'a' }, { subject: 'b' }])
    free = 200
    await watchDisk(context(), disk('a'))
    expect(await openAlerts()).toMatchObject([{ subject: 'b' }])
  })

  it('history is kept for a while', async () => {
    await raiseAlert(db, { kind: 'x', subject: 'old', message: 'm' }, clock.now())
    await clearAlert(db, 'x', 'old', clock.now())
    await raiseAlert(db, { kind: 'x', subject: 'open', message: 'm' }, clock.now())
    await removeAlertsBefore(db, new Date(nowMs))
    expect(await db.query('select 1 from alert')).toHaveLength(2)
    await removeAlertsBefore(db, new Date(nowMs + 1))
    expect(await db.query('select subject from alert')).toEqual([{ subject: 'open' }])
  })
})

describe('the disk of a database on this machine', () => {
  it('is found by asking it, and measured', async () => {
    expect(await databaseFolder(db)).toMatch(/^\//)
    const free = await diskOf(db)()
    expect(free).toBeGreaterThan(0)
    expect(free).toBeLessThan(Infinity)
  })

  it('turns work away with 503 while it is low', async () => {
    let isLow = true
    const work = unlessDiskIsLow({ isLow: () => isLow }, async (text: string) => text.length)
    await expect(work('abc')).rejects.toThrow(UnavailableError)
    isLow = false
    expect(await work('abc')).toBe(3)
    expect(await unlessDiskIsLow(undefined, async () => 'fine')()).toBe('fine')
  })
})

type Posted = { id: string | undefined; body: { type: string; text: string; data: object } }

/** A receiver that answers as told. */
async function receiver(): Promise<{ url: string; posted: Posted[]; answer: { status: number } }> {
  const posted: Posted[] = []
  const answer = { status: 204 }
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const id = request.headers['webhook-id']
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a wrong shape fails the test
      const body = JSON.parse(Buffer.concat(chunks).toString()) as Posted['body']
      posted.push({ id: typeof id === 'string' ? id : undefined, body })
      response.writeHead(answer.status).end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return { url: `http://127.0.0.1:${port}/hook`, posted, answer }
}

function outboundTo(...exceptions: string[]) {
  const reading = readExceptions(exceptions)
  if (!reading.ok) throw new Error(reading.reason)
  const outbound = createOutbound({ exceptions: reading.exceptions })
  onTestFinished(() => outbound.close())
  return outbound
}

const webhookTo = (url: string): AlertWays => ({
  webhook: createAlertWebhook(outboundTo(`callbacks=${new URL(url).host}`), url),
})

const raise = (subject = newId()) =>
  raiseAlert(
    db,
    { companyId: company.id, kind: 'line_paused', subject, message: 'Line A is paused' },
    clock.now(),
  ).then(() => subject)

describe('telling', () => {
  it('by webhook: raised and cleared, each once, also with two workers at it', async () => {
    const { url, posted } = await receiver()
    const ways = webhookTo(url)
    const subject = await raise()
    for (let time = 0; time < 2; time++)
      await Promise.all([tellAlerts(context(), ways), tellAlerts(context(), ways)])
    expect(posted).toMatchObject([
      {
        body: {
          type: 'alert.raised',
          text: `Pombo: Line A is paused (company ${company.name})`,
          data: { kind: 'line_paused', subject, companyId: company.id, clearedAt: null },
        },
      },
    ])
    await clearAlert(db, 'line_paused', subject, clock.now())
    for (let time = 0; time < 2; time++) await tellAlerts(context(), ways)
    expect(posted.map(({ body }) => body.type)).toEqual(['alert.raised', 'alert.cleared'])
    expect(posted[0]!.id).toMatch(/-raised$/)
    expect(await db.query('select 1 from alert_notice')).toEqual([])
  })

  it('goes on with growing pauses under the same id until it is taken', async () => {
    const { url, posted, answer } = await receiver()
    const ways = webhookTo(url)
    answer.status = 500
    await raise()
    await tellAlerts(context(), ways)
    expect(await tellAlerts(context(), ways)).toBe(0)
    nowMs += minutes
    await tellAlerts(context(), ways)
    nowMs += minutes
    expect(await tellAlerts(context(), ways)).toBe(0)
    answer.status = 200
    nowMs += minutes
    expect(await tellAlerts(context(), ways)).toBe(1)
    expect(new Set(posted.map(({ id }) => id)).size).toBe(1)
    expect(posted).toHaveLength(3)
    nowMs += 60 * minutes
    expect(await tellAlerts(context(), ways)).toBe(0)
  })

  it('gives up in the end: a private address without exception is never called', async () => {
    const { url, posted } = await receiver()
    const ways = { webhook: createAlertWebhook(outboundTo(), url) }
    await raise()
    for (let time = 0; time < 10; time++) {
      await tellAlerts(context(), ways)
      nowMs += 24 * 60 * minutes
    }
    expect(await db.query('select 1 from alert_notice')).toEqual([])
    expect(posted).toEqual([])
  })

  it('what was over before anybody could be told is not told; neither is what was raised without any way', async () => {
    const { url, posted } = await receiver()
    const subject = await raise()
    await clearAlert(db, 'line_paused', subject, clock.now())
    await tellAlerts(context(), webhookTo(url))
    await raise()
    await tellAlerts(context(), {})
    await tellAlerts(context(), webhookTo(url))
    expect(posted).toEqual([])
  })

  it('by e-mail to everybody, by the mail server of the operator; a webhook that fails does not repeat it', async () => {
    const mails: { to: string; text: string; user: string }[] = []
    const server = new SMTPServer({
      disabledCommands: ['STARTTLS'],
      allowInsecureAuth: true,
      onAuth: ({ username, password }, _session, done) =>
        password === 'p w' ? done(null, { user: username }) : done(new Error('no')),
      onData(stream, session, done) {
        const chunks: Buffer[] = []
        stream.on('data', (chunk: Buffer) => chunks.push(chunk))
        stream.on('end', () => {
          const text = Buffer.concat(chunks).toString()
          mails.push({ to: session.envelope.rcptTo[0]!.address, text, user: String(session.user) })
          done()
        })
      },
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()))
    onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())))
    const address = server.server.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    const outbound = outboundTo(`brokers=127.0.0.1:${port}`)
    const driverContext: DriverContext = {
      clock,
      log: silentLog,
      report: async () => {},
      fetch: (url, request) => outbound.fetch('brokers', url, request),
      connect: (target) => outbound.connect('brokers', target),
    }
    const email = {
      smtpUrl: `smtp://ana:p%20w@127.0.0.1:${port}?security=none`,
      from: 'pombo@company.example',
      to: ['one@company.example', 'two@company.example'],
    }
    const { url, answer } = await receiver()
    answer.status = 500
    const ways = { ...webhookTo(url), email: createAlertEmail(smtp, driverContext, email) }
    await raise()
    await tellAlerts(context(), ways)
    nowMs += minutes
    await tellAlerts(context(), ways)
    expect(mails.map(({ to, user }) => [to, user])).toEqual([
      ['one@company.example', 'ana'],
      ['two@company.example', 'ana'],
    ])
    expect(mails[0]!.text).toContain('Subject: [Pombo] Alert: line_paused')
    expect(mails[0]!.text).toContain('Line A is paused')
    const wrong = createAlertEmail(smtp, driverContext, {
      ...email,
      smtpUrl: `smtp://ana:x@127.0.0.1:${port}?security=none`,
    })
    await raise()
    await tellAlerts(context(), { email: wrong })
    expect(await db.query(`select tries from alert_notice where way = 'email'`)).toEqual([{ tries: 1 }])
  })

  it.each([
    ['smtps://mail.example', { host: 'mail.example', port: 465, security: 'tls' }],
    ['smtp://mail.example', { host: 'mail.example', port: 587, security: 'starttls' }],
    ['smtp://[::1]:25?security=none', { host: '::1', port: 25, security: 'none' }],
  ])('reads %s', (url, settings) => expect(readSmtpUrl(url)).toMatchObject(settings))
})
