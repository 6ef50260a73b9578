/* oxlint-disable unicorn/consistent-function-scoping -- helpers stand beside their tests */
import { createHmac } from 'node:crypto'
import { createServer } from 'node:http'
import type { IncomingHttpHeaders } from 'node:http'
import { createServer as createTcpServer } from 'node:net'
import { describe, expect, test } from 'vitest'
import { silentLog } from '../../lib/log.ts'
import type { LineSession } from '../driver.ts'
import {
  deadPort,
  guardDriverTests,
  listen,
  openLine,
  testContext,
  testFaults,
  testLine,
  testMessage,
  testText,
} from '../driver-test.ts'
import type { FaultCase } from '../driver-test.ts'
import { checkSettings } from '../settings.ts'
import { smsHttp } from './index.ts'
import { mergeJson } from './template.ts'

guardDriverTests()

type Asked = { method: string; url: string; headers: IncomingHttpHeaders; body: string }
type Reply = {
  status?: number
  headers?: Record<string, string>
  json?: unknown
  text?: string | Buffer
  isCut?: boolean
  isSilent?: boolean
}

async function broker(
  act: (asked: Asked) => Reply = () => ({ json: { messages: [{ status: '0', id: 'B1' }] } }),
) {
  const asked: Asked[] = []
  const port = await listen(
    createServer((request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        const { method = '', url = '', headers } = request
        const one = { method, url, headers, body: Buffer.concat(chunks).toString() }
        asked.push(one)
        const reply = act(one)
        if (reply.isCut) return response.socket!.destroy()
        if (reply.isSilent) return undefined
        response.writeHead(reply.status ?? 200, reply.headers)
        return response.end(reply.text ?? JSON.stringify(reply.json))
      })
    }),
  )
  return { port, asked }
}

const base = {
  body: JSON.stringify({ from: '{from}', to: '{to}', text: '{text}', ref: '{id}' }),
  successPath: 'messages[0].status',
  successValues: '0',
  idPath: 'messages[0].id',
  errorCodePath: 'messages[0].status',
  errorTextPath: 'messages[0].error-text',
  throttledCodes: '1',
  unavailableCodes: '5, 10',
  temporaryCodes: '77',
  permanentCodes: '6',
  invalidCodes: '2,3',
  optOutCodes: '33',
  accountCodes: '4,9',
}

const open = (port: number, more: Record<string, unknown> = {}, context = testContext()): LineSession =>
  openLine(smsHttp, { ...base, url: `http://127.0.0.1:${port}/send`, ...more }, context)

