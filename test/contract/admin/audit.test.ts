/** Every route that changes something, once with success: an audit entry is there, and none after a refusal. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { routes } from '../../../src/http/admin/routes.ts'
import { showId } from '../../../src/lib/ids.ts'
import { totpCode, totpStep } from '../../../src/lib/totp.ts'
import type { App } from '../../harness/app.ts'
import {
  makeContact,
  makeUser,
  openWindows,
  randomMobile,
  type TestCompany,
  type TestUser,
} from '../../harness/factories.ts'
import { storeMessage } from '../../harness/messages.ts'
import type { Answer } from '../../harness/http.ts'
import { startTestSandbox } from '../../../src/sandbox/testing.ts'
import type { Sandbox } from '../../../src/sandbox/sandbox.ts'
import { signIn, signInAnswer, startAdmin, type Client } from './support.ts'

let app: App
let company: TestCompany
let admin: TestUser
let client: Client
let sandbox: Sandbox

beforeAll(async () => {
  sandbox = await startTestSandbox()
  app = await startAdmin({
    config: {
      outboundExceptions: ['callbacks=hooks.example:443', `brokers=${new URL(sandbox.graph.baseUrl).host}`],
    },
    sandboxUrl: sandbox.url,
  })
  company = await app.makeCompany()
  admin = await makeUser(app.db, company.id, 'administrator')
  client = await signIn(app, company, admin)
})
afterAll(async () => {
  await app.stop()
  await sandbox.stop()
})

const made = async (path: string, body: unknown): Promise<string> => {
  const answer = await client.call('POST', path, body)
  if (answer.status !== 201) throw new Error(`${path} answered ${answer.status}: ${answer.text}`)
  return String(answer.body['id'])
}
const random = () => Math.random().toString(36).slice(2)
const newSegment = () => made('/segments', { name: random() })
const newList = () => made('/restriction-lists', { name: random() })
const newRule = () => made('/rules', { kind: 'opt_out', name: random(), apis: ['direct'] })
const newTemplate = () =>
  made('/templates', {
    name: random(),
    code: random(),
    channel: 'sms',
    kind: 'text',
    content: { body: 'Hello.' },
  })
/** The sandbox stands for the provider. */
const reachSandbox = async () => {
  const { baseUrl, wabaId, accessToken, appSecret, verifyToken } = sandbox.graph
  await client.call('PATCH', `/lines/${showId('lin', company.lines.whatsapp[0]!.id)}`, {
    settings: { baseUrl, wabaId, accessToken, appSecret, verifyToken, phoneNumberId: '1' },
  })
}
const newWhatsappTemplate = () =>
  made('/templates', {
    name: random(),
    code: random(),
    channel: 'whatsapp',
    kind: 'text',
    content: { body: 'Something new today', provider: { name: `new_${random()}`, language: 'en' } },
  })
const smpp = { host: 'smsc.example', port: 2775, systemId: 'pombo', password: 'very secret' }
const newLine = () =>
  made('/lines', {
    name: random(),
    driver: 'smpp',
    countryCode: 55,
    phoneNumber: Number(randomMobile().slice(2)),
    settings: smpp,
  })
const newUser = async () => showId('usr', (await makeUser(app.db, company.id, 'viewer')).id)
const newContact = async () => showId('con', (await makeContact(app.db, company.id)).id)
const newAttendance = async () => made('/attendances', { contactId: await newContact() })
const newToken = () => made('/direct-tokens', { name: random() })
const entries = { entries: [{ field: 'phone', value: '5531987654321' }] }
const currentPassword = () => admin.password
const written = () => ({ channel: 'sms', from: '5531987654321', to: '5531987650010', text: 'Hello' })

type Success = () => Promise<{ path: string; body?: unknown }>
let secret = ''
const code = () => totpCode(secret, totpStep(app.clock.now()))

