import { createHash, randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../test/harness/database.ts'
import { makeCompany, randomMobile, type TestCompany } from '../../test/harness/factories.ts'
import { readDigits } from '../domain/address.ts'
import type { SendRequest } from '../domain/send-request.ts'
import { systemClock } from '../lib/clock.ts'
import { newId } from '../lib/ids.ts'
import { silentLog } from '../lib/log.ts'
import { findContactByPhone, setMarketingOptedOut } from '../store/contacts.ts'
import { CatalogueCache } from '../store/catalogue.ts'
import { createDb, type Db, type Row, type Statement } from '../store/db.ts'
import { runBatch } from './accept-batch.ts'
import type { Entry } from './accept-entry.ts'
import { createAcceptor, type AcceptorOptions } from './accept-message.ts'
import type { Submission, TokenSender } from './submission.ts'

let database: TestDatabase
let company: TestCompany
let sender: TokenSender

beforeAll(async () => {
  database = await createTestDatabase()
  company = await makeCompany(database.db)
  sender = await logIn(database.db, company)
})
afterAll(() => database.drop())

async function logIn(db: Db, { id: companyId, apiUser }: TestCompany): Promise<TokenSender> {
  const tokenHash = createHash('sha256').update(randomBytes(32)).digest()
  await db.query(
    `insert into api_token (user_id, company_id, hash, issued_at, expires_at) values ($1, $2, $3, now(), now() + interval '1 day')
     on conflict (user_id) do update set hash = excluded.hash`,
    [apiUser.id, companyId, tokenHash],
  )
  return { kind: 'api_user', id: apiUser.id, companyId, tokenHash: tokenHash.toString('hex') }
}

function sms(digits = randomMobile(), overrides: Partial<SendRequest> = {}): SendRequest {
  const reading = readDigits(digits)
  if (!reading.ok) throw new Error(reading.reason)
  return {
    api: 'unified',
    channel: 'sms',
    recipient: { kind: 'phone', phone: reading.phone },
    what: { kind: 'text', text: 'Hello @FirstName', files: [] },
    line: { kind: 'default', mayFailOver: true },
    recentContactLastHours: 0,
    isDiscardedInAttendance: false,
    contact: { name: 'Ana Maria', updateIfExists: false },
    isFlash: false,
    ...overrides,
  }
}

const submit = (request: SendRequest, extra: Partial<Submission> = {}): Submission => ({
  sender,
  request,
  requestId: `req_${randomBytes(8).toString('hex')}`,
  isDryRun: false,
  ...extra,
})

const acceptorOf = (db: Db, options: Partial<AcceptorOptions> = {}) =>
  createAcceptor({ db, clock: systemClock, log: silentLog, ...options })

/** The database with somebody in between, who hears every statement of a transaction and may pass it on. */
function overheard(
  hear: (name: string, pass: () => Promise<Row[]>, values?: readonly unknown[]) => Promise<Row[]>,
): Db {
  return {
    ...database.db,
    async connect() {
      const connection = await database.db.connect()
      const query = (statement: Statement | string, values?: readonly unknown[]) =>
        hear(
          typeof statement === 'string' ? statement : statement.name,
          () => connection.query(statement, values),
          values,
        )
      return { ...connection, query: query as Db['query'] }
    },
  }
}

describe('batches', () => {
  it('use the same number of round trips for one request and for two hundred', async () => {
    // With one place in flight: with two, two hundred requests are two batches side by side.
    const { accept } = acceptorOf(database.db, { batchesInFlight: 1 })
    await accept(submit(sms()))
    const count = async (requests: SendRequest[]) => {
      const before = database.db.roundTrips
      const outcomes = await Promise.all(requests.map((request) => accept(submit(request))))
      expect(outcomes.every((outcome) => outcome.kind === 'accepted')).toBe(true)
      return database.db.roundTrips - before
    }
    const one = await count([sms()])
    const twoHundred = await count(Array.from({ length: 200 }, () => sms()))
    expect(one).toBe(2)
    expect(twoHundred).toBe(one)
  })

  it('store a message, its first event, its queue entry and its contact together', async () => {
    const digits = randomMobile()
    const outcome = await acceptorOf(database.db).accept(submit(sms(digits)))
    if (outcome.kind !== 'accepted') throw new Error(outcome.kind)
    const [message] = await database.db.query('select state, recipient, content from message where id = $1', [
      outcome.messageId,
    ])
    expect(message).toMatchObject({
      state: 'queued',
      recipient: digits,
      content: { kind: 'text', text: 'Hello Ana' },
    })
    const counts = await database.db.query(
      `select (select count(*) from message_history where message_id = $1) as events,
              (select count(*) from outbox where message_id = $1 and line_id = $2) as queued,
              (select count(*) from contact where phone_key = $3 and name = 'Ana Maria') as contacts`,
      [outcome.messageId, company.lines.sms[0]!.id, digits],
    )
    expect(counts).toEqual([{ events: 1, queued: 1, contacts: 1 }])
  })

  it('decide one after another: of 64 with the condition to one new contact, from two nodes, one passes', async () => {
    const other = createDb({ url: database.url, connections: 6, log: silentLog })
    const acceptors = [acceptorOf(database.db), acceptorOf(other)]
    const digits = randomMobile()
    const outcomes = await Promise.all(
      Array.from({ length: 64 }, (_, index) =>
        acceptors[index % 2]!.accept(submit(sms(digits, { recentContactLastHours: 1 }))),
      ),
    )
    await other.close()
    expect(outcomes.filter((outcome) => outcome.kind === 'accepted')).toHaveLength(1)
    expect(outcomes.filter((outcome) => outcome.kind === 'refused')).toHaveLength(63)
  })

  it('know a contact by any of its addresses: of one SMS and one e-mail with the condition one passes', async () => {
    const digits = randomMobile()
    const email = `${digits}@example.com`
    await database.db.query(
      `insert into contact (id, company_id, phone, phone_key, email, email_key) values ($1, $2, $3, $4, $5, $5)`,
      [newId(), company.id, `+${digits}`, digits, email],
    )
    const { accept } = acceptorOf(database.db, { batchesInFlight: 1 })
    const condition = { recentContactLastHours: 1, attendantName: company.attendant.name }
    const requests = [
      sms(digits, condition),
      sms(digits, {
        channel: 'email',
        recipient: { kind: 'email', email: { address: email, key: email } },
        subject: 'Hello',
        ...condition,
      }),
    ]
    const outcomes = await Promise.all(requests.map((request) => accept(submit(request))))
    expect(outcomes.map(({ kind }) => kind)).toEqual(['accepted', 'refused'])
  })

  it('ask the database twice: for what they need, and to write and commit', async () => {
    const trips: string[][] = []
    let open = 0
    const db = overheard(async (name, pass) => {
      if (open++ === 0) trips.push([])
      trips.at(-1)!.push(name.replace(/_\d+$/, ''))
      try {
        return await pass()
      } finally {
        open--
      }
    })
    const { accept } = acceptorOf(db)
    await accept(submit(sms()))
    trips.length = 0
    expect(await accept(submit(sms()))).toMatchObject({ kind: 'accepted' })
    expect(trips).toEqual([
      ['begin', 'accept_lock', 'accept_facts'],
      ['accept_write', 'commit'],
    ])
  })

  it('run again in halves until one bad request is alone, and cost the others nothing', async () => {
    const { accept } = acceptorOf(database.db)
    await accept(submit(sms()))
    // A NUL passes no surface; here it stands for any data that PostgreSQL refuses.
    const bad = sms(undefined, { callId: 'a\u0000b' })
    const requests = [
      ...Array.from({ length: 20 }, () => sms()),
      bad,
      ...Array.from({ length: 20 }, () => sms()),
    ]
    const outcomes = await Promise.all(requests.map((request) => accept(submit(request))))
    expect(outcomes.map((outcome) => outcome.kind)).toEqual(
      requests.map((request) => (request === bad ? 'failed' : 'accepted')),
    )
  })

  it('run again in halves when the locks of the whole are too many for the server', async () => {
    const sizes: number[] = []
    const db = overheard((name, pass, values) => {
      if (!/^accept_lock_\d/.test(name)) return pass()
      // In the head of an array in binary form stands how many there are.
      const length = (values![0] as Buffer).readInt32BE(12)
      sizes.push(length)
      return length > 10
        ? Promise.reject(Object.assign(new Error('out of shared memory'), { code: '53200' }))
        : pass()
    })
    const { accept } = acceptorOf(db, { batchesInFlight: 1 })
    const outcomes = await Promise.all(Array.from({ length: 40 }, () => accept(submit(sms()))))
    expect(outcomes.filter(({ kind }) => kind !== 'accepted')).toEqual([])
    expect(sizes).toEqual([40, 20, 10, 10, 20, 10, 10])
  })

  it('from four connections over the same contacts in shuffled order all pass: no deadlock', async () => {
    const acceptor = acceptorOf(database.db, { batchesInFlight: 4, batchSize: 40, patienceMs: 30_000 })
    const numbers = Array.from({ length: 40 }, randomMobile)
    const shuffled = Array.from({ length: 25 }, () => numbers.toSorted(() => Math.random() - 0.5)).flat()
    const outcomes = await Promise.all(shuffled.map((digits) => acceptor.accept(submit(sms(digits)))))
    expect(outcomes.filter((outcome) => outcome.kind !== 'accepted')).toEqual([])
    const [row] = await database.db.query<{ deadlocks: number }>(
      'select deadlocks from pg_stat_database where datname = current_database()',
    )
    expect(row!.deadlocks).toBe(0)
  })
})

describe('what a sender keeps in memory', () => {
  it('is thrown away when it changed: a line disabled a moment ago is refused', async () => {
    const own = await makeCompany(database.db)
    const mine = await logIn(database.db, own)
    const { accept } = acceptorOf(database.db)
    expect((await accept(submit(sms(), { sender: mine }))).kind).toBe('accepted')
    await database.db.query('update line set is_enabled = false where id = $1', [own.lines.sms[0]!.id])
    expect(await accept(submit(sms(), { sender: mine }))).toMatchObject({
      kind: 'invalid',
      problems: [{ at: 'line' }],
    })
  })

  it('is one copy for the whole batch: a list is looked at although another batch loads anew meanwhile', async () => {
    const own = await makeCompany(database.db)
    const mine = await logIn(database.db, own)
    const digits = randomMobile()
    const listId = newId()
    await database.db.query(
      `insert into restriction_list (id, company_id, name, name_key) values ($1, $2, 'No', 'no')`,
      [listId, own.id],
    )
    await database.db.query(
      `insert into restriction_entry (list_id, field, value) values ($1, 'phone', $2)`,
      [listId, digits],
    )
    await database.db.query(
      `insert into rule (id, company_id, kind, name, settings) values ($1, $2, 'restriction_list', 'No', $3)`,
      [newId(), own.id, { listId }],
    )
    const turn = () => new Promise((resolve) => setImmediate(resolve))
    const mayBegin = Promise.withResolvers<void>()
    const mayLoad = Promise.withResolvers<void>()
    let loads = 0
    const cache = new CatalogueCache({
      async query(statement, values) {
        if (++loads > 1) await mayLoad.promise
        return await database.db.query(statement, values)
      },
    })
    const context = { clock: systemClock, log: silentLog, random: Math.random, catalogues: cache }
    const entryOf = (to: string): Entry => ({
      submission: submit(sms(to), { sender: mine }),
      messageId: newId(),
      impatientAt: Infinity,
      tries: 0,
      isDoubtful: false,
      answer: () => {},
    })
    /** Begins while nothing is known of the company, and reads its facts when it is known anew. */
    const slow = overheard(async (name, pass) => {
      if (name === 'begin') await mayBegin.promise
      if (name.startsWith('accept_facts')) {
        mayLoad.resolve()
        while (cache.get(own.id) === undefined) await turn()
      }
      return await pass()
    })
    await runBatch({ ...context, db: database.db }, [entryOf(randomMobile())])
    const restricted = runBatch({ ...context, db: slow }, [entryOf(digits)])
    await database.db.query('update company set catalogue_version = catalogue_version + 1 where id = $1', [
      own.id,
    ])
    const changed = runBatch({ ...context, db: database.db }, [entryOf(randomMobile())])
    while (cache.get(own.id) !== undefined) await turn()
    mayBegin.resolve()
    const { answers } = await restricted
    await changed
    expect(answers.map(([, { kind }]) => kind)).toEqual(['refused'])
  })

  it('never includes the token: one replaced between the door and the transaction is refused', async () => {
    const stale: TokenSender = { ...sender, tokenHash: Buffer.from(newId()).toString('hex') }
    expect(await acceptorOf(database.db).accept(submit(sms(), { sender: stale }))).toEqual({
      kind: 'unauthorized',
    })
  })
})

describe('a held contact', () => {
  it('is waited for in a side queue while others pass, and given up in the end', async () => {
    const digits = randomMobile()
    const acceptor = acceptorOf(database.db, { patienceMs: 300 })
    await acceptor.accept(submit(sms(digits)))
    const holder = await database.db.connect()
    await holder.query('begin')
    await holder.query('select 1 from contact where phone_key = $1 for update', [digits])
    const waiting = acceptor.accept(submit(sms(digits)))
    let isAnswered = false
    void waiting.then(() => (isAnswered = true))
    expect((await acceptor.accept(submit(sms()))).kind).toBe('accepted')
    expect(isAnswered).toBe(false)
    expect(await waiting).toEqual({ kind: 'unavailable', retryAfterSeconds: 1 })
    await holder.query('rollback')
    holder.release()
    expect((await acceptor.accept(submit(sms(digits)))).kind).toBe('accepted')
  })
})

describe('a COMMIT that fails in a way nobody knows', () => {
  it.each(['after', 'before'])(
    '%s the database has done it: the message is stored once, and accepted',
    async (when) => {
      let faults = 0
      const db = overheard(async (name, pass) => {
        if (name !== 'commit' || faults++ > 0) return await pass()
        if (when === 'after') await pass()
        throw new Error('words of a driver to come')
      })
      const digits = randomMobile()
      expect((await acceptorOf(db).accept(submit(sms(digits)))).kind).toBe('accepted')
      expect(faults).toBe(when === 'after' ? 1 : 2)
      expect(await database.db.query('select 1 from message where recipient = $1', [digits])).toHaveLength(1)
    },
  )
})

describe('a dry run', () => {
  it('answers like a real call and leaves nothing behind', async () => {
    const digits = randomMobile()
    const acceptor = acceptorOf(database.db)
    const outcome = await acceptor.accept(submit(sms(digits), { isDryRun: true }))
    expect(outcome).toMatchObject({ kind: 'accepted', messageId: null })
    expect(await database.db.query('select 1 from contact where phone_key = $1', [digits])).toEqual([])
    expect(await database.db.query('select 1 from message where recipient = $1', [digits])).toEqual([])
  })
})

describe('many dry runs', () => {
  it('are turned away before they take the connections from real sends', async () => {
    const { accept } = acceptorOf(database.db)
    const dry = Array.from({ length: 200 }, () => accept(submit(sms(), { isDryRun: true })))
    expect((await accept(submit(sms()))).kind).toBe('accepted')
    const kinds = (await Promise.all(dry)).map(({ kind }) => kind)
    expect(kinds.filter((kind) => kind === 'accepted')).toHaveLength(64)
    expect(kinds.filter((kind) => kind === 'unavailable')).toHaveLength(136)
    expect((await accept(submit(sms(), { isDryRun: true }))).kind).toBe('accepted')
  })
})

describe('somebody who wants no marketing on WhatsApp', () => {
  it('is sent codes, but no templates of marketing', async () => {
    const digits = randomMobile()
    const { accept } = acceptorOf(database.db)
    const whatsapp = (name: string, variables: { name: string; value: string }[]) =>
      submit(
        sms(digits, {
          channel: 'whatsapp',
          what: { kind: 'template', by: 'name', name, variables, files: [] },
        }),
      )
    const code = () => whatsapp('Verification code', [{ name: 'Code', value: '1234' }])
    expect(await accept(code())).toMatchObject({ kind: 'accepted' })
    const contact = (await findContactByPhone(database.db, company.id, digits))!
    await setMarketingOptedOut(database.db, company.id, contact.id, new Date())
    expect(await accept(code())).toMatchObject({ kind: 'accepted' })
    await database.db.query(
      `update template set content = jsonb_set(content, '{provider,category}', '"marketing"') where id = $1`,
      [company.templates['verification-code']!.id],
    )
    await database.db.query('update company set catalogue_version = catalogue_version + 1 where id = $1', [
      company.id,
    ])
    const outcome = await accept(code())
    expect(outcome.kind === 'refused' && outcome.verdicts.flatMap(({ reason }) => reason ?? [])).toEqual([
      'recipient has opted out of marketing on WhatsApp',
    ])
    await setMarketingOptedOut(database.db, company.id, contact.id, null)
    expect(await accept(code())).toMatchObject({ kind: 'accepted' })
  })
})
