import { randomBytes, randomUUID } from 'node:crypto'
import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../test/harness/database.ts'
import { makeCompany, makeContact, randomMobile, type TestCompany } from '../../test/harness/factories.ts'
import type { InboundMessage, LineReport } from '../drivers/driver.ts'
import { silentLog } from '../lib/log.ts'
import { getOpenAttendance, openAttendance } from '../store/attendances.ts'
import { findContactByPhone, getContact } from '../store/contacts.ts'
import { createDb, type Db } from '../store/db.ts'
import { readFile } from '../store/files.ts'
import { listInbound } from '../store/timeline.ts'
import { fetchInboundMedia } from './fetch-inbound-media.ts'
import { giveUpParts, receiveInbound, type InboundContext, type InboundEntry } from './receive-inbound.ts'
import { createReportRecorder, recordReports } from './record-reports.ts'

let database: TestDatabase
let db: Db
let company: TestCompany
let nowMs = Date.now()
const clock = { now: () => new Date(nowMs) }
let context: InboundContext

beforeAll(async () => {
  database = await createTestDatabase()
  db = database.db
  company = await makeCompany(db)
  context = { db, clock, log: silentLog }
})
afterAll(() => database.drop())

const from = (
  sender: string | undefined,
  text: string,
  more: Partial<InboundMessage> = {},
  channel: 'sms' | 'whatsapp' = 'sms',
): InboundEntry => ({
  lineId: company.lines[channel][0]!.id,
  companyId: company.id,
  receivedAt: clock.now(),
  message: {
    providerId: randomUUID(),
    from: sender,
    text,
    at: clock.now(),
    media: [],
    kind: 'text',
    ...more,
  },
})

const windowOf = (contactId: string) =>
  db.query<{ lineId: string; at: Date }>(
    'select line_id as "lineId", received_at as at from contact_window where contact_id = $1',
    [contactId],
  )

describe('a received message', () => {
  it('creates the person, opens the window of its line, and is an interaction', async () => {
    const number = randomMobile()
    const entry = from(number, 'Hello', { profileName: 'Ana' }, 'whatsapp')
    expect(await receiveInbound(context, [entry])).toHaveLength(1)
    const contact = await findContactByPhone(db, company.id, number)
    expect(contact).toMatchObject({ name: 'Ana', phone: `+${number}`, lastInteractionAt: clock.now() })
    expect(await windowOf(contact!.id)).toEqual([{ lineId: entry.lineId, at: clock.now() }])
    expect(await listInbound(db, company.id, contact!.id, { limit: 10 })).toMatchObject([{ text: 'Hello' }])
  })

  it('finds a Brazilian mobile by its eight-digit form', async () => {
    const number = `5531998${randomBytes(3).readUIntBE(0, 3).toString().padStart(8, '0').slice(-6)}`
    const contact = await makeContact(db, company.id, { phone: number })
    await receiveInbound(context, [from(`${number.slice(0, 4)}${number.slice(5)}`, 'Hi', {}, 'whatsapp')])
    expect(await windowOf(contact.id)).toHaveLength(1)
  })

  it('that is repeated, also from two nodes at once, is stored once and without a second effect', async () => {
    const number = randomMobile()
    const entry = from(number, 'stop')
    const other = createDb({ url: database.url, connections: 4, log: silentLog })
    const stored = await Promise.all([
      ...Array.from({ length: 4 }, () => receiveInbound(context, [entry, entry])),
      ...Array.from({ length: 4 }, () => receiveInbound({ ...context, db: other }, [entry])),
    ])
    await other.close()
    expect(stored.flat()).toHaveLength(1)
    const contact = await findContactByPhone(db, company.id, number)
    await db.query("update contact set opted_out_channels = '{}' where id = $1", [contact!.id])
    await receiveInbound(context, [entry])
    expect((await getContact(db, company.id, contact!.id))!.optedOutChannels).toEqual([])
  })

  it('that is old shortens no window, and one from the future opens none into it', async () => {
    const number = randomMobile()
    await receiveInbound(context, [from(number, 'now', {}, 'whatsapp')])
    await receiveInbound(context, [
      from(number, 'old', { at: new Date(nowMs - 3_600_000) }, 'whatsapp'),
      from(number, 'odd', { at: new Date(nowMs + 3_600_000) }, 'whatsapp'),
    ])
    const contact = await findContactByPhone(db, company.id, number)
    expect(await windowOf(contact!.id)).toMatchObject([{ at: clock.now() }])
  })

  it('keeps an attendance alive, but does not bring back one that was idle too long', async () => {
    const [alive, idle] = [await makeContact(db, company.id), await makeContact(db, company.id)]
    const userId = company.attendant.id
    await openAttendance(db, company.id, {
      contactId: alive.id,
      userId,
      at: new Date(nowMs - 23 * 3_600_000),
    })
    await openAttendance(db, company.id, { contactId: idle.id, userId, at: new Date(nowMs - 25 * 3_600_000) })
    await receiveInbound(context, [from(alive.phone!, 'hi'), from(idle.phone!, 'hi')])
    const later = new Date(nowMs + 3 * 3_600_000)
    expect(await getOpenAttendance(db, company.id, alive.id, later)).toMatchObject({ activeAt: clock.now() })
    expect(await getOpenAttendance(db, company.id, idle.id, clock.now())).toBeUndefined()
  })

  it('from many people at once, some of them new, on four connections: no deadlock, everyone once', async () => {
    const numbers = Array.from({ length: 30 }, randomMobile)
    const rounds = Array.from({ length: 8 }, () =>
      numbers.toSorted(() => Math.random() - 0.5).map((number) => from(number, 'hello', {}, 'whatsapp')),
    )
    const stored = await Promise.all(rounds.map((entries) => receiveInbound(context, entries)))
    expect(stored.flat()).toHaveLength(240)
    expect(
      await db.query('select 1 from contact where company_id = $1 and phone_key = any($2)', [
        company.id,
        numbers,
      ]),
    ).toHaveLength(30)
  })
})

