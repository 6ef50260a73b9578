/**
 * One full run with everything that has a secret, at the most talkative log level; then every secret is looked for, in
 * clear and in the ways it could be written, in logs, exchanges, exports, error bodies, audit, metrics, documents and
 * every column of the database. (A backup holds every secret by design, key included: its file is the owner's alone,
 * and `--passphrase-file` seals it; see src/cli/backup.db.test.ts.)
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { describeCompany } from '../../src/flows/describe-company.ts'
import { newId, parseId, showId } from '../../src/lib/ids.ts'
import { createSealer, newSealingKey } from '../../src/lib/secrets.ts'
import { totpCode, totpStep } from '../../src/lib/totp.ts'
import { getCompany } from '../../src/store/companies.ts'
import type { Queryable } from '../../src/store/db.ts'
import { lockSealedTables, resealValues, sealedColumns } from '../../src/store/sealed-values.ts'
import { clientWith, cookieOf, signInAnswer, type Client } from '../contract/admin/support.ts'
import {
  makeContact,
  makeUser,
  openWindows,
  randomMobile,
  testSealer,
  type TestCompany,
  type TestUser,
} from '../harness/factories.ts'
import { request, until, type Answer } from '../harness/http.ts'
import { slow } from './fuzz.ts'
import { phoneNumberId, sandboxSettings, startFullRun, type FullRun } from './full-run.ts'

let run: FullRun
let company: TestCompany
let admin: TestUser
/** What must be nowhere, by name. */
const secrets = new Map<string, string>()
/** Everything that was answered, but for the answers whose purpose is to hand a secret over. */
const answers: string[] = []

const keep = (answer: Answer): Answer => {
  answers.push(`${JSON.stringify(answer.headers)}\n${answer.text}`)
  return answer
}
const secret = (name: string, value: unknown): string => {
  expect(value, name).toMatch(/^\S{8,}$/)
  secrets.set(name, String(value))
  return String(value)
}

beforeAll(async () => {
  run = await startFullRun({ logLevel: 'trace' })
  company = await run.whole.makeCompany({ lines: [] })
  admin = await makeUser(run.whole.db, company.id, 'administrator')
  await fullRun()
}, 180_000)
afterAll(() => run.stop())

async function made(client: Client, path: string, body: unknown): Promise<Answer> {
  const answer = await client.call('POST', path, body)
  if (answer.status >= 300) throw new Error(`${path} answered ${answer.status}: ${answer.text}`)
  return answer
}

async function fullRun(): Promise<void> {
  const { whole } = run
  secret('password of the administrator', admin.password)
  secret('password of the API user', company.apiUser.password)
  secret('private token', company.privateToken)
  secret('direct token', company.directToken.token)
  secret('callback secret', company.callbackSecret)
  const wrong = secret('a wrong password', 'Wr0ng-but-somebody-typed-it')
  keep(await signInAnswer(whole, company, { ...admin, password: wrong }))
  const signedIn = await signInAnswer(whole, company, admin)
  const cookie = cookieOf(signedIn)
  secret('session', cookie.split('=')[1])
  const client = clientWith(whole, { cookie })

  await secondFactor(client)
  await credentials(client)
  const lines = await makeLines(client)
  await sendEverything(client, lines)
  await mistakes(client)
  await lookAround(client, lines)
}

async function secondFactor(client: Client): Promise<void> {
  const { whole } = run
  const { password } = admin
  const begun = await made(client, '/account/totp', { currentPassword: password })
  const totp = secret('secret of the second factor', begun.body['secret'])
  const confirmed = await client.call('PUT', '/account/totp', {
    code: totpCode(totp, totpStep(whole.clock.now())),
  })
  const codes = confirmed.body['recoveryCodes'] as string[]
  codes.slice(0, 3).forEach((code, index) => secret(`recovery code ${index}`, code))
  keep(await signInAnswer(whole, company, admin, { code: codes[9] }))
}

async function credentials(client: Client): Promise<void> {
  const key = await made(client, '/admin-keys', { name: 'Program', scopes: ['read'] })
  secret('admin key', key.body['key'])
  const token = await made(client, '/direct-tokens', { name: 'Other' })
  secret('other direct token', token.body['token'])
  const renewed = await made(client, `/direct-tokens/${String(token.body['id'])}/renew`, {})
  secret('renewed direct token', renewed.body['token'])
  const rotated = await made(client, '/company/private-token/rotate', { overlapHours: 24 })
  secret('new private token', rotated.body['privateToken'] ?? rotated.body['token'])
  const callback = await made(client, '/company/callback-secret/rotate', { overlapHours: 24 })
  secret('new callback secret', callback.body['secret'])
  const webhook = await client.call('PUT', '/company/webhook', { url: `${run.sandbox.catcher.url}/webhook` })
  expect(webhook.status, webhook.text).toBeLessThan(300)
  secret('webhook secret', (await made(client, '/company/webhook/secret/show', {})).body['secret'])
  const userPassword = secret('password of a new user', 'N3w-user-passw0rd')
  keep(await made(client, '/users', { name: 'New', role: 'viewer', password: userPassword }))
  const shown = await client.call('POST', '/company/private-token/show', {})
  expect(shown.status).toBe(200)
}

