import { createHash } from 'node:crypto'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../../test/harness/database.ts'
import { makeCompany, type TestCompany } from '../../../test/harness/factories.ts'
import { request, type RequestOptions } from '../../../test/harness/http.ts'
import type { Outcome, Verdict } from '../../domain/outcome.ts'
import { createAcceptor } from '../../flows/accept-message.ts'
import { createTokenChecker } from '../../flows/check-tokens.ts'
import { noRateLimits } from '../../flows/limit-rates.ts'
import { createLogIn } from '../../flows/log-in.ts'
import { createStoreAttachments } from '../../flows/store-attachments.ts'
import type { Submission } from '../../flows/submission.ts'
import { systemClock } from '../../lib/clock.ts'
import { newId, showId } from '../../lib/ids.ts'
import { silentLog } from '../../lib/log.ts'
import { readFile } from '../../store/files.ts'
import { createLargeBodyReader } from '../large-bodies.ts'
import { serve, testServerDeps } from '../test-server.ts'
import { createUnifiedSurface } from './index.ts'

let database: TestDatabase
let company: TestCompany

beforeAll(async () => {
  database = await createTestDatabase()
  company = await makeCompany(database.db)
})
afterAll(() => database.drop())

const messageId = newId()
const accepted = (submission: Submission): Outcome => ({
  kind: 'accepted',
  messageId: submission.isDryRun ? null : messageId,
  requestId: submission.requestId,
  isReplay: false,
  verdicts: [],
})

/** The API on a socket with a stand-in for the accept path that keeps what it was given. */
async function open(answer: (submission: Submission) => Outcome | Promise<Outcome> = accepted) {
  const { db } = database
  const submissions: Submission[] = []
  const deps = testServerDeps()
  const largeBodies = createLargeBodyReader(1)
  onTestFinished(() => largeBodies.close())
  const unified = createUnifiedSurface({
    accept: async (submission) => {
      submissions.push(submission)
      return answer(submission)
    },
    storeAttachments: createStoreAttachments({ db }),
    readBody: largeBodies.read,
    tokens: createTokenChecker({ db, clock: systemClock }),
    logIn: createLogIn({ db, clock: systemClock }),
    limits: noRateLimits,
    addressOf: deps.addressOf,
    budget: deps.budget,
    clock: systemClock,
    log: silentLog,
    config: { maxSendBodyBytes: 32 * 1024 * 1024, maxBodyBytes: 1024 * 1024 },
  })
  const { addresses } = await serve({ main: [unified] }, deps)
  const login = (body: unknown = credentials()) => request(`${addresses.main}/v1/login`, { body })
  const token = String((await login()).body['access_token'])
  const send = (body: unknown, headers: RequestOptions['headers'] = {}) =>
    request(`${addresses.main}/v1/sendmessage`, {
      body,
      headers: { authorization: `Bearer ${token}`, ...headers },
    })
  return { send, login, token, submissions, url: addresses.main }
}

const credentials = () => ({
  Company: company.name,
  Username: company.apiUser.name,
  Password: company.apiUser.password,
})

const sms = (changes: Record<string, unknown> = {}) => ({
  platformPrivateToken: company.privateToken,
  text: 'hello',
  channel: 2,
  destination: { countryCode: 55, phoneNumber: 31996883193 },
  ...changes,
})

test('login answers with four fields, and the token opens the send route', async () => {
  const { login, send, url } = await open()
  const answer = await login()
  expect(answer.status).toBe(200)
  expect(answer.body).toEqual({
    access_token: expect.stringMatching(/^pat_[\w-]{43}$/),
    expires_in: 287971200,
    refresh_token: '',
    token_type: 'bearer',
  })
  expect((await send(sms())).status).toBe(401)
  const headers = { authorization: `bEaReR ${String(answer.body['access_token'])}` }
  const sent = await request(`${url}/v1/sendmessage`, { body: sms(), headers })
  expect(sent.status).toBe(200)
  expect(sent.body).toEqual({
    messageId: showId('msg', messageId),
    status: 'queued',
    requestId: sent.headers['x-request-id'],
  })
})

test.each([
  ['malformed', '{'],
  ['an array', []],
  ['a missing field', { Company: 'a', Username: 'b' }],
  ['an empty field', { Company: 'a', Username: 'b', Password: '' }],
  ['a number', { Company: 'a', Username: 'b', Password: 1 }],
])('login with %s is 400', async (_what, body) => {
  const { login } = await open()
  const answer = await login(body)
  expect(answer.status).toBe(400)
  expect(answer.body['requestId']).toBe(answer.headers['x-request-id'])
})

