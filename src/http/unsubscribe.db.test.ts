import { createHash, randomBytes } from 'node:crypto'
import { Registry } from 'prom-client'
import { SMTPServer } from 'smtp-server'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../test/harness/database.ts'
import { makeCompany, testSealer, type TestCompany } from '../../test/harness/factories.ts'
import { request, until } from '../../test/harness/http.ts'
import { readEmail } from '../domain/address.ts'
import { createAcceptor } from '../flows/accept-message.ts'
import type { Sender } from '../flows/submission.ts'
import { createUnsubscribe, readUnsubscribeToken, writeUnsubscribeToken } from '../flows/unsubscribe.ts'
import { systemClock } from '../lib/clock.ts'
import { newId } from '../lib/ids.ts'
import { silentLog } from '../lib/log.ts'
import { createOutbound, readExceptions } from '../lib/outbound/index.ts'
import { createSealer } from '../lib/secrets.ts'
import { clearEmailBounced, findContactByEmail, setOptedOutChannels } from '../store/contacts.ts'
import type { Db } from '../store/db.ts'
import { changeLineSettings } from '../store/lines.ts'
import { readTimeline } from '../store/timeline.ts'
import { startDelivery } from '../worker/delivery.ts'
import { serve, testServerDeps } from './test-server.ts'
import { createUnsubscribeSurface } from './unsubscribe.ts'

let database: TestDatabase
let db: Db
let company: TestCompany
let sender: Sender

beforeAll(async () => {
  database = await createTestDatabase()
  db = database.db
  company = await makeCompany(db, testSealer, { name: `R&D <${randomBytes(4).toString('hex')}>` })
  const tokenHash = createHash('sha256').update(randomBytes(32)).digest()
  await db.query(
    `insert into api_token (user_id, company_id, hash, issued_at, expires_at) values ($1, $2, $3, now(), now() + interval '1 day')`,
    [company.apiUser.id, company.id, tokenHash],
  )
  sender = {
    kind: 'api_user',
    id: company.apiUser.id,
    companyId: company.id,
    tokenHash: tokenHash.toString('hex'),
  }
})
afterAll(() => database.drop())

/** A mail server that keeps what it takes, or refuses recipients with these words. */
async function mailServer(refusal?: { responseCode: number; message: string }) {
  const mails: string[] = []
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    onRcptTo: (_address, _session, done) =>
      refusal
        ? done(Object.assign(new Error(refusal.message), { responseCode: refusal.responseCode }))
        : done(),
    onData(stream, _session, done) {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        mails.push(Buffer.concat(chunks).toString())
        done()
      })
    },
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()))
  onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())))
  const address = server.server.address()
  return { port: typeof address === 'object' && address !== null ? address.port : 0, mails }
}

async function startWorker(port: number, settings: object = {}, publicUrl = 'https://pombo.example') {
  const given = { host: '127.0.0.1', port, security: 'none', hasUnsubscribe: true, ...settings }
  await changeLineSettings(db, testSealer, company.id, company.lines.email[0]!.id, given, ['password'])
  const exceptions = readExceptions([`brokers=127.0.0.1:${port}`])
  if (!exceptions.ok) throw new Error(exceptions.reason)
  const outbound = createOutbound({ exceptions: exceptions.exceptions })
  const delivery = await startDelivery({
    db,
    clock: systemClock,
    log: silentLog,
    sealer: testSealer,
    outbound,
    publicUrl,
    nodeName: `test ${randomBytes(4).toString('hex')}`,
    registry: new Registry(),
    report: async () => {},
  })
  onTestFinished(async () => {
    await delivery.close()
    await outbound.close()
  })
  return delivery
}

