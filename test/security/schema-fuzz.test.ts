/** Both APIs and the admin API, by their own OpenAPI documents: whatever is sent, the answer is a documented one. */
import fc, { type Arbitrary } from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { adminDocument } from '../../src/http/admin/openapi.ts'
import { directDocument } from '../../src/http/direct/openapi.ts'
import type { OpenApiDocument, OpenApiOperation, Parameter } from '../../src/http/docs/openapi.ts'
import { unifiedDocument } from '../../src/http/unified/openapi.ts'
import { newId, showId, type IdPrefix } from '../../src/lib/ids.ts'
import { createMediaItem } from '../../src/store/media.ts'
import { createRestrictionList } from '../../src/store/restriction-lists.ts'
import { createRule } from '../../src/store/rules.ts'
import { keyClient, signInAs } from '../contract/admin/support.ts'
import {
  makeContact,
  makeUser,
  must,
  openWindows,
  randomMobile,
  type TestCompany,
} from '../harness/factories.ts'
import { hostileTexts } from '../harness/hostile-texts.ts'
import { request } from '../harness/http.ts'
import { storeMessage } from '../harness/messages.ts'
import { validOf, wiresOf, type Hints } from '../harness/schema-bodies.ts'
import { startWhole, type Whole } from '../harness/whole.ts'
import { expectAllDocumented, faultsOf, fire, heapBytes, sample, slow, tally, type Shot } from './fuzz.ts'

let whole: Whole
let company: TestCompany
let unifiedToken = ''

beforeAll(async () => {
  whole = await startWhole()
  company = await whole.makeCompany()
  const { name, apiUser } = company
  const login = await request(`${whole.url}/v1/login`, {
    body: { Company: name, Username: apiUser.name, Password: apiUser.password },
  })
  unifiedToken = String(login.body['access_token'])
})
afterAll(() => whole.stop())

type Target = { method: string; path: string; operation: OpenApiOperation }

const targetsOf = (document: OpenApiDocument): Target[] =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  )

const bodySchema = ({ operation }: Target) => operation.requestBody?.content['application/json'].schema

const isStored = fc.constantFrom(...'5531987654321 5531987654322 5511912345678'.split(' '))

/** Values that lead past the first checks, deep into what is behind them. */
function sendHints(): Hints {
  const names = Object.values(company.templates).map(({ name }) => name)
  const codes = Object.values(company.templates).map(({ code }) => code)
  return {
    platformPrivateToken: fc.constant(company.privateToken),
    templateName: fc.constantFrom(...names),
    parameterName: fc.constantFrom(
      'OrderNumber',
      'Amount',
      'Date',
      'Time',
      'Code',
      '1',
      '@Name',
      '__proto__',
    ),
    template_code: fc.constantFrom(...codes),
    segment: fc.constantFrom('First segment', 'Second segment', ''),
    attendantUserName: fc.constantFrom(company.attendant.name, 'nobody', ''),
    countryCode: fc.constantFrom(55, 55, 0, 1, 9999),
    phoneNumber: fc.constantFrom(31987654321, 31987650002, 0, 1, 999_999_999_999_999),
    email: fc.constantFrom('ana@example.com', '"a b"@example.com', 'x@[127.0.0.1]', ''),
    recipient_email: fc.constantFrom('ana@example.com', 'ana@exämple.com', 'a@b'),
    recipient_number: isStored,
    url: fc.constantFrom(
      'https://example.com/x',
      'http://[::ffff:7f00:1]/',
      'http://0x7f.1/',
      'ftp://a',
      '//x',
    ),
    name: fc.constantFrom('a.png', 'b.pdf', '../../c.png', 'x.constructor', 'd', 'e.\u0000png'),
    base64: fc.constantFrom('aGVsbG8=', 'data:image/png;base64,aGVsbG8', '====', 'a', 'a\u0000'),
  }
}

