/**
 * One company's credentials against everything of another's, on every route that the program registers. A route
 * without a case here fails the first test: whoever adds one says how it keeps companies apart.
 */
import { createHmac } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { mediaPath } from '../../src/domain/media.ts'
import { writeUnsubscribeToken } from '../../src/flows/unsubscribe.ts'
import { prefix as adminPrefix } from '../../src/http/admin/index.ts'
import { routes as adminRoutes } from '../../src/http/admin/routes.ts'
import { newId, parseId, showId } from '../../src/lib/ids.ts'
import { createMediaItem } from '../../src/store/media.ts'
import { keyClient, signInAs, type Client } from '../contract/admin/support.ts'
import {
  makeContact,
  must,
  openWindows,
  randomMobile,
  testSealer,
  type TestCompany,
} from '../harness/factories.ts'
import { request, type Answer } from '../harness/http.ts'
import { storeMessage, type StoredMessage } from '../harness/messages.ts'
import { slow } from './fuzz.ts'
import { startWhole, type Whole } from '../harness/whole.ts'

let whole: Whole
let own: TestCompany
let other: TestCompany
let ownToken = ''
let ownClient: Client
/** Words that stand in nothing but the other company's data. */
let theirs: string[]
let theirMedia = ''
let theirMessage: StoredMessage
let theirContact: { id: string }
const theirPhone = randomMobile()
const theirEmail = 'only.theirs@example.com'
const appSecret = 'our own app secret'

beforeAll(async () => {
  whole = await startWhole()
  own = await whole.makeCompany()
  other = await whole.makeCompany()
  const { db } = whole
  ownToken = await logIn(own)
  ownClient = (await signInAs(whole, own, 'administrator')).client
  theirContact = await makeContact(db, other.id, {
    phone: theirPhone,
    email: theirEmail,
    name: 'Theirs Only',
  })
  await openWindows(db, theirContact, other.lines.whatsapp, whole.clock.now())
  theirMessage = await storeMessage(db, other, {
    state: 'failed',
    channel: 'whatsapp',
    contactId: theirContact.id,
    recipient: theirPhone,
    providerIds: ['wamid.theirs'],
  })
  const media = must(
    await createMediaItem(db, other.id, { name: 'theirs.png', bytes: Buffer.from('their picture') }),
  )
  theirMedia = mediaPath(media)
  await db.query(`update template set name = 'Their template', name_key = 'their template' where id = $1`, [
    other.templates['fixed-sms']!.id,
  ])
  await db.query(`update line set settings = settings || '{"phoneNumberId":"777"}' where id = $1`, [
    other.lines.whatsapp[0]!.id,
  ])
  theirs = [
    other.name,
    theirPhone,
    theirEmail,
    'Theirs Only',
    other.id.replaceAll('-', ''),
    theirContact.id.replaceAll('-', ''),
  ]
})
afterAll(() => whole.stop())

async function logIn(company: TestCompany): Promise<string> {
  const { apiUser } = company
  const answer = await request(`${whole.url}/v1/login`, {
    body: { Company: company.name, Username: apiUser.name, Password: apiUser.password },
  })
  return String(answer.body['access_token'])
}

function expectNothingOfTheirs(answer: Answer, label: string): void {
  const said = `${answer.text} ${JSON.stringify(answer.headers)}`
  for (const word of theirs) expect(said, `${label} tells ${word}`).not.toContain(word)
}

/** Everything of the other company, as one number per table. */
async function theirRows(): Promise<unknown> {
  const tables = await whole.db.query<{ name: string }>(
    `select c.table_name as name from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
      where c.table_schema = 'public' and c.column_name = 'company_id' and t.table_type = 'BASE TABLE'
        and not exists (select 1 from pg_inherits where inhrelid = format('%I', c.table_name)::regclass) order by 1`,
  )
  expect(tables.length).toBeGreaterThan(20)
  const sums: Record<string, unknown> = {}
  for (const { name } of tables)
    sums[name] = await whole.db.query(
      `select count(*), md5(string_agg(t::text, '|' order by t::text)) as sum from ${name} t where company_id = $1`,
      [other.id],
    )
  return sums
}

const unified = (body: object) =>
  request(`${whole.url}/v1/sendmessage`, {
    headers: { authorization: `Bearer ${ownToken}` },
    body: { platformPrivateToken: own.privateToken, text: 'Hello', ...body },
  })

const direct = (channel: string, body: object, token = own.directToken.token) =>
  request(`${whole.url}/v1/directmessage/${channel}`, {
    headers: { authorization: `Bearer ${token}` },
    body: { contract_code: 'C', template_code: 'fixed-sms', ...body },
  })