test('whatever is wrong with a login, the answer is the same 401', async () => {
  const { login } = await open()
  const wrong = [
    { ...credentials(), Company: 'nobody' },
    { ...credentials(), Username: 'nobody' },
    { ...credentials(), Password: 'wrong' },
    { ...credentials(), Username: company.attendant.name, Password: company.attendant.password },
  ]
  for (const body of wrong) {
    const answer = await login(body)
    expect(answer.status).toBe(401)
    expect(answer.body).toEqual({
      message: 'company, user or password is wrong',
      requestId: answer.headers['x-request-id'],
    })
  }
  const names = credentials()
  const spaced = await login({
    COMPANY: ` ${names.Company.toUpperCase()} `,
    username: names.Username,
    password: names.Password,
  })
  expect(spaced.status).toBe(200)
})

test('the order of the checks: token, object, text, private token, fields', async () => {
  const { send, submissions } = await open()
  const wrongToken = await send('{', { authorization: 'Bearer nonsense' })
  expect(wrongToken.status).toBe(401)
  expect((await send('{', { authorization: [] })).status).toBe(401)
  for (const body of ['{', '[]', 'null', '"x"', '', Buffer.from([0x7b, 0xff, 0x7d])])
    expect((await send(body)).status).toBe(400)
  const t1 = 'Object reference not set to an instance of an object.'
  for (const body of [{}, { text: null, channel: 'x' }, { platformPrivateToken: 'wrong' }]) {
    const answer = await send(body)
    expect([answer.status, answer.body['message']]).toEqual([400, t1])
  }
  for (const platformPrivateToken of ['wrong', undefined, 5, null, '']) {
    const answer = await send(sms({ platformPrivateToken, channel: 'x' }))
    expect(answer.status).toBe(400)
    expect(Object.keys(answer.body['errors'] as object)).toEqual(['platformPrivateToken'])
  }
  const fields = await send(sms({ channel: '2', contact: { jokers: ['', '', '', '', 'x'.repeat(3001)] } }), {
    'idempotency-key': 'two words',
  })
  expect(fields.status).toBe(400)
  expect(fields.body['errors']).toEqual({
    channel: ['must be an integer'],
    'contact.jokers[4]': ['must have at most 3000 characters'],
    'Idempotency-Key': ['must be 1 to 255 visible ASCII characters'],
  })
  expect(submissions).toEqual([])
  const everything = await send(
    sms({
      channel: 3,
      contact: { jokers: [1] },
      destination: { countryCode: '55' },
      source: [],
      files: [{ base64: 1 }, 'x'],
    }),
  )
  expect(Object.keys(everything.body['errors'] as object).toSorted()).toEqual([
    'contact.jokers[0]',
    'destination.countryCode',
    'destination.phoneNumber',
    'files[0].base64',
    'files[0].name',
    'files[1]',
    'source',
  ])
})

test("the document's full template body becomes a request in our words", async () => {
  const { send, submissions } = await open()
  const answer = await send(
    sms({
      text: '',
      emailSubject: '',
      channel: 3,
      attendantUserName: 'joana',
      templateName: 'Order',
      templateParameters: [
        { parameterName: 'Code', parameterValue: '' },
        { parameterName: '', parameterValue: '' },
      ],
      source: { countryCode: 55, phoneNumber: 31987650002, prospect: false },
      discardSettings: { recentContactLastHours: 2, InAttendance: false },
      contact: {
        name: 'Maria',
        id: '1',
        tag: '',
        jokers: ['a', null],
        walletClientCode: 'W1',
        updateIfExists: true,
      },
      voiceSettings: { callId: 'c-1' },
      files: [{ address: '', base64: '', name: '' }],
    }),
  )
  expect(answer.status).toBe(200)
  expect(submissions[0]).toMatchObject({
    isDryRun: false,
    sender: { kind: 'api_user', id: company.apiUser.id, companyId: company.id },
    request: {
      api: 'unified',
      channel: 'whatsapp',
      recipient: { kind: 'phone', phone: { e164: '+5531996883193' } },
      what: {
        kind: 'template',
        by: 'name',
        name: 'Order',
        variables: [{ name: 'Code', value: '' }],
        files: [],
      },
      line: { kind: 'exact', countryCode: 55, phoneNumber: 31987650002 },
      recentContactLastHours: 2,
      isDiscardedInAttendance: false,
      attendantName: 'joana',
      contact: { name: 'Maria', taxId: '1', jokers: ['a', null], walletCode: 'W1', updateIfExists: true },
      callId: 'c-1',
    },
  })
  expect(submissions[0]!.idempotency).toBeUndefined()
})