/** One of each kind that passes, so that one thing wrong is one thing wrong. */
function goodBodies(): Record<string, unknown[]> {
  const unified = (body: object) => ({ platformPrivateToken: company.privateToken, text: '', ...body })
  const phone = () => ({ countryCode: 55, phoneNumber: Number(randomMobile().slice(2)) })
  const shared = { contract_code: 'C', document_number: 'D', segment: 'First segment' }
  const callback_details = { url: 'https://example.com/x', custom_fields: { a: 'b' } }
  return {
    '/v1/sendmessage': [
      unified({
        channel: 2,
        text: 'Hello @Name',
        destination: phone(),
        contact: { name: 'Ana', jokers: ['1'] },
      }),
      unified({
        channel: 1,
        text: '<p>Hi</p>',
        emailSubject: 'Hi',
        destination: { email: 'ana@example.com' },
        files: [{ name: 'a.pdf', base64: 'aGVsbG8=' }],
      }),
      unified({
        channel: 2,
        templateName: 'Numbered SMS',
        templateParameters: [
          { parameterName: '1', parameterValue: 'one' },
          { parameterName: '@2', parameterValue: 'two' },
        ],
        destination: phone(),
        discardSettings: { recentContactLastHours: 0, InAttendance: true },
        voiceSettings: { callId: 'call' },
      }),
    ],
    '/v1/directmessage/sms': [
      { ...shared, recipient_number: '5531987654321', template_code: 'fixed-sms', callback_details },
      {
        ...shared,
        recipient_number: '5531987654322',
        template_code: 'fixed-sms',
        variable_values: { x: 'y' },
      },
    ],
    '/v1/directmessage/email': [
      {
        ...shared,
        recipient_email: 'ana@example.com',
        template_code: 'plain-email',
        variable_values: { Topic: 'a', Name: 'b' },
        callback_details,
      },
    ],
    '/v1/directmessage/whatsapp': [
      {
        ...shared,
        recipient_number: '5531987654321',
        template_code: 'invoice',
        variables: { header_key: 'InvoiceNumber', header_value: '1', body: { Amount: '1', DueDate: '2' } },
      },
    ],
  }
}

const authorized = (token: string) => ({ authorization: `Bearer ${token}` })

const sendHeaders: Arbitrary<Record<string, string>> = fc.constantFrom<Record<string, string>[]>(
  {},
  {},
  { 'pombo-dry-run': 'true' },
  { 'pombo-dry-run': 'TRUE' },
  { 'idempotency-key': 'the same key' },
  { 'idempotency-key': 'key' },
  { 'idempotency-key': 'x'.repeat(300) },
  { 'content-encoding': 'gzip' },
)

function sendShots(document: OpenApiDocument, token: string, runs: number): Shot[] {
  return targetsOf(document)
    .filter(({ path }) => path !== '/v1/login')
    .flatMap((target) =>
      sample(
        fc.tuple(wiresOf(bodySchema(target)!, sendHints(), goodBodies()[target.path]), sendHeaders),
        runs,
      ).map(([{ how, bytes, contentType }, headers]): Shot => ({
        ...target,
        name: how,
        headers: { ...authorized(token), 'content-type': contentType, ...headers },
        body: bytes,
      })),
    )
}

test('POST /v1/sendmessage', slow, async () => {
  const landed = await fire(whole, sendShots(unifiedDocument, unifiedToken, 350))
  expectAllDocumented(landed)
  expect(tally(landed)[200], 'some bodies are good').toBeGreaterThan(5)
  expect(faultsOf(whole)).toEqual([])
})

test('POST /v1/directmessage/*', slow, async () => {
  const landed = await fire(whole, sendShots(directDocument, company.directToken.token, 200))
  expectAllDocumented(landed)
  expect(tally(landed)[202], 'some bodies are good').toBeGreaterThan(5)
  expect(faultsOf(whole)).toEqual([])
})

test('POST /v1/login and signing in', slow, async () => {
  const hints: Hints = {
    Company: fc.constantFrom(company.name, 'nobody'),
    company: fc.constantFrom(company.name, 'nobody'),
    Username: fc.constantFrom(company.apiUser.name, '__proto__'),
  }
  const open = [...targetsOf(unifiedDocument), ...targetsOf(adminDocument)].filter(
    ({ path, method }) => path === '/v1/login' || (path === '/admin/v1/session' && method === 'POST'),
  )
  const shots = open.flatMap((target) =>
    sample(wiresOf(bodySchema(target)!, hints), 30).map(({ how, bytes, contentType }): Shot => ({
      ...target,
      name: how,
      headers: { 'content-type': contentType, 'x-pombo-console': '1' },
      body: bytes,
    })),
  )
  expectAllDocumented(await fire(whole, shots))
  expect(faultsOf(whole)).toEqual([])
  // Whoever filled the lock-out did so for this address alone, and only for a while.
  whole.clock.advance(6 * 60_000)
})

