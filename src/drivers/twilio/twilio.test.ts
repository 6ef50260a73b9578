/* oxlint-disable unicorn/consistent-function-scoping -- helpers stand beside their tests */
import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import type { IncomingHttpHeaders } from 'node:http'
import { createServer as createTcpServer } from 'node:net'
import { describe, expect, test } from 'vitest'
import type { LineSession } from '../driver.ts'
import {
  deadPort,
  guardDriverTests,
  listen,
  openLine,
  testFaults,
  testLine,
  testMessage,
  testText,
} from '../driver-test.ts'
import type { FaultCase } from '../driver-test.ts'
import { twilio } from './index.ts'
import { signatureOf } from './signature.ts'

guardDriverTests()

const accountSid = `AC${'0'.repeat(32)}`
const base = { accountSid, authToken: '12345' }

type Asked = { method: string; url: string; headers: IncomingHttpHeaders; form: URLSearchParams }
type Reply = {
  status?: number
  headers?: Record<string, string>
  json?: unknown
  text?: string | Buffer
  isCut?: boolean
  isSilent?: boolean
}

async function api(
  act: (asked: Asked) => Reply = () => ({ status: 201, json: { sid: 'SM1', status: 'queued' } }),
) {
  const asked: Asked[] = []
  const port = await listen(
    createServer((request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        const { method = '', url = '', headers } = request
        const one = { method, url, headers, form: new URLSearchParams(Buffer.concat(chunks).toString()) }
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

const open = (port: number, more: Record<string, unknown> = {}): LineSession =>
  openLine(twilio, { ...base, baseUrl: `http://127.0.0.1:${port}`, ...more })

const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`

describe('the request', () => {
  test('a form with access, numbers, text, where to report, and how long it is worth it', async () => {
    const { port, asked } = await api()
    const text = 'Olá & "adeus" + 100% 😀'
    const message = testMessage({ content: testText(text), expiresAt: new Date(Date.now() + 600_500) })
    expect(await open(port).send(message)).toEqual({ ok: true, providerIds: ['SM1'] })
    expect(asked[0]).toMatchObject({
      method: 'POST',
      url: `/2010-04-01/Accounts/${accountSid}/Messages.json`,
      headers: { authorization: basic(`${accountSid}:12345`) },
    })
    expect(Object.fromEntries(asked[0]!.form)).toEqual({
      To: '+5531996883193',
      From: '+5511987654321',
      Body: text,
      StatusCallback: `https://pombo.example/hooks/twilio/lin_1?id=${message.id}`,
      ValidityPeriod: expect.stringMatching(/^(?:600|59\d)$/),
    })
  })

  test('a key, a service, a name; validity within what Twilio takes', async () => {
    const { port, asked } = await api()
    const key = { apiKeySid: `SK${'1'.repeat(32)}`, apiKeySecret: 'sec' }
    const messagingServiceSid = `MG${'2'.repeat(32)}`
    await open(port, { ...key, messagingServiceSid }).send(
      testMessage({ expiresAt: new Date(Date.now() + 86_400_000) }),
    )
    await open(port, { sender: 'ACME' }).send(testMessage({ expiresAt: new Date(0) }))
    const [first, second] = asked
    expect(first!.headers.authorization).toBe(basic(`SK${'1'.repeat(32)}:sec`))
    expect(first!.form.get('MessagingServiceSid')).toBe(messagingServiceSid)
    expect(first!.form.has('From')).toBe(false)
    expect(first!.form.get('ValidityPeriod')).toBe('36000')
    expect([second!.form.get('From'), second!.form.get('ValidityPeriod')]).toEqual(['ACME', '1'])
  })
})