describe('a sender without a number', () => {
  it('is found by an id that came with the number once; what came before joins the conversation', async () => {
    const number = randomMobile()
    const userId = `BR.${randomBytes(8).toString('hex')}`
    const unknown = await receiveInbound(context, [from(undefined, 'who am I?', { userId }, 'whatsapp')])
    expect(unknown).toMatchObject([{ contact_id: null }])
    await receiveInbound(context, [from(number, 'it is me', { userId }, 'whatsapp')])
    await receiveInbound(context, [from(undefined, 'me again', { userId }, 'whatsapp')])
    const contact = await findContactByPhone(db, company.id, number)
    const texts = (await listInbound(db, company.id, contact!.id, { limit: 10 })).map(({ text }) => text)
    expect(texts.toSorted()).toEqual(['it is me', 'me again', 'who am I?'])
  })

  it('and a short code are kept, and are nobody', async () => {
    const stored = await receiveInbound(context, [from('27182', 'Your balance'), from(undefined, 'hm')])
    expect(stored.map((row) => row.contact_id)).toEqual([null, null])
  })
})

describe('stop words', () => {
  it('opt out of SMS and in again, the last word of a batch counting', async () => {
    const contact = await makeContact(db, company.id)
    const optedOut = async () => (await getContact(db, company.id, contact.id))!.optedOutChannels
    await receiveInbound(context, [from(contact.phone!, 'Sair.')])
    expect(await optedOut()).toEqual(['sms'])
    await receiveInbound(context, [from(contact.phone!, 'START'), from(contact.phone!, 'thanks')])
    expect(await optedOut()).toEqual([])
    await receiveInbound(context, [from(contact.phone!, 'start'), from(contact.phone!, 'PARE')])
    expect(await optedOut()).toEqual(['sms'])
  })

  it('mean nothing on WhatsApp, and are the company’s own where it has some', async () => {
    const contact = await makeContact(db, company.id)
    await receiveInbound(context, [from(contact.phone!, 'STOP', {}, 'whatsapp')])
    expect((await getContact(db, company.id, contact.id))!.optedOutChannels).toEqual([])
    const own = await makeCompany(db)
    await db.query("update company set sms_stop_words = '{basta}' where id = $1", [own.id])
    const person = await makeContact(db, own.id)
    const say = (text: string) =>
      receiveInbound(context, [
        { ...from(person.phone!, text), companyId: own.id, lineId: own.lines.sms[0]!.id },
      ])
    await say('STOP')
    expect((await getContact(db, own.id, person.id))!.optedOutChannels).toEqual([])
    await say('Basta!')
    expect((await getContact(db, own.id, person.id))!.optedOutChannels).toEqual(['sms'])
  })
})