async function expectNotStored(messageId: string): Promise<void> {
  const [row] = await whole.db.query<{ content: unknown }>('select content from message where id = $1', [
    parseId('msg', messageId),
  ])
  const content = JSON.stringify(row?.content)
  expect(content).toContain('"kind":"address"')
  expect(content).not.toContain('"kind":"stored"')
}

const phone = () => ({ countryCode: 55, phoneNumber: Number(randomMobile().slice(2)) })

const expectStatus = (answer: Answer, status: number | number[]) =>
  expect([status].flat(), answer.text).toContain(answer.status)

/** By method and pattern. Those without any company's data say so by `isPublic`. */
const cases: Record<string, (() => Promise<Answer[]>) | 'isPublic'> = {
  'GET /health/live': 'isPublic',
  'GET /health/ready': 'isPublic',
  'GET /metrics': 'isPublic',
  'GET /docs': 'isPublic',
  'GET /docs/docs.css': 'isPublic',
  'GET /docs/unified.json': 'isPublic',
  'GET /docs/direct.json': 'isPublic',
  'GET /docs/admin.json': 'isPublic',

  'POST /v1/login': async () => {
    const answer = await request(`${whole.url}/v1/login`, {
      body: { Company: other.name, Username: own.apiUser.name, Password: own.apiUser.password },
    })
    expectStatus(answer, 401)
    return [answer]
  },

  'POST /v1/sendmessage': async () => {
    const foreignToken = await unified({
      platformPrivateToken: other.privateToken,
      channel: 2,
      destination: phone(),
    })
    const template = await unified({ channel: 2, templateName: 'Their template', destination: phone() })
    const attendant = await unified({
      channel: 2,
      attendantUserName: other.attendant.name,
      destination: phone(),
    })
    const wallet = await unified({
      channel: 2,
      destination: phone(),
      contact: { name: 'x', walletClientCode: 'W9', updateIfExists: true },
    })
    const media = await unified({
      channel: 1,
      emailSubject: 'x',
      destination: { email: 'a@example.com' },
      files: [{ name: 'x.png', address: whole.url + theirMedia }],
    })
    for (const answer of [foreignToken, template, attendant]) expectStatus(answer, 400)
    // To us it is an address like any other: fetched through the guard, never read from the store.
    expectStatus(media, 200)
    await expectNotStored(String(media.body['messageId']))
    // Their contact has an open window, there; here nobody knows the number.
    const window = await unified({
      channel: 3,
      destination: { countryCode: 55, phoneNumber: Number(theirPhone.slice(2)) },
    })
    expectStatus(window, 400)
    expect(window.body['message']).toBe('message not sent: 24-hour window closed')
    return [foreignToken, template, attendant, wallet, media, window]
  },

  'POST /v1/directmessage/sms': async () => {
    const unknown = await direct('sms', { recipient_number: randomMobile(), template_code: 'their-own-code' })
    expectStatus(unknown, 422)
    const key = { 'idempotency-key': 'shared-between-companies' }
    const body = { contract_code: 'C', template_code: 'fixed-sms', recipient_number: randomMobile() }
    const sent = await Promise.all(
      [own, other].map((company) =>
        request(`${whole.url}/v1/directmessage/sms`, {
          headers: { authorization: `Bearer ${company.directToken.token}`, ...key },
          body,
        }),
      ),
    )
    // The same key and body in two companies are two messages.
    for (const answer of sent) {
      expectStatus(answer, 202)
      expect(answer.headers['idempotency-replayed']).toBeUndefined()
    }
    expect(sent[0]!.headers['pombo-message-id']).not.toBe(sent[1]!.headers['pombo-message-id'])
    return [unknown, sent[0]!]
  },
  'POST /v1/directmessage/email': async () => {
    const answer = await direct('email', {
      recipient_email: theirEmail,
      template_code: 'plain-email',
      variable_values: { Topic: 'x' },
    })
    // @Name is a contact variable: what the other company stored of this person does not fill it.
    expectStatus(answer, 422)
    return [answer]
  },
  'POST /v1/directmessage/whatsapp': async () => {
    const answer = await direct('whatsapp', {
      recipient_number: randomMobile(),
      template_code: 'image-header',
      variables: { header_value: whole.url + theirMedia, body: { Date: 'x' } },
    })
    expectStatus(answer, 202)
    await expectNotStored(answer.headers['pombo-message-id']!)
    const line = await direct('whatsapp', {
      recipient_number: randomMobile(),
      template_code: 'invoice',
      whatsapp_sender_number: '5531900000000',
    })
    expectStatus(line, 422)
    return [answer, line]
  },

  'GET /media/:item': async () => {
    // Whoever knows an address may see the item, as with a picture in a mail; nothing leads to one.
    const wrong = [
      theirMedia.replace('.png', '.pdf'),
      `/media/${newId().replaceAll('-', '')}.png`,
      '/media/',
      '/media/..%2f..%2fetc%2fpasswd',
      `/media/${other.id.replaceAll('-', '')}.png`,
    ]
    const answers = await Promise.all(wrong.map((path) => request(whole.url + path)))
    for (const answer of answers) expectStatus(answer, 404)
    return answers
  },

  'GET /unsubscribe/:token': async () => {
    const answers = await Promise.all(
      forgedTokens().map((token) => request(`${whole.url}/unsubscribe/${token}`)),
    )
    for (const answer of answers) expectStatus(answer, 404)
    return answers
  },
  'POST /unsubscribe/:token': async () => {
    const answers = await Promise.all(
      forgedTokens().map((token) =>
        request(`${whole.url}/unsubscribe/${token}`, { method: 'POST', body: 'List-Unsubscribe=One-Click' }),
      ),
    )
    for (const answer of answers) expectStatus(answer, 404)
    // Ours, with their contact in it: written by us, it names nobody of ours.
    const crossed = writeUnsubscribeToken(testSealer, {
      companyId: own.id,
      contactId: theirContact.id,
      messageId: theirMessage.id,
    })
    const answer = await request(`${whole.url}/unsubscribe/${crossed}`, { method: 'POST', body: 'x' })
    expectStatus(answer, 200)
    return [...answers, answer]
  },

  'GET /hooks/:driver/:line': async () => {
    const line = showId('lin', other.lines.whatsapp[0]!.id)
    const answer = await request(
      `${whole.url}/hooks/whatsapp-cloud/${line}?hub.mode=subscribe&hub.challenge=x&hub.verify_token=secret`,
    )
    expectStatus(answer, [403, 503])
    return [answer]
  },
  'POST /hooks/:driver/:line': async () => {
    const id = showId('lin', own.lines.whatsapp[0]!.id)
    const settings = { phoneNumberId: '1', accessToken: 'a', appSecret, verifyToken: 'v' }
    expectStatus(await ownClient.call('PATCH', `/lines/${id}`, { settings }), 200)
    // Signed by our own provider, about their message, their number and their line.
    const status = {
      id: 'wamid.theirs',
      status: 'read',
      biz_opaque_callback_data: showId('msg', theirMessage.id),
    }
    const values = [
      { metadata: { phone_number_id: '1' }, statuses: [status] },
      { metadata: { phone_number_id: '777' }, statuses: [status] },
      {
        metadata: { phone_number_id: '777' },
        messages: [{ id: 'wamid.new', from: theirPhone, type: 'text', text: { body: 'STOP' } }],
      },
    ]
    const body = Buffer.from(
      JSON.stringify({ entry: [{ changes: values.map((value) => ({ field: 'messages', value })) }] }),
    )
    const signature = createHmac('sha256', appSecret).update(body).digest('hex')
    const headers = { 'x-hub-signature-256': `sha256=${signature}` }
    const taken = await request(`${whole.url}/hooks/whatsapp-cloud/${id}`, { headers, body })
    expectStatus(taken, 200)
    const theirLine = showId('lin', other.lines.whatsapp[0]!.id)
    const refused = await request(`${whole.url}/hooks/whatsapp-cloud/${theirLine}`, { headers, body })
    expectStatus(refused, [401, 503])
    return [taken, refused]
  },

  [`POST ${adminPrefix}/session`]: async () => {
    const { user } = await signInAs(whole, own, 'viewer')
    const answer = await request(`${whole.url}${adminPrefix}/session`, {
      headers: { 'x-pombo-console': '1' },
      body: { company: other.name, username: user.name, password: user.password },
    })
    expectStatus(answer, 401)
    return [answer]
  },
  [`DELETE ${adminPrefix}/session`]: async () => {
    const answer = await request(`${whole.url}${adminPrefix}/session`, {
      method: 'DELETE',
      headers: { 'x-pombo-console': '1' },
    })
    expectStatus(answer, 204)
    return [answer]
  },
}