describe('answers of Twilio', () => {
  const told = (code: number, status = 400, more: Partial<Reply> = {}): Reply => ({
    status,
    json: { code, message: 'words', more_info: 'https://www.twilio.com/docs/errors', status },
    ...more,
  })
  const cases: FaultCase<Reply>[] = [
    { name: 'too fast', answer: told(20429, 429), kind: 'throttled', code: '20429' },
    {
      name: 'too fast, with a time',
      answer: told(20429, 429, { headers: { 'retry-after': '9' } }),
      kind: 'throttled',
      retryAfterMs: 9000,
    },
    { name: 'queue overflow', answer: told(30001), kind: 'throttled' },
    { name: 'unreachable handset', answer: told(30003), kind: 'throttled', isRecipientOnly: true },
    { name: 'unknown error', answer: told(30008), kind: 'throttled', isRecipientOnly: true },
    { name: 'bad number', answer: told(21211), kind: 'rejected', code: '21211' },
    { name: 'not mobile', answer: told(21614), kind: 'rejected' },
    { name: 'unroutable', answer: told(21612), kind: 'rejected' },
    { name: 'region off', answer: told(21408), kind: 'rejected' },
    { name: 'blocked', answer: told(30004), kind: 'rejected' },
    { name: 'landline', answer: told(30006), kind: 'rejected' },
    { name: 'filtered', answer: told(30007), kind: 'rejected' },
    { name: 'opted out', answer: told(21610), kind: 'opted_out', code: '21610' },
    { name: 'no body', answer: told(21602), kind: 'invalid_message' },
    { name: 'too long', answer: told(21617), kind: 'invalid_message' },
    { name: 'wrong credentials', answer: told(20003, 401), kind: 'misconfigured' },
    { name: 'suspended', answer: told(30002), kind: 'misconfigured' },
    { name: 'not our number', answer: told(21606), kind: 'misconfigured' },
    { name: 'a code nobody knows', answer: told(29999), kind: 'rejected', code: '29999' },
    { name: 'a code nobody knows with 401', answer: told(29999, 401), kind: 'misconfigured' },
    { name: 'a code nobody knows with 500', answer: told(29999, 500), kind: 'unreachable' },
    { name: 'service unavailable', answer: told(20503, 503), kind: 'unreachable' },
    { name: 'bare 401', answer: { status: 401, text: '' }, kind: 'misconfigured', code: 'http_401' },
    { name: 'bare 404', answer: { status: 404, text: '<html>' }, kind: 'misconfigured' },
    { name: 'bare 429', answer: { status: 429, text: '' }, kind: 'throttled' },
    { name: 'bare 502', answer: { status: 502, text: '' }, kind: 'no_answer' },
    { name: '201 without a sid', answer: { status: 201, json: {} }, kind: 'unreadable_reply' },
    { name: '201 that is no JSON', answer: { status: 201, text: 'ok' }, kind: 'unreadable_reply' },
    { name: 'garbage', answer: { text: Buffer.from([0xff, 0]) }, kind: 'unreadable_reply' },
    { name: 'a huge answer', answer: { text: Buffer.alloc(1024 * 1024) }, kind: 'unreadable_reply' },
    { name: 'cut before the answer', answer: { isCut: true }, kind: 'no_answer' },
    { name: 'silence', answer: { isSilent: true }, kind: 'no_answer' },
  ]
  testFaults(cases, async (answer) => {
    const { port } = await api(() => answer)
    return open(port, { answerTimeoutSeconds: 1 }).send(testMessage())
  })

  test('a handset that stays away is given up after a few tries', async () => {
    const { port } = await api(() => told(30003))
    const line = open(port)
    expect(await line.send(testMessage({ attempt: 3 }))).toMatchObject({ error: { kind: 'throttled' } })
    expect(await line.send(testMessage({ attempt: 4 }))).toMatchObject({ error: { kind: 'rejected' } })
  })

  test('nobody listens, or the guard says no: nothing was handed over', async () => {
    const dead = open(await deadPort())
    expect(await dead.send(testMessage())).toMatchObject({ error: { kind: 'unreachable' } })
    expect(dead.health().isUp).toBe(false)
    const guarded = open(1, { baseUrl: 'http://169.254.169.254' })
    expect(await guarded.send(testMessage())).toMatchObject({
      error: { kind: 'misconfigured', code: 'refused' },
    })
  })

  test('cut in the middle of the answer; byte by byte is still one', async () => {
    const body = '{"sid":"SM9"}'
    const answering = (write: (socket: import('node:net').Socket) => void) =>
      listen(createTcpServer((socket) => void socket.once('data', () => write(socket))))
    const cut = await answering((socket) => socket.end('HTTP/1.1 201 OK\r\nContent-Length: 99\r\n\r\n{"si'))
    expect(await open(cut).send(testMessage())).toMatchObject({ error: { kind: 'no_answer' } })
    const slow = await answering((socket) => {
      const drip = ([first, ...rest]: number[]): void => {
        if (first === undefined || socket.destroyed) return
        socket.write(Buffer.from([first]))
        setImmediate(drip, rest)
      }
      drip([...Buffer.from(`HTTP/1.1 201 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`)])
    })
    expect(await open(slow).send(testMessage())).toEqual({ ok: true, providerIds: ['SM9'] })
  })

  test('the exchange of a failure holds no credentials', async () => {
    const { port } = await api(() => told(21211))
    const result = await open(port, { authToken: 'hidden-token' }).send(testMessage())
    expect(result).toMatchObject({ exchange: { response: expect.stringContaining('HTTP 400') } })
    expect(JSON.stringify(result)).not.toMatch(/hidden-token|Basic/)
  })
})

