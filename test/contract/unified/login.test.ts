import { describe, expect, test } from 'vitest'
import { passwordQueueLength } from '../../../src/lib/secrets.ts'
import { request } from '../../harness/http.ts'
import {
  expectAccepted,
  expectErrorBody,
  expectInvalid,
  password,
  useUnified,
  type Company,
} from './support.ts'

const u = useUnified({ nodes: 2 })

const logIn = (
  body: unknown,
  options: { from?: string; node?: number; headers?: Record<string, string> } = {},
) =>
  request(`${u.app.urls[options.node ?? 0]}/v1/login`, {
    method: 'POST',
    body,
    from: options.from,
    headers: options.headers,
  })

const tokenOf = async (company: Company, node = 0): Promise<string> =>
  String((await logIn(company.credentials(), { node })).body['access_token'])

const sendWith = (company: Company, token: string, node = 0) =>
  request(`${u.app.urls[node]}/v1/sendmessage`, {
    body: company.sms(),
    headers: { authorization: `Bearer ${token}` },
  })

describe('a right login', () => {
  test('answers 200 with the four fields of the document and no others', async () => {
    const company = await u.newCompany()
    const answer = await logIn(company.credentials())
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual({
      access_token: expect.any(String),
      expires_in: 287_971_200,
      refresh_token: '',
      token_type: 'bearer',
    })
    expect(answer.headers['content-type']).toMatch(/^application\/json/)
  })

  test('takes its validity from a setting of the company', async () => {
    const company = await u.newCompany({ tokenTtlSeconds: 7200 })
    expect((await logIn(company.credentials())).body['expires_in']).toBe(7200)
  })

  test('needs no authorization, and does not look at one', async () => {
    const company = await u.newCompany()
    const answer = await logIn(company.credentials(), { headers: { authorization: 'Bearer nonsense' } })
    expect(answer.status).toBe(200)
  })

  test('gives a token that opens the send route, again and again', async () => {
    const company = await u.newCompany()
    const token = await tokenOf(company)
    for (let turn = 0; turn < 3; turn++) expectAccepted(await sendWith(company, token))
  })

  test.for([
    ['in lower case', (name: string) => name.toLowerCase()],
    ['in upper case', (name: string) => name.toUpperCase()],
    ['with spaces around it', (name: string) => `  ${name}\t`],
  ] as const)('finds company and user %s', async ([, change]) => {
    const company = await u.newCompany()
    const { Company, Username } = company.credentials()
    const answer = await logIn({ Company: change(Company), Username: change(Username), Password: password })
    expect(answer.status).toBe(200)
  })

  test.for([
    ['company', 'username', 'password'],
    ['COMPANY', 'userName', 'PassWord'],
  ])('reads its fields whatever their case: %j', async ([company, username, secret]) => {
    const one = await u.newCompany()
    const { Company, Username, Password } = one.credentials()
    const answer = await logIn({ [company!]: Company, [username!]: Username, [secret!]: Password })
    expect(answer.status).toBe(200)
  })

  test('ignores fields that it does not know', async () => {
    const company = await u.newCompany()
    expect((await logIn({ ...company.credentials(), extra: { a: [1] } })).status).toBe(200)
  })
})

describe('a login that is not well formed', () => {
  const fields = ['Company', 'Username', 'Password'] as const
  const wrong: [string, unknown][] = [
    ['missing', undefined],
    ['null', null],
    ['empty', ''],
    ['a number', 7],
    ['a boolean', true],
    ['an array', ['x']],
    ['an object', { x: 1 }],
  ]
  test.for(fields.flatMap((field) => wrong.map(([what, value]) => ({ field, what, value }))))(
    'is 400 and names $field when it is $what',
    async ({ field, value }) => {
      const answer = await logIn({ ...u.company.credentials(), [field]: value })
      expectInvalid(answer, field)
    },
  )

  test('names all wrong fields at once', async () => {
    expectInvalid(await logIn({}), 'Company', 'Username', 'Password')
  })

  test.for(['', '{', 'null', '[]', '"text"', '17', '{"Company": "x",}', '{"Company": NaN}'])(
    'is 400 when the body is %j',
    async (body) => {
      const answer = await logIn(body)
      expect(answer.status).toBe(400)
      expectErrorBody(answer)
    },
  )
})