const forgedTokens = (): string[] => {
  const ids = { companyId: other.id, contactId: theirContact.id, messageId: theirMessage.id }
  const genuine = writeUnsubscribeToken(testSealer, { ...ids, companyId: own.id })
  const bytes = Buffer.from(genuine, 'base64url')
  const companyBytes = Buffer.from(other.id.replaceAll('-', ''), 'hex')
  return [
    // A token of ours with their company put in: the proof is over all of it.
    Buffer.concat([companyBytes, bytes.subarray(16)]).toString('base64url'),
    Buffer.concat([bytes.subarray(0, 48), Buffer.alloc(16)]).toString('base64url'),
    genuine.slice(0, -2),
    'x',
  ]
}

test('every route has a case, and every case a route', () => {
  const registered = whole.routes.map(({ method, url }) => `${method} ${url}`)
  const byAdmin = adminRoutes.map(({ method, path }) => `${method} ${adminPrefix}${path}`)
  // Those of the admin API have theirs in test/contract/admin/permissions.test.ts: every route, role and foreign id.
  const covered = [...Object.keys(cases), ...byAdmin]
  // Files of the console are the same for everybody; what they show comes from the admin API.
  const pages = /^(GET|HEAD) \/\*$/
  expect(registered.filter((route) => !pages.test(route) && !covered.includes(route))).toEqual([])
  expect(covered.filter((route) => !registered.includes(route))).toEqual([])
})

