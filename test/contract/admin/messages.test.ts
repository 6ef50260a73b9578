/** The message log: filters with and without dates, pages, one's own messages, resending, CSV. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { MessageContent } from '../../../src/domain/message.ts'
import { releaseDeferred } from '../../../src/flows/release-deferred.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { CatalogueCache } from '../../../src/store/catalogue.ts'
import { firstIdAt, newId, showId } from '../../../src/lib/ids.ts'
import { createRule } from '../../../src/store/rules.ts'
import type { App } from '../../harness/app.ts'
import { makeContact, randomMobile, type TestCompany } from '../../harness/factories.ts'
import { stateOf, storeMessage } from '../../harness/messages.ts'
import { items, keyClient, signInAs, startAdmin, type Client } from './support.ts'

let app: App
let company: TestCompany
let client: Client
const day = 86_400_000

beforeAll(async () => {
  app = await startAdmin()
  company = await app.makeCompany()
  client = (await signInAs(app, company, 'supervisor')).client
})
afterAll(() => app.stop())

const ids = async (query: string) => items(await client.get(`/messages?${query}`)).map(({ id }) => id)

/** A message whose id, which is its time, lies in the past as well. */
async function oldMessage(ageMs: number, wish: Parameters<typeof storeMessage>[2] = {}) {
  const acceptedAt = new Date(Date.now() - ageMs)
  const stored = await storeMessage(app.db, company, { ...wish, acceptedAt })
  const id = firstIdAt(acceptedAt).slice(0, 24) + stored.id.slice(24)
  await app.db.query('update message set id = $2 where id = $1', [stored.id, id])
  await app.db.query('delete from message_trouble where message_id = $1', [stored.id])
  await app.db.query('update provider_reference set message_id = $2 where message_id = $1', [stored.id, id])
  return { ...stored, id, shown: showId('msg', id) }
}

test('an e-mail is told by its subject, not by its HTML', async () => {
  const content: MessageContent = {
    kind: 'text',
    subject: 'Your invoice',
    text: '<html><body>Hello</body></html>',
    files: [],
  }
  const { id } = await storeMessage(app.db, company, { channel: 'email', content })
  expect(items(await client.get(`/messages?id=${showId('msg', id)}`))).toMatchObject([
    { preview: 'Your invoice' },
  ])
})

test('recipient, id, provider id, call id and trouble are found without dates; the rest within seven days', async () => {
  const recipient = '5531987650077'
  const failed = await oldMessage(20 * day, { state: 'failed', recipient, providerIds: ['PROVIDER-77'] })
  await app.db.query(`update message set call_id = 'call-77' where id = $1`, [failed.id])
  const fresh = await storeMessage(app.db, company, { state: 'delivered' })
  expect(await ids('')).not.toContain(failed.shown)
  expect(await ids('')).toContain(showId('msg', fresh.id))
  for (const query of [
    `recipient=${encodeURIComponent('+55 31 98765-0077')}`,
    // The same person without the ninth digit.
    'recipient=553187650077',
    `id=${failed.shown}`,
    'providerId=PROVIDER-77',
    'callId=call-77',
    'state=failed',
    'state=failed&channel=sms',
    `from=${new Date(Date.now() - 21 * day).toISOString()}&channel=sms`,
  ])
    expect(await ids(query), query).toContain(failed.shown)
  expect(await ids('state=failed&channel=email')).not.toContain(failed.shown)
  expect(await ids('state=delivered')).toEqual([showId('msg', fresh.id)])
})

test('pages follow one another without gaps or repeats, with and without a filter', async () => {
  const own = await app.makeCompany()
  const { client: reader } = await signInAs(app, own, 'viewer')
  const stored: string[] = []
  for (let count = 0; count < 25; count++) {
    const { id } = await storeMessage(app.db, own, { channel: count % 2 ? 'sms' : 'whatsapp' })
    stored.push(showId('msg', id))
  }
  for (const [filter, expected] of [
    ['', stored],
    ['&channel=sms', stored.filter((_, index) => index % 2 === 1)],
  ] as const) {
    const seen: unknown[] = []
    for (let cursor: string | null = ''; cursor !== null;) {
      const page = await reader.get(`/messages?limit=7${filter}${cursor && `&cursor=${cursor}`}`)
      seen.push(...items(page).map(({ id }) => id))
      cursor = page.body['nextCursor'] as string | null
    }
    // Ids made within one millisecond are in no particular order.
    expect(seen).toEqual(expected.toSorted().toReversed())
  }
})