describe('parts of a longer SMS', () => {
  const text = 'All that there is to say about the matter, in parts.'
  const partsOf = (number: string, reference: number, total: number): InboundEntry[] =>
    Array.from({ length: total }, (_, index) => {
      const size = Math.ceil(text.length / total)
      return from(number, text.slice(index * size, (index + 1) * size), {
        part: { reference, total, number: index + 1 },
      })
    })

  it('become one message in whatever order, batches and repetition they come', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 2, max: 5 }),
        fc.func(fc.integer()),
        fc.integer({ min: 1, max: 4 }),
        async (total, order, size) => {
          const number = randomMobile()
          const parts = partsOf(number, 7, total)
          const all = [...parts, ...parts].toSorted((a, b) => order(a.message.text) - order(b.message.text))
          const received = []
          for (let at = 0; at < all.length; at += size)
            received.push(...(await receiveInbound(context, all.slice(at, at + size))))
          expect(received.map((row) => row.text)).toEqual([text])
        },
      ),
      { numRuns: 25 },
    )
  })

  it('that come to two nodes at the same moment still meet', async () => {
    for (let round = 0; round < 10; round++) {
      const received = await Promise.all(
        partsOf(randomMobile(), round, 3).map((part) => receiveInbound(context, [part])),
      )
      expect(received.flat().map((row) => row.text)).toEqual([text])
    }
  })

  it('are shown with a gap when the rest does not come, and stop waiting for it', async () => {
    const number = randomMobile()
    const [first, , third] = partsOf(number, 9, 3)
    await receiveInbound(context, [first!, third!])
    const contact = await findContactByPhone(db, company.id, number)
    expect(await listInbound(db, company.id, contact!.id, { limit: 10 })).toEqual([])
    nowMs += 16 * 60_000
    while ((await giveUpParts(context)) > 0);
    expect(await listInbound(db, company.id, contact!.id, { limit: 10 })).toMatchObject([
      { text: `${first!.message.text} […] ${third!.message.text}` },
    ])
    expect(await db.query('select 1 from inbound_part')).toEqual([])
  })

  it('with a reference that is used again belong to the next message', async () => {
    const number = randomMobile()
    const [, lost] = partsOf(number, 3, 2)
    const next = [1, 2].map((part) =>
      from(number, `part ${part} `, { part: { reference: 3, total: 2, number: part } }),
    )
    await receiveInbound(context, [lost!])
    const received = await receiveInbound(context, next.toReversed())
    expect(received.map((row) => row.text)).toEqual([`[…] ${lost!.message.text}`.trim(), 'part 1 part 2'])
  })
})