describe('the request', () => {
  const hostile = 'Olá "x", {to}\\ \n&a=b%41<é>\u0000😀'

  test('JSON: values stay values, whatever is in them', async () => {
    const { port, asked } = await broker()
    const message = testMessage({ content: testText(hostile) })
    expect(await open(port).send(message)).toEqual({ ok: true, providerIds: ['B1'] })
    expect(asked[0]).toMatchObject({
      method: 'POST',
      url: '/send',
      headers: { 'content-type': 'application/json' },
    })
    expect(JSON.parse(asked[0]!.body)).toEqual({
      from: '5511987654321',
      to: '5531996883193',
      text: hostile,
      ref: message.id,
    })
  })

  test('a form', async () => {
    const { port, asked } = await broker()
    await open(port, { bodyFormat: 'form' }).send(testMessage({ content: testText(hostile) }))
    expect(asked[0]!.headers['content-type']).toBe('application/x-www-form-urlencoded')
    const fields = new URLSearchParams(asked[0]!.body)
    expect([fields.get('text'), [...fields.keys()]]).toEqual([hostile, ['from', 'to', 'text', 'ref']])
  })

  test('a query, and placeholders in the path', async () => {
    const { port, asked } = await broker()
    const url = `http://127.0.0.1:${port}/a/{text}/b?x={to}`
    await open(port, { url, method: 'GET', bodyFormat: 'query', body: '{"t":"{text}"}' }).send(
      testMessage({ content: testText('../é?&#') }),
    )
    const called = new URL(asked[0]!.url, 'http://x')
    expect(called.pathname).toBe('/a/..%2F%C3%A9%3F%26%23/b')
    expect([...called.searchParams]).toEqual([
      ['x', '5531996883193'],
      ['t', '../é?&#'],
    ])
    expect(asked[0]!.body).toBe('')
  })

  test.each([
    ['basic', { authUser: 'ana', authSecret: 'p:w' }, { authorization: 'Basic YW5hOnA6dw==' }],
    ['bearer', { authSecret: 'tok' }, { authorization: 'Bearer tok' }],
    [
      'header',
      { authSecret: 'k', authName: 'Authorization', authPrefix: 'App ' },
      { authorization: 'App k' },
    ],
    ['header', { authSecret: 'k', authName: 'X-API-TOKEN' }, { 'x-api-token': 'k' }],
  ])('access by %s', async (auth, more, headers) => {
    const { port, asked } = await broker()
    await open(port, { auth, ...more }).send(testMessage())
    expect(asked[0]!.headers).toMatchObject(headers)
  })

  test('access by query and by fields; further headers; the secret is shown to nobody', async () => {
    const { port, asked } = await broker(() => ({ json: { messages: [{ status: '6' }] } }))
    const result = await open(port, {
      auth: 'query',
      authName: 'key',
      authUser: 'ana',
      authSecret: 's3cr&t',
      body: '{"u":"{user}","p":"{secret}","hook":"{hookUrl}"}',
      headers: '{"X-Ref":"{id} {text}"}',
      hookFormat: 'json',
      hookSecret: 'h00k',
    }).send(testMessage({ content: testText('a\r\nb: é') }))
    expect(asked[0]).toMatchObject({
      url: '/send?key=s3cr%26t',
      headers: { 'x-ref': expect.stringMatching(/^msg_\w+ a%0D%0Ab: %C3%A9$/) },
    })
    expect(JSON.parse(asked[0]!.body)).toEqual({
      u: 'ana',
      p: 's3cr&t',
      hook: 'https://pombo.example/hooks/sms-http/lin_1?secret=h00k',
    })
    expect(JSON.stringify(result)).not.toMatch(/s3cr|h00k/)
    expect(result).toMatchObject({ exchange: { request: expect.stringContaining('key=***') } })
  })

  test.each([
    ['plus', '+5531996883193', '+5511987654321'],
    ['digits', '5531996883193', '5511987654321'],
    ['national', '31996883193', '11987654321'],
  ])('numbers written as %s', async (numberFormat, to, from) => {
    const { port, asked } = await broker()
    await open(port, { numberFormat }).send(testMessage())
    expect(JSON.parse(asked[0]!.body)).toMatchObject({ to, from })
  })

  test('a foreign number has no national form', async () => {
    const { port, asked } = await broker()
    const result = await open(port, { numberFormat: 'national' }).send(
      testMessage({ recipient: '12025550123' }),
    )
    expect(result).toMatchObject({ ok: false, error: { kind: 'invalid_message' } })
    expect(asked).toEqual([])
  })

  test('flash, other alphabets, validity as a number, a sender by name', async () => {
    const { port, asked } = await broker()
    const line = open(port, {
      body: '{"m":[{"text":"{text}","ttl":"{validitySeconds:number}"}],"from":"{from}"}',
      unicodeBody: '{"type":"unicode"}',
      flashBody: '{"m":[{"class":0}]}',
      sender: 'ACME',
    })
    await line.send(testMessage({ content: testText('plain') }))
    await line.send(testMessage({ content: testText('ção', { isFlash: true }) }))
    const [plain, special] = asked.map(({ body }) => JSON.parse(body) as unknown)
    expect(plain).toEqual({ m: [{ text: 'plain', ttl: expect.any(Number) }], from: 'ACME' })
    expect(special).toEqual({
      m: [{ text: 'ção', ttl: expect.any(Number), class: 0 }],
      from: 'ACME',
      type: 'unicode',
    })
  })

  test('merging', () => {
    expect(mergeJson({ a: [1, { b: 1 }], c: { d: 1 } }, { a: [2], c: { e: 2 }, f: 3 })).toEqual({
      a: [2, { b: 1 }],
      c: { d: 1, e: 2 },
      f: 3,
    })
  })
})

