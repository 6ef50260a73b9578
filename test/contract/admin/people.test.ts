/** People: marks that a person clears, conversations with files, who waits for an answer, live events, erasing. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newId, showId } from '../../../src/lib/ids.ts'
import { storeFile } from '../../../src/store/files.ts'
import type { App } from '../../harness/app.ts'
import { makeContact, randomMobile, type TestCompany } from '../../harness/factories.ts'
import { hostileFileNames } from '../../harness/hostile-texts.ts'
import { storeMessage } from '../../harness/messages.ts'
import { base, items, signInAs, startAdmin, type Client } from './support.ts'

let app: App
let company: TestCompany
let client: Client
let attendant: Client

beforeAll(async () => {
  app = await startAdmin()
  company = await app.makeCompany()
  client = (await signInAs(app, company, 'supervisor')).client
  attendant = (await signInAs(app, company, 'attendant')).client
})
afterAll(() => app.stop())

async function receive(contact: { id: string }, text: string, lineId = company.lines.sms[0]!.id) {
  const id = newId()
  await app.db.query(
    `insert into inbound_message (id, company_id, line_id, contact_id, provider_id, kind, text, at, received_at)
      values ($1::uuid, $2, $3, $4, $1::text, 'text', $5, $6, $6)`,
    [id, company.id, lineId, contact.id, text, app.clock.now()],
  )
  return id
}

test('the mark of a bounced mailbox is cleared by a person, and goes with the address it was about', async () => {
  const contact = await makeContact(app.db, company.id, { email: 'ana.old@example.com' })
  const path = `/contacts/${showId('con', contact.id)}`
  const mark = () => app.db.query('update contact set email_bounced_at = now() where id = $1', [contact.id])
  const marked = async () => (await client.get(path)).body['emailBouncedAt'] !== null
  await mark()
  await client.call('PATCH', path, { name: 'Ana', email: 'ANA.old@example.com' })
  expect(await marked()).toBe(true)
  await client.call('PATCH', path, { email: 'ana.new@example.com' })
  expect(await marked()).toBe(false)
  await mark()
  expect((await attendant.call('POST', `${path}/clear-bounce`)).status).toBe(403)
  expect((await client.call('POST', `${path}/clear-bounce`)).status).toBe(204)
  expect(await marked()).toBe(false)
})

test('a person may be taken out of marketing and back, and the log names the field', async () => {
  const contact = await makeContact(app.db, company.id)
  const path = `/contacts/${showId('con', contact.id)}`
  const out = await attendant.call('PATCH', path, { isMarketingOptedOut: true })
  expect(out.body['marketingOptedOutAt']).toEqual(expect.any(String))
  expect((await attendant.call('PATCH', path, { name: 'Kept' })).body['marketingOptedOutAt']).toBe(
    out.body['marketingOptedOutAt'],
  )
  const back = await attendant.call('PATCH', path, { isMarketingOptedOut: false })
  expect(back.body).toMatchObject({ marketingOptedOutAt: null, name: 'Kept' })
  expect(items(await client.get(`/audit?nounId=${showId('con', contact.id)}`))[0]).toMatchObject({
    action: 'change',
    detail: { fields: ['isMarketingOptedOut'] },
  })
})

test('a conversation has texts, authors and files, which are for saving unless they are harmless', async () => {
  const phone = randomMobile()
  const contact = await makeContact(app.db, company.id, { phone })
  const picture = await storeFile(app.db, company.id, Buffer.from('picture'))
  const page = await storeFile(app.db, company.id, Buffer.from('<script>1</script>'))
  const message = await storeMessage(app.db, company, {
    recipient: phone,
    contactId: contact.id,
    content: {
      kind: 'text',
      text: 'Here it is',
      files: [
        { name: 'a.png', mimeType: 'image/png', source: { kind: 'stored', ...picture } },
        {
          name: 'b.pdf',
          mimeType: 'application/pdf',
          source: { kind: 'address', url: 'https://x.example/b' },
        },
      ],
    },
  })
  const { client: sender, user } = await signInAs(app, company, 'attendant')
  await app.db.query('update message set sender_id = $2 where id = $1', [message.id, user.id])
  const inboundId = await receive(contact, 'Thanks')
  for (const [position, name] of Object.values(hostileFileNames).entries())
    await app.db.query(
      `insert into inbound_media (inbound_id, position, company_id, line_id, provider_media_id, mime_type, name, state, try_at, hash, size)
        values ($1, $2, $3, $4, 'x', 'text/html', $5, 'stored', now(), decode($6, 'hex'), $7)`,
      [
        inboundId,
        position,
        company.id,
        company.lines.sms[0]!.id,
        name.replaceAll('\0', ''),
        page.hash,
        page.size,
      ],
    )
  const talk = items(await sender.get(`/contacts/${showId('con', contact.id)}/conversation`))
  expect(talk).toMatchObject([
    { direction: 'in', channel: 'sms', text: 'Thanks', kind: 'text', state: null },
    {
      direction: 'out',
      text: 'Here it is',
      author: user.name,
      files: [
        { name: 'a.png', state: 'stored', size: 7, url: null },
        { name: 'b.pdf', state: 'elsewhere', url: 'https://x.example/b' },
      ],
    },
  ])
  const shown = await sender.get(`/messages/${showId('msg', message.id)}/file?position=0`)
  expect(shown.text).toBe('picture')
  expect(shown.headers).toMatchObject({
    'content-type': 'image/png',
    'content-disposition': "inline; filename*=UTF-8''a.png",
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; sandbox",
  })
  for (const query of ['position=1', 'position=2'])
    expect((await sender.get(`/messages/${showId('msg', message.id)}/file?${query}`)).status).toBe(404)
  for (const position of Object.keys(Object.values(hostileFileNames))) {
    const answer = await sender.get(`/received/${showId('inb', inboundId)}/file?position=${position}`)
    expect(answer.text).toBe('<script>1</script>')
    expect(answer.headers['content-type']).toBe('application/octet-stream')
    expect(answer.headers['content-disposition']).toMatch(/^attachment; filename\*=UTF-8''[\w.~!%-]+$/)
  }
  const stranger = (await signInAs(app, await app.makeCompany(), 'administrator')).client
  expect((await stranger.get(`/messages/${showId('msg', message.id)}/file?position=0`)).status).toBe(404)
  expect((await stranger.get(`/received/${showId('inb', inboundId)}/file?position=0`)).status).toBe(404)
})

test('who wrote and is with nobody waits, until somebody takes them and closes', async () => {
  const own = await app.makeCompany()
  const { client: ana, user } = await signInAs(app, own, 'attendant')
  const phone = randomMobile()
  const contact = await makeContact(app.db, own.id, { phone, name: 'Wants help' })
  const other = await makeContact(app.db, own.id, { phone: randomMobile(), name: 'Wrote first' })
  const line = own.lines.whatsapp[0]!.id
  const write = async (who: { id: string }, text: string) => {
    await app.db.query(
      `insert into inbound_message (id, company_id, line_id, contact_id, provider_id, kind, text, at, received_at)
        values ($1::uuid, $2, $3, $4, $1::text, 'text', $5, $6, $6)`,
      [newId(), own.id, line, who.id, text, app.clock.now()],
    )
  }
  const waiting = async () =>
    items(await ana.get('/attendances/waiting')).map(({ contact: who, lastWord }) => [
      (who as { name: string }).name,
      (lastWord as { text: string }).text,
    ])
  await write(other, 'Me first')
  await write(contact, 'One')
  await write(contact, 'Two')
  expect(await waiting()).toEqual([
    ['Wants help', 'Two'],
    ['Wrote first', 'Me first'],
  ])
  const page = await ana.get('/attendances/waiting?limit=1')
  expect(items(await ana.get(`/attendances/waiting?cursor=${String(page.body['nextCursor'])}`))).toHaveLength(
    1,
  )

  const taken = await ana.call('POST', '/attendances', { contactId: showId('con', contact.id) })
  expect(taken.body).toMatchObject({
    user: { name: user.name },
    isUnanswered: true,
    lastWord: { text: 'Two' },
  })
  expect(await waiting()).toEqual([['Wrote first', 'Me first']])
  const colleague = await signInAs(app, own, 'attendant')
  const thief = { contactId: showId('con', contact.id), userId: showId('usr', own.attendant.id) }
  expect((await colleague.client.call('POST', '/attendances', thief)).status).toBe(403)
  await storeMessage(app.db, own, { recipient: phone, contactId: contact.id })
  const attendance = `/attendances/${String(taken.body['id'])}`
  expect((await ana.get(attendance)).body).toMatchObject({ isUnanswered: false })
  await write(contact, 'Three')
  expect((await ana.get(attendance)).body).toMatchObject({ isUnanswered: true, lastWord: { text: 'Three' } })
  expect((await ana.call('POST', `${attendance}/close`)).status).toBe(204)
  expect(await waiting()).toEqual([['Wrote first', 'Me first']])
  await write(contact, 'Four')
  expect(await waiting()).toEqual([
    ['Wants help', 'Four'],
    ['Wrote first', 'Me first'],
  ])
  expect(
    items(await client.get('/attendances/waiting')).flatMap(({ contact: who }) => who),
  ).not.toContainEqual(expect.objectContaining({ name: 'Wants help' }))
})

test('open pages are told that somebody wrote', async () => {
  const contact = await makeContact(app.db, company.id)
  const stop = new AbortController()
  const stream = await fetch(`${app.url}${base}/events`, {
    headers: { cookie: client.cookie },
    signal: stop.signal,
  })
  const reader = stream.body!.pipeThrough(new TextDecoderStream()).getReader()
  let told = ''
  // The first look only learns what is there; lanes are told by it.
  while (!told.includes('event: lane')) told += (await reader.read()).value ?? ''
  const id = await receive(contact, 'Anybody there?')
  while (!told.includes('event: received')) told += (await reader.read()).value ?? ''
  stop.abort()
  expect(told).toContain(`"contactId":"${showId('con', contact.id)}"`)
  expect(told).toContain(showId('inb', id))
  expect(told).not.toContain('Anybody there?')
})

test('erasing a person leaves nothing in timelines, reasons and callbacks', async () => {
  const phone = randomMobile()
  const contact = await makeContact(app.db, company.id, { phone, name: 'Ana Gone' })
  const message = await storeMessage(app.db, company, {
    recipient: phone,
    contactId: contact.id,
    state: 'failed',
  })
  const inboundId = await receive(contact, 'Very private answer')
  const saying = `550 ${phone} Ana Gone: Very private answer`
  await app.db.query('update message set error_message = $2, reasons = $3 where id = $1', [
    message.id,
    saying,
    JSON.stringify([{ rule: 'restriction_list', passed: false, matched: phone }]),
  ])
  await app.db.query(
    `insert into message_event (message_id, at, kind, detail) values ($1, now(), 'receipt', $2)`,
    [message.id, JSON.stringify({ error: { message: saying } })],
  )
  for (const [subject, event] of [
    [message.id, 'failed'],
    [inboundId, 'received'],
  ])
    await app.db.query(
      `with c as (insert into callback (company_id, target, endpoint, subject_id, event, at, due_at, data)
          values ($1, 'webhook', 'webhook', $2, $3, now(), now(), $4) returning id)
        insert into callback_attempt (callback_id, number, at, duration_ms, answer) select id, 1, now(), 1, $5 from c`,
      [company.id, subject, event, JSON.stringify({ from: phone, text: saying }), saying],
    )
  expect((await client.call('DELETE', `/contacts/${showId('con', contact.id)}`)).status).toBe(200)
  for (const table of [
    'message',
    'message_event',
    'inbound_message',
    'contact',
    'callback',
    'callback_attempt',
    'audit_entry',
  ]) {
    const rows = JSON.stringify(await app.db.query(`select * from ${table}`))
    for (const trace of [phone, 'Very private', 'Ana Gone']) expect(rows, table).not.toContain(trace)
  }
})