test('a page looks at a bounded number of rows and says where the next one goes on', async () => {
  const own = await app.makeCompany()
  const { client: reader } = await signInAs(app, own, 'viewer')
  const rare = await storeMessage(app.db, own, { channel: 'whatsapp' })
  await app.db.query(
    `insert into message (id, company_id, api, channel, state, recipient, request_id, content, priority, accepted_at, expires_at)
      select (lpad(to_hex((extract(epoch from now()) * 1000)::bigint + 1000), 12, '0') || '7' || lpad(to_hex(n % 4096), 3, '0') || '8' || lpad(to_hex(n), 15, '0'))::uuid, $1,
        'direct', 'sms', 'delivered', '5531900000000', 'req', '{"kind":"text","text":"","files":[]}', 1, now(), now()
      from generate_series(1, 25000) n`,
    [own.id],
  )
  const first = await reader.get('/messages?channel=whatsapp')
  expect(first.body['items']).toEqual([])
  const second = await reader.get(`/messages?channel=whatsapp&cursor=${String(first.body['nextCursor'])}`)
  expect(items(second).map(({ id }) => id)).toEqual([showId('msg', rare.id)])
  expect(second.body['nextCursor']).toBeNull()
})

test('what is being handed over is shown and found as sending', async () => {
  const own = await app.makeCompany()
  const { client: reader } = await signInAs(app, own, 'viewer')
  const marked = await storeMessage(app.db, own, { state: 'queued', outbox: { epoch: 1 } })
  await storeMessage(app.db, own, { state: 'queued', outbox: {} })
  const states = items(await reader.get('/messages')).map(({ state }) => String(state))
  expect(states.toSorted()).toEqual(['queued', 'sending'])
  expect(items(await reader.get('/messages?state=sending')).map(({ id }) => id)).toEqual([
    showId('msg', marked.id),
  ])
})

test('what is wrong with a filter is named', async () => {
  const answer = await client.get('/messages?state=lost&limit=1000&from=yesterday&lineId=x&channel=')
  expect(answer.status).toBe(400)
  expect(Object.keys(answer.body['errors'] as object).toSorted()).toEqual([
    'from',
    'limit',
    'lineId',
    'state',
  ])
})

test('a message has its timeline; an unknown one is not found', async () => {
  const message = await storeMessage(app.db, company, { state: 'queued', outbox: {} })
  await app.db.query(
    `insert into message_event (message_id, at, kind, detail) values ($1, now(), 'accepted', '{"requestId": "req_x", "verdicts": ["opt_out"]}')`,
    [message.id],
  )
  const answer = await client.get(`/messages/${showId('msg', message.id)}`)
  expect(answer.body).toMatchObject({
    id: showId('msg', message.id),
    state: 'queued',
    lineId: showId('lin', message.lineId),
    waiting: { reason: 'queue' },
    events: [{ kind: 'accepted', detail: { verdicts: [{ rule: 'opt_out', passed: true }] } }],
  })
  expect((await client.get(`/messages/${showId('msg', crypto.randomUUID())}`)).status).toBe(404)
})

test('a message says who sent it and what its line is called, and is found by its sender', async () => {
  const own = await app.makeCompany()
  const { client: reader } = await signInAs(app, own, 'viewer')
  const message = await storeMessage(app.db, own, { state: 'delivered' })
  await app.db.query('update message set sender_id = $2 where id = $1', [message.id, own.apiUser.id])
  const shown = showId('msg', message.id)
  const senderId = showId('usr', own.apiUser.id)
  const found = items(await reader.get(`/messages?senderId=${senderId}`)).map(({ id }) => id)
  expect(found).toEqual([shown])
  expect(items(await reader.get(`/messages?senderId=${showId('dtk', newId())}`))).toEqual([])
  expect((await reader.get('/messages?senderId=somebody')).body['errors']).toHaveProperty('senderId')
  const [line] = await app.db.query<{ name: string }>('select name from line where id = $1', [message.lineId])
  expect((await reader.get(`/messages/${shown}`)).body).toMatchObject({
    lineName: line!.name,
    sender: { kind: 'user', id: senderId, name: own.apiUser.name },
  })
  expect(items(await reader.get(`/messages?id=${shown}`))).toMatchObject([{ lineName: line!.name }])
})

test('a key with messages:own reads what its user sent, without the exchange, and nothing else', async () => {
  const own = await storeMessage(app.db, company, { state: 'failed' })
  const other = await storeMessage(app.db, company, { state: 'failed' })
  await app.db.query('update message set sender_id = $2 where id = $1', [own.id, company.apiUser.id])
  await app.db.query(
    `insert into message_event (message_id, at, kind, detail) values ($1, now(), 'attempt', '{"exchange": {"request": "inside", "response": "x"}, "attempt": 1}')`,
    [own.id],
  )
  const key = await keyClient(app, company, ['messages:own'], company.apiUser.id)
  const answer = await key.get(`/messages/${showId('msg', own.id)}`)
  expect(answer.body).toMatchObject({
    state: 'failed',
    events: [{ kind: 'attempt', detail: { attempt: 1 } }],
  })
  expect(answer.text).not.toContain('inside')
  expect((await key.get(`/messages/${showId('msg', other.id)}`)).status).toBe(404)
  expect(items(await key.get('/messages')).map(({ id }) => id)).toEqual([showId('msg', own.id)])
  expect((await key.get('/messages/export')).status).toBe(403)
})

