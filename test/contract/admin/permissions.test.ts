/** Every route with every role, without anybody, and with another company's ids. */
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { permissions } from '../../../src/http/admin/permissions.ts'
import { routes } from '../../../src/http/admin/routes.ts'
import { newId, showId, type IdPrefix } from '../../../src/lib/ids.ts'
import { createRestrictionList } from '../../../src/store/restriction-lists.ts'
import { createRule } from '../../../src/store/rules.ts'
import { createMediaItem } from '../../../src/store/media.ts'
import { openAttendance } from '../../../src/store/attendances.ts'
import { createImport } from '../../../src/store/imports.ts'
import { listSessions } from '../../../src/store/sessions.ts'
import { createAdminKey } from '../../../src/store/admin-keys.ts'
import type { App } from '../../harness/app.ts'
import { makeContact, must, type TestCompany } from '../../harness/factories.ts'
import { request } from '../../harness/http.ts'
import { storeMessage } from '../../harness/messages.ts'
import { base, keyClient, signInAs, startAdmin, type Client } from './support.ts'

const roles = ['administrator', 'supervisor', 'attendant', 'viewer'] as const

let app: App
let own: TestCompany
let other: TestCompany
const clients = new Map<string, Client>()
/** Ids of the other company, by prefix. */
const foreign = new Map<IdPrefix, string>()

beforeAll(async () => {
  app = await startAdmin()
  own = await app.makeCompany()
  other = await app.makeCompany()
  for (const role of roles) clients.set(role, (await signInAs(app, own, role)).client)
  clients.set('manage', await keyClient(app, own, ['manage']))
  clients.set('read', await keyClient(app, own, ['read']))
  clients.set('messages:own', await keyClient(app, own, ['messages:own'], own.apiUser.id))
  await makeForeign()
})
afterAll(() => app.stop())

async function makeForeign() {
  const { db } = app
  const { user } = await signInAs(app, other, 'administrator')
  const list = must(await createRestrictionList(db, other.id, 'Theirs'))
  const contact = await makeContact(db, other.id)
  const attendance = await openAttendance(db, other.id, {
    contactId: contact.id,
    userId: user.id,
    at: new Date(),
  })
  const media = must(await createMediaItem(db, other.id, { name: 'theirs.png', bytes: Buffer.from('x') }))
  const key = must(await createAdminKey(db, other.id, { name: 'Theirs', scopes: ['read'] }, 'them'))
  const message = await storeMessage(db, other, { state: 'failed' })
  const inboundId = newId()
  await db.query(
    `insert into inbound_message (id, company_id, line_id, contact_id, provider_id, kind, text, at, received_at)
      values ($1, $2, $3, $4, 'theirs', 'text', 'Theirs', now(), now())`,
    [inboundId, other.id, other.lines.sms[0]!.id, contact.id],
  )
  const all: [IdPrefix, string][] = [
    ['inb', inboundId],
    ['usr', user.id],
    ['seg', other.segments[0].id],
    ['lin', other.lines.sms[0]!.id],
    ['tpl', other.templates['fixed-sms']!.id],
    ['med', media.id],
    ['con', contact.id],
    ['att', attendance.id],
    ['lst', list.id],
    ['rul', await createRule(db, other.id, { name: 'Theirs', settings: { kind: 'opt_out' } })],
    [
      'job',
      await createImport(db, other.id, {
        kind: 'contacts',
        options: {},
        fileName: 'x.csv',
        createdBy: 'them',
      }),
    ],
    ['msg', message.id],
    ['dtk', other.directToken.id],
    ['key', key.id],
    ['ses', (await listSessions(db, other.id, user.id, new Date()))[0]!.id],
  ]
  for (const [prefix, id] of all) foreign.set(prefix, showId(prefix, id))
}

const name = (route: { method: string; path: string }) => `${route.method} ${route.path}`

test('the table of permissions and the routes name the same', () => {
  expect(Object.keys(permissions).toSorted()).toEqual(routes.map(name).toSorted())
  expect(new Set(routes.map(name)).size).toBe(routes.length)
})

test('every route that is no GET is audited, or changes nothing by its nature', () => {
  const silent = routes.filter(({ method, audit }) => method !== 'GET' && audit === undefined).map(name)
  expect(silent).toEqual(['POST /templates/preview', 'POST /rules/try', 'POST /restriction-lists/look-up'])
})

const pathOf = (path: string, ids: readonly IdPrefix[] | undefined, idOf: (prefix: IdPrefix) => string) => {
  let place = 0
  return path.replaceAll(/:\w+/g, () => idOf(ids![place++]!))
}

test('without a session or key every route is 401, whatever is sent', async () => {
  for (const route of routes) {
    const path = pathOf(route.path, route.ids, (prefix) => foreign.get(prefix)!)
    const nobody: Record<string, string>[] = [
      {},
      { authorization: 'Bearer pak_nonsense' },
      { cookie: `pombo_session=${'a'.repeat(43)}` },
    ]
    for (const headers of nobody) {
      const answer = await request(`${app.url}${base}${path}`, {
        method: route.method,
        headers: { 'x-pombo-console': '1', ...headers },
        ...(route.method !== 'GET' && { body: {} }),
      })
      expect(answer.status, name(route)).toBe(401)
      expect(answer.body['requestId']).toBe(answer.headers['x-request-id'])
    }
  }
})

/** As the table says for a role, a key with that power, and a key that reads its own messages. */
const isExpected = (who: string, route: string): boolean => {
  const { roles: allowed, isPersonal, isForOwnMessages } = permissions[route]!
  if (who === 'messages:own') return isForOwnMessages === true
  if (who === 'manage') return !isPersonal && allowed.includes('administrator')
  if (who === 'read') return !isPersonal && allowed.includes('viewer')
  return (allowed as readonly string[]).includes(who)
}