/** In the order of the routes; those that need others before them stand in that order already. */
const successes: Record<string, Success> = {
  'POST /account/password': async () => ({
    path: '/account/password',
    body: { currentPassword: currentPassword(), newPassword: admin.password },
  }),
  'POST /account/totp': async () => ({ path: '/account/totp', body: { currentPassword: currentPassword() } }),
  'PUT /account/totp': async () => ({ path: '/account/totp', body: { code: code() } }),
  'POST /account/recovery-codes': async () => ({
    path: '/account/recovery-codes',
    body: { currentPassword: currentPassword() },
  }),
  'POST /account/totp/remove': async () => {
    app.clock.advance(30_000)
    return { path: '/account/totp/remove', body: { currentPassword: currentPassword(), code: code() } }
  },
  'DELETE /account/sessions/:id': async () => {
    await signInAnswer(app, company, admin)
    const listed = (await client.get('/account/sessions')).body['items'] as {
      id: string
      isCurrent: boolean
    }[]
    return { path: `/account/sessions/${listed.find(({ isCurrent }) => !isCurrent)!.id}` }
  },
  'PATCH /company': async () => ({ path: '/company', body: { timeZone: 'America/Sao_Paulo' } }),
  'PUT /company/stop-words': async () => ({ path: '/company/stop-words', body: { stop: ['BASTA'] } }),
  'POST /company/private-token/show': async () => ({ path: '/company/private-token/show' }),
  'POST /company/private-token/rotate': async () => ({
    path: '/company/private-token/rotate',
    body: { overlapHours: 1 },
  }),
  'POST /company/callback-secret/show': async () => ({ path: '/company/callback-secret/show' }),
  'POST /company/callback-secret/rotate': async () => ({ path: '/company/callback-secret/rotate', body: {} }),
  'PUT /company/webhook': async () => ({
    path: '/company/webhook',
    body: { url: 'https://hooks.example/pombo' },
  }),
  'POST /company/webhook/secret/show': async () => ({ path: '/company/webhook/secret/show' }),
  'POST /company/webhook/secret/rotate': async () => ({ path: '/company/webhook/secret/rotate', body: {} }),
  'DELETE /company/webhook': async () => ({ path: '/company/webhook' }),
  'POST /users': async () => ({
    path: '/users',
    body: { name: random(), role: 'viewer', password: 'long enough' },
  }),
  'PATCH /users/:id': async () => ({ path: `/users/${await newUser()}`, body: { isDisabled: true } }),
  'POST /users/:id/password': async () => ({
    path: `/users/${await newUser()}/password`,
    body: { password: 'long enough' },
  }),
  'DELETE /users/:id/totp': async () => {
    const user = await makeUser(app.db, company.id, 'viewer')
    const theirs = await signIn(app, company, user)
    await theirs.call('POST', '/account/totp', { currentPassword: user.password })
    return { path: `/users/${showId('usr', user.id)}/totp` }
  },
  'DELETE /users/:id/sessions': async () => ({ path: `/users/${await newUser()}/sessions` }),
  'DELETE /users/:id/token': async () => {
    await app.db.query(`insert into api_token values ($1, $2, 'x', now(), now() + interval '1 hour')`, [
      company.apiUser.id,
      company.id,
    ])
    return { path: `/users/${showId('usr', company.apiUser.id)}/token` }
  },
  'POST /segments': async () => ({ path: '/segments', body: { name: random(), clientCode: random() } }),
  'PATCH /segments/:id': async () => ({ path: `/segments/${await newSegment()}`, body: { name: random() } }),
  'DELETE /segments/:id': async () => ({ path: `/segments/${await newSegment()}` }),
  'POST /lines': async () => ({
    path: '/lines',
    body: {
      name: 'New',
      driver: 'smpp',
      countryCode: 55,
      phoneNumber: 31987651234,
      settings: smpp,
      ratePerSecond: 2.5,
    },
  }),
  'PATCH /lines/:id': async () => ({
    path: `/lines/${await newLine()}`,
    body: { name: 'Other', settings: { host: 'other.example', port: 2776, systemId: 'pombo' } },
  }),
  'DELETE /lines/:id': async () => ({ path: `/lines/${await newLine()}` }),
  'POST /lines/:id/pause': async () => ({
    path: `/lines/${await newLine()}/pause`,
    body: { reason: 'lunch' },
  }),
  'POST /lines/:id/resume': async () => ({ path: `/lines/${await newLine()}/resume` }),
  'POST /lines/:id/default': async () => ({ path: `/lines/${await newLine()}/default` }),
  'POST /lines/:id/test': async () => {
    const id = await newLine()
    await client.call('POST', `/lines/${id}/pause`, {})
    return { path: `/lines/${id}/test`, body: { recipient: '+55 31 98765-4321', text: 'Hello' } }
  },
  'POST /templates': async () => ({
    path: '/templates',
    body: {
      name: random(),
      code: random(),
      channel: 'sms',
      kind: 'text',
      content: { body: 'Hello @Name.', variables: ['Name'] },
    },
  }),
  'PUT /templates/:id': async () => ({
    path: `/templates/${await newTemplate()}`,
    body: { name: random(), code: random(), content: { body: 'Other.' } },
  }),
  'PATCH /templates/:id': async () => ({
    path: `/templates/${await newTemplate()}`,
    body: { isEnabled: false },
  }),
  // Before anything is handed in: what the provider decides has an entry of its own.
  'POST /templates/refresh': async () => {
    await reachSandbox()
    return { path: '/templates/refresh' }
  },
  'POST /templates/:id/submit': async () => ({
    path: `/templates/${await newWhatsappTemplate()}/submit`,
  }),
  'POST /templates/:id/test': async () => {
    const lineId = await newLine()
    await client.call('POST', `/lines/${lineId}/pause`, {})
    return {
      path: `/templates/${await newTemplate()}/test`,
      body: { recipient: randomMobile(), lineId },
    }
  },
  'DELETE /templates/:id': async () => ({ path: `/templates/${await newTemplate()}` }),
  'POST /media': async () => ({ path: '/media?name=picture.png', body: Buffer.from('a picture') }),
  'DELETE /media/:id': async () => ({
    path: `/media/${await made('/media?name=gone.png', Buffer.from('gone'))}`,
  }),
  'POST /contacts': async () => ({ path: '/contacts', body: { phone: randomMobile(), name: 'Ana' } }),
  'PATCH /contacts/:id': async () => ({
    path: `/contacts/${await newContact()}`,
    body: { name: 'Ana', optedOutChannels: ['sms'] },
  }),
  'POST /contacts/:id/clear-bounce': async () => ({ path: `/contacts/${await newContact()}/clear-bounce` }),
  'POST /contacts/:id/export': async () => ({ path: `/contacts/${await newContact()}/export` }),
  'DELETE /contacts/:id': async () => ({ path: `/contacts/${await newContact()}` }),
  'POST /contacts/:id/messages': async () => {
    const contact = await makeContact(app.db, company.id)
    await openWindows(app.db, contact, company.lines.whatsapp, app.clock.now())
    return {
      path: `/contacts/${showId('con', contact.id)}/messages`,
      body: { channel: 'whatsapp', text: 'How can I help?' },
    }
  },
  'POST /contacts/import': async () => ({
    path: '/contacts/import?fileName=people.csv',
    body: 'phone,name\n5531987650001,Ana\n',
  }),
  'POST /attendances': async () => ({ path: '/attendances', body: { contactId: await newContact() } }),
  'POST /attendances/:id/hand-over': async () => ({
    path: `/attendances/${await newAttendance()}/hand-over`,
    body: { userId: showId('usr', company.attendant.id) },
  }),
  'POST /attendances/:id/close': async () => ({ path: `/attendances/${await newAttendance()}/close` }),
  'POST /rules': async () => ({
    path: '/rules',
    body: { kind: 'frequency_cap', name: 'Cap', apis: ['direct'], settings: { limit: 3, period: 'day' } },
  }),
  'PUT /rules/order': async () => ({ path: '/rules/order', body: { ruleIds: [await newRule()] } }),
  'PUT /rules/:id': async () => ({
    path: `/rules/${await newRule()}`,
    body: { name: 'Renamed', isEnabled: false },
  }),
  'DELETE /rules/:id': async () => ({ path: `/rules/${await newRule()}` }),
  'POST /restriction-lists': async () => ({ path: '/restriction-lists', body: { name: random() } }),
  'PATCH /restriction-lists/:id': async () => ({
    path: `/restriction-lists/${await newList()}`,
    body: { name: random() },
  }),
  'DELETE /restriction-lists/:id': async () => ({ path: `/restriction-lists/${await newList()}` }),
  'POST /restriction-lists/:id/entries': async () => ({
    path: `/restriction-lists/${await newList()}/entries`,
    body: entries,
  }),
  'POST /restriction-lists/:id/entries/remove': async () => ({
    path: `/restriction-lists/${await newList()}/entries/remove`,
    body: entries,
  }),
  'POST /restriction-lists/:id/import': async () => ({
    path: `/restriction-lists/${await newList()}/import?field=phone`,
    body: '5531987650001\n',
  }),
  'POST /messages/:id/resend': async () => ({
    path: `/messages/${showId('msg', (await storeMessage(app.db, company, { state: 'failed' })).id)}/resend`,
  }),
  'POST /callbacks/replay': async () => ({ path: '/callbacks/replay', body: { state: 'given_up' } }),
  'POST /direct-tokens': async () => ({
    path: '/direct-tokens',
    body: { name: 'Shop', channels: ['sms'], allowedAddresses: ['192.0.2.0/24'] },
  }),
  'PATCH /direct-tokens/:id': async () => ({
    path: `/direct-tokens/${await newToken()}`,
    body: { allowedAddresses: ['192.0.2.1'] },
  }),
  'POST /direct-tokens/:id/renew': async () => ({ path: `/direct-tokens/${await newToken()}/renew` }),
  'DELETE /direct-tokens/:id': async () => ({ path: `/direct-tokens/${await newToken()}` }),
  'POST /admin-keys': async () => ({ path: '/admin-keys', body: { name: 'Program', scopes: ['read'] } }),
  'DELETE /admin-keys/:id': async () => ({
    path: `/admin-keys/${await made('/admin-keys', { name: 'Gone', scopes: ['manage'] })}`,
  }),
  'POST /sandbox/answers': async () => ({ path: '/sandbox/answers', body: written() }),
  'POST /sandbox/messages/:id/act': async () => {
    await client.call('POST', '/sandbox/answers', written())
    const [message] = sandbox.inbox.list({}, 1)
    return { path: `/sandbox/messages/${message!.id}/act`, body: { act: 'reply', text: 'And more' } }
  },
  'DELETE /sandbox/messages': async () => ({ path: '/sandbox/messages' }),
  'PUT /sandbox/chaos': async () => ({ path: '/sandbox/chaos', body: { sms: { dropBeforeRate: 0 } } }),
  'DELETE /sandbox/chaos': async () => ({ path: '/sandbox/chaos' }),
  'PUT /sandbox/callbacks': async () => ({ path: '/sandbox/callbacks', body: { status: 204 } }),
  'DELETE /sandbox/callbacks': async () => ({ path: '/sandbox/callbacks' }),
}