describe('settings that cannot work are refused by the name of the field', () => {
  test.each([
    [{ url: 'ftp://a.example' }, 'url'],
    [{ url: 'https://{to}.example/' }, 'url'],
    [{ url: 'https://user:pw@a.example/' }, 'url'],
    [{ url: 'https://a.example/{nobody}' }, 'url'],
    [{ body: '{"to": {to}}' }, 'body'],
    [{ body: '{"to": "{too}"}' }, 'body'],
    [{ body: '["{to}"]' }, 'body'],
    [{ bodyFormat: 'form', body: '{"a":{"b":1}}' }, 'body'],
    [{ method: 'GET' }, 'bodyFormat'],
    [{ headers: '{"a":{}}' }, 'headers'],
    [{ auth: 'bearer' }, 'authSecret'],
    [{ auth: 'basic', authSecret: 'x' }, 'authUser'],
    [{ auth: 'header', authSecret: 'x' }, 'authName'],
    [{ successValues: '' }, 'successValues'],
    [{ idPath: 'a b' }, 'idPath'],
    [{ hookFormat: 'json' }, 'hookSecret'],
    [{ hookFormat: 'json', hookVerification: 'basic', hookSecret: 'x' }, 'hookUser'],
    [{ hookFormat: 'json', hookVerification: 'hmac', hookSecret: 'x' }, 'hookHmacHeader'],
    [
      { hookFormat: 'query', hookVerification: 'hmac', hookSecret: 'x', hookHmacHeader: 'X' },
      'hookVerification',
    ],
    [{ colour: 'red' }, 'colour'],
  ])('%j', (given, field) => {
    const reading = checkSettings(smsHttp.settings, { ...base, url: 'https://a.example/send', ...given })
    expect(reading).toMatchObject({ ok: false, field, reason: expect.stringMatching(/\S/) })
  })
})