test("every role gets 403 exactly where the table says so, and another company's ids are not there", async () => {
  const before = await foreignRows()
  for (const route of routes) {
    if (route.path === '/events') continue
    for (const [who, client] of clients) {
      const path = pathOf(route.path, route.ids, (prefix) => foreign.get(prefix)!)
      const answer = await client.call(
        route.method,
        path,
        route.method === 'GET' ? undefined : bodyFor(name(route)),
      )
      const label = `${who}: ${name(route)} answered ${answer.status} ${answer.text.slice(0, 200)}`
      if (!isExpected(who, name(route))) {
        expect(answer.status, label).toBe(403)
        continue
      }
      expect(answer.status, label).not.toBe(403)
      expect(answer.status, label).toBeLessThan(500)
      // Their ids do not exist here; the two personal routes with an id are about one's own.
      if (route.ids) expect(answer.status, label).toBe(404)
      for (const id of foreign.values()) expect(answer.text, label).not.toContain(id)
      expect(answer.text, label).not.toContain(other.name)
    }
  }
  expect(await foreignRows()).toEqual(before)
})

/** Bodies that would succeed if the ids were one's own, where the path has any; bodies without ids harm nothing. */
const bodyFor = (route: string): unknown =>
  ({
    'POST /users/:id/password': { password: 'a new password' },
    'PATCH /users/:id': { name: 'Taken over' },
    'PATCH /segments/:id': { name: 'Taken over' },
    'PATCH /lines/:id': { name: 'Taken over' },
    'POST /lines/:id/test': { recipient: '5531987654321', text: 'Hello' },
    'POST /templates/:id/test': { recipient: '5531987654321' },
    'PUT /templates/:id': { name: 'Taken', code: 'taken', content: { body: 'Taken over.' } },
    'PATCH /templates/:id': { isEnabled: false },
    'PATCH /contacts/:id': { name: 'Taken over' },
    'POST /contacts/:id/messages': { channel: 'sms', text: 'Hello' },
    'PUT /rules/:id': { name: 'Taken over' },
    'PATCH /restriction-lists/:id': { name: 'Taken over' },
    'POST /restriction-lists/:id/entries': { entries: [{ field: 'phone', value: '5531987654321' }] },
    'POST /restriction-lists/:id/entries/remove': { entries: [{ field: 'phone', value: '5531987654321' }] },
    'PATCH /direct-tokens/:id': { name: 'Taken over' },
    'POST /attendances': { contactId: foreign.get('con') },
    'POST /restriction-lists/:id/import': 'field,value\nphone,5531987654321\n',
  })[route] ?? {}

async function foreignRows(): Promise<unknown> {
  const tables = [
    'app_user',
    'segment',
    'line',
    'template',
    'media_item',
    'contact',
    'attendance',
    'restriction_list',
    'rule',
    'direct_token',
    'admin_key',
    'admin_session',
    'import_job',
    'audit_entry',
    'message',
  ]
  const rows: Record<string, unknown> = {}
  for (const table of tables)
    rows[table] = await app.db.query(
      `select md5(string_agg(t::text, '|' order by t::text)) as sum from ${table} t where company_id = $1`,
      [other.id],
    )
  return rows
}

test('lists hold nothing of another company, and bodies cannot name its things', async () => {
  const client = clients.get('administrator')!
  const bodies: [string, string, unknown, string][] = [
    [
      'POST',
      '/lines',
      {
        name: 'x',
        driver: 'smpp',
        countryCode: 55,
        phoneNumber: 31987650099,
        settings: { host: 'smsc.example', port: 2775, systemId: 'a', password: 'b' },
        segmentIds: [foreign.get('seg')],
      },
      'segmentIds',
    ],
    [
      'POST',
      '/rules',
      { kind: 'restriction_list', name: 'x', settings: { listId: foreign.get('lst') } },
      'settings.listId',
    ],
    ['POST', '/rules', { kind: 'opt_out', name: 'x', segmentIds: [foreign.get('seg')] }, 'segmentIds'],
    ['POST', '/admin-keys', { name: 'x', scopes: ['messages:own'], userId: foreign.get('usr') }, 'userId'],
    ['POST', '/contacts', { phone: '5531987654399', segmentId: foreign.get('seg') }, 'segmentId'],
    [
      'POST',
      '/rules/try',
      { channel: 'sms', recipient: '5531987654321', segmentId: foreign.get('seg') },
      'segmentId',
    ],
  ]
  for (const [method, path, body, field] of bodies) {
    const answer = await client.call(method, path, body)
    expect(answer.status, `${path} ${answer.text}`).toBe(400)
    expect(answer.body['errors'], path).toHaveProperty([field])
  }
  const theirs = await client.call('POST', '/attendances', { contactId: foreign.get('con') })
  expect(theirs.status).toBe(404)
  const contact = await makeContact(app.db, own.id)
  const theirUser = await client.call('POST', '/attendances', {
    contactId: showId('con', contact.id),
    userId: foreign.get('usr'),
  })
  expect(theirUser.body['errors']).toHaveProperty('userId')
  const byFilter = await client.get(`/messages?lineId=${foreign.get('lin')}&state=failed`)
  expect(byFilter.body['items']).toEqual([])
})

test('an id that is none, or of another kind, is not found', async () => {
  const client = clients.get('administrator')!
  for (const id of ['x', newId(), showId('usr', newId()), showId('seg', newId())])
    expect((await client.get(`/segments/${id}`)).status).toBe(404)
})

test('the reference lists every route', () => {
  const text = readFileSync(new URL('../../../docs/api/admin.md', import.meta.url), 'utf8')
  for (const route of routes) expect(text, name(route)).toContain(`\`${name(route)}\``)
})