async function accept(to: string) {
  const reading = readEmail(to)
  if (!reading.ok) throw new Error(reading.reason)
  const acceptor = createAcceptor({ db, clock: systemClock, log: silentLog })
  return await acceptor.accept({
    sender,
    requestId: `req_${randomBytes(8).toString('hex')}`,
    isDryRun: false,
    request: {
      api: 'unified',
      channel: 'email',
      recipient: { kind: 'email', email: reading.email },
      subject: 'News',
      what: { kind: 'text', text: 'Hello', files: [] },
      line: { kind: 'default', mayFailOver: true },
      recentContactLastHours: 0,
      isDiscardedInAttendance: false,
      contact: { updateIfExists: false },
      isFlash: false,
    },
  })
}

const randomAddress = () => `Ana.${randomBytes(5).toString('hex')}@people.example`
const reasonsOf = (outcome: Awaited<ReturnType<typeof accept>>) =>
  outcome.kind === 'refused' ? outcome.verdicts.flatMap(({ reason }) => reason ?? []) : outcome.kind

async function startServer(sealer = testSealer): Promise<string> {
  const deps = testServerDeps()
  const { budget } = deps
  const surface = createUnsubscribeSurface({
    budget,
    ...createUnsubscribe({ db, sealer, clock: systemClock, log: silentLog }),
  })
  const { addresses } = await serve({ main: [surface] }, deps)
  return addresses.main
}

const oneClick = { 'content-type': 'application/x-www-form-urlencoded' }

describe('unsubscribing', () => {
  test('by one click: the address in the mail ends e-mail, and only that', async () => {
    const { port, mails } = await mailServer()
    await startWorker(port)
    const base = await startServer()
    const to = randomAddress()
    const accepted = await accept(to)
    if (accepted.kind !== 'accepted') throw new Error(accepted.kind)
    await until('the mail is there', () => mails.length === 1)
    const [, path] = /^List-Unsubscribe: <https:\/\/pombo\.example(\/unsubscribe\/[\w-]+)>\r$/m.exec(
      mails[0]!,
    )!
    expect(mails[0]).toMatch(/^List-Unsubscribe-Post: List-Unsubscribe=One-Click\r$/m)

    const channels = async () =>
      (await findContactByEmail(db, company.id, to.toLowerCase()))!.optedOutChannels
    const page = await request(base + path!)
    expect(page).toMatchObject({ status: 200, headers: { 'content-type': 'text/html; charset=utf-8' } })
    expect(page.text).toContain('R&#38;D &#60;')
    expect(await channels()).toEqual([])

    for (let time = 0; time < 2; time++) {
      const answer = await request(base + path!, {
        method: 'POST',
        headers: oneClick,
        body: 'List-Unsubscribe=One-Click',
      })
      expect(answer.status).toBe(200)
      expect(answer.headers).not.toHaveProperty('set-cookie')
      expect(answer.headers).not.toHaveProperty('location')
      expect(await channels()).toEqual(['email'])
    }
    expect(reasonsOf(await accept(to))).toEqual(['recipient has opted out of e-mail'])
    const timeline = await readTimeline(db, company.id, accepted.messageId!)
    expect(timeline?.events.filter(({ kind }) => kind === 'unsubscribed')).toHaveLength(1)
  })

  test('a form of several parts, an empty body, and a contact that is gone are answered alike', async () => {
    const base = await startServer()
    const named = { companyId: company.id, contactId: newId(), messageId: newId() }
    const url = `${base}/unsubscribe/${writeUnsubscribeToken(testSealer, named)}`
    const parts =
      '--x\r\nContent-Disposition: form-data; name="List-Unsubscribe"\r\n\r\nOne-Click\r\n--x--\r\n'
    const headers = { 'content-type': 'multipart/form-data; boundary=x' }
    expect(await request(url, { method: 'POST', headers, body: parts })).toMatchObject({ status: 200 })
    expect(await request(url, { method: 'POST' })).toMatchObject({ status: 200 })
    expect(await request(url, { method: 'POST', headers, body: 'x'.repeat(70_000) })).toMatchObject({
      status: 413,
    })
    expect(await request(url, { method: 'DELETE' })).toMatchObject({ status: 404 })
  })

  test('a token that was guessed, cut, changed or sealed by another key has no effect', async () => {
    const base = await startServer()
    const to = randomAddress()
    await accept(to)
    const contact = (await findContactByEmail(db, company.id, to.toLowerCase()))!
    const named = { companyId: company.id, contactId: contact.id, messageId: newId() }
    const right = writeUnsubscribeToken(testSealer, named)
    const other = Buffer.from(right, 'base64url')
    other[20]! ^= 1
    const tokens = [
      'x',
      right.slice(0, -2),
      `${right}AA`,
      `${right}=`,
      other.toString('base64url'),
      writeUnsubscribeToken(createSealer('6'.repeat(64)), named),
      randomBytes(64).toString('base64url'),
    ]
    for (const token of tokens)
      for (const method of ['GET', 'POST'])
        expect(await request(`${base}/unsubscribe/${token}`, { method })).toMatchObject({ status: 404 })
    expect((await findContactByEmail(db, company.id, to.toLowerCase()))!.optedOutChannels).toEqual([])
    expect(readUnsubscribeToken(testSealer, right)).toEqual(named)
    // The ids of another company with a true proof: no query crosses companies.
    const strangers = { ...named, companyId: (await makeCompany(db)).id }
    const crossed = `${base}/unsubscribe/${writeUnsubscribeToken(testSealer, strangers)}`
    expect(await request(crossed, { method: 'POST' })).toMatchObject({ status: 200 })
    expect((await findContactByEmail(db, company.id, to.toLowerCase()))!.optedOutChannels).toEqual([])
  })

  test.each([
    ['a line without the setting', { hasUnsubscribe: false }, 'https://pombo.example'],
    ['an installation without https', {}, 'http://127.0.0.1:8080'],
  ])('%s sends no such address', async (_, settings, publicUrl) => {
    const { port, mails } = await mailServer()
    await startWorker(port, settings, publicUrl)
    await accept(randomAddress())
    await until('the mail is there', () => mails.length === 1)
    expect(mails[0]).not.toContain('List-Unsubscribe')
  })
})