/** Something of each kind that routes name by an id. */
async function ownIds(admin: TestCompany): Promise<Map<IdPrefix, string[]>> {
  const { db } = whole
  const contact = await makeContact(db, admin.id, { phone: randomMobile(), email: 'ana@example.com' })
  await openWindows(db, contact, admin.lines.whatsapp, whole.clock.now())
  const user = await makeUser(db, admin.id, 'viewer')
  const list = must(await createRestrictionList(db, admin.id, 'List'))
  const media = must(await createMediaItem(db, admin.id, { name: 'a.png', bytes: Buffer.from('x') }))
  const message = await storeMessage(db, admin, { state: 'failed' })
  const rule = await createRule(db, admin.id, { name: 'Rule', settings: { kind: 'opt_out' } })
  const ids: [IdPrefix, string[]][] = [
    ['usr', [user.id, admin.attendant.id]],
    ['seg', admin.segments.map(({ id }) => id)],
    ['lin', [...admin.lines.sms, ...admin.lines.whatsapp.slice(1)].map(({ id }) => id)],
    ['tpl', Object.values(admin.templates).map(({ id }) => id)],
    ['med', [media.id]],
    ['con', [contact.id]],
    ['att', []],
    ['lst', [list.id]],
    ['rul', [rule]],
    ['job', []],
    ['msg', [message.id]],
    ['dtk', [admin.directToken.id]],
    ['key', []],
    ['ses', []],
  ]
  return new Map(ids.map(([prefix, own]) => [prefix, own.map((id) => showId(prefix, id))]))
}

const hostileIds = [
  'x',
  '%00',
  '%2e%2e%2f',
  '%F0%9F',
  '%ff',
  '\u2028',
  '..',
  'a'.repeat(600),
  '__proto__',
  '0',
  '-1',
  "'--",
].map((id) => (id.startsWith('%') ? id : encodeURIComponent(id)))