type Lines = Record<'email' | 'sms' | 'whatsapp' | 'refusing' | 'broker' | 'twilio', string>

async function makeLines(client: Client): Promise<Lines> {
  const { sandbox, broker } = run
  const settings = sandboxSettings(sandbox)
  secret('SMTP password', sandbox.smtp.password)
  secret('SMPP password', sandbox.smpp.password)
  secret('access token', sandbox.graph.accessToken)
  secret('app secret', sandbox.graph.appSecret)
  secret('verify token', sandbox.graph.verifyToken)
  const line = async (name: string, driver: string, of: unknown, number: number) => {
    const isMail = driver === 'smtp'
    const answer = keep(
      await made(client, '/lines', {
        name,
        driver,
        settings: of,
        ...(isMail
          ? { email: `sender${number}@example.com` }
          : { countryCode: 55, phoneNumber: 31_987_650_000 + number }),
      }),
    )
    return String(answer.body['id'])
  }
  return {
    email: await line('Mail', 'smtp', settings.smtp, 1),
    sms: await line('SMS', 'smpp', settings.smpp, 2),
    whatsapp: await line('WhatsApp', 'whatsapp-cloud', settings['whatsapp-cloud'], 3),
    refusing: await line(
      'Refusing mail',
      'smtp',
      { ...settings.smtp, password: secret('refused SMTP password', 'refused-smtp-passw0rd') },
      4,
    ),
    broker: await line(
      'Talkative broker',
      'sms-http',
      {
        url: `${broker.url}/send?key={secret}`,
        body: '{"to":"{to}","text":"{text}","apiKey":"{secret}"}',
        auth: 'bearer',
        authSecret: secret('broker secret', 'br0ker-secret/with+signs='),
        hookFormat: 'json',
        hookIdPath: 'id',
        hookStatusPath: 'status',
        hookVerification: 'url',
        hookSecret: secret('hook secret', 'h00k-secret-in-the-address'),
      },
      5,
    ),
    twilio: await line(
      'Twilio',
      'twilio',
      {
        accountSid: `AC${'0'.repeat(32)}`,
        authToken: secret('auth token', 'twilio-auth-token-0123456789'),
        baseUrl: broker.url,
      },
      6,
    ),
  }
}

async function sendEverything(client: Client, lines: Lines): Promise<void> {
  const { whole, sandbox } = run
  const login = await request(`${whole.url}/v1/login`, {
    body: { Company: company.name, Username: company.apiUser.name, Password: company.apiUser.password },
  })
  const token = secret('API token', login.body['access_token'])
  for (const name of ['email', 'sms', 'whatsapp'] as const)
    await made(client, `/lines/${lines[name]}/default`, {})
  const digits = randomMobile()
  const contact = await makeContact(whole.db, company.id, { phone: digits })
  await openWindows(whole.db, contact, [{ id: parseId('lin', lines.whatsapp)! }], whole.clock.now())
  sandbox.openWindow(phoneNumberId, digits)
  const phone = { countryCode: 55, phoneNumber: Number(digits.slice(2)) }
  const unified = (body: object) =>
    request(`${whole.url}/v1/sendmessage`, {
      headers: { authorization: `Bearer ${token}` },
      body: { platformPrivateToken: secrets.get('new private token'), text: 'Hello', ...body },
    })
  const sent = [
    keep(await unified({ channel: 1, emailSubject: 'Hi', destination: { email: 'ana@example.com' } })),
    keep(await unified({ channel: 2, destination: phone })),
    keep(await unified({ channel: 3, destination: phone })),
    keep(
      await request(`${whole.url}/v1/directmessage/sms`, {
        headers: { authorization: `Bearer ${company.directToken.token}` },
        body: {
          recipient_number: digits,
          contract_code: 'C',
          template_code: 'fixed-sms',
          callback_details: { url: `${sandbox.catcher.url}/direct`, custom_fields: { a: 'b' } },
        },
      }),
    ),
  ]
  for (const answer of sent) expect(answer.status, answer.text).toBeLessThan(300)
  for (const [name, recipient] of [
    ['refusing', 'ana@example.com'],
    ['broker', digits],
    ['twilio', digits],
  ] as const)
    keep(await client.call('POST', `/lines/${lines[name]}/test`, { recipient, text: 'Hello' }))
  await until(
    'everything has left, or failed',
    async () => {
      const rows = await whole.db.query<{ state: string }>(
        `select state from message where company_id = $1 and (line_id <> $2 and state in ('queued', 'sending'))`,
        [company.id, parseId('lin', lines.refusing)],
      )
      return rows.length === 0
    },
    60_000,
  )
  await until(
    'callbacks were delivered',
    async () => (await whole.db.query('select 1 from callback_attempt limit 1')).length > 0,
    60_000,
  )
}