describe('a bounce', () => {
  test.each(['5.1.1 No such user', '5.1.10 Recipient not found'])(
    '%s marks the address: nothing more is sent there until a person clears it',
    async (message) => {
      const { port } = await mailServer({ responseCode: 550, message })
      await startWorker(port)
      const to = randomAddress()
      expect(await accept(to)).toMatchObject({ kind: 'accepted' })
      const bounced = () => findContactByEmail(db, company.id, to.toLowerCase())
      await until('the contact is marked', async () => (await bounced())?.emailBouncedAt)
      const contact = (await bounced())!
      const day = contact.emailBouncedAt!.toISOString().slice(0, 10)
      expect(reasonsOf(await accept(to))).toEqual([
        `e-mail address of the recipient does not exist (bounced on ${day})`,
      ])
      expect(await clearEmailBounced(db, company.id, contact.id)).toMatchObject({ emailBouncedAt: null })
      expect(await accept(to)).toMatchObject({ kind: 'accepted' })
    },
  )

  test.each(['5.2.2 Mailbox full', '5.7.1 Blocked'])('%s marks nothing', async (message) => {
    const { port } = await mailServer({ responseCode: 550, message })
    await startWorker(port)
    const to = randomAddress()
    const accepted = await accept(to)
    if (accepted.kind !== 'accepted') throw new Error(accepted.kind)
    await until('it failed', async () => {
      const timeline = await readTimeline(db, company.id, accepted.messageId!)
      return timeline?.state === 'failed'
    })
    const contact = (await findContactByEmail(db, company.id, to.toLowerCase()))!
    expect(contact).toMatchObject({ emailBouncedAt: null, optedOutChannels: [] })
    await setOptedOutChannels(db, company.id, contact.id, ['sms'])
    expect(await accept(to)).toMatchObject({ kind: 'accepted' })
  })
})
