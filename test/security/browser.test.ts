/** What a browser can be made to do: requests of other sites, sessions that were given, answers taken for pages. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { routes } from '../../src/http/admin/routes.ts'
import { showId } from '../../src/lib/ids.ts'
import { writeUnsubscribeToken } from '../../src/flows/unsubscribe.ts'
import { base, clientWith, cookieOf, signIn, signInAnswer, signInAs } from '../contract/admin/support.ts'
import { makeContact, makeUser, testSealer, type TestCompany, type TestUser } from '../harness/factories.ts'
import { hostileFileNames, storableTexts, xssTexts } from '../harness/hostile-texts.ts'
import { request, type Answer } from '../harness/http.ts'
import { slow } from './fuzz.ts'
import { startWhole, type Whole } from '../harness/whole.ts'

let whole: Whole
let company: TestCompany
let admin: TestUser
let cookie = ''

beforeAll(async () => {
  whole = await startWhole()
  company = await whole.makeCompany()
  admin = await makeUser(whole.db, company.id, 'administrator')
  cookie = (await signIn(whole, company, admin)).cookie
})
afterAll(() => whole.stop())

/** What a page of another site can make a browser send along with the cookie. */
const foreign: Record<string, Record<string, string>> = {
  'a form': { origin: 'https://evil.example', 'content-type': 'application/x-www-form-urlencoded' },
  'a form of an old browser': { 'content-type': 'text/plain', referer: 'https://evil.example/' },
  'a script with our header': { origin: 'https://evil.example', 'x-pombo-console': '1' },
  'a script of a page in a sandbox': { origin: 'null', 'x-pombo-console': '1' },
  'a cross-site fetch': { 'sec-fetch-site': 'cross-site', 'x-pombo-console': '1' },
  'another host of our site': { 'sec-fetch-site': 'same-site', 'x-pombo-console': '1' },
  'a host that begins like ours': { origin: 'http://pombo.example.evil.example', 'x-pombo-console': '1' },
}

test('no change is made for another site, on any route', slow, async () => {
  const changing = routes.filter(({ method }) => method !== 'GET')
  expect(changing.length).toBeGreaterThan(60)
  const paths = [
    ...changing.map(({ method, path }) => ({
      method,
      path: path.replaceAll(/:\w+/g, showId('usr', admin.id)),
    })),
    { method: 'POST', path: '/session' },
    { method: 'DELETE', path: '/session' },
  ]
  const [before] = await whole.db.query('select count(*) from audit_entry')
  for (const { method, path } of paths)
    for (const [name, headers] of Object.entries(foreign)) {
      const answer = await request(`${whole.url}${base}${path}`, {
        method,
        headers: { cookie, ...headers },
        body: '{}',
      })
      expect(answer.status, `${name}: ${method} ${path} ${answer.text}`).toBe(403)
      expect(answer.headers['set-cookie'], name).toBeUndefined()
    }
  expect(await whole.db.query('select count(*) from audit_entry')).toEqual([before])
  expect((await clientWith(whole, { cookie }).get('/session')).status, 'still signed in').toBe(200)
})

test('no route invites other sites: neither CORS headers nor an answer to a preflight', slow, async () => {
  for (const path of [`${base}/session`, '/v1/sendmessage', '/v1/directmessage/sms', '/docs', '/media/x']) {
    const preflight = await request(whole.url + path, {
      method: 'OPTIONS',
      headers: { origin: 'https://evil.example', 'access-control-request-method': 'POST' },
    })
    expect(preflight.status, path).toBe(404)
    const plain = await request(whole.url + path, { headers: { origin: 'https://evil.example', cookie } })
    for (const answer of [preflight, plain])
      expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control-'))).toEqual([])
  }
})

test('a session that somebody else chose is not the one that is signed in to', slow, async () => {
  const user = await makeUser(whole.db, company.id, 'viewer')
  const chosen = 'A'.repeat(43)
  const planted = await signInAnswer(
    whole,
    company,
    user,
    {},
    { headers: { cookie: `pombo_session=${chosen}` } },
  )
  expect(planted.status).toBe(200)
  expect(cookieOf(planted)).not.toContain(chosen)
  expect((await clientWith(whole, { cookie: `pombo_session=${chosen}` }).get('/session')).status).toBe(401)

  // The attacker's own session, planted in the victim's browser, dies when the victim signs in.
  const attacker = await makeUser(whole.db, company.id, 'viewer')
  const theirs = await signIn(whole, company, attacker)
  const victim = await signInAnswer(whole, company, user, {}, { headers: { cookie: theirs.cookie } })
  expect(cookieOf(victim)).not.toBe(theirs.cookie)
  expect((await theirs.get('/session')).status).toBe(401)
  expect((await clientWith(whole, { cookie: cookieOf(victim) }).get('/session')).body['name']).toBe(user.name)
})