/** Wrong on purpose, with secrets where they do not belong. */
async function mistakes(client: Client): Promise<void> {
  const { whole } = run
  const all = [...secrets.values()]
  for (const value of all) {
    keep(
      await request(`${whole.url}/v1/sendmessage`, {
        headers: { authorization: `Bearer x${value}` },
        body: {},
      }),
    )
    keep(await request(`${whole.url}/admin/v1/company`, { headers: { authorization: `Basic ${value}` } }))
    keep(
      await request(
        `${whole.url}/hooks/sms-http/${showId('lin', newId())}?secret=${encodeURIComponent(value)}`,
      ),
    )
  }
  const password = secrets.get('password of a new user')!
  keep(await client.call('POST', '/users', { name: 'New', role: 'viewer', password }))
  keep(await client.call('POST', '/users', { name: 'x', role: 'none', password }))
  keep(
    await client.call('POST', '/lines', {
      name: 'x',
      driver: 'smpp',
      settings: { password: secrets.get('SMPP password') },
    }),
  )
  keep(
    await client.call('POST', '/lines', {
      name: 'x',
      driver: 'smtp',
      email: 'x@example.com',
      settings: { host: 'x', port: 'wrong', password: secrets.get('SMTP password') },
    }),
  )
  keep(
    await request(`${whole.url}/v1/login`, {
      body: { Company: company.name, Username: 'nobody', Password: password },
    }),
  )
  keep(await request(`${whole.url}/v1/login`, { body: `{"Password":"${password}"` }))
}

async function lookAround(client: Client, lines: Lines): Promise<void> {
  const { whole } = run
  const paths = [
    '/company',
    '/users',
    '/lines',
    '/drivers',
    '/messages',
    '/messages/export',
    '/audit?limit=200',
    '/direct-tokens',
    '/admin-keys',
    '/company/webhook',
    '/callbacks',
    '/callbacks/attempts',
    '/lanes',
    '/alerts',
    '/received',
    '/account/sessions',
    '/reports?groupBy=line',
    ...Object.values(lines).map((id) => `/lines/${id}`),
  ]
  for (const path of paths) {
    const answer = keep(await client.get(path))
    expect(answer.status, `${path} ${answer.text}`).toBeLessThan(500)
  }
  const messages = await whole.db.query<{ id: string }>('select id from message where company_id = $1', [
    company.id,
  ])
  expect(messages.length).toBeGreaterThan(6)
  for (const { id } of messages)
    expect(keep(await client.get(`/messages/${showId('msg', id)}`)).status).toBe(200)
  const contacts = await whole.db.query<{ id: string }>('select id from contact where company_id = $1', [
    company.id,
  ])
  for (const { id } of contacts) keep(await client.call('POST', `/contacts/${showId('con', id)}/export`))
  for (const path of ['/metrics', '/docs', '/docs/admin.json', '/health/ready'])
    keep(await request(whole.url + path))
}

/** As a log, a form, an address or a header could write it. */
function waysToWrite(value: string): string[] {
  const bytes = Buffer.from(value)
  return [
    ...new Set([
      value,
      JSON.stringify(value).slice(1, -1),
      encodeURIComponent(value),
      bytes.toString('base64').replace(/=+$/, ''),
      bytes.toString('base64url'),
      bytes.toString('hex'),
    ]),
  ]
}

function expectNoSecretIn(text: string, where: string): void {
  for (const [name, value] of secrets)
    for (const written of waysToWrite(value)) {
      const at = text.indexOf(written)
      if (at >= 0)
        expect.fail(
          `${where} holds the ${name}: …${text.slice(Math.max(0, at - 150), at + written.length + 20)}…`,
        )
    }
}