const auditCount = async () =>
  (
    await app.db.query<{ count: number }>('select count(*) as count from audit_entry where company_id = $1', [
      company.id,
    ])
  )[0]!.count

test('there is a success for every route that changes something', () => {
  const audited = routes
    .filter(({ audit }) => audit !== undefined)
    .map(({ method, path }) => `${method} ${path}`)
  expect(Object.keys(successes).toSorted()).toEqual(audited.toSorted())
})

test('each leaves one entry that says who did what to which one, and no secret', async () => {
  const secrets: string[] = []
  for (const [name, success] of Object.entries(successes)) {
    const [method = '', path = ''] = name.split(' ')
    const { audit } = routes.find((route) => route.method === method && route.path === path)!
    const wanted = await success()
    const before = await auditCount()
    const answer: Answer = await client.call(method, wanted.path, wanted.body)
    expect(answer.status, `${name}: ${answer.text}`).toBeLessThan(300)
    expect(await auditCount(), name).toBe(before + 1)
    const [entry] = await app.db.query<Record<string, unknown>>(
      'select actor, noun, action, noun_id, detail from audit_entry where company_id = $1 order by id desc limit 1',
      [company.id],
    )
    expect(entry, name).toMatchObject({ actor: admin.name, noun: audit!.noun, action: audit!.action })
    if (path.includes(':id')) expect(entry!['noun_id'], name).toMatch(/^[a-z]{3}_[0-9a-f]{32}$/)
    if (name === 'POST /account/totp') secret = String(answer.body['secret'])
    for (const field of ['token', 'key', 'secret', 'privateToken']) {
      const value = answer.body[field]
      if (typeof value === 'string') secrets.push(value)
    }
  }
  expect(secrets.length).toBeGreaterThan(5)
  const all = JSON.stringify(
    await app.db.query('select * from audit_entry where company_id = $1', [company.id]),
  )
  for (const value of [...secrets, smpp.password, admin.password]) expect(all).not.toContain(value)
})