describe('reports of all kinds', () => {
  const line = () => ({ id: company.lines.whatsapp[0]!.id, companyId: company.id })
  const inbound = (sender: string, text: string): LineReport => ({
    kind: 'inbound',
    message: from(sender, text).message,
  })

  it('are stored together: many calls cost a few transactions', async () => {
    const recorder = createReportRecorder({ db, clock, log: silentLog })
    const before = db.roundTrips
    await Promise.all(
      Array.from({ length: 200 }, () => recorder.report(line(), [inbound(randomMobile(), 'hi')])),
    )
    expect(db.roundTrips - before).toBeLessThan(40)
    expect(recorder.stats()).toEqual({ waiting: 0, recorded: 200, refused: 0 })
    await recorder.drain()
  })

  it('with characters that no database holds are mended; one of a line that is gone costs the others nothing', async () => {
    const recorder = createReportRecorder({ db, clock, log: silentLog })
    const number = randomMobile()
    await recorder.report(line(), [inbound(number, 'zero \0, half \ud83d, whole 🕊')])
    const contact = await findContactByPhone(db, company.id, number)
    expect(await listInbound(db, company.id, contact!.id, { limit: 1 })).toMatchObject([
      { text: 'zero , half \ufffd, whole 🕊' },
    ])
    const nobody = { id: randomUUID(), companyId: randomUUID() }
    const results = await Promise.allSettled([
      recorder.report(line(), [inbound(number, 'before')]),
      recorder.report(nobody, [inbound(number, 'lost')]),
      recorder.report(line(), [inbound(number, 'after')]),
    ])
    expect([results[0].status, results[2].status]).toEqual(['fulfilled', 'fulfilled'])
  })

  it('are refused with "try again" when the database is away, and nothing is lost silently', async () => {
    const away = createDb({ url: 'postgres://127.0.0.1:9/none', connections: 1, log: silentLog })
    const recorder = createReportRecorder({ db: away, clock, log: silentLog })
    await expect(recorder.report(line(), [inbound(randomMobile(), 'hi')])).rejects.toThrow('repeat it')
    await away.close()
  })

  it('"no marketing" is noted on the contact, by number or id, and taken back', async () => {
    const number = randomMobile()
    const userId = `BR.${randomBytes(8).toString('hex')}`
    await receiveInbound(context, [from(number, 'hi', { userId }, 'whatsapp')])
    const noted = async () =>
      (
        await db.query<{ at: Date | null }>(
          'select marketing_opted_out_at as at from contact where company_id = $1 and phone_key = $2',
          [company.id, number],
        )
      )[0]!.at
    const choose = (report: Omit<Extract<LineReport, { kind: 'marketing_opt_out' }>, 'kind'>) =>
      recordReports({ db, clock, log: silentLog }, [
        { lineId: line().id, companyId: company.id, report: { kind: 'marketing_opt_out', ...report } },
      ])
    await choose({ from: number, isStop: true })
    expect(await noted()).toEqual(clock.now())
    await choose({ userId, isStop: false })
    expect(await noted()).toBeNull()
  })

  it('approvals of templates are taken over, and are in the audit log', async () => {
    const template = company.templates['image-header']!
    const { name, language } = template.content.provider!
    const report = (approval: 'paused' | 'approved', of = name): LineReport => ({
      kind: 'template',
      report: { name: of, language, approval, reason: 'LOW_QUALITY' },
    })
    await recordReports({ db, clock, log: silentLog }, [
      { lineId: line().id, companyId: company.id, report: report('approved') },
      { lineId: line().id, companyId: company.id, report: report('paused') },
      { lineId: line().id, companyId: company.id, report: report('paused', 'nobody_knows_it') },
    ])
    expect(await db.query('select approval from template where id = $1', [template.id])).toEqual([
      { approval: 'paused' },
    ])
    expect(await db.query('select detail from audit_entry where noun_id = $1', [template.id])).toEqual([
      { detail: { from: 'approved', to: 'paused', reason: 'LOW_QUALITY' } },
    ])
  })
})

describe('files of received messages', () => {
  const bytes = randomBytes(300_000)
  const withFile = (number: string) =>
    from(
      number,
      '',
      { kind: 'media', media: [{ providerMediaId: 'm1', mimeType: 'image/jpeg', name: 'cat.jpg' }] },
      'whatsapp',
    )
  const mediaOf = async (number: string) => {
    const contact = await findContactByPhone(db, company.id, number)
    return (await listInbound(db, company.id, contact!.id, { limit: 1 }))[0]!.media[0]!
  }
  const fetchNow = (fetchMedia: (id: string) => Promise<{ bytes: Buffer; name: string; mimeType: string }>) =>
    fetchInboundMedia({ db, clock, log: silentLog }, company.lines.whatsapp[0]!.id, { fetchMedia })

  it('are fetched later by the session of the line, and stored', async () => {
    const number = randomMobile()
    await receiveInbound(context, [withFile(number)])
    expect(await fetchNow(async () => ({ bytes, name: 'x', mimeType: 'image/jpeg' }))).toBe(1)
    const media = await mediaOf(number)
    expect(media).toMatchObject({ state: 'stored', name: 'cat.jpg', size: bytes.length })
    expect((await readFile(db, company.id, media.hash!))!.equals(bytes)).toBe(true)
    expect(await fetchNow(() => Promise.reject(new Error('asked again')))).toBe(0)
  })

  it('that cannot be had are asked for ever more rarely, and given up in the end', async () => {
    const number = randomMobile()
    await receiveInbound(context, [withFile(number)])
    let asked = 0
    for (let minutes = 0; minutes < 300 && (await mediaOf(number)).state === 'pending'; minutes += 5) {
      await fetchNow(() => {
        asked++
        return Promise.reject(new Error('gone'))
      })
      nowMs += 5 * 60_000
    }
    expect(await mediaOf(number)).toMatchObject({ state: 'failed', hash: null })
    expect(asked).toBe(8)
  })
})