test("no route tells or changes anything of another company's", slow, async () => {
  for (const [route, run] of Object.entries(cases)) {
    const before = await theirRows()
    const answers =
      run === 'isPublic'
        ? [
            await request(whole.url + route.split(' ')[1]!, {
              headers: { authorization: `Bearer ${ownToken}` },
            }),
          ]
        : await run()
    for (const answer of answers) expectNothingOfTheirs(answer, route)
    const changed = Object.entries((await theirRows()) as Record<string, unknown>).filter(
      ([table, sum]) => JSON.stringify(sum) !== JSON.stringify((before as Record<string, unknown>)[table]),
    )
    // The one case that sends as both companies adds a message of theirs, by their own token.
    if (route !== 'POST /v1/directmessage/sms')
      expect(
        changed.map(([table]) => table),
        route,
      ).toEqual([])
  }
})

test('the credentials of one surface open no other', slow, async () => {
  const key = await keyClient(whole, own, ['manage'])
  const bearers = {
    unified: ownToken,
    direct: own.directToken.token,
    key: key.headers['authorization']!.slice('Bearer '.length),
    privateToken: own.privateToken,
    cookie: ownClient.cookie.split('=')[1]!,
  }
  const doors: Record<string, (token: string) => Promise<Answer>> = {
    unified: (token) =>
      request(`${whole.url}/v1/sendmessage`, { headers: { authorization: `Bearer ${token}` }, body: {} }),
    direct: (token) => direct('sms', {}, token),
    key: (token) =>
      request(`${whole.url}${adminPrefix}/session`, { headers: { authorization: `Bearer ${token}` } }),
  }
  for (const [door, knock] of Object.entries(doors))
    for (const [kind, token] of Object.entries(bearers)) {
      const { status } = await knock(token)
      if (kind === door) expect(status, `${kind} at ${door}`).not.toBe(401)
      else expect(status, `${kind} at ${door}`).toBe(401)
    }
})

test(
  'the stream of events tells nothing of others, not even when asked for their messages',
  slow,
  async () => {
    const events: string[] = []
    const abort = new AbortController()
    const stream = await fetch(`${whole.url}${adminPrefix}/events?watch=${showId('msg', theirMessage.id)}`, {
      headers: { cookie: ownClient.cookie },
      signal: abort.signal,
    })
    expect(stream.status).toBe(200)
    const reading = (async () => {
      for await (const chunk of stream.body!) events.push(Buffer.from(chunk as Uint8Array).toString('utf8'))
    })().catch(() => undefined)
    const hasSeen = async (text: string) => {
      for (let turn = 0; turn < 400 && !events.join('').includes(text); turn++)
        await new Promise((resolve) => setTimeout(resolve, 25))
      return events.join('').includes(text)
    }
    // The first look tells the lanes; what comes after is told as it comes.
    expect(await hasSeen('event: lane')).toBe(true)
    const foreign = await direct('sms', { recipient_number: theirPhone }, other.directToken.token)
    expectStatus(foreign, 202)
    await whole.db.query(`update message set state = 'delivered' where id = $1`, [theirMessage.id])
    const mine = await direct('sms', { recipient_number: randomMobile() })
    const mineId = mine.headers['pombo-message-id']!
    expect(await hasSeen(mineId), 'own messages are told').toBe(true)
    abort.abort()
    await reading
    const told = events.join('')
    for (const word of [...theirs, foreign.headers['pombo-message-id']!, showId('msg', theirMessage.id)])
      expect(told).not.toContain(word)
    for (const { id } of [...other.lines.sms, ...other.lines.whatsapp])
      expect(told).not.toContain(showId('lin', id))
    expect(parseId('msg', mineId)).toBeDefined()
  },
)