test('a change that is refused leaves no entry, and nothing half done', async () => {
  const segment = await newSegment()
  const line = await newLine()
  const before = await auditCount()
  const refused: [string, string, unknown][] = [
    ['POST', '/segments', { name: '' }],
    ['PATCH', `/segments/${segment}`, { name: company.segments[0].name }],
    ['PATCH', `/lines/${line}`, { name: 'Half done', settings: { host: 'x.example', port: 'no number' } }],
    ['POST', '/users', { name: admin.name, role: 'viewer', password: 'long enough' }],
    ['POST', '/rules', { kind: 'duplicate', name: 'x', settings: {} }],
  ]
  for (const [method, path, body] of refused) {
    const answer = await client.call(method, path, body)
    expect(answer.status, `${path} ${answer.text}`).toBe(400)
    expect(Object.keys(answer.body['errors'] as object).length, path).toBeGreaterThan(0)
  }
  expect(await auditCount()).toBe(before)
  expect((await client.get(`/lines/${line}`)).body['name']).not.toBe('Half done')
})

test('the audit log is read in pages and by noun', async () => {
  const first = await client.get('/audit?limit=5')
  expect(first.body['items']).toHaveLength(5)
  const second = await client.get(`/audit?limit=5&cursor=${String(first.body['nextCursor'])}`)
  expect(JSON.stringify(second.body['items'])).not.toContain((first.body['items'] as { id: string }[])[0]!.id)
  const lines = (await client.get('/audit?noun=line')).body['items'] as { noun: string }[]
  expect(lines.length).toBeGreaterThan(3)
  expect(new Set(lines.map(({ noun }) => noun))).toEqual(new Set(['line']))
})