test('lines: exact, prospect, default with and without failover', async () => {
  const { send, submissions } = await open()
  const source = { countryCode: 55, phoneNumber: 31987650001 }
  const destination = sms().destination
  await send(sms())
  await send(sms({ source: { prospect: false } }))
  await send(sms({ source }))
  await send(sms({ source: { ...source, prospect: true } }))
  await send(sms({ destination: { ...destination, prospect: true } }))
  await send(sms({ source: { countryCode: 0, phoneNumber: 0, prospect: true } }))
  expect(submissions.map(({ request }) => request.line)).toEqual([
    { kind: 'default', mayFailOver: true },
    { kind: 'default', mayFailOver: false },
    { kind: 'exact', ...source },
    { kind: 'prospect', ...source },
    { kind: 'prospect' },
    { kind: 'prospect' },
  ])
  const errors = async (changes: Record<string, unknown>) => (await send(sms(changes))).body['errors']
  expect(await errors({ source: { countryCode: 55 } })).toHaveProperty(['source.phoneNumber'])
  expect(
    await errors({ source: { prospect: true }, destination: { ...destination, prospect: false } }),
  ).toHaveProperty(['source.prospect'])
})

test('what each channel needs is asked for by name', async () => {
  const { send } = await open()
  const errors = async (changes: Record<string, unknown>) =>
    Object.keys((await send(sms(changes))).body['errors'] ?? {})
  expect(await errors({ destination: {} })).toEqual(['destination.countryCode', 'destination.phoneNumber'])
  expect(await errors({ destination: { countryCode: 55, phoneNumber: 5 } })).toEqual([
    'destination.phoneNumber',
  ])
  expect(await errors({ channel: 1 })).toEqual(['destination.email', 'emailSubject'])
  expect(await errors({ channel: 1, destination: { email: 'a@b.example' }, emailSubject: 'a\nb' })).toEqual([
    'emailSubject',
  ])
  expect(await errors({ channel: 4 })).toEqual(['channel'])
  expect(await errors({ text: '' })).toEqual(['text'])
  expect(await errors({ discardSettings: { recentContactLastHours: 8761 } })).toEqual([
    'discardSettings.recentContactLastHours',
  ])
  expect(await errors({ destination: null })).toEqual(['destination'])
})

test('files are judged, stored once by content, and handed on by hash', async () => {
  const { send, submissions } = await open()
  const bytes = Buffer.from('not really a picture')
  const hash = createHash('sha256').update(bytes).digest('hex')
  const base64 = `data:image/png;base64,${bytes.toString('base64')}`
  const answer = await send(
    sms({
      channel: 3,
      files: [
        {},
        { base64, name: 'folder/a.PNG', address: '' },
        { address: 'https://files.example/b.pdf', name: 'b.pdf' },
      ],
    }),
  )
  expect(answer.status).toBe(200)
  expect(submissions[0]!.request.what.files).toEqual([
    { name: 'a.PNG', mimeType: 'image/png', content: { kind: 'stored', hash, size: bytes.length } },
    {
      name: 'b.pdf',
      mimeType: 'application/pdf',
      content: { kind: 'address', url: 'https://files.example/b.pdf' },
    },
  ])
  expect(await readFile(database.db, company.id, hash)).toEqual(bytes)
  const wrong = await send(
    sms({
      channel: 3,
      files: [
        {},
        { base64: '!!', name: 'a.png' },
        { base64: 'YWJj', name: 'noextension' },
        { name: 'c.png' },
        { address: 'ftp://x/y', name: 'd.png' },
        { base64: 'YWJj', name: 'e.exe' },
        { base64: 'YWJj' },
      ],
    }),
  )
  expect(Object.keys(wrong.body['errors'] as object)).toEqual([
    'files[1].base64',
    'files[2].name',
    'files[3]',
    'files[4].address',
    'files[5]',
    'files[6].name',
  ])
})