test('the run had what it takes: many secrets, deliveries, failures and callbacks', async () => {
  expect(secrets.size).toBeGreaterThan(25)
  const { whole, broker, sandbox } = run
  const events = await whole.db.query<{ kind: string }>('select distinct kind from message_event')
  expect(events.map(({ kind }) => kind)).toEqual(expect.arrayContaining(['attempt']))
  // The providers were told their secrets, so there was something to leak; the broker said them all again.
  expect(JSON.stringify(broker.calls)).toContain(secrets.get('broker secret'))
  expect([...sandbox.inbox.all()].filter(({ direction }) => direction === 'toPerson').length).toBeGreaterThan(
    2,
  )
  const kept = await whole.db.query<{ text: string }>(
    `select e::text as text from message_event e where kind = 'attempt'`,
  )
  expect(kept.map(({ text }) => text).join(), 'the refusal itself is kept').toContain('invalid message')
})

test('not in the log, at its most talkative', () => {
  const log = run.whole.logLines.join('')
  expect(log.length).toBeGreaterThan(10_000)
  expectNoSecretIn(log, 'the log')
})

test('not in any answer: errors, lists, timelines with their exchanges, exports, audit, metrics, documents', () => {
  expect(answers.length).toBeGreaterThan(100)
  for (const answer of answers) expectNoSecretIn(answer, 'an answer')
})

test('not in the description of the company that `pombo export` writes', async () => {
  const found = (await getCompany(run.whole.db, company.id))!
  const file = stringify(await describeCompany(run.whole.db, found))
  expect(file).toContain('Talkative broker')
  expectNoSecretIn(file, 'the description')
})

test('not in any column of the database', slow, async () => {
  const { db } = run.whole
  const tables = await db.query<{ name: string }>(
    `select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'
      and not exists (select 1 from pg_inherits where inhrelid = format('%I', table_name)::regclass)`,
  )
  expect(tables.length).toBeGreaterThan(25)
  let rows = 0
  for (const { name } of tables)
    // Bytes are shown in hexadecimal, which is one of the ways that are looked for.
    for (const { row } of await db.query<{ row: string }>(`select t::text as row from ${name} t`)) {
      rows++
      expectNoSecretIn(row, `the table ${name}`)
    }
  expect(rows).toBeGreaterThan(100)
})

test('sealed at rest: the key opens them all, another key none; a new key makes the old one useless', async () => {
  const { db } = run.whole
  const values = async (from: Queryable = db) => {
    const sealed: Buffer[] = []
    for (const { table, columns } of sealedColumns)
      for (const column of columns)
        for (const row of await from.query<{ value: Buffer | null }>(
          `select ${column} as value from ${table}`,
        ))
          if (row.value) sealed.push(row.value)
    return sealed
  }
  const before = await values()
  expect(before.length).toBeGreaterThan(8)
  const opened = before.map((value) => testSealer.open(value)).join('\n')
  for (const name of [
    'private token',
    'callback secret',
    'SMTP password',
    'broker secret',
    'auth token',
    'webhook secret',
  ])
    expect(opened, name).toContain(
      name === 'private token' ? secrets.get('new private token') : secrets.get(name),
    )
  const stranger = createSealer(newSealingKey())
  for (const value of before) expect(() => stranger.open(value)).toThrow()
  // One bit, and it is no longer ours.
  for (const value of before) {
    const changed = Buffer.from(value)
    changed[changed.length - 1]! ^= 1
    expect(() => testSealer.open(changed)).toThrow()
  }
  const next = createSealer(newSealingKey())
  // Looked at and undone, since the worker of this run still needs the old one.
  const undo = new Error('undone')
  const rotation = db.transaction(async (transaction) => {
    await lockSealedTables(transaction)
    expect(await resealValues(transaction, testSealer, next)).toBe(before.length)
    for (const value of await values(transaction)) {
      expect(() => testSealer.open(value)).toThrow()
      expect(next.open(value)).toMatch(/\S/)
    }
    throw undo
  })
  await expect(rotation).rejects.toBe(undo)
})

test('tokens and passwords are kept as hashes only', async () => {
  const [user] = await run.whole.db.query<{ hash: string }>(
    'select password_hash as hash from app_user where id = $1',
    [admin.id],
  )
  expect(user!.hash).toMatch(/^argon2id\$/)
  const hashes = await run.whole.db.query<{ hash: Buffer }>(
    'select hash from api_token union all select hash from admin_session union all select hash from admin_key',
  )
  expect(hashes.length).toBeGreaterThan(2)
  for (const { hash } of hashes) expect(hash).toHaveLength(32)
})