test('a failed sign-in changes no session, and each sign-in has a cookie of its own', slow, async () => {
  const user = await makeUser(whole.db, company.id, 'viewer')
  const first = await signIn(whole, company, user)
  const failed = await signInAnswer(
    whole,
    company,
    { ...user, password: 'wrong' },
    {},
    { headers: { cookie: first.cookie } },
  )
  expect(failed.status).toBe(401)
  expect((await first.get('/session')).status).toBe(200)
  const cookies = new Set<string>([first.cookie])
  for (let turn = 0; turn < 3; turn++) cookies.add((await signIn(whole, company, user)).cookie)
  expect(cookies.size).toBe(4)
})

test('a session ends with its password, whoever changed it, and with signing out', slow, async () => {
  const user = await makeUser(whole.db, company.id, 'attendant')
  const [own, elsewhere, signedOut] = [
    await signIn(whole, company, user),
    await signIn(whole, company, user),
    await signIn(whole, company, user),
  ]
  expect((await signedOut.call('DELETE', '/session')).status).toBe(204)
  expect((await signedOut.get('/session')).status).toBe(401)
  const changed = await own.call('POST', '/account/password', {
    currentPassword: user.password,
    newPassword: 'another password',
  })
  expect(changed.status).toBe(204)
  expect((await elsewhere.get('/session')).status).toBe(401)
  const reset = await clientWith(whole, { cookie }).call(
    'POST',
    `/users/${showId('usr', user.id)}/password`,
    {
      password: 'set by an administrator',
    },
  )
  expect(reset.status).toBe(204)
  expect((await own.get('/session')).status).toBe(401)
})

test("an API user's token ends with the password as well", slow, async () => {
  const user = await makeUser(whole.db, company.id, 'api')
  const login = await request(`${whole.url}/v1/login`, {
    body: { Company: company.name, Username: user.name, Password: user.password },
  })
  const send = () =>
    request(`${whole.url}/v1/sendmessage`, {
      headers: { authorization: `Bearer ${String(login.body['access_token'])}` },
      body: '{}',
    })
  expect((await send()).status).toBe(400)
  await clientWith(whole, { cookie }).call('POST', `/users/${showId('usr', user.id)}/password`, {
    password: 'changed by us',
  })
  expect((await send()).status).toBe(401)
})

/** Scripts, or whatever a browser might take them for, only ever come as data. */
function expectData(answer: Answer, label: string): void {
  expect(answer.headers['content-type'], label).toMatch(
    /^(application\/json|text\/csv|text\/event-stream); charset=utf-8$/,
  )
  expect(answer.headers['x-content-type-options'], label).toBe('nosniff')
}

test('hostile texts come back as they are, as JSON that no browser takes for a page', slow, async () => {
  const client = clientWith(whole, { cookie })
  for (const [name, text] of Object.entries(storableTexts)) {
    if (text.length > 255 || /\p{Cc}/u.test(text)) continue
    const made = await client.call('POST', '/segments', { name: text })
    expect(made.status, `${name}: ${made.text}`).toBe(201)
    expect(made.body['name'], name).toBe(text.trim())
    expectData(made, name)
    // Not one of them breaks out of an address either.
    const found = await client.get(`/segments?search=${encodeURIComponent(text)}`)
    expect(found.status, name).toBeLessThan(500)
    expectData(found, name)
  }
  const listed = await client.get('/segments?limit=200')
  expect(JSON.stringify(listed.body)).toContain(JSON.stringify(xssTexts['scriptElement']).slice(1, -1))
})

test('errors repeat what was sent only as JSON, and a path that is not there not at all', slow, async () => {
  for (const [name, text] of Object.entries(xssTexts)) {
    const asPath = await request(`${whole.url}/v1/${encodeURIComponent(text)}`)
    expect(asPath.status, name).toBe(404)
    expect(asPath.body['message']).toBe('not found')
    expectData(asPath, name)
    const field = await request(`${whole.url}/v1/directmessage/sms`, {
      headers: { authorization: `Bearer ${company.directToken.token}` },
      body: {
        recipient_number: text,
        contract_code: 'C',
        template_code: text,
        segment: text,
        variable_values: { [text]: 1 },
      },
    })
    expect(field.status, name).toBe(422)
    expectData(field, name)
  }
})