test('a file that a person sent: with credentials to Twilio, without them to where it redirects', async () => {
  const store = await api(() => ({ headers: { 'content-type': 'image/jpeg' }, text: Buffer.from([1, 2, 3]) }))
  const peer = await api(() => ({
    status: 307,
    text: '',
    headers: { location: `http://127.0.0.1:${store.port}/bytes` },
  }))
  const line = open(peer.port)
  expect(await line.fetchMedia!(`http://127.0.0.1:${peer.port}/Media/ME1`)).toEqual({
    bytes: Buffer.from([1, 2, 3]),
    name: 'ME1',
    mimeType: 'image/jpeg',
  })
  expect(peer.asked[0]!.headers.authorization).toBe(basic(`${accountSid}:12345`))
  expect(store.asked[0]!.headers.authorization).toBeUndefined()
  await expect(line.fetchMedia!(`http://127.0.0.1:${store.port}/x`)).rejects.toThrow(/not of the provider/)
  const gone = await api(() => ({ status: 404, text: '' }))
  await expect(open(gone.port).fetchMedia!(`http://127.0.0.1:${gone.port}/x`)).rejects.toThrow(/404/)
})

describe('the hook', () => {
  type Call = { fields?: Record<string, string> | string; query?: string; publicUrl?: string; sign?: string }
  const line = testLine(twilio, base)
  const call = ({ fields = {}, query = '', publicUrl, sign }: Call, more: object = {}) => {
    const raw = typeof fields === 'string' ? fields : new URLSearchParams(fields).toString()
    const url = publicUrl ?? `${line.hookUrl}${query}`
    return twilio.hook!(line, {
      method: 'POST',
      url: `/hooks/twilio/lin_1${query}`,
      publicUrl: url,
      headers: {
        'content-type': 'application/x-www-form-urlencoded; charset=UTF-8',
        'x-twilio-signature': sign ?? signatureOf('12345', url, new URLSearchParams(raw)).toString('base64'),
      },
      rawBody: Buffer.from(raw),
      ...more,
    })
  }

  const known = {
    publicUrl: 'https://mycompany.com/myapp.php?foo=1&bar=2',
    fields: {
      CallSid: 'CA1234567890ABCDE',
      Caller: '+12349013030',
      Digits: '1234',
      From: '+12349013030',
      To: '+18005551212',
    },
    sign: '0/KCTR6DLpKmkAf8muzZqo1nDgQ=',
  }
  test("Twilio's own example of a signature", () => {
    expect(call(known)).toMatchObject({ ok: true })
    expect(call({ ...known, fields: { ...known.fields, Digits: '1235' } })).toMatchObject({
      ok: false,
      status: 401,
    })
    expect(call({ ...known, publicUrl: 'https://mycompany.com/myapp.php?foo=1&bar=3' })).toMatchObject({
      ok: false,
    })
    for (const sign of ['', 'x', known.sign.slice(1), Buffer.alloc(20).toString('base64')])
      expect(call({ ...known, sign })).toMatchObject({ ok: false, status: 401 })
  })

  test('with and without the default port; repeated fields once, sorted', () => {
    const fields = new URLSearchParams(known.fields)
    const with443 = signatureOf('12345', 'https://mycompany.com:443/myapp.php?foo=1&bar=2', fields).toString(
      'base64',
    )
    expect(call({ ...known, sign: with443 })).toMatchObject({ ok: true })
    const other = signatureOf('12345', 'https://mycompany.com:8443/myapp.php?foo=1&bar=2', fields).toString(
      'base64',
    )
    expect(call({ ...known, sign: other })).toMatchObject({ ok: false })
    const once = signatureOf('12345', 'u', new URLSearchParams('a=2&a=1&b=3'))
    expect(signatureOf('12345', 'u', new URLSearchParams('b=3&a=1&a=2&a=1'))).toEqual(once)
  })

  test('a body that is no form is signed by its hash in the address', () => {
    const raw = '{"MessageStatus":"sent"}'
    const hash = createHash('sha256').update(raw).digest('hex')
    const url = `${line.hookUrl}?bodySHA256=${hash}`
    const headers = {
      'content-type': 'application/json',
      'x-twilio-signature': signatureOf('12345', url, new URLSearchParams()).toString('base64'),
    }
    expect(call({ publicUrl: url }, { rawBody: Buffer.from(raw), headers })).toMatchObject({
      ok: true,
      reports: [],
    })
    expect(call({ publicUrl: url }, { rawBody: Buffer.from(`${raw} `), headers })).toMatchObject({
      ok: false,
    })
    const bare = {
      ...headers,
      'x-twilio-signature': signatureOf('12345', line.hookUrl, new URLSearchParams()).toString('base64'),
    }
    expect(call({}, { rawBody: Buffer.from(raw), headers: bare })).toMatchObject({ ok: false, status: 401 })
  })

  test.each([
    ['sent', 'sent'],
    ['delivered', 'delivered'],
    ['read', 'read'],
    ['undelivered', 'failed'],
    ['failed', 'failed'],
    ['canceled', 'failed'],
  ])('status %s', (MessageStatus, state) => {
    const messageId = `msg_${'0'.repeat(32)}`
    const result = call({ fields: { MessageSid: 'SM1', MessageStatus }, query: `?id=${messageId}` })
    expect(result).toMatchObject({
      ok: true,
      reports: [{ kind: 'receipt', receipt: { providerId: 'SM1', messageId, state } }],
      answer: { body: '<Response/>' },
    })
  })

  test('the reason of a failure, an opt-out, and what tells nothing', () => {
    const failed = { MessageSid: 'SM1', MessageStatus: 'failed' }
    expect(call({ fields: { ...failed, ErrorCode: '30005', ErrorMessage: 'unknown' } })).toMatchObject({
      reports: [{ receipt: { error: { code: '30005', message: 'unknown' } } }],
    })
    expect(call({ fields: { ...failed, ErrorCode: '21610' } })).toMatchObject({
      reports: [{ receipt: { isOptOut: true } }],
    })
    for (const MessageStatus of ['queued', 'sending', 'accepted', 'constructor', ''])
      expect(call({ fields: { MessageSid: 'SM1', MessageStatus } })).toMatchObject({ ok: true, reports: [] })
    expect(call({ fields: { MessageStatus: 'sent' }, query: '?id=nobody' })).toMatchObject({ reports: [] })
    expect(call({ fields: '' })).toMatchObject({ ok: true, reports: [] })
  })

  test('messages of people, with files', () => {
    const fields = {
      SmsStatus: 'received',
      MessageSid: 'SM2',
      From: '+5531996883193',
      Body: 'PARE',
      NumMedia: '0',
    }
    expect(call({ fields })).toMatchObject({
      reports: [
        {
          kind: 'inbound',
          message: { providerId: 'SM2', from: '5531996883193', text: 'PARE', media: [], kind: 'text' },
        },
      ],
    })
    const media = { NumMedia: '2', MediaUrl0: 'https://api.twilio.com/ME1', MediaContentType0: 'image/png' }
    expect(call({ fields: { ...fields, ...media } })).toMatchObject({
      reports: [
        {
          message: {
            kind: 'media',
            media: [{ providerMediaId: 'https://api.twilio.com/ME1', mimeType: 'image/png' }],
          },
        },
      ],
    })
    expect(call({ fields: { SmsStatus: 'received', Body: 'no id' } })).toMatchObject({ reports: [] })
  })

  test('GET is none of it', () => {
    expect(call({}, { method: 'GET' })).toMatchObject({ ok: false, status: 404 })
  })
})
