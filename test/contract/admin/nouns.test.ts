/** Nouns as people handle them: versions, secrets that stay in, lists, templates, attendance, rules on trial. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { showId } from '../../../src/lib/ids.ts'
import { raiseAlert } from '../../../src/store/alerts.ts'
import { createRule } from '../../../src/store/rules.ts'
import type { App } from '../../harness/app.ts'
import { makeContact, makeUser, openWindows, type TestCompany } from '../../harness/factories.ts'
import { request } from '../../harness/http.ts'
import { items, signIn, signInAs, startAdmin, type Client } from './support.ts'

let app: App
let company: TestCompany
let client: Client

beforeAll(async () => {
  app = await startAdmin()
  company = await app.makeCompany()
  client = (await signInAs(app, company, 'administrator')).client
})
afterAll(() => app.stop())

test('of two people who change the same record the second is told', async () => {
  const id = showId('seg', company.segments[1].id)
  const seen = await client.get(`/segments/${id}`)
  const version = seen.headers['etag']!
  const first = await client.call(
    'PATCH',
    `/segments/${id}`,
    { name: 'First' },
    { headers: { 'if-match': version } },
  )
  expect(first.status).toBe(200)
  const second = await client.call(
    'PATCH',
    `/segments/${id}`,
    { name: 'Second' },
    { headers: { 'if-match': version } },
  )
  expect(second.status).toBe(412)
  expect((await client.get(`/segments/${id}`)).body['name']).toBe('First')
  const third = await client.call(
    'PATCH',
    `/segments/${id}`,
    { name: 'Third' },
    { headers: { 'if-match': first.headers['etag']! } },
  )
  expect(third.status).toBe(200)
  expect(
    (await client.call('DELETE', `/segments/${id}`, undefined, { headers: { 'if-match': version } })).status,
  ).toBe(412)
})

test('at the same moment exactly one of many changes with one version passes', async () => {
  const id = showId('tpl', company.templates['fixed-sms']!.id)
  const version = (await client.get(`/templates/${id}`)).headers['etag']!
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, index) =>
      client.call(
        'PATCH',
        `/templates/${id}`,
        { isEnabled: index % 2 === 0 },
        { headers: { 'if-match': version } },
      ),
    ),
  )
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
  expect(answers.filter(({ status }) => status === 412)).toHaveLength(7)
})

test('traffic does not make the version of a contact or the company stale', async () => {
  const contact = await makeContact(app.db, company.id)
  const path = `/contacts/${showId('con', contact.id)}`
  const version = (await client.get(path)).headers['etag']!
  const companyVersion = (await client.get('/company')).headers['etag']!
  await app.db.query('update contact set last_interaction_at = now() where id = $1', [contact.id])
  await client.call('POST', '/segments', { name: 'Raises the catalogue' })
  expect(
    (await client.call('PATCH', path, { name: 'Ana' }, { headers: { 'if-match': version } })).status,
  ).toBe(200)
  const changed = await client.call(
    'PATCH',
    '/company',
    { attendanceIdleHours: 12 },
    { headers: { 'if-match': companyVersion } },
  )
  expect(changed.status).toBe(200)
})

test("a line's secrets go in and never come out; what is not given stays, null removes", async () => {
  const settings = { host: 'mail.example', port: 587, username: 'me', password: 'hunter2hunter2' }
  const made = await client.call('POST', '/lines', {
    name: 'Mail',
    driver: 'smtp',
    email: 'second@company.example',
    settings,
  })
  expect(made.status, made.text).toBe(201)
  const path = `/lines/${String(made.body['id'])}`
  expect(made.body).toMatchObject({
    channel: 'email',
    secrets: ['password'],
    settings: { host: 'mail.example', port: 587 },
  })
  const stored = async () => {
    const rows = await app.db.query<{ settings: object; has: boolean }>(
      'select settings, secrets_sealed is not null as has from line where name = $1',
      ['Mail'],
    )
    return rows[0]!
  }
  expect(JSON.stringify(await stored())).not.toContain('hunter2')
  const { password: _, ...plain } = settings
  const kept = await client.call('PATCH', path, { settings: { ...plain, host: 'other.example' } })
  expect(kept.body).toMatchObject({ secrets: ['password'], settings: { host: 'other.example' } })
  const removed = await client.call('PATCH', path, { settings: { ...plain, password: null } })
  expect(removed.body).toMatchObject({ secrets: [] })
  expect((await stored()).has).toBe(false)
  for (const answer of [made, kept, removed, await client.get(path), await client.get('/lines')])
    expect(answer.text).not.toContain('hunter2')
  const wrong = await client.call('PATCH', path, {
    settings: { host: 'x.example', port: 'many', colour: 'red' },
  })
  expect(wrong.status).toBe(400)
  expect(Object.keys(wrong.body['errors'] as object)[0]).toMatch(/^settings\./)
  const drivers = items(await client.get('/drivers'))
  expect(drivers.find(({ name }) => name === 'smtp')).toMatchObject({
    channel: 'email',
    settings: { properties: { password: { isSecret: true } } },
  })
})

test('pausing, resuming and the default mark', async () => {
  const [first, second] = company.lines.whatsapp
  const path = `/lines/${showId('lin', second!.id)}`
  expect((await client.call('POST', `${path}/pause`, { reason: 'for tests' })).body).toMatchObject({
    isPaused: true,
    pausedReason: 'for tests',
  })
  expect((await client.call('POST', `${path}/resume`)).body).toMatchObject({
    isPaused: false,
    pausedReason: null,
  })
  expect((await client.call('POST', `${path}/default`)).body).toMatchObject({ isDefault: true })
  expect((await client.get(`/lines/${showId('lin', first!.id)}`)).body).toMatchObject({ isDefault: false })
  const lanes = items(await client.get('/lanes'))
  expect(lanes.find(({ lineId }) => lineId === showId('lin', second!.id))).toMatchObject({
    depth: 0,
    inFlight: 0,
    isDriven: false,
  })
})

test('a template is checked before it is saved, and previewed without saving', async () => {
  const draft = {
    name: 'Hello',
    code: 'hello',
    channel: 'sms',
    kind: 'text',
    content: { body: 'Hello @Name, 😀', variables: ['Name'] },
  }
  const preview = await client.call('POST', '/templates/preview', { ...draft, variables: { Name: 'Ana' } })
  expect(preview.body).toMatchObject({
    problems: [],
    rendered: { text: 'Hello Ana, 😀' },
    sms: { encoding: 'ucs2', segments: 1 },
  })
  const unfilled = await client.call('POST', '/templates/preview', draft)
  expect(unfilled.body).toMatchObject({ rendered: { text: 'Hello @Name, 😀' } })
  const wrong = { ...draft, channel: 'whatsapp', content: { body: '@Name', variables: ['Name', 'Unused'] } }
  const problems = (await client.call('POST', '/templates/preview', wrong)).body['problems'] as {
    field: string
  }[]
  expect(problems.map(({ field }) => field)).toEqual(
    expect.arrayContaining(['content.body', 'content.variables', 'content.provider']),
  )
  const refused = await client.call('POST', '/templates', wrong)
  expect(refused.status).toBe(400)
  expect(refused.body['errors']).toHaveProperty(['content.body'])
  const html = {
    ...draft,
    channel: 'email',
    content: { subject: 'S', body: '<b>@Name</b>', variables: ['Name'] },
  }
  const escaped = await client.call('POST', '/templates/preview', {
    ...html,
    variables: { Name: '<script>' },
  })
  expect(escaped.body).toMatchObject({ rendered: { text: '<b>&lt;script&gt;</b>', isHtml: true } })
  const saved = await client.call('POST', '/templates', draft)
  expect(saved.body).toMatchObject({ approval: 'approved', isEnabled: true })
  expect((await client.call('POST', '/templates', draft)).body['errors']).toMatchObject({
    name: [expect.stringContaining('taken')],
    code: [expect.stringContaining('taken')],
  })
})

test('an attendant replies inside the window as themselves, and not outside', async () => {
  const user = await makeUser(app.db, company.id, 'attendant')
  const attendant = await signIn(app, company, user)
  const contact = await makeContact(app.db, company.id)
  const path = `/contacts/${showId('con', contact.id)}`
  const closed = await attendant.call('POST', `${path}/messages`, { channel: 'whatsapp', text: 'Hello' })
  expect(closed.status).toBe(409)
  expect(closed.body['message']).toBe('message not sent: 24-hour window closed')
  await openWindows(app.db, contact, company.lines.whatsapp, app.clock.now())
  expect((await attendant.get(path)).body['windows']).toMatchObject([
    { isOpen: true },
    { isOpen: true },
    { isOpen: true },
  ])
  const sent = await attendant.call('POST', `${path}/messages`, { channel: 'whatsapp', text: 'Hello' })
  expect(sent.status, sent.text).toBe(202)
  expect((await attendant.get(path)).body['attendance']).toMatchObject({ userId: showId('usr', user.id) })
  const [open] = items(await attendant.get(`/attendances?userId=${showId('usr', user.id)}`))
  expect(open).toMatchObject({ user: { name: user.name }, contact: { id: showId('con', contact.id) } })
  const message = await attendant.get(`/messages/${String(sent.body['messageId'])}`)
  expect(message.body).toMatchObject({ content: { text: 'Hello' }, state: 'queued' })

  const colleague = await signIn(app, company, company.attendant)
  const attendance = `/attendances/${String(open!['id'])}`
  expect((await colleague.call('POST', `${attendance}/close`)).status).toBe(403)
  const taken = await colleague.call('POST', `${attendance}/hand-over`, {})
  expect(taken.body).toMatchObject({ user: { name: company.attendant.name } })
  expect((await colleague.call('POST', `/attendances/${String(taken.body['id'])}/close`)).status).toBe(204)
  expect((await attendant.get(path)).body['attendance']).toBeNull()
  const history = items(
    await attendant.get(`/attendances?isOpen=false&contactId=${showId('con', contact.id)}`),
  )
  expect(history.map(({ closedBy }) => closedBy)).toEqual([company.attendant.name, 'moved'])
})

test('trying a recipient against the rules says what every rule found, and stores nothing', async () => {
  const list = await client.call('POST', '/restriction-lists', { name: 'Do not call' })
  const listId = String(list.body['id'])
  await client.call('POST', `/restriction-lists/${listId}/entries`, {
    entries: [{ field: 'phone', value: '+55 31 98765-4000' }],
  })
  const rule = await client.call('POST', '/rules', {
    kind: 'restriction_list',
    name: 'List',
    channels: ['sms'],
    settings: { listId },
  })
  expect(rule.body).toMatchObject({ settings: { listId } })
  const count = async () =>
    (await app.db.query('select 1 from message where company_id = $1', [company.id])).length
  const before = await count()
  const tried = await client.call('POST', '/rules/try', { channel: 'sms', recipient: '553187654000' })
  expect(tried.body).toMatchObject({ outcome: 'refused' })
  expect(tried.body['verdicts']).toContainEqual(
    expect.objectContaining({ rule: 'restriction_list', passed: false, ruleId: rule.body['id'] }),
  )
  const free = await client.call('POST', '/rules/try', {
    channel: 'sms',
    recipient: '5531987654001',
    api: 'direct',
  })
  expect(free.body).toMatchObject({ outcome: 'accepted' })
  expect(await count()).toBe(before)
  expect((await client.call('DELETE', `/restriction-lists/${listId}`)).status).toBe(409)
  await client.call('DELETE', `/rules/${String(rule.body['id'])}`)
  expect((await client.call('DELETE', `/restriction-lists/${listId}`)).status).toBe(204)
})

test('rules are refused with the field that is wrong', async () => {
  const cases: [unknown, string][] = [
    [{ kind: 'frequency_cap', name: 'x', settings: { period: 'day' } }, 'settings.limit'],
    [{ kind: 'duplicate', name: 'x' }, 'settings.withinMinutes'],
    [{ kind: 'allowed_hours', name: 'x', settings: { weekdays: [[]] } }, 'settings.weekdays'],
    [{ kind: 'restriction_list', name: 'x' }, 'settings.listId'],
    [{ kind: 'opt_out', name: 'x', action: 'defer' }, 'action'],
    [{ kind: 'opt_out', name: ' ' }, 'name'],
    [{ kind: 'opt_out', name: 'x', channels: ['fax'] }, 'channels[0]'],
    [{ kind: 'wrong', name: 'x' }, 'kind'],
  ]
  for (const [body, field] of cases) {
    const answer = await client.call('POST', '/rules', body)
    expect(answer.status, answer.text).toBe(400)
    expect(answer.body['errors'], field).toHaveProperty([field])
  }
})

test('the old direct token is refused from the moment it is renewed; the private token overlaps', async () => {
  const send = (token: string) =>
    request(`${app.url}/v1/directmessage/sms`, {
      headers: { authorization: `Bearer ${token}`, 'pombo-dry-run': 'true' },
      body: {
        recipient_number: '5531987654321',
        contract_code: 'c',
        template_code: 'numbered-sms',
        variable_values: { 1: 'a', 2: 'b' },
      },
    })
  const made = await client.call('POST', '/direct-tokens', { name: 'Shop' })
  const old = String(made.body['token'])
  expect((await send(old)).status).toBe(202)
  const renewed = await client.call('POST', `/direct-tokens/${String(made.body['id'])}/renew`)
  expect((await send(old)).status).toBe(401)
  expect((await send(String(renewed.body['token']))).status).toBe(202)
  expect((await client.call('POST', `/direct-tokens/${String(made.body['id'])}/renew`)).status).toBe(404)
  const named = async (isRevoked: boolean) =>
    items(await client.get(`/direct-tokens?isRevoked=${isRevoked}`)).map(({ id }) => id)
  expect(await named(true)).toContain(made.body['id'])
  expect(await named(false)).not.toContain(made.body['id'])

  const shown = await client.call('POST', '/company/private-token/show')
  expect(shown.body['privateToken']).toBe(company.privateToken)
  const rotated = await client.call('POST', '/company/private-token/rotate', { overlapHours: 2 })
  expect(rotated.body['privateToken']).not.toBe(company.privateToken)
})

test('lists are searched, sorted and paged', async () => {
  const own = await app.makeCompany()
  const { client: admin } = await signInAs(app, own, 'administrator')
  for (const name of ['delta', 'Alpha', 'charlie', 'bravo'])
    await admin.call('POST', '/segments', { name, clientCode: `code ${name}` })
  const names = async (query: string) => items(await admin.get(`/segments?${query}`)).map(({ name }) => name)
  expect(await names('q=CODE')).toEqual(['Alpha', 'bravo', 'charlie', 'delta'])
  expect(await names('q=code&order=desc&limit=2')).toEqual(['delta', 'charlie'])
  const first = await admin.get('/segments?q=code&limit=3')
  expect(await names(`q=code&limit=3&cursor=${String(first.body['nextCursor'])}`)).toEqual(['delta'])
  expect((await admin.get('/segments?limit=0')).body['errors']).toHaveProperty('limit')
  expect((await admin.get('/segments?cursor=nonsense')).status).toBe(200)
})

test('contacts are found by the beginning of a number, an address or a name', async () => {
  const own = await app.makeCompany()
  const { client: viewer } = await signInAs(app, own, 'viewer')
  await makeContact(app.db, own.id, { phone: '5531987650101', name: 'Ana Maria' })
  await makeContact(app.db, own.id, { phone: '5531987650102', name: 'ana paula', email: 'Paula@Example.com' })
  await makeContact(app.db, own.id, { email: '100%_sure@example.com', name: 'Bruno' })
  const found = async (q: string) =>
    items(await viewer.get(`/contacts?q=${encodeURIComponent(q)}`)).map(({ name }) => name)
  expect(await found('ana')).toEqual(['Ana Maria', 'ana paula'])
  expect(await found('+55 31 98765-01')).toEqual(['Ana Maria', 'ana paula'])
  expect(await found('553187650102')).toEqual(['ana paula'])
  expect(await found('paula@')).toEqual(['ana paula'])
  expect(await found('100%_sure@')).toEqual(['Bruno'])
  expect(await found('1000_sure@')).toEqual([])
  expect(await found('')).toEqual(['Bruno', 'ana paula', 'Ana Maria'])
  const page = await viewer.get('/contacts?q=ana&limit=1')
  expect(
    items(await viewer.get(`/contacts?q=ana&limit=1&cursor=${String(page.body['nextCursor'])}`))[0]!['name'],
  ).toBe('ana paula')
})

test('users: one cannot lock oneself out; a changed role ends sessions', async () => {
  const { client: boss, user } = await signInAs(app, company, 'administrator')
  const self = `/users/${showId('usr', user.id)}`
  expect((await boss.call('PATCH', self, { isDisabled: true })).status).toBe(409)
  expect((await boss.call('PATCH', self, { role: 'viewer' })).status).toBe(409)
  const { client: victim, user: demoted } = await signInAs(app, company, 'supervisor')
  expect((await boss.call('PATCH', `/users/${showId('usr', demoted.id)}`, { role: 'viewer' })).status).toBe(
    200,
  )
  expect((await victim.get('/session')).status).toBe(401)
})

test('a body that is no JSON, too large or of another type names the body', async () => {
  const send = (body: unknown, headers: Record<string, string> = {}) =>
    client.call('POST', '/segments', body, { headers })
  for (const answer of [
    await send('{'),
    await send('[]'),
    await send('x', { 'content-type': 'text/plain' }),
    await send(`{"name":"${'x'.repeat(1_100_000)}"}`),
  ]) {
    expect(answer.status).toBe(400)
    expect(answer.body['errors']).toHaveProperty('body')
  }
})

test('rules that others made are listed in their order', async () => {
  const own = await app.makeCompany()
  const { client: admin } = await signInAs(app, own, 'administrator')
  await createRule(app.db, own.id, { name: 'Second', position: 10, settings: { kind: 'opt_out' } })
  await createRule(app.db, own.id, { name: 'First', position: 2, settings: { kind: 'template_state' } })
  expect(items(await admin.get('/rules')).map(({ name }) => name)).toEqual(['First', 'Second'])
})

test('rules are put in order at once, and one that is not there refuses it', async () => {
  const own = await app.makeCompany()
  const { client: admin } = await signInAs(app, own, 'supervisor')
  const ids: string[] = []
  for (const name of ['a', 'b', 'c'])
    ids.push(
      showId('rul', await createRule(app.db, own.id, { name, position: 7, settings: { kind: 'opt_out' } })),
    )
  const names = async () => items(await admin.get('/rules')).map(({ name }) => name)
  expect((await admin.call('PUT', '/rules/order', { ruleIds: [ids[2], ids[0]] })).body).toEqual({
    ruleIds: [ids[2], ids[0], ids[1]],
  })
  expect(await names()).toEqual(['c', 'a', 'b'])
  const theirs = showId(
    'rul',
    await createRule(app.db, company.id, { name: 'x', settings: { kind: 'opt_out' } }),
  )
  for (const ruleIds of [[theirs], [ids[0], ids[0]]]) {
    const answer = await admin.call('PUT', '/rules/order', { ruleIds })
    expect(answer.status).toBe(400)
    expect(answer.body['errors']).toHaveProperty('ruleIds')
  }
  expect(await names()).toEqual(['c', 'a', 'b'])
})

test('a value is looked up on all lists as a send would, with the rules that look there', async () => {
  const own = await app.makeCompany()
  const { client: admin } = await signInAs(app, own, 'supervisor')
  const make = async (name: string, entries: object[]) => {
    const id = String((await admin.call('POST', '/restriction-lists', { name })).body['id'])
    await admin.call('POST', `/restriction-lists/${id}/entries`, { entries })
    return id
  }
  const people = await make('People', [{ field: 'phone', value: '5531987654000', expiresAt: '2999-01-01' }])
  await make('Areas', [{ field: 'phone', value: '5531', isPrefix: true }])
  await make('Elsewhere', [{ field: 'phone', value: '5541987654000' }])
  const rule = await admin.call('POST', '/rules', {
    kind: 'restriction_list',
    name: 'Leave them alone',
    settings: { listId: people },
  })
  const found = await admin.call('POST', '/restriction-lists/look-up', { value: '+55 (31) 8765-4000' })
  const hits = items(found).map(({ list, isPrefix, rules }) => ({ list, isPrefix, rules }))
  expect(hits.toSorted((a, b) => Number(a.isPrefix) - Number(b.isPrefix))).toMatchObject([
    { list: { name: 'People' }, isPrefix: false, rules: [{ id: rule.body['id'], name: 'Leave them alone' }] },
    { list: { name: 'Areas' }, isPrefix: true, rules: [] },
  ])
  expect(items(await admin.call('POST', '/restriction-lists/look-up', { value: 'nobody' }))).toEqual([])
  expect(items(await admin.get('/restriction-lists?q=people'))).toMatchObject([
    { name: 'People', entries: 1, hasMoreEntries: false, rules: [{ isEnabled: true }] },
  ])
  expect(items(await admin.get(`/restriction-lists/${people}/entries?field=email`))).toEqual([])
  expect(items(await admin.get(`/restriction-lists/${people}/entries?field=phone`))).toHaveLength(1)
})

test('a line says where its provider reports to, and which alerts are about it', async () => {
  const line = company.lines.sms[0]!
  const id = showId('lin', line.id)
  await raiseAlert(
    app.db,
    { companyId: company.id, kind: 'line_paused', subject: line.id, message: 'It stands still' },
    app.clock.now(),
  )
  expect(items(await client.get(`/alerts?lineId=${id}`))).toMatchObject([{ message: 'It stands still' }])
  const other = showId('lin', company.lines.whatsapp[0]!.id)
  expect(items(await client.get(`/alerts?lineId=${other}`))).toEqual([])
  const { hookUrl, hookPath } = (await client.get(`/lines/${other}`)).body
  expect(hookUrl).toMatch(/^https?:/)
  expect(String(hookUrl).endsWith(String(hookPath))).toBe(true)
  expect((await client.get(`/lines/${id}`)).body).toMatchObject({ hookUrl: null })
})

test('the usual stop words are told beside the own ones', async () => {
  await client.call('PUT', '/company/stop-words', { stop: ['Chega'] })
  expect((await client.get('/company/stop-words')).body).toMatchObject({
    stop: ['Chega'],
    start: [],
    usual: { stop: expect.arrayContaining(['STOP']), start: expect.arrayContaining(['START']) },
  })
})