test('every answer forbids guessing its type', slow, async () => {
  for (const { method, url } of whole.routes) {
    if (url.endsWith('/events')) continue
    const path = url.replaceAll(/:\w+|\*/g, 'x')
    const answer = await request(whole.url + path, {
      method,
      headers: { cookie },
      ...(method !== 'GET' && { body: '{}' }),
    })
    expect(answer.headers['x-content-type-options'], `${method} ${url} ${answer.status}`).toBe('nosniff')
    // Pages are the reference and the console alone, each with a policy of its own.
    if (answer.headers['content-type']?.startsWith('text/html')) {
      expect(url).toMatch(/^\/(docs|\*)$/)
      expect(answer.headers['content-security-policy'], url).toContain("default-src 'none'")
    }
  }
})

test(
  'a file of the library is served as its type, without any power, whatever its name and content',
  slow,
  async () => {
    const client = clientWith(whole, { cookie })
    const page = Buffer.from('<html><script>alert(1)</script></html>')
    let stored = 0
    for (const [name, fileName] of Object.entries(hostileFileNames)) {
      const answer = await client.call('POST', `/media?name=${encodeURIComponent(fileName)}`, page, {
        headers: { 'content-type': 'text/html' },
      })
      expect([201, 400], `${name}: ${answer.text}`).toContain(answer.status)
      if (answer.status !== 201) continue
      stored++
      const { pathname } = new URL(String(answer.body['url']))
      expect(pathname, name).toMatch(/^\/media\/[0-9a-f]{32}\.(png|jpg|jpeg|mp4|pdf)$/)
      const served = await request(whole.url + pathname)
      expect(served.status, name).toBe(200)
      expect(served.headers['content-type'], name).toBe('image/png')
      expect(served.headers['x-content-type-options']).toBe('nosniff')
      expect(served.headers['content-security-policy']).toBe("default-src 'none'; sandbox")
      expect(Object.values(served.headers).join('\n'), name).not.toMatch(/evil|passwd|text\/html/)
    }
    expect(stored).toBeGreaterThan(3)
    for (const type of [
      'page.html',
      'picture.svg',
      'x.svg.',
      'x.xhtml',
      'x.js',
      'x',
      'x.png.html',
      'x.constructor',
    ])
      expect((await client.call('POST', `/media?name=${encodeURIComponent(type)}`, page)).status, type).toBe(
        400,
      )
  },
)

test('the page to unsubscribe and the reference show a hostile name as text', slow, async () => {
  const own = await whole.makeCompany()
  const contact = await makeContact(whole.db, own.id)
  for (const [name, text] of Object.entries(xssTexts)) {
    await whole.db.query('update company set name = $2 where id = $1', [own.id, text])
    const token = writeUnsubscribeToken(testSealer, {
      companyId: own.id,
      contactId: contact.id,
      messageId: contact.id,
    })
    const page = await request(`${whole.url}/unsubscribe/${token}`)
    expect(page.status, name).toBe(200)
    expect(page.headers['content-security-policy']).toContain("default-src 'none'")
    const shown = /<p>Do you want no more e-mail from ([^]*)\?<\/p>/.exec(page.text)?.[1]
    expect(shown, name).not.toMatch(/[<>"']/)
  }
  const docs = await request(`${whole.url}/docs`)
  expect(docs.headers['content-security-policy']).toMatch(/default-src 'none'/)
  expect(docs.text).not.toMatch(/<script/i)
})

test('nobody may frame a page of ours, and the cookie is out of reach for scripts', slow, async () => {
  const token = writeUnsubscribeToken(testSealer, {
    companyId: company.id,
    contactId: company.id,
    messageId: company.id,
  })
  for (const path of ['/docs', `/unsubscribe/${token}`])
    expect((await request(whole.url + path)).headers['content-security-policy'], path).toContain(
      "frame-ancestors 'none'",
    )
  const { user } = await signInAs(whole, company, 'viewer')
  const answer = await signInAnswer(whole, company, user)
  expect(answer.headers['set-cookie']).toMatch(/; HttpOnly; SameSite=Strict;/)
})