describe('answers of the broker', () => {
  const told = (status: string, more = {}) => ({
    json: { messages: [{ status, 'error-text': 'why', ...more }] },
  })
  const cases: FaultCase<Reply>[] = [
    { name: 'account', answer: told('4'), kind: 'misconfigured', code: '4' },
    { name: 'too fast', answer: told('1'), kind: 'throttled', code: '1' },
    {
      name: 'too fast, with a time',
      answer: { ...told('1'), headers: { 'retry-after': '7' } },
      kind: 'throttled',
      retryAfterMs: 7000,
    },
    { name: 'trouble', answer: told('10'), kind: 'unreachable' },
    { name: 'later', answer: told('77'), kind: 'throttled', isRecipientOnly: true },
    { name: 'refused', answer: told('6'), kind: 'rejected' },
    { name: 'a code of no list', answer: told('99'), kind: 'rejected', code: '99' },
    { name: 'wrong message', answer: told('3'), kind: 'invalid_message' },
    { name: 'opted out', answer: told('33'), kind: 'opted_out' },
    { name: 'a listed code with an HTTP error', answer: { ...told('33'), status: 400 }, kind: 'opted_out' },
    {
      name: 'an unlisted code with 400',
      answer: { ...told('98'), status: 400 },
      kind: 'rejected',
      code: '98',
    },
    { name: '401', answer: { status: 401, text: '' }, kind: 'misconfigured', code: 'http_401' },
    { name: '403', answer: { status: 403, text: 'no' }, kind: 'misconfigured' },
    { name: '404', answer: { status: 404, text: '<html>' }, kind: 'misconfigured' },
    {
      name: 'a redirect is not followed',
      answer: { status: 302, text: '', headers: { location: 'http://169.254.169.254/' } },
      kind: 'misconfigured',
    },
    {
      name: '429',
      answer: { status: 429, text: '', headers: { 'retry-after': '3' } },
      kind: 'throttled',
      retryAfterMs: 3000,
    },
    { name: '503', answer: { status: 503, text: '' }, kind: 'throttled' },
    { name: 'bare 500', answer: { status: 500, text: '' }, kind: 'no_answer' },
    { name: 'bare 502', answer: { status: 502, text: '<html>' }, kind: 'no_answer' },
    { name: 'success without id', answer: told('0', { id: null }), kind: 'unreadable_reply' },
    { name: 'success that is no JSON', answer: { text: 'OK 1234' }, kind: 'unreadable_reply' },
    { name: 'JSON of another shape', answer: { json: { hello: [1] } }, kind: 'unreadable_reply' },
    { name: 'JSON null', answer: { json: null }, kind: 'unreadable_reply' },
    { name: 'garbage bytes', answer: { text: Buffer.from([0xff, 0, 0xfe]) }, kind: 'unreadable_reply' },
    { name: 'a huge answer', answer: { text: Buffer.alloc(1024 * 1024) }, kind: 'unreadable_reply' },
    { name: 'cut before the answer', answer: { isCut: true }, kind: 'no_answer' },
    { name: 'silence', answer: { isSilent: true }, kind: 'no_answer' },
  ]
  testFaults(cases, async (answer) => {
    const { port } = await broker(() => answer)
    return open(port, { answerTimeoutSeconds: 1 }).send(testMessage())
  })

  test('nobody listens, or the guard says no: nothing was handed over', async () => {
    const dead = open(await deadPort())
    expect(await dead.send(testMessage())).toMatchObject({ ok: false, error: { kind: 'unreachable' } })
    expect(dead.health().isUp).toBe(false)
    const guarded = open(1, { url: 'http://169.254.169.254/latest' })
    expect(await guarded.send(testMessage())).toMatchObject({
      error: { kind: 'misconfigured', code: 'refused' },
    })
  })

  test('cut in the middle of the answer; byte by byte is still an answer', async () => {
    const body = '{"messages":[{"status":"0","id":7}]}'
    const answering = (write: (socket: import('node:net').Socket) => void) =>
      listen(createTcpServer((socket) => void socket.once('data', () => write(socket))))
    const cut = await answering((socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{"mes'))
    expect(await open(cut).send(testMessage())).toMatchObject({ ok: false, error: { kind: 'no_answer' } })
    const slow = await answering((socket) => {
      const drip = ([first, ...rest]: number[]): void => {
        if (first === undefined || socket.destroyed) return
        socket.write(Buffer.from([first]))
        setImmediate(drip, rest)
      }
      drip([...Buffer.from(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`)])
    })
    expect(await open(slow).send(testMessage())).toEqual({ ok: true, providerIds: ['7'] })
  })

  test('a broker without ids of its own: ours is what it can repeat', async () => {
    const { port } = await broker(() => ({ status: 204, text: '' }))
    const message = testMessage()
    const line = open(port, { successPath: '', idPath: '', errorCodePath: '' })
    expect(await line.send(message)).toEqual({ ok: true, providerIds: [message.id] })
    expect(line.health().isUp).toBe(true)
  })

  test('a template of another channel', async () => {
    const { port, asked } = await broker()
    const content = {
      kind: 'template',
      templateKind: 'text',
      name: 'a',
      language: 'en',
      parameterFormat: 'named',
      body: [],
      buttons: [],
      preview: '',
    } as const
    const result = await open(port).send(testMessage({ content: { ...content, body: [], buttons: [] } }))
    expect(result).toMatchObject({ ok: false, error: { kind: 'invalid_message' } })
    expect(asked).toEqual([])
  })
})

describe('the hook', () => {
  const reports = {
    ...base,
    url: 'https://a.example/send',
    hookFormat: 'json',
    hookSecret: 'right',
    hookIdPath: 'messageId',
    hookOwnIdPath: 'client-ref',
    hookStatusPath: 'status',
    hookErrorCodePath: 'err-code',
    hookErrorTextPath: 'err-text',
    hookTimePath: 'at',
    sentStatuses: 'accepted',
    deliveredStatuses: 'delivered',
    readStatuses: 'read',
    failedStatuses: 'failed, rejected',
    expiredStatuses: 'expired',
    inboundFromPath: 'msisdn',
    inboundTextPath: 'text',
    inboundIdPath: 'messageId',
  }
  const call = (
    body: unknown,
    more: Record<string, unknown> = {},
    request: { method?: string; url?: string; headers?: Record<string, string>; raw?: string | Buffer } = {},
  ) => {
    const line = testLine(smsHttp, { ...reports, ...more })
    const url = request.url ?? '/hooks/sms-http/lin_1?secret=right'
    return smsHttp.hook!(line, {
      method: request.method ?? 'POST',
      url,
      publicUrl: `https://pombo.example${url}`,
      headers: request.headers ?? {},
      rawBody: Buffer.from(request.raw ?? JSON.stringify(body)),
    })
  }
  const report = (more: object) => ({ messageId: 'B1', ...more })

  test.each([
    ['accepted', 'sent'],
    ['DELIVERED', 'delivered'],
    ['read', 'read'],
    ['failed', 'failed'],
    ['rejected', 'failed'],
    ['expired', 'expired'],
  ])('status %s', (status, state) => {
    expect(call(report({ status, at: '1763174050' }))).toMatchObject({
      ok: true,
      reports: [{ kind: 'receipt', receipt: { providerId: 'B1', state, at: new Date(1_763_174_050_000) } }],
    })
  })

  test('a failure has its code and words, and an opt-out is one', () => {
    expect(call(report({ status: 'failed', 'err-code': 33, 'err-text': 'STOP' }))).toMatchObject({
      reports: [{ receipt: { error: { code: '33', message: 'STOP' }, isOptOut: true } }],
    })
    expect(call(report({ status: 'failed' }))).toMatchObject({
      reports: [{ receipt: { error: { code: 'failed', message: 'failed' } } }],
    })
  })

  test('by our own id, in a list; what is unknown or nameless is nothing', () => {
    const messageId = `msg_${'0'.repeat(32)}`
    const result = call(
      {
        results: [
          { status: 'delivered', 'client-ref': messageId },
          { status: 'delivered', 'client-ref': 'not ours' },
          { status: 'buffered', messageId: 'B2' },
          null,
          7,
          { at: 'x' },
        ],
      },
      { hookListPath: 'results' },
    )
    expect(result).toMatchObject({ ok: true, reports: [{ receipt: { messageId, state: 'delivered' } }] })
    expect(result.ok && result.reports).toHaveLength(1)
    expect(call({ other: 1 }, { hookListPath: 'results' })).toEqual({ ok: true, reports: [] })
  })

  test('received messages', () => {
    expect(
      call({ messageId: 'I1', msisdn: '+55 31 99688-3193', text: 'PARE', at: '2026-11-15T01:02:03Z' }),
    ).toEqual({
      ok: true,
      reports: [
        {
          kind: 'inbound',
          message: {
            providerId: 'I1',
            from: '5531996883193',
            text: 'PARE',
            at: new Date('2026-11-15T01:02:03Z'),
            media: [],
            kind: 'text',
          },
        },
      ],
    })
    const national = call({ msisdn: '31996883193', text: 'x' }, { numberFormat: 'national' })
    expect(national).toMatchObject({ reports: [{ message: { from: '5531996883193' } }] })
    // Without an id of the broker's, the same words are the same message.
    expect(call({ msisdn: '1', text: 'x', at: '1' })).toMatchObject({
      reports: [{ message: { providerId: expect.stringMatching(/^[0-9a-f]{64}$/) } }],
    })
  })

  test('forms and queries', () => {
    const raw = 'messageId=B1&status=delivered&status=failed&__proto__=x'
    expect(call(null, { hookFormat: 'form' }, { raw })).toMatchObject({
      reports: [{ receipt: { providerId: 'B1', state: 'delivered' } }],
    })
    const url = `/hooks/sms-http/lin_1?secret=right&${raw}`
    expect(call(null, { hookFormat: 'query' }, { method: 'GET', url })).toMatchObject({
      reports: [{ receipt: { providerId: 'B1', state: 'delivered' } }],
    })
    expect(call(null, {}, { method: 'GET' })).toMatchObject({ ok: false, status: 404 })
    expect(call(null, { hookFormat: 'none' })).toMatchObject({ ok: false, status: 404 })
  })

  test.each([
    ['/hooks/sms-http/lin_1'],
    ['/x?secret='],
    ['/x?secret=Right'],
    ['/x?secret=right2'],
    ['/x?SECRET=right'],
  ])('a secret that is wrong in %s', (url) =>
    expect(call(report({ status: 'delivered' }), {}, { url })).toMatchObject({ ok: false, status: 401 }),
  )

  test('user and secret', () => {
    const more = { hookVerification: 'basic', hookUser: 'ana' }
    const as = (text: string) => ({ authorization: `Basic ${Buffer.from(text).toString('base64')}` })
    expect(call(report({ status: 'read' }), more, { headers: as('ana:right') })).toMatchObject({ ok: true })
    for (const headers of [{}, as('ana:wrong'), as('bob:right'), as(''), { authorization: 'Bearer right' }])
      expect(call(report({ status: 'read' }), more, { headers })).toMatchObject({ ok: false, status: 401 })
  })

  test.each(['sha1', 'sha256', 'sha512'])('a signature by %s, over the raw bytes', (hookHmacAlgorithm) => {
    const raw = '{"messageId" :"B1","status":"read"}'
    const more = { hookVerification: 'hmac', hookHmacHeader: 'X-Sign', hookHmacAlgorithm }
    const hmac = createHmac(hookHmacAlgorithm, 'right').update(raw)
    const sign = hmac.digest()
    const signed = (value: string, encoding: string, bytes: string | Buffer = raw) =>
      call(null, { ...more, hookHmacEncoding: encoding }, { raw: bytes, headers: { 'x-sign': value } })
    expect(signed(sign.toString('hex'), 'hex')).toMatchObject({ ok: true, reports: [{}] })
    expect(signed(`${hookHmacAlgorithm}=${sign.toString('hex')}`, 'hex')).toMatchObject({ ok: true })
    expect(signed(sign.toString('base64'), 'base64')).toMatchObject({ ok: true })
    expect(signed(sign.toString('hex'), 'hex', `${raw} `)).toMatchObject({ ok: false, status: 401 })
    for (const wrong of ['', 'zz', sign.toString('hex').slice(2), 'ff'.repeat(sign.length)])
      expect(signed(wrong, 'hex')).toMatchObject({ ok: false, status: 401 })
  })

  test('without proof: believed, and the log says so', () => {
    const warnings: unknown[] = []
    const log = Object.assign(Object.create(silentLog) as typeof silentLog, {
      warn: (words: unknown) => void warnings.push(words),
    })
    open(1, { hookFormat: 'json', hookVerification: 'none' }, testContext({ log }))
    expect(warnings).toEqual([expect.stringContaining('not proven')])
    expect(call(report({ status: 'read' }), { hookVerification: 'none' }, { url: '/x' })).toMatchObject({
      ok: true,
    })
  })

  test.each(['', '{', '7', '"x"', 'null'])('a body %j that is no report', (raw) =>
    expect(call(null, {}, { raw })).toMatchObject({ ok: false, status: 400 }),
  )

  test('too many at once', () => {
    const list = Array.from({ length: 1001 }, () => report({ status: 'read' }))
    expect(call(list)).toMatchObject({ ok: false, status: 413 })
    expect(call(list.slice(1))).toMatchObject({ ok: true })
  })
})