test('a large body is read in a thread with the same result; a bomb of brackets is refused', async () => {
  const { send, submissions } = await open()
  const bytes = Buffer.alloc(3 * 1024 * 1024, 7)
  const hash = createHash('sha256').update(bytes).digest('hex')
  const body = JSON.stringify(
    sms({
      channel: 1,
      destination: { email: 'a@b.example' },
      emailSubject: 's',
      files: [{ base64: bytes.toString('base64'), name: 'a.zip' }],
    }),
  )
  const answer = await send(body, { 'idempotency-key': 'k1' })
  expect(answer.status).toBe(200)
  expect(submissions[0]!.request.what.files[0]!.content).toEqual({ kind: 'stored', hash, size: bytes.length })
  expect(submissions[0]!.idempotency).toEqual({
    route: '/v1/sendmessage',
    key: 'k1',
    bodyHash: createHash('sha256').update(body).digest(),
  })
  expect((await readFile(database.db, company.id, hash))!.equals(bytes)).toBe(true)
  expect((await send('['.repeat(2_000_000))).body['message']).toBe('the body holds too many values')
  expect((await send(`{"text":"${'x'.repeat(2_000_000)}`)).body['message']).toBe('the body is not valid JSON')
})

test('a body past the limit is 400, and so is another media type', async () => {
  const { send } = await open()
  const large = await send(Buffer.alloc(32 * 1024 * 1024 + 1, 0x20))
  expect([large.status, large.body['message']]).toEqual([400, 'the body is too large'])
  for (const type of ['text/plain', 'nonsense', 'application/xml']) {
    const answer = await send('{}', { 'content-type': type })
    expect([answer.status, answer.body['message']]).toEqual([
      400,
      'the body must be of the type application/json',
    ])
  }
})

test('dry run: nothing is stored, the verdict is shown, also on refusals', async () => {
  const verdicts: Verdict[] = [
    { rule: 'attendance', passed: true },
    {
      rule: 'opt_out',
      ruleId: 'r',
      passed: false,
      action: 'block' as const,
      reason: 'opted out',
      matched: 'sms',
    },
    { rule: 'allowed_hours', passed: false, action: 'defer' as const, reason: 'not now' },
    { rule: 'duplicate', passed: false, action: 'block' as const, reason: 'sent before' },
  ]
  const { send, submissions } = await open(({ isDryRun, requestId }) =>
    isDryRun && submissions.length === 1
      ? { kind: 'accepted', messageId: null, requestId, isReplay: false, verdicts }
      : { kind: 'refused', verdicts },
  )
  const bytes = Buffer.from('only looked at')
  const files = [{ base64: bytes.toString('base64'), name: 'a.txt' }]
  const headers = { 'pombo-dry-run': 'true', 'idempotency-key': 'k' }
  const dry = await send(sms({ channel: 3, files }), headers)
  const shown = verdicts.map(({ rule, passed, reason, matched }) => ({ rule, passed, reason, matched }))
  expect(dry.body).toEqual({
    messageId: null,
    status: 'queued',
    requestId: dry.headers['x-request-id'],
    verdict: JSON.parse(JSON.stringify(shown)),
  })
  expect(submissions[0]).toMatchObject({ isDryRun: true })
  expect(submissions[0]!.idempotency).toBeUndefined()
  const hash = createHash('sha256').update(bytes).digest('hex')
  expect(await readFile(database.db, company.id, hash)).toBeUndefined()
  const refused = await send(sms(), headers)
  expect(refused.status).toBe(400)
  expect(refused.body['message']).toBe('message not sent: opted out; sent before')
  expect(refused.body['verdict']).toHaveLength(4)
  expect((await send(sms({ channel: 9 }), headers)).body['verdict']).toEqual([])
  const odd = await send(sms(), { 'pombo-dry-run': 'yes' })
  expect(odd.body['errors']).toEqual({ 'Pombo-Dry-Run': ['must be true or false'] })
  expect((await send(sms(), { 'pombo-dry-run': 'false' })).body).not.toHaveProperty('verdict')
})