const pathOf = (target: Target, ids: Map<IdPrefix, string[]>): Arbitrary<string> => {
  const prefixes = (target.operation.parameters ?? [])
    .filter((parameter) => parameter.in === 'path')
    .map(({ description }) => /`(\w{3})_/.exec(description)![1] as IdPrefix)
  const choices = prefixes.map((prefix) => {
    const own = ids.get(prefix) ?? []
    const known = own.length > 0 ? own : [showId(prefix, newId())]
    return fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom(...known) },
      { weight: 1, arbitrary: fc.constantFrom(...hostileIds) },
    )
  })
  return fc.tuple(...choices).map((chosen) => {
    let place = 0
    return target.path.replaceAll(/\{\w+\}/g, () => chosen[place++]!)
  })
}

/** Good values, hostile ones, the same name twice, names that nobody knows. */
function queryOf(parameters: readonly Parameter[], hints: Hints): Arbitrary<string> {
  const named = parameters.filter((parameter) => parameter.in === 'query')
  if (named.length === 0) return fc.constantFrom('', '', '?__proto__=1', '?a[b]=c&a=%ff')
  const pairs = named.map(({ name, schema, required }) =>
    fc.option(
      fc.tuple(
        fc.constant(name),
        fc.oneof(
          { weight: 3, arbitrary: (hints[`?${name}`] ?? validOf(schema, hints)).map(String) },
          { weight: 1, arbitrary: fc.constantFrom(...Object.values(hostileTexts)) },
        ),
      ),
      { freq: required ? 8 : 1, nil: undefined },
    ),
  )
  return fc.tuple(fc.tuple(...pairs), fc.nat(6)).map(([given, turn]) => {
    const query = given
      .filter((pair) => pair !== undefined)
      .map(([name, value]) => `${name}=${encodeURIComponent(value.slice(0, 3_000).toWellFormed())}`)
    if (turn === 0 && query[0]) query.push(query[0], `${named[0]!.name}[]=x`, '__proto__[a]=1')
    return query.length > 0 ? `?${query.join('&')}` : ''
  })
}

const settings: Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(
    { host: 'smsc.example', port: 2775, systemId: 'a', password: 'b' },
    { host: 'mail.example.com', username: 'a', password: 'b' },
    { host: '127.0.0.1', port: 0 },
    { phoneNumberId: '1', accessToken: 'a', appSecret: 'b', verifyToken: 'c', wabaId: '1' },
    JSON.parse('{"__proto__":{"host":"x"},"host":"\\u0000"}'),
  ),
  fc.jsonValue({ maxDepth: 3 }),
)

/** For routes whose body is no JSON: nothing, a picture that is none, tables of several kinds of nonsense. */
const files = [
  '',
  'x',
  '{}',
  'phone,name\n5531987654321,"Ana\n',
  'phone;name\r\n"5531987654321";\u0000\r\n',
  `field,value\nphone,${'9'.repeat(5_000)}\n`,
  `${'a,'.repeat(20_000)}\n`,
  '\ufeffemail\n=cmd()@example.com\n\ud83d',
].map((text) => ({ how: text.slice(0, 20), bytes: Buffer.from(text), contentType: 'text/csv' }))

test('the admin API', slow, async () => {
  const admin = await whole.makeCompany()
  const ids = await ownIds(admin)
  const key = await keyClient(whole, admin, ['manage'])
  const { client: person } = await signInAs(whole, admin, 'administrator')
  const [testedLine] = admin.lines.whatsapp
  await key.call('POST', `/lines/${showId('lin', testedLine!.id)}/pause`, {})
  const hints: Hints = {
    ...Object.fromEntries(
      [...ids].map(([prefix, own]) => [
        `${prefix}_`,
        fc.constantFrom(...(own.length > 0 ? own : [showId(prefix, newId())])),
      ]),
    ),
    code: fc.oneof(fc.constantFrom(...Object.keys(admin.templates)), fc.string({ maxLength: 10 })),
    templateCode: fc.constantFrom(...Object.keys(admin.templates)),
    recipient: fc.constantFrom('5531987654321', 'ana@example.com', '+1'),
    settings,
    '?name': fc.constantFrom('x.constructor', 'x.png', '../../x.pdf', 'x.__proto__', '.png', 'x.p\u0000ng'),
    timeZone: fc.constantFrom('America/Sao_Paulo', 'UTC', 'Nowhere/City', '__proto__', '+25:00'),
    allowedAddresses: fc.array(fc.constantFrom('10.0.0.0/8', '::1', '1.2.3.4/99', 'x', '::/-1')),
    // A right password would be changed or locked: the person goes on with theirs.
    currentPassword: fc.constantFrom('wrong', 'wrong as well'),
    url: fc.constantFrom('https://example.com/x', 'http://127.1/', 'javascript:1', 'http://a b/'),
  }
  const shots: Shot[] = []
  for (const target of targetsOf(adminDocument)) {
    if (target.path === '/admin/v1/session' || target.path === '/admin/v1/events') continue
    const isPersonal = target.path.startsWith('/admin/v1/account/')
    const isTest = target.path.endsWith('/lines/{id}/test')
    const path = pathOf(target, isTest ? new Map([['lin', [showId('lin', testedLine!.id)]]]) : ids)
    const schema = bodySchema(target)
    const wires = schema ? wiresOf(schema, hints) : fc.constantFrom(...files)
    const runs = isPersonal ? 6 : schema ? 24 : 10
    for (const [way, query, { how, bytes, contentType }, ifMatch] of sample(
      fc.tuple(
        path,
        queryOf(target.operation.parameters ?? [], hints),
        wires,
        fc.constantFrom(undefined, undefined, '"1"', '*', 'W/"\u00ff"'),
      ),
      runs,
    ))
      shots.push({
        name: how,
        method: target.method,
        path: way + query,
        operation: withNotFound(target.operation),
        headers: {
          'x-pombo-console': '1',
          ...(isPersonal ? { cookie: person.cookie } : key.headers),
          ...(target.method !== 'GET' && { 'content-type': contentType }),
          ...(ifMatch && { 'if-match': ifMatch }),
        },
        ...(target.method !== 'GET' && { body: bytes }),
      })
  }
  const landed = await fire(whole, shots)
  expectAllDocumented(landed)
  const counts = tally(landed)
  expect(counts[200]! + counts[201]! + counts[204]!, JSON.stringify(counts)).toBeGreaterThan(300)
  expect(faultsOf(whole)).toEqual([])
})

/** A path that cannot be decoded, or is none of the document's, is 404 wherever it is. */
const withNotFound = (operation: OpenApiOperation): OpenApiOperation => ({
  ...operation,
  responses: { ...operation.responses, 404: operation.responses[404] ?? operation.responses[400]! },
})

test('the server is as it was: alive, no bodies held, memory and sockets given back', slow, async () => {
  const round = () => fire(whole, sendShots(unifiedDocument, unifiedToken, 120))
  await round()
  const before = heapBytes()
  await round()
  await round()
  const grown = heapBytes() - before
  // Caches fill up; what is held per request would be megabytes in 240 of them (70 kB bodies and more).
  expect(grown).toBeLessThan(16 * 1024 * 1024)
  const metrics = (await request(`${whole.url}/metrics`)).text
  expect(metrics).toMatch(/^pombo_http_body_bytes_in_flight 0$/m)
  expect((await request(`${whole.url}/health/ready`)).status).toBe(200)
  const sockets = await new Promise<number>((resolve, reject) =>
    whole.server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
  )
  expect(sockets).toBeLessThan(50)
})