describe('a refused login', () => {
  test('is the same 401 for every reason', async () => {
    const company = await u.newCompany()
    const suspended = await u.newCompany()
    await u.app.db.query('update company set suspended_at = now() where id = $1', [suspended.id])
    await u.app.db.query('update app_user set disabled_at = now() where id = $1', [company.users.otherApi.id])
    const right = company.credentials()
    const answers = await Promise.all([
      logIn({ ...right, Company: 'No such company' }),
      logIn({ ...right, Username: 'nobody' }),
      logIn({ ...right, Password: `${password}.` }),
      logIn({ ...right, Username: company.users.maria.name }),
      logIn({ ...right, Username: company.users.administrator.name }),
      logIn({ ...right, Username: company.users.otherApi.name }),
      logIn(suspended.credentials()),
    ])
    for (const answer of answers) {
      expect(answer.status).toBe(401)
      expectErrorBody(answer)
      expect({ ...answer.body, requestId: '' }).toEqual({ ...answers[0].body, requestId: '' })
      expect(answer.headers['content-length']).toBe(answers[0].headers['content-length'])
    }
  })

  test.for([password.toUpperCase(), ` ${password}`, `${password} `])(
    'takes the password to the letter: %j',
    async (given) => {
      expect((await logIn({ ...u.company.credentials(), Password: given })).status).toBe(401)
    },
  )

  test.for<[string, (company: Company) => object]>([
    ['a wrong password', () => ({ Password: 'something else' })],
    ['an unknown company', () => ({ Company: 'No such company' })],
    ['an unknown user', () => ({ Username: 'nobody' })],
    ['a user of another type', (company) => ({ Username: company.users.maria.name })],
    ['a disabled user', (company) => ({ Username: company.users.disabled.name })],
  ])('costs the same work for %s: a password is hashed', async ([, wrong]) => {
    // A hash takes longer than everything else; times on a busy machine say less than whether it was done.
    const company = await u.newCompany()
    let hasHashed = false
    let isAnswered = false
    const watch = async () => {
      while (!isAnswered) {
        hasHashed ||= passwordQueueLength() > 0
        await new Promise((resolve) => setImmediate(resolve))
      }
    }
    const watching = watch()
    const answer = await logIn({ ...company.credentials(), ...wrong(company) })
    isAnswered = true
    await watching
    expect(answer.status).toBe(401)
    expect(hasHashed).toBe(true)
  })

  test('leaves the living token alone', async () => {
    const company = await u.newCompany()
    const token = await tokenOf(company)
    await logIn({ ...company.credentials(), Password: 'wrong' })
    expectAccepted(await sendWith(company, token))
  })
})