test('resending makes a new message that the rules decide about again', async () => {
  const list = await app.makeCompany()
  const { client: person } = await signInAs(app, list, 'supervisor')
  const original = await storeMessage(app.db, list, {
    state: 'failed',
    content: { kind: 'text', text: 'Again', files: [] },
  })
  const answer = await person.call('POST', `/messages/${showId('msg', original.id)}/resend`)
  expect(answer.status).toBe(202)
  const copy = String(answer.body['messageId'])
  const release = () =>
    releaseDeferred({ db: app.db, clock: app.clock, log: silentLog, catalogues: new CatalogueCache(app.db) })
  await release()
  expect((await person.get(`/messages/${copy}`)).body).toMatchObject({
    state: 'queued',
    recipient: original.recipient,
    content: { text: 'Again' },
    waiting: { reason: 'queue' },
  })
  expect(
    JSON.stringify((await person.get(`/messages/${showId('msg', original.id)}`)).body['events']),
  ).toContain(copy)

  await createRule(app.db, list.id, { name: 'Nobody who opted out', settings: { kind: 'opt_out' } })
  await app.db.query(`update contact set opted_out_channels = '{sms}' where id = $1`, [original.contactId])
  const refused = await person.call('POST', `/messages/${showId('msg', original.id)}/resend`)
  await release()
  const second = String(refused.body['messageId'])
  expect((await person.get(`/messages/${second}`)).body).toMatchObject({ state: 'blocked' })
})

test('what has not left, and what has no line, cannot be resent', async () => {
  const waiting = await storeMessage(app.db, company, { state: 'queued', outbox: {} })
  expect((await client.call('POST', `/messages/${showId('msg', waiting.id)}/resend`)).status).toBe(409)
  const homeless = await storeMessage(app.db, company, { state: 'not_sent' })
  await app.db.query('update message set line_id = null where id = $1', [homeless.id])
  expect((await client.call('POST', `/messages/${showId('msg', homeless.id)}/resend`)).status).toBe(409)
  expect(await stateOf(app.db, homeless.id)).toBe('not_sent')
})

test('the CSV holds every message, page after page, and nothing that a spreadsheet would run', async () => {
  const own = await app.makeCompany()
  const { client: reader } = await signInAs(app, own, 'viewer')
  await app.db.query(
    `insert into message (id, company_id, api, channel, state, recipient, request_id, content, priority, accepted_at, expires_at, error_message)
      select (lpad(to_hex((extract(epoch from now()) * 1000)::bigint), 12, '0') || '7' || lpad(to_hex(n), 3, '0') || '8' || lpad(to_hex(n), 15, '0'))::uuid, $1,
        'direct', 'sms', 'failed', '55319' || lpad(n::text, 8, '0'), 'req', '{"kind":"text","text":"","files":[]}', 1, now(), now(), '=HYPERLINK("x")'
      from generate_series(1, 2500) n`,
    [own.id],
  )
  const before = app.nodes[0]!.db.roundTrips
  const answer = await reader.get('/messages/export?state=failed')
  expect(answer.headers['content-type']).toContain('text/csv')
  const lines = answer.text.trim().split('\r\n')
  expect(lines).toHaveLength(2501)
  expect(new Set(lines).size).toBe(2501)
  expect(lines[1]).toContain(`"'=HYPERLINK(""x"")"`)
  expect(app.nodes[0]!.db.roundTrips - before).toBeLessThan(12)
})

test('a conversation has both sides in order, and erasing a person leaves nothing of it', async () => {
  const phone = randomMobile()
  const contact = await makeContact(app.db, company.id, { phone, name: 'Ana Erased' })
  const message = await storeMessage(app.db, company, {
    recipient: phone,
    contactId: contact.id,
    state: 'queued',
    outbox: {},
    content: { kind: 'text', text: 'Very private', files: [] },
  })
  await app.db.query(
    `insert into inbound_message (id, company_id, line_id, contact_id, provider_id, sender, kind, text, at, received_at)
      values ($1, $2, $3, $4, 'in-1', $5, 'text', 'My answer', now(), now())`,
    ['ffffffff-ffff-7fff-8fff-ffffffffffff', company.id, company.lines.sms[0]!.id, contact.id, phone],
  )
  const shown = showId('con', contact.id)
  const talk = items(await client.get(`/contacts/${shown}/conversation`))
  expect(talk.map(({ direction }) => direction)).toEqual(['in', 'out'])
  const exported = await client.call('POST', `/contacts/${shown}/export`)
  expect(exported.text).toContain('My answer')
  expect(exported.text).toContain('Very private')

  expect((await client.call('DELETE', `/contacts/${shown}`)).body).toEqual({ messages: 1 })
  expect((await client.get(`/contacts/${shown}`)).status).toBe(404)
  expect(await stateOf(app.db, message.id)).toBe('blocked')
  for (const table of ['message', 'inbound_message', 'contact', 'outbox', 'audit_entry']) {
    const rows = JSON.stringify(
      await app.db.query(`select * from ${table} where company_id = $1`, [company.id]),
    )
    for (const trace of [phone, 'Very private', 'My answer', 'Ana Erased'])
      expect(rows, table).not.toContain(trace)
  }
})
