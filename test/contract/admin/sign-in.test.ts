/** Signing in, second factor, sessions, and what a foreign page cannot do. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { totpCode, totpStep } from '../../../src/lib/totp.ts'
import type { App } from '../../harness/app.ts'
import { makeUser, type TestCompany } from '../../harness/factories.ts'
import { request } from '../../harness/http.ts'
import { base, clientWith, cookieOf, items, signIn, signInAnswer, signInAs, startAdmin } from './support.ts'

let app: App
let company: TestCompany

beforeAll(async () => {
  app = await startAdmin()
  company = await app.makeCompany()
})
afterAll(() => app.stop())

test('a person signs in and gets a cookie that scripts cannot read and other sites cannot send', async () => {
  const user = await makeUser(app.db, company.id, 'viewer')
  const answer = await signInAnswer(app, { name: ` ${company.name.toUpperCase()} ` }, user)
  expect(answer.status).toBe(200)
  const cookie = answer.headers['set-cookie']!
  expect(cookie).toMatch(/^pombo_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=604800$/)
  const client = clientWith(app, { cookie: cookieOf(answer) })
  const who = await client.get('/session')
  expect(who.body).toMatchObject({
    kind: 'user',
    name: user.name,
    role: 'viewer',
    company: { name: company.name },
  })
  const stored = await app.db.query<{ hash: Buffer }>('select hash from admin_session')
  expect(JSON.stringify(stored)).not.toContain(cookieOf(answer).split('=')[1])
})

test('behind https the cookie is secure and bound to the host', async () => {
  const secure = await startAdmin({ config: { publicUrl: 'https://pombo.example' } })
  try {
    const own = await secure.makeCompany()
    const user = await makeUser(secure.db, own.id, 'viewer')
    const answer = await signInAnswer(secure, own, user, {}, { headers: { origin: 'https://pombo.example' } })
    expect(answer.headers['set-cookie']).toMatch(/^__Host-pombo_session=.*; Path=\/;.*; Secure$/)
  } finally {
    await secure.stop()
  }
})

test('whatever is wrong, the refusal is one and the same', async () => {
  const user = await makeUser(app.db, company.id, 'administrator')
  const disabled = await makeUser(app.db, company.id, 'administrator')
  await app.db.query('update app_user set disabled_at = now() where id = $1', [disabled.id])
  const from = '127.9.9.1'
  const answers = await Promise.all([
    signInAnswer(app, company, { ...user, password: 'wrong password' }, {}, { from }),
    signInAnswer(app, company, { ...user, name: 'nobody' }, {}, { from }),
    signInAnswer(app, { name: 'No such company' }, user, {}, { from }),
    signInAnswer(app, company, company.apiUser, {}, { from }),
    signInAnswer(app, company, disabled, {}, { from }),
  ])
  for (const answer of answers) {
    expect(answer.status).toBe(401)
    expect(answer.body['message']).toBe('company, user, password or code is wrong')
    expect(answer.headers['set-cookie']).toBeUndefined()
  }
})

test('fields that are missing are named', async () => {
  const answer = await request(`${app.url}${base}/session`, {
    headers: { 'x-pombo-console': '1' },
    body: { company: 'x' },
  })
  expect(answer.status).toBe(400)
  expect(answer.body['errors']).toEqual({ username: ['is required'], password: ['is required'] })
  expect(answer.body['requestId']).toBe(answer.headers['x-request-id'])
})

test('ten refusals lock the user for that address, and not from elsewhere', async () => {
  const user = await makeUser(app.db, company.id, 'viewer')
  const from = '127.9.9.2'
  for (let attempt = 0; attempt < 10; attempt++)
    expect((await signInAnswer(app, company, { ...user, password: 'wrong' }, {}, { from })).status).toBe(401)
  const locked = await signInAnswer(app, company, user, {}, { from })
  expect(locked.status).toBe(429)
  expect(Number(locked.headers['retry-after'])).toBeGreaterThan(0)
  expect((await signInAnswer(app, company, user, {}, { from: '127.9.9.3' })).status).toBe(200)
})

test('signing in ends the session that the browser came with', async () => {
  const user = await makeUser(app.db, company.id, 'viewer')
  const first = await signIn(app, company, user)
  const again = await signInAnswer(app, company, user, {}, { headers: { cookie: first.cookie } })
  expect(cookieOf(again)).not.toBe(first.cookie)
  expect((await first.get('/session')).status).toBe(401)
  expect((await clientWith(app, { cookie: cookieOf(again) }).get('/session')).status).toBe(200)
})

test('a session ends by signing out, by idling, after a week, and when its user is disabled', async () => {
  const { client } = await signInAs(app, company, 'viewer')
  const out = await client.call('DELETE', '/session')
  expect(out.status).toBe(204)
  expect(out.headers['set-cookie']).toContain('Max-Age=0')
  expect((await client.get('/session')).status).toBe(401)

  const { client: disabled, user } = await signInAs(app, company, 'viewer')
  await app.db.query('update app_user set disabled_at = now() where id = $1', [user.id])
  expect((await disabled.get('/session')).status).toBe(401)

  const own = await startAdmin()
  try {
    const other = await own.makeCompany()
    const { client: idle } = await signInAs(own, other, 'viewer')
    own.clock.advance(11 * 3_600_000)
    expect((await idle.get('/session')).status).toBe(200)
    own.clock.advance(13 * 3_600_000)
    expect((await idle.get('/session')).status).toBe(401)
    const { client: busy } = await signInAs(own, other, 'viewer')
    for (let hours = 0; hours < 7 * 24 - 11; hours += 11) {
      own.clock.advance(11 * 3_600_000)
      expect((await busy.get('/session')).status).toBe(200)
    }
    own.clock.advance(11 * 3_600_000)
    expect((await busy.get('/session')).status).toBe(401)
  } finally {
    await own.stop()
  }
})

test('with a cookie, a change needs the header and must not come from another site', async () => {
  const { client } = await signInAs(app, company, 'administrator')
  const change = (headers: Record<string, string | string[]>) =>
    request(`${app.url}${base}/segments`, {
      headers: { cookie: client.cookie, ...headers },
      body: { name: `Segment ${Math.random()}` },
    })
  expect((await change({})).status).toBe(403)
  expect((await change({ 'x-pombo-console': '1', origin: 'https://evil.example' })).status).toBe(403)
  expect((await change({ 'x-pombo-console': '1', 'sec-fetch-site': 'cross-site' })).status).toBe(403)
  expect(
    (await change({ 'x-pombo-console': '1', origin: app.url, 'sec-fetch-site': 'same-origin' })).status,
  ).toBe(201)
  const signIn = await request(`${app.url}${base}/session`, {
    body: { company: 'a', username: 'b', password: 'c' },
  })
  expect(signIn.status).toBe(403)
})

test('a second factor: set up, asked for, good once, replaced by a recovery code, removed', async () => {
  const { client, user } = await signInAs(app, company, 'supervisor')
  const currentPassword = user.password
  expect((await client.call('POST', '/account/totp', { currentPassword: 'wrong' })).body['errors']).toEqual({
    currentPassword: ['is wrong'],
  })
  const begun = await client.call('POST', '/account/totp', { currentPassword })
  const secret = String(begun.body['secret'])
  expect(begun.body['url']).toContain(`secret=${secret}`)
  // Not confirmed yet: nobody is locked out by an app that was never set up.
  expect((await signInAnswer(app, company, user)).status).toBe(200)
  expect((await client.call('PUT', '/account/totp', { code: '000000' })).status).toBe(400)
  const code = () => totpCode(secret, totpStep(app.clock.now()))
  const confirmed = await client.call('PUT', '/account/totp', { code: code() })
  const recovery = confirmed.body['recoveryCodes'] as string[]
  expect(recovery).toHaveLength(10)

  const asked = await signInAnswer(app, company, user)
  expect(asked.status).toBe(401)
  expect(asked.body['errors']).toEqual({ code: ['is required'] })
  const used = await signInAnswer(app, company, user, { code: code() })
  expect(used.status, 'the code that confirmed it is used up').toBe(401)
  app.clock.advance(30_000)
  const fresh = code()
  expect((await signInAnswer(app, company, user, { code: fresh })).status).toBe(200)
  expect((await signInAnswer(app, company, user, { code: fresh })).status).toBe(401)
  expect((await signInAnswer(app, company, user, { code: recovery[0] })).status).toBe(200)
  expect((await signInAnswer(app, company, user, { code: recovery[0] })).status).toBe(401)
  expect((await client.get('/account/totp')).body).toEqual({ isSetUp: true, recoveryCodesLeft: 9 })

  app.clock.advance(30_000)
  expect((await client.call('POST', '/account/totp/remove', { currentPassword })).status).toBe(400)
  expect((await client.call('POST', '/account/totp/remove', { currentPassword, code: code() })).status).toBe(
    204,
  )
  expect((await signInAnswer(app, company, user)).status).toBe(200)
  const sealed = await app.db.query<{ row: string }>('select row_to_json(t)::text as row from user_totp t')
  expect(JSON.stringify(sealed)).not.toContain(secret)
})

test('guessing codes locks the user, whatever the address', async () => {
  const { client, user } = await signInAs(app, company, 'viewer')
  const begun = await client.call('POST', '/account/totp', { currentPassword: user.password })
  const secret = String(begun.body['secret'])
  await client.call('PUT', '/account/totp', { code: totpCode(secret, totpStep(app.clock.now())) })
  for (let guess = 0; guess < 10; guess++)
    await signInAnswer(app, company, user, { code: 'aaaaa-aaaaa' }, { from: `127.9.10.${guess + 1}` })
  app.clock.advance(30_000)
  const right = totpCode(secret, totpStep(app.clock.now()))
  expect((await signInAnswer(app, company, user, { code: right }, { from: '127.9.10.99' })).status).toBe(429)
})

test('changing the password ends the other sessions; sessions are listed and ended one by one', async () => {
  const { client, user } = await signInAs(app, company, 'attendant')
  const second = await signIn(app, company, user)
  const third = await signIn(app, company, user)
  const listed = items(await client.get('/account/sessions'))
  expect(listed).toHaveLength(3)
  expect(listed.filter(({ isCurrent }) => isCurrent)).toHaveLength(1)
  const thirdId = items(await third.get('/account/sessions')).find(({ isCurrent }) => isCurrent)!['id']
  expect((await client.call('DELETE', `/account/sessions/${String(thirdId)}`)).status).toBe(204)
  expect((await third.get('/session')).status).toBe(401)

  const change = (currentPassword: string, newPassword: string) =>
    client.call('POST', '/account/password', { currentPassword, newPassword })
  expect((await change('wrong', 'a new password')).body['errors']).toEqual({ currentPassword: ['is wrong'] })
  expect((await change(user.password, 'short')).body['errors']).toHaveProperty('newPassword')
  expect((await change(user.password, 'a new password')).status).toBe(204)
  expect((await second.get('/session')).status).toBe(401)
  expect((await client.get('/session')).status).toBe(200)
  expect((await signInAnswer(app, company, user)).status).toBe(401)
  expect((await signInAnswer(app, company, { ...user, password: 'a new password' })).status).toBe(200)
})

test('guessing the password at an open session is locked out, too', async () => {
  const { client, user } = await signInAs(app, company, 'viewer')
  const guess = (currentPassword: string) =>
    client.call('POST', '/account/password', { currentPassword, newPassword: 'a new password' })
  for (let attempt = 0; attempt < 10; attempt++) expect((await guess('wrong')).status).toBe(400)
  const locked = await guess(user.password)
  expect(locked.status).toBe(429)
  expect(Number(locked.headers['retry-after'])).toBeGreaterThan(0)
})

test('nothing secret is in the log', () => {
  const log = app.logLines.join('')
  expect(log).not.toMatch(/pombo_session=|otpauth/)
})