describe('tokens', () => {
  test('are opaque, with room for 256 bits, and never the same', async () => {
    const company = await u.newCompany()
    const tokens = [await tokenOf(company), await tokenOf(company)]
    for (const token of tokens) {
      // 43 characters of base64 hold 256 bits.
      expect(token).toMatch(/^[\w.~+/-]{43,}=*$/)
      expect(Buffer.from(token, 'base64').toString('latin1')).not.toContain(company.name)
    }
    expect(tokens[0]).not.toBe(tokens[1])
  })

  test('are kept only as a hash', async () => {
    const company = await u.newCompany()
    const token = await tokenOf(company)
    const rows = await u.app.db.query<{ all: string }>(
      `select coalesce(string_agg(t::text, ' '), '') as all from api_token t where company_id = $1`,
      [company.id],
    )
    expect(rows[0]!.all).not.toBe('')
    expect(rows[0]!.all).not.toContain(token)
    expect(rows[0]!.all).not.toContain(Buffer.from(token).toString('hex'))
  })

  test('live for expires_in seconds', async () => {
    const company = await u.newCompany({ tokenTtlSeconds: 600 })
    const token = await tokenOf(company)
    u.app.clock.advance(599_000)
    expectAccepted(await sendWith(company, token))
    u.app.clock.advance(2_000)
    expect((await sendWith(company, token)).status).toBe(401)
  })

  test('die with the next login, on every node at once', async () => {
    const company = await u.newCompany()
    const first = await tokenOf(company, 0)
    for (const node of [0, 1]) expectAccepted(await sendWith(company, first, node))
    const second = await tokenOf(company, 1)
    for (const node of [0, 1]) {
      expect((await sendWith(company, first, node)).status).toBe(401)
      expectAccepted(await sendWith(company, second, node))
    }
  })

  test('are one per user: another user of the company keeps its own', async () => {
    const company = await u.newCompany()
    const first = await tokenOf(company)
    const other = await logIn({ ...company.credentials(), Username: company.users.otherApi.name })
    expect(other.status).toBe(200)
    expectAccepted(await sendWith(company, first))
    expectAccepted(await sendWith(company, String(other.body['access_token'])))
  })

  test('of simultaneous logins on two nodes exactly one is valid afterwards', async () => {
    const company = await u.newCompany()
    const logins = await Promise.all(
      Array.from({ length: 16 }, (_, index) => logIn(company.credentials(), { node: index % 2 })),
    )
    for (const login of logins) expect(login.status).toBe(200)
    const statuses: number[] = []
    for (const login of logins)
      statuses.push((await sendWith(company, String(login.body['access_token']))).status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(1)
    expect(statuses.filter((status) => status === 401)).toHaveLength(15)
  })

  test('an empty refresh token is accepted nowhere', async () => {
    const company = await u.newCompany()
    await tokenOf(company)
    expect((await sendWith(company, '')).status).toBe(401)
    const refreshed = await logIn({ Company: company.name, refresh_token: '', grant_type: 'refresh_token' })
    expect(refreshed.status).toBe(400)
  })
})

describe('the lock-out', () => {
  // Addresses of this host that no other test uses, so that nobody else is locked out.
  test('ten refusals for one company, user and address lock that triple out for five minutes', async () => {
    const company = await u.newCompany()
    const wrong = { ...company.credentials(), Password: 'wrong' }
    for (let turn = 0; turn < 10; turn++)
      expect((await logIn(wrong, { from: '127.0.2.1', node: turn % 2 })).status).toBe(401)
    for (const node of [0, 1]) {
      const locked = await logIn(company.credentials(), { from: '127.0.2.1', node })
      expect(locked.status).toBe(429)
      expect(Number(locked.headers['retry-after'])).toBeGreaterThan(0)
      expect(Number(locked.headers['retry-after'])).toBeLessThanOrEqual(300)
      expectErrorBody(locked)
    }
    // Neither the right login from elsewhere nor another user from there is locked out.
    expect((await logIn(company.credentials(), { from: '127.0.2.2' })).status).toBe(200)
    const other = { ...company.credentials(), Username: company.users.otherApi.name }
    expect((await logIn(other, { from: '127.0.2.1' })).status).toBe(200)
    u.app.clock.advance(301_000)
    expect((await logIn(company.credentials(), { from: '127.0.2.1' })).status).toBe(200)
  })

  test('spelling the names differently does not escape it', async () => {
    const company = await u.newCompany()
    const { Company, Username } = company.credentials()
    for (let turn = 0; turn < 10; turn++)
      await logIn(
        { Company: turn % 2 ? Company.toUpperCase() : ` ${Company}`, Username, Password: 'wrong' },
        { from: '127.0.2.3' },
      )
    expect((await logIn(company.credentials(), { from: '127.0.2.3' })).status).toBe(429)
  })

  test('refusals that are more than five minutes apart do not add up', async () => {
    const company = await u.newCompany()
    const wrong = { ...company.credentials(), Password: 'wrong' }
    for (let turn = 0; turn < 9; turn++) await logIn(wrong, { from: '127.0.2.4' })
    u.app.clock.advance(301_000)
    for (let turn = 0; turn < 2; turn++) await logIn(wrong, { from: '127.0.2.4' })
    expect((await logIn(company.credentials(), { from: '127.0.2.4' })).status).toBe(200)
  })

  test('requests that are not well formed do not count', async () => {
    const company = await u.newCompany()
    for (let turn = 0; turn < 12; turn++)
      await logIn({ ...company.credentials(), Password: 7 }, { from: '127.0.2.5' })
    expect((await logIn(company.credentials(), { from: '127.0.2.5' })).status).toBe(200)
  })

  test('fifty refusals from one address lock out the address, whoever is asked for', async () => {
    const company = await u.newCompany()
    for (let turn = 0; turn < 50; turn++)
      await logIn(
        { ...company.credentials(), Username: `guess ${turn}` },
        { from: '127.0.2.6', node: turn % 2 },
      )
    const another = await u.newCompany()
    const locked = await logIn(another.credentials(), { from: '127.0.2.6' })
    expect(locked.status).toBe(429)
    expect(Number(locked.headers['retry-after'])).toBeGreaterThan(0)
    expect((await logIn(another.credentials(), { from: '127.0.2.7' })).status).toBe(200)
    u.app.clock.advance(301_000)
    expect((await logIn(another.credentials(), { from: '127.0.2.6' })).status).toBe(200)
  })
})