const outcomes: [string, Outcome, number, Record<string, unknown>][] = [
  [
    'the state of the contact speaks alone',
    {
      kind: 'refused',
      verdicts: [
        { rule: 'attendance', passed: true },
        { rule: 'recent_contact', passed: false, action: 'block', reason: 'contact recently contacted' },
        { rule: 'opt_out', passed: false, action: 'block', reason: 'opted out' },
      ],
    },
    400,
    { message: 'message not sent: contact recently contacted' },
  ],
  [
    'problems stand under the paths of the document',
    {
      kind: 'invalid',
      problems: [
        { at: 'template', message: 'is unknown' },
        { at: 'variables.Code', message: 'Code has no value' },
        { at: 'line', message: 'a' },
        { at: 'attendant', message: 'b' },
        { at: 'wallet', message: 'c' },
        { at: 'files[1]', message: 'd' },
      ],
      verdicts: [],
    },
    400,
    {
      message:
        'templateName: is unknown; also wrong: templateParameters, source, attendantUserName, contact.walletClientCode, files[1]',
      errors: {
        templateName: ['is unknown'],
        templateParameters: ['Code has no value'],
        source: ['a'],
        attendantUserName: ['b'],
        'contact.walletClientCode': ['c'],
        'files[1]': ['d'],
      },
    },
  ],
  [
    'a key used with another body',
    { kind: 'key_reused' },
    400,
    {
      message: 'Idempotency-Key: was used before with another body',
      errors: { 'Idempotency-Key': ['was used before with another body'] },
    },
  ],
  [
    'a suspended company',
    { kind: 'suspended' },
    400,
    { message: 'company: is suspended', errors: { company: ['is suspended'] } },
  ],
  [
    'a token that died meanwhile',
    { kind: 'unauthorized' },
    401,
    { message: 'the access token is missing, invalid or expired' },
  ],
  [
    'no room',
    { kind: 'unavailable', retryAfterSeconds: 3 },
    503,
    { message: 'the message was not taken, try again' },
  ],
  ['a fault of ours', { kind: 'failed' }, 500, { message: 'internal error' }],
]

test.each(outcomes)('outcome: %s', async (_name, outcome, status, body) => {
  const { send } = await open(() => outcome)
  const answer = await send(sms())
  expect(answer.status).toBe(status)
  expect(answer.body).toEqual({ ...body, requestId: answer.headers['x-request-id'] })
  if (outcome.kind === 'unavailable') expect(answer.headers['retry-after']).toBe('3')
})

test('a replay shows the first answer, its request id included', async () => {
  const requestId = showId('req', newId())
  const { send } = await open(() => ({
    kind: 'accepted',
    messageId,
    requestId,
    isReplay: true,
    verdicts: [],
  }))
  const answer = await send(sms(), { 'idempotency-key': 'k' })
  expect(answer.headers['idempotency-replayed']).toBe('true')
  expect(answer.headers['x-request-id']).toBe(requestId)
  expect(answer.body).toEqual({ messageId: showId('msg', messageId), status: 'queued', requestId })
})

test('a fault inside is 500 and tells nothing', async () => {
  const { send } = await open(() => {
    throw new Error('secret detail')
  })
  const answer = await send(sms())
  expect(answer.status).toBe(500)
  expect(answer.text).not.toContain('secret')
})

test('the private token before a rotation is good until its overlap ends', async () => {
  const { db } = database
  const other = await makeCompany(db)
  // The accept path itself: a caller whom the door recalls is proven there.
  const { login, url } = await open(createAcceptor({ db, clock: systemClock, log: silentLog }).accept)
  const token = String(
    (await login({ Company: other.name, Username: other.apiUser.name, Password: other.apiUser.password }))
      .body['access_token'],
  )
  const rotate = (until: Date) =>
    db.query(
      'update company set previous_private_token_hash = private_token_hash, private_token_hash = $2, previous_private_token_until = $3 where id = $1',
      [other.id, createHash('sha256').update(`new ${until.getTime()}`).digest(), until],
    )
  const status = async (platformPrivateToken: string) =>
    (
      await request(`${url}/v1/sendmessage`, {
        body: sms({ platformPrivateToken }),
        headers: { authorization: `Bearer ${token}` },
      })
    ).status
  expect(await status(company.privateToken)).toBe(400)
  expect(await status(other.privateToken)).toBe(200)
  const later = new Date(Date.now() + 60_000)
  await rotate(later)
  expect(await status(other.privateToken)).toBe(200)
  expect(await status(`new ${later.getTime()}`)).toBe(200)
  const past = new Date(Date.now() - 1)
  await db.query('update company set previous_private_token_until = $2 where id = $1', [other.id, past])
  expect(await status(other.privateToken)).toBe(400)
})
