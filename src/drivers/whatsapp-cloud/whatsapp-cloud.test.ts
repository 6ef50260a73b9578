/* oxlint-disable unicorn/consistent-function-scoping, typescript/no-unsafe-type-assertion -- helpers stand beside their tests; a wrong shape fails them */
import { createHash, createHmac } from 'node:crypto'
import { createServer } from 'node:http'
import type { IncomingHttpHeaders } from 'node:http'
import { createServer as createTcpServer } from 'node:net'
import { describe, expect, test } from 'vitest'
import type { FileRef, MessageContent } from '../../domain/message.ts'
import type { LineReport, LineSession, OutgoingMessage } from '../driver.ts'
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
import { whatsappCloud } from './index.ts'
import { mediaKindOf } from './payload.ts'

guardDriverTests()

const base = {
  phoneNumberId: '1001',
  wabaId: '2002',
  accessToken: 'EAAsecret',
  appSecret: 'secret',
  verifyToken: 'open sesame',
}

type Asked = {
  method: string
  url: string
  headers: IncomingHttpHeaders
  body: Buffer
  json: Record<string, unknown>
}
type Reply = {
  status?: number
  headers?: Record<string, string>
  json?: unknown
  text?: string | Buffer
  isCut?: boolean
  isSilent?: boolean
}

const error = (code: number, more: object = {}) => ({
  error: { message: `(#${code}) title`, type: 'OAuthException', code, fbtrace_id: 'x', ...more },
})

/** A Graph API: `act` may answer; otherwise messages and media get ids that count. */
async function graph(
  act: (asked: Asked, count: number) => Reply | undefined = () => undefined,
): Promise<{ port: number; asked: Asked[] }> {
  const asked: Asked[] = []
  const port = await listen(
    createServer((request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        const body = Buffer.concat(chunks)
        const isJson = request.headers['content-type'] === 'application/json'
        const one: Asked = {
          method: request.method!,
          url: request.url!,
          headers: request.headers,
          body,
          json: isJson ? (JSON.parse(body.toString()) as Record<string, unknown>) : {},
        }
        asked.push(one)
        const reply = act(one, asked.length) ?? usual(one, asked.length)
        if (reply.isCut) return response.socket!.destroy()
        if (reply.isSilent) return undefined
        response.writeHead(reply.status ?? 200, { 'content-type': 'application/json', ...reply.headers })
        return response.end(reply.text ?? JSON.stringify(reply.json))
      })
    }),
  )
  return { port, asked }
}

const usual = ({ url, json }: Asked, count: number): Reply =>
  url.endsWith('/media')
    ? { json: { id: `media-${count}` } }
    : {
        json: {
          messaging_product: 'whatsapp',
          contacts: [{ input: json.to, wa_id: '553196883193' }],
          messages: [{ id: `wamid.${count}` }],
        },
      }

const openWhatsApp = (
  port: number,
  more: Record<string, unknown> = {},
  context = testContext(),
): LineSession => openLine(whatsappCloud, { ...base, baseUrl: `http://127.0.0.1:${port}`, ...more }, context)

const file = (name: string, mimeType: string, hash: string = name): FileRef => ({
  name,
  mimeType,
  source: { kind: 'stored', hash, size: 3 },
})

function withFiles(content: MessageContent, files: FileRef[]): OutgoingMessage {
  const message = testMessage({ content })
  for (const each of files) {
    const key = each.source.kind === 'stored' ? each.source.hash : each.source.url
    message.files.set(key, {
      bytes: Buffer.from(`bytes of ${key}`),
      name: each.name,
      mimeType: each.mimeType,
    })
  }
  return message
}

type TemplateContent = Extract<MessageContent, { kind: 'template' }>
const template = (more: Partial<TemplateContent> = {}): TemplateContent => ({
  kind: 'template',
  templateKind: 'text',
  name: 'order',
  language: 'pt_BR',
  parameterFormat: 'positional',
  body: [],
  buttons: [],
  preview: '',
  ...more,
})

async function sentBody(content: MessageContent, files: FileRef[] = []): Promise<Record<string, unknown>> {
  const peer = await graph()
  const message = withFiles(content, files)
  expect(await openWhatsApp(peer.port).send(message)).toMatchObject({ ok: true })
  const { json } = peer.asked.at(-1)!
  expect(json).toMatchObject({
    messaging_product: 'whatsapp',
    recipient_type: 'individual',
    to: '+5531996883193',
    biz_opaque_callback_data: message.id,
  })
  return json
}

describe('what is sent', () => {
  test('a text, to the number with its plus sign, with our id and the token', async () => {
    const peer = await graph()
    const message = testMessage({ content: testText('Olá "você"\n😀') })
    expect(await openWhatsApp(peer.port).send(message)).toEqual({ ok: true, providerIds: ['wamid.1'] })
    expect(peer.asked[0]).toMatchObject({
      method: 'POST',
      url: '/v24.0/1001/messages',
      headers: { authorization: 'Bearer EAAsecret' },
    })
    expect(peer.asked[0]!.json).toEqual({
      messaging_product: 'whatsapp',
      recipient_type: 'individual',
      to: '+5531996883193',
      biz_opaque_callback_data: message.id,
      type: 'text',
      text: { body: 'Olá "você"\n😀' },
    })
  })

  test('to a business-scoped id, under another version', async () => {
    const peer = await graph()
    await openWhatsApp(peer.port, { version: 'v26.0' }).send(testMessage({ recipient: 'BR.1a2B3c' }))
    expect(peer.asked[0]).toMatchObject({ url: '/v26.0/1001/messages', json: { recipient: 'BR.1a2B3c' } })
    expect(peer.asked[0]!.json).not.toHaveProperty('to')
  })

  test('templates with positional and named parameters, cleaned of what Meta refuses', async () => {
    expect(await sentBody(template())).toMatchObject({
      type: 'template',
      template: { name: 'order', language: { code: 'pt_BR' } },
    })
    expect((await sentBody(template())).template).not.toHaveProperty('components')
    const body = [
      { name: 'who', value: 'Ana\n\tMaria     Silva' },
      { name: 'when', value: 'amanhã' },
    ]
    const header = { kind: 'text' as const, parameters: [{ name: 'number', value: '7' }] }
    expect(await sentBody(template({ body, header }))).toMatchObject({
      template: {
        components: [
          { type: 'header', parameters: [{ type: 'text', text: '7' }] },
          {
            type: 'body',
            parameters: [
              { type: 'text', text: 'Ana Maria Silva' },
              { type: 'text', text: 'amanhã' },
            ],
          },
        ],
      },
    })
    expect(await sentBody(template({ body, header, parameterFormat: 'named' }))).toMatchObject({
      template: {
        components: [
          { parameters: [{ type: 'text', parameter_name: 'number', text: '7' }] },
          { parameters: [{ parameter_name: 'who' }, { parameter_name: 'when' }] },
        ],
      },
    })
  })

  test('buttons', async () => {
    const buttons: TemplateContent['buttons'] = [
      { index: 0, kind: 'quick_reply', value: 'yes' },
      { index: 2, kind: 'url', value: 'a?b=1' },
    ]
    expect(await sentBody(template({ buttons }))).toMatchObject({
      template: {
        components: [
          {
            type: 'button',
            sub_type: 'quick_reply',
            index: '0',
            parameters: [{ type: 'payload', payload: 'yes' }],
          },
          { type: 'button', sub_type: 'url', index: '2', parameters: [{ type: 'text', text: 'a?b=1' }] },
        ],
      },
    })
  })

  test('a verification code, in the body and in a button that is sent as a URL', async () => {
    const verification = template({
      templateKind: 'verification',
      body: [{ name: 'Code', value: '123456' }],
      buttons: [{ index: 0, kind: 'code', value: '123456' }],
    })
    expect(await sentBody(verification)).toMatchObject({
      template: {
        components: [
          { type: 'body', parameters: [{ type: 'text', text: '123456' }] },
          { type: 'button', sub_type: 'url', index: '0', parameters: [{ type: 'text', text: '123456' }] },
        ],
      },
    })
    const peer = await graph(() => ({ status: 400, json: error(132001) }))
    const refused = await openWhatsApp(peer.port).send(testMessage({ content: verification }))
    expect(JSON.stringify(refused)).not.toContain('123456')
    expect(JSON.stringify(refused)).not.toContain('EAAsecret')
  })

  test.each(['image', 'video', 'document'] as const)(
    'a header with a %s, uploaded first',
    async (mediaKind) => {
      const header = file('a.bin', 'application/pdf')
      const json = await sentBody(template({ header: { kind: 'media', mediaKind, file: header } }), [header])
      const media = { id: 'media-1', ...(mediaKind === 'document' ? { filename: 'a.bin' } : {}) }
      expect(json.template).toEqual({
        name: 'order',
        language: { code: 'pt_BR' },
        components: [{ type: 'header', parameters: [{ type: mediaKind, [mediaKind]: media }] }],
      })
    },
  )

  test('a carousel: every card uploaded, in order', async () => {
    const cards = ['a', 'b'].map((name) => ({
      file: file(`${name}.jpg`, 'image/jpeg'),
      mediaKind: 'image' as const,
      body: [{ name: '1', value: name }],
      buttons: [{ index: 0, kind: 'quick_reply' as const, value: `want ${name}` }],
    }))
    const json = await sentBody(
      template({ templateKind: 'carousel', body: [{ name: '1', value: 'x' }], cards }),
      cards.map((card) => card.file),
    )
    expect(json.template).toMatchObject({
      components: [
        { type: 'body' },
        {
          type: 'carousel',
          cards: [1, 2].map((number) => ({
            card_index: number - 1,
            components: [
              { type: 'header', parameters: [{ type: 'image', image: { id: `media-${number}` } }] },
              { type: 'body', parameters: [{ type: 'text', text: number === 1 ? 'a' : 'b' }] },
              {
                type: 'button',
                sub_type: 'quick_reply',
                index: '0',
                parameters: [{ type: 'payload', payload: number === 1 ? 'want a' : 'want b' }],
              },
            ],
          })),
        },
      ],
    })
  })

  test.each([
    ['image/jpeg', 'image'],
    ['image/png', 'image'],
    ['image/webp', 'sticker'],
    ['image/gif', 'document'],
    ['video/mp4', 'video'],
    ['audio/ogg; codecs=opus', 'audio'],
    ['application/zip', 'document'],
    ['text/plain', 'document'],
  ])('%s goes as %s', (mimeType, kind) => expect(mediaKindOf(mimeType)).toBe(kind))
})

describe('text with files', () => {
  const picture = file('a.jpg', 'image/jpeg')
  const sound = file('b.mp3', 'audio/mpeg')
  const document = file('c.pdf', 'application/pdf')

  async function parts(text: string, files: FileRef[]) {
    const peer = await graph()
    const result = await openWhatsApp(peer.port).send(withFiles(testText(text, { files }), files))
    const messages = peer.asked
      .filter(({ url }) => url.endsWith('/messages'))
      .map(({ json }) => [json.type, json[String(json.type)]])
    return { result, messages }
  }

  test('the text is the caption of the first file that can carry one', async () => {
    const { result, messages } = await parts('look', [sound, picture, document])
    expect(messages).toMatchObject([
      ['audio', { id: 'media-1' }],
      ['image', { caption: 'look' }],
      ['document', { filename: 'c.pdf' }],
    ])
    expect(messages[2]![1]).not.toHaveProperty('caption')
    expect(result).toMatchObject({ ok: true, providerIds: ['wamid.2', 'wamid.4', 'wamid.6'] })
  })

  test('where none can, or the text is too long for a caption, it goes first', async () => {
    expect((await parts('listen', [sound])).messages).toMatchObject([
      ['text', { body: 'listen' }],
      ['audio', {}],
    ])
    const long = 'é'.repeat(1025)
    const { messages } = await parts(long, [picture])
    expect(messages).toMatchObject([
      ['text', { body: long }],
      ['image', {}],
    ])
    expect((await parts('é'.repeat(1024), [picture])).messages).toHaveLength(1)
    expect((await parts('', [picture])).messages).toMatchObject([['image', {}]])
  })

  test('what was taken before a failure is told, and not sent again', async () => {
    let isBroken = true
    const peer = await graph(({ url, json }) =>
      url.endsWith('/messages') && json.type === 'document' && isBroken
        ? { status: 429, json: error(130429) }
        : undefined,
    )
    const line = openWhatsApp(peer.port)
    const message = withFiles(testText('look', { files: [picture, document, sound] }), [
      picture,
      document,
      sound,
    ])
    const first = await line.send(message)
    expect(first).toMatchObject({
      ok: false,
      error: { kind: 'throttled', message: expect.stringContaining('part 2 of 3') },
      takenIds: ['wamid.2', null, null],
    })
    isBroken = false
    const second = await line.send({ ...message, attempt: 2, takenIds: first.ok ? [] : first.takenIds! })
    expect(second).toMatchObject({
      ok: true,
      providerIds: ['wamid.2', expect.any(String), expect.any(String)],
    })
    expect(peer.asked.filter(({ json }) => json.type === 'image')).toHaveLength(1)
  })
})

describe('uploads', () => {
  const picture = file('a.jpg', 'image/jpeg')
  const send = (line: LineSession, files = [picture]) => line.send(withFiles(testText('', { files }), files))

  test('bytes, type and name, as a form', async () => {
    const peer = await graph()
    await send(openWhatsApp(peer.port))
    expect(peer.asked[0]).toMatchObject({
      method: 'POST',
      url: '/v24.0/1001/media',
      headers: { authorization: 'Bearer EAAsecret' },
    })
    const text = peer.asked[0]!.body.toString()
    expect(text).toContain('name="messaging_product"\r\n\r\nwhatsapp')
    expect(text).toContain('name="type"\r\n\r\nimage/jpeg')
    expect(text).toMatch(/filename="a.jpg"\r\nContent-Type: image\/jpeg\r\n\r\nbytes of a.jpg/)
  })

  test('once per content for 29 days, also when many ask at the same time', async () => {
    const peer = await graph()
    let now = new Date('2026-11-15T00:00:00Z')
    const line = openWhatsApp(peer.port, {}, testContext({ clock: { now: () => now } }))
    const uploads = () => peer.asked.filter(({ url }) => url.endsWith('/media')).length
    await Promise.all(Array.from({ length: 5 }, () => send(line)))
    await send(line)
    expect(uploads()).toBe(1)
    await send(line, [
      { name: 'x', mimeType: 'image/jpeg', source: { kind: 'address', url: 'https://a.example/x' } },
    ])
    await send(line, [
      { name: 'x', mimeType: 'image/jpeg', source: { kind: 'address', url: 'https://a.example/x' } },
    ])
    expect(uploads()).toBe(2)
    now = new Date('2026-12-14T01:00:00Z')
    await send(line)
    expect(uploads()).toBe(3)
  })

  test('again, once, when Meta has forgotten the id', async () => {
    const peer = await graph(({ url, json }) =>
      url.endsWith('/messages') && (json.image as { id: string }).id === 'media-1' && peer.asked.length > 2
        ? { status: 400, json: error(131009) }
        : undefined,
    )
    const line = openWhatsApp(peer.port)
    expect(await send(line)).toMatchObject({ ok: true })
    expect(await send(line)).toMatchObject({ ok: true })
    expect(peer.asked.map(({ url }) => url.split('/').pop())).toEqual([
      'media',
      'messages',
      'messages',
      'media',
      'messages',
    ])
    const stubborn = await graph(({ url }) =>
      url.endsWith('/messages') ? { status: 400, json: error(131009) } : undefined,
    )
    const other = openWhatsApp(stubborn.port)
    await send(other)
    expect(await send(other)).toMatchObject({ ok: false, error: { kind: 'invalid_message' } })
    expect(stubborn.asked).toHaveLength(5)
  })

  test.each([
    [{ status: 400, json: error(131053) }, 'invalid_message'],
    [{ status: 401, json: error(190) }, 'misconfigured'],
    [{ status: 502, text: 'bad gateway' }, 'unreachable'],
    [{ isCut: true }, 'unreachable'],
    [{ json: {} }, 'unreachable'],
  ] as [Reply, string][])('a failed one (%j) hands nothing over: %s', async (reply, kind) => {
    const peer = await graph(({ url }) => (url.endsWith('/media') ? reply : undefined))
    expect(await send(openWhatsApp(peer.port))).toMatchObject({ ok: false, error: { kind } })
    expect(peer.asked.filter(({ url }) => url.endsWith('/messages'))).toHaveLength(0)
  })
})

describe('answers of the provider', () => {
  const fault = (
    name: string,
    code: number,
    kind: FaultCase<Reply>['kind'],
    more: Partial<FaultCase<Reply>> & {
      status?: number
      error?: object
      headers?: Record<string, string>
    } = {},
  ): FaultCase<Reply> => {
    const { status = 400, error: details, headers, ...rest } = more
    return {
      name: `${code} ${name}`,
      answer: { status, json: error(code, details), ...(headers ? { headers } : {}) },
      kind,
      code: String(code),
      ...rest,
    }
  }
  const cases: FaultCase<Reply>[] = [
    fault('token expired', 190, 'misconfigured', { status: 401 }),
    fault('no permission', 200, 'misconfigured'),
    fault('no permission', 299, 'misconfigured'),
    fault('permission', 10, 'misconfigured'),
    fault('locked', 131031, 'misconfigured'),
    fault('billing', 131042, 'misconfigured'),
    fault('number not registered', 133010, 'misconfigured'),
    fault('number deleted', 33, 'misconfigured'),
    fault('object unknown', 100, 'misconfigured', { error: { error_subcode: 33 } }),
    fault('unknown', 1, 'throttled', { isRecipientOnly: true }),
    fault('something went wrong', 131000, 'throttled', { status: 500, isRecipientOnly: true }),
    fault('service', 2, 'unreachable', { status: 503 }),
    fault('unavailable', 131016, 'unreachable'),
    fault('server down', 133004, 'unreachable', { retryAfterMs: 60_000 }),
    fault('throughput', 130429, 'throttled', { retryAfterMs: 1000 }),
    fault('throughput with Retry-After', 130429, 'throttled', {
      headers: { 'retry-after': '17' },
      retryAfterMs: 17_000,
    }),
    fault('account limit with usage', 80007, 'throttled', {
      headers: {
        'x-business-use-case-usage': '{"2002":[{"type":"messaging","estimated_time_to_regain_access":5}]}',
      },
      retryAfterMs: 300_000,
    }),
    fault('app limit', 4, 'throttled', { retryAfterMs: 60_000 }),
    fault('pair rate', 131056, 'throttled', { isRecipientOnly: true, retryAfterMs: 1000 }),
    fault('spam', 131048, 'throttled', { retryAfterMs: 3_600_000 }),
    fault('template paused', 132015, 'throttled', { isRecipientOnly: true }),
    fault('undeliverable', 131026, 'rejected'),
    fault('same number', 131021, 'rejected'),
    fault('ecosystem', 131049, 'rejected'),
    fault('not for user ids', 131062, 'rejected'),
    fault('stopped marketing', 131050, 'opted_out'),
    fault('window closed', 131047, 'invalid_message'),
    fault('parameter', 100, 'invalid_message'),
    fault('template missing', 132001, 'invalid_message', { status: 404 }),
    fault('parameter count', 132000, 'invalid_message'),
    fault('parameter content', 132018, 'invalid_message'),
    fault('template disabled', 132016, 'invalid_message'),
    fault('media', 131053, 'invalid_message'),
    fault('a code of the future', 139999, 'rejected'),
    fault('a code of the future that says it passes', 139999, 'throttled', {
      error: { is_transient: true },
      isRecipientOnly: true,
    }),
    fault('a code of the future with 500', 139999, 'throttled', { status: 500, isRecipientOnly: true }),
    { name: 'an error with status 200', answer: { json: error(131026) }, kind: 'rejected' },
    { name: '200 without id', answer: { json: { messages: [] } }, kind: 'unreadable_reply' },
    { name: '200 that is no JSON', answer: { text: '<html>' }, kind: 'unreadable_reply', code: 'http_200' },
    { name: '200 with an empty body', answer: { text: '' }, kind: 'unreadable_reply' },
    {
      name: '200 of five megabytes',
      answer: { text: Buffer.alloc(5_000_000, 'a') },
      kind: 'unreadable_reply',
    },
    {
      name: '502 of a gateway',
      answer: { status: 502, text: 'bad gateway' },
      kind: 'no_answer',
      code: 'http_502',
    },
    { name: '504 of a gateway', answer: { status: 504, text: '' }, kind: 'no_answer' },
    {
      name: '503 of a gateway',
      answer: { status: 503, text: '', headers: { 'retry-after': '3' } },
      kind: 'throttled',
      retryAfterMs: 3000,
    },
    { name: '429 of a gateway', answer: { status: 429, text: '' }, kind: 'throttled' },
    { name: '403 of a gateway', answer: { status: 403, text: '' }, kind: 'misconfigured' },
    { name: '404 of a gateway', answer: { status: 404, text: '' }, kind: 'misconfigured' },
    {
      name: 'a redirect',
      answer: { status: 302, text: '', headers: { location: 'http://127.0.0.1:1/' } },
      kind: 'misconfigured',
    },
    { name: 'cut after the request', answer: { isCut: true }, kind: 'no_answer', code: 'cut' },
    { name: 'no answer in time', answer: { isSilent: true }, kind: 'no_answer', code: 'timed_out' },
  ]
  testFaults(cases, async (reply) => {
    const peer = await graph(() => reply)
    return await openWhatsApp(peer.port, { answerTimeoutSeconds: 1 }).send(testMessage())
  })

  test('the pair limit waits four times longer each time; what passes by itself ends some day', async () => {
    const pair = await graph(() => ({ status: 400, json: error(131056) }))
    const line = openWhatsApp(pair.port)
    const waits = await Promise.all([1, 2, 3, 9].map((attempt) => line.send(testMessage({ attempt }))))
    expect(waits.map((result) => (result.ok ? 0 : result.error.retryAfterMs))).toEqual([
      1000, 4000, 16_000, 1024_000,
    ])
    const broken = await graph(() => ({ status: 500, json: error(131000) }))
    expect(await openWhatsApp(broken.port).send(testMessage({ attempt: 5 }))).toMatchObject({
      ok: false,
      error: { kind: 'rejected' },
    })
  })

  test("the provider's words are kept, details included", async () => {
    const peer = await graph(() => ({
      status: 400,
      json: error(131026, {
        error_data: { messaging_product: 'whatsapp', details: 'Receiver is incapable' },
      }),
    }))
    const result = await openWhatsApp(peer.port).send(testMessage())
    expect(result).toMatchObject({
      error: { message: '(#131026) title: Receiver is incapable' },
      exchange: { response: expect.stringContaining('HTTP 400') },
    })
  })

  test('nobody listens, or the guard says no: nothing was handed over', async () => {
    expect(await openWhatsApp(await deadPort()).send(testMessage())).toMatchObject({
      ok: false,
      error: { kind: 'unreachable' },
    })
    const guarded = openWhatsApp(1, { baseUrl: 'http://169.254.169.254' })
    expect(await guarded.send(testMessage())).toMatchObject({
      ok: false,
      error: { kind: 'misconfigured', code: 'refused' },
    })
    expect(guarded.health().isUp).toBe(false)
  })

  test('an answer that comes byte by byte', async () => {
    const body = JSON.stringify({ messages: [{ id: 'wamid.slow' }] })
    const port = await listen(
      createTcpServer((socket) => {
        socket.once('data', () => {
          const drip = ([first, ...rest]: number[]): void => {
            if (first === undefined || socket.destroyed) return
            socket.write(Buffer.from([first]))
            setImmediate(drip, rest)
          }
          drip([
            ...Buffer.from(
              `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
            ),
          ])
        })
      }),
    )
    expect(await openWhatsApp(port).send(testMessage())).toEqual({ ok: true, providerIds: ['wamid.slow'] })
  })

  test('cut in the middle of the answer', async () => {
    const port = await listen(
      createTcpServer(
        (socket) =>
          void socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"mess')),
      ),
    )
    expect(await openWhatsApp(port).send(testMessage())).toMatchObject({
      ok: false,
      error: { kind: 'no_answer' },
    })
  })
})

describe('templates and files of the provider', () => {
  test('every page of the templates, by cursor', async () => {
    const pages: Record<string, object> = {
      '': {
        data: [
          { name: 'a', language: 'pt_BR', status: 'APPROVED' },
          { name: 'b', language: 'en_US', status: 'REJECTED', rejected_reason: 'SCAM' },
        ],
        paging: { cursors: { after: 'c1' }, next: 'http://169.254.169.254/steal' },
      },
      c1: {
        data: [
          { name: 'c', language: 'es', status: 'PAUSED', rejected_reason: 'NONE' },
          { name: 'd', language: 'es', status: 'NEW_KIND' },
        ],
        paging: { cursors: { after: 'c2' } },
      },
    }
    const peer = await graph(({ url }) => ({
      json: pages[new URL(url, 'http://x').searchParams.get('after') ?? ''],
    }))
    expect(await openWhatsApp(peer.port).listTemplates!()).toEqual([
      { name: 'a', language: 'pt_BR', approval: 'approved' },
      { name: 'b', language: 'en_US', approval: 'rejected', reason: 'SCAM' },
      { name: 'c', language: 'es', approval: 'paused' },
    ])
    expect(peer.asked.map(({ url }) => url.split('?')[0])).toEqual([
      '/v24.0/2002/message_templates',
      '/v24.0/2002/message_templates',
    ])
    await expect(openWhatsApp(peer.port, { wabaId: undefined }).listTemplates!()).rejects.toThrow(/wabaId/)
  })

  test('a file that a person sent, asked for again when its address is old', async () => {
    let isOld = true
    const peer = await graph(({ url, headers }) => {
      if (url.startsWith('/v24.0/77?'))
        return { json: { url: `http://127.0.0.1:${peer.port}/file`, mime_type: 'image/jpeg', id: '77' } }
      if (url !== '/file' || headers.authorization !== 'Bearer EAAsecret') return { status: 401, json: {} }
      if (isOld) {
        isOld = false
        return { status: 404, json: {} }
      }
      return { text: Buffer.from([1, 2, 3]) }
    })
    expect(await openWhatsApp(peer.port).fetchMedia!('77')).toEqual({
      bytes: Buffer.from([1, 2, 3]),
      name: '77',
      mimeType: 'image/jpeg',
    })
    expect(peer.asked).toHaveLength(4)
  })

  test('the token goes to no address without TLS', async () => {
    const peer = await graph(() => ({ json: { url: 'http://a.example/file' } }))
    await expect(openWhatsApp(peer.port).fetchMedia!('77')).rejects.toThrow(/no usable address/)
  })
})

describe('the hook', () => {
  const line = testLine(whatsappCloud, base)
  const post = (body: string | Buffer, signature?: string) => {
    const rawBody = Buffer.from(body)
    const right = `sha256=${createHmac('sha256', 'secret').update(rawBody).digest('hex')}`
    return whatsappCloud.hook!(line, {
      method: 'POST',
      url: '/hooks/whatsapp-cloud/lin_1',
      publicUrl: line.hookUrl,
      headers: { 'x-hub-signature-256': signature ?? right },
      rawBody,
    })
  }
  const ask = (query: string) =>
    whatsappCloud.hook!(line, {
      method: 'GET',
      url: `/hooks/whatsapp-cloud/lin_1${query}`,
      publicUrl: line.hookUrl,
      headers: {},
      rawBody: Buffer.alloc(0),
    })
  const change = (value: object, field = 'messages') =>
    JSON.stringify({
      object: 'whatsapp_business_account',
      entry: [{ id: '2002', changes: [{ field, value }] }],
    })
  const own = {
    messaging_product: 'whatsapp',
    metadata: { display_phone_number: '5511987654321', phone_number_id: '1001' },
  }
  const reportsOf = (value: object, field?: string): LineReport[] => {
    const result = post(change({ ...own, ...value }, field))
    if (!result.ok) throw new Error(result.reason)
    return result.reports
  }

  test('answers the challenge to who knows the word', () => {
    expect(ask('?hub.mode=subscribe&hub.verify_token=open%20sesame&hub.challenge=1158201444')).toEqual({
      ok: true,
      reports: [],
      answer: { status: 200, body: '1158201444', contentType: 'text/plain; charset=utf-8' },
    })
    for (const query of [
      '?hub.mode=subscribe&hub.verify_token=wrong&hub.challenge=1',
      '?hub.mode=other&hub.verify_token=open%20sesame',
      '',
      '?hub.mode=subscribe',
    ]) {
      expect(ask(query)).toMatchObject({ ok: false, status: 403 })
    }
  })

  test('believes signed bytes only', () => {
    expect(createHmac('sha256', 'secret').update('test').digest('hex')).toBe(
      '0329a06b62cd16b33eb6792be8c60b158d89a2ee3a876fce9a881ebb488c0914',
    )
    expect(post('test')).toMatchObject({ ok: false, status: 400 })
    const escaped =
      '{"entry":[{"changes":[{"field":"messages","value":{"messages":[{"id":"w1","from":"5531996883193","type":"text","timestamp":"1763174050","text":{"body":"ol\\u00e1"}}]}}]}]}'
    expect(post(escaped)).toMatchObject({ ok: true, reports: [{ message: { text: 'olá' } }] })
    const other = createHash('sha256').update(escaped).digest('hex')
    for (const signature of ['', 'sha256=', `sha256=${other}`, 'sha1=abc', other]) {
      expect(post(escaped, signature)).toMatchObject({ ok: false, status: 401 })
    }
  })

  test.each(['sent', 'delivered', 'read', 'failed'])('status %s', (status) => {
    const [report] = reportsOf({
      statuses: [{ id: 'wamid.1', status, timestamp: '1763174050', recipient_id: '553196883193' }],
    })
    expect(report).toEqual({
      kind: 'receipt',
      receipt: { providerId: 'wamid.1', state: status, at: new Date(1_763_174_050_000) },
    })
  })

  test('statuses with our id, with errors, without a number, repeated, unknown', () => {
    const messageId = `msg_${'0'.repeat(32)}`
    const reports = reportsOf({
      statuses: [
        {
          id: 'wamid.1',
          status: 'sent',
          timestamp: '1763174050',
          biz_opaque_callback_data: messageId,
          pricing: { billable: true },
        },
        {
          id: 'wamid.2',
          status: 'failed',
          timestamp: '1763174051',
          errors: [
            {
              code: 131026,
              title: 'Message undeliverable',
              message: 'Message undeliverable',
              error_data: { details: 'old client' },
            },
          ],
        },
        { id: 'wamid.3', status: 'failed', errors: [{ code: 131050, title: 'stopped' }] },
        { id: 'wamid.4', status: 'played', timestamp: 1763174052, recipient_user_id: 'BR.1' },
        { id: 'wamid.5', status: 'levitated', timestamp: '1' },
        { status: 'sent' },
        { id: 'wamid.6', status: 'sent', biz_opaque_callback_data: "not ours'; --" },
      ],
    })
    expect(reports.map((report) => (report.kind === 'receipt' ? report.receipt : undefined))).toMatchObject([
      { providerId: 'wamid.1', messageId, state: 'sent' },
      {
        providerId: 'wamid.2',
        state: 'failed',
        error: { code: '131026', message: 'Message undeliverable: old client' },
      },
      { providerId: 'wamid.3', state: 'failed', isMarketingOptOut: true },
      { providerId: 'wamid.4', state: 'read', at: new Date(1_763_174_052_000) },
      { providerId: 'wamid.6', state: 'sent' },
    ])
    expect(reports[4]).not.toHaveProperty('receipt.messageId')
  })

  const from = { id: 'w1', from: '5531996883193', timestamp: '1763174050' }
  test.each([
    ['text', { type: 'text', text: { body: 'hi' } }, { kind: 'text', text: 'hi', media: [] }],
    [
      'button',
      { type: 'button', button: { payload: 'p', text: 'Yes' }, context: { id: 'wamid.9', from: '55' } },
      { kind: 'button', text: 'Yes', repliesTo: 'wamid.9' },
    ],
    [
      'list',
      { type: 'interactive', interactive: { type: 'list_reply', list_reply: { id: '1', title: 'First' } } },
      { kind: 'button', text: 'First' },
    ],
    [
      'flow',
      { type: 'interactive', interactive: { type: 'nfm_reply', nfm_reply: { body: 'Sent', name: 'flow' } } },
      { kind: 'button', text: 'Sent' },
    ],
    [
      'image',
      { type: 'image', image: { id: '77', mime_type: 'image/jpeg', sha256: 'x', caption: 'me' } },
      { kind: 'media', text: 'me', media: [{ providerMediaId: '77', mimeType: 'image/jpeg' }] },
    ],
    [
      'document',
      { type: 'document', document: { id: 78, mime_type: 'application/pdf', filename: 'a.pdf' } },
      { media: [{ providerMediaId: '78', mimeType: 'application/pdf', name: 'a.pdf' }] },
    ],
    [
      'reaction',
      { type: 'reaction', reaction: { message_id: 'wamid.9', emoji: '👍' } },
      { kind: 'other', text: '👍', repliesTo: 'wamid.9' },
    ],
    [
      'location',
      { type: 'location', location: { latitude: -19.9, longitude: -43.9, name: 'BH' } },
      { kind: 'other', text: 'BH -19.9,-43.9' },
    ],
    ['contacts', { type: 'contacts', contacts: [{ name: { formatted_name: 'Ana' } }] }, { text: 'Ana' }],
    ['unsupported', { type: 'unsupported', errors: [{ code: 131051 }] }, { kind: 'other', text: '' }],
    ['without type', {}, { kind: 'other', text: '' }],
  ])('inbound %s', (_, message, expected) => {
    const [report] = reportsOf({
      contacts: [{ profile: { name: 'Ana' }, wa_id: '5531996883193' }],
      messages: [{ ...from, ...message }],
    })
    expect(report).toMatchObject({
      kind: 'inbound',
      message: {
        providerId: 'w1',
        from: '5531996883193',
        profileName: 'Ana',
        at: new Date(1_763_174_050_000),
        ...expected,
      },
    })
  })

  test('a person without a number, and several in one call', () => {
    const reports = reportsOf({
      contacts: [
        { profile: { name: 'A' }, user_id: 'BR.1' },
        { profile: { username: 'b' }, wa_id: '5511', user_id: 'BR.2' },
      ],
      messages: [
        { id: 'w1', from_user_id: 'BR.1', timestamp: '1763174050', type: 'text', text: { body: 'x' } },
        { id: 'w2', from_user_id: 'BR.2', timestamp: '1763174050', type: 'text', text: { body: 'y' } },
        { id: 'w3', from: '5511', type: 'system', system: { type: 'user_changed_number' } },
        { from: '5511', type: 'text' },
      ],
    })
    expect(reports).toMatchObject([
      { message: { userId: 'BR.1', profileName: 'A' } },
      { message: { from: '5511', userId: 'BR.2', profileName: 'b' } },
    ])
    expect(reports).toHaveLength(2)
    expect(reports[0]).not.toHaveProperty('message.from')
  })

  test.each([
    ['APPROVED', 'approved', null, undefined],
    ['REJECTED', 'rejected', 'SCAM', 'SCAM'],
    ['PAUSED', 'paused', 'NONE', undefined],
    ['DISABLED', 'disabled', null, undefined],
    ['REINSTATED', 'approved', null, undefined],
    ['PENDING_DELETION', 'disabled', null, undefined],
  ])('template event %s', (event, approval, reason, told) => {
    const value = {
      event,
      message_template_id: 123_456,
      message_template_name: 'order',
      message_template_language: 'pt-BR',
      reason,
    }
    const [report] = reportsOf(value, 'message_template_status_update')
    expect(report).toEqual({
      kind: 'template',
      report: { name: 'order', language: 'pt_BR', approval, ...(told ? { reason: told } : {}) },
    })
  })

  test('a warning about a template changes nothing; the stop of marketing does', () => {
    expect(
      reportsOf(
        { event: 'FLAGGED', message_template_name: 'a', message_template_language: 'en' },
        'message_template_status_update',
      ),
    ).toEqual([])
    expect(
      reportsOf(
        {
          user_preferences: [
            { wa_id: '5511', value: 'stop', category: 'marketing_messages' },
            { user_id: 'BR.1', value: 'resume' },
            { wa_id: '1', value: 'maybe' },
            { value: 'stop' },
          ],
        },
        'user_preferences',
      ),
    ).toEqual([
      { kind: 'marketing_opt_out', from: '5511', isStop: true },
      { kind: 'marketing_opt_out', userId: 'BR.1', isStop: false },
    ])
  })

  test('what is about another number of the account is handed on as such', () => {
    const result = post(
      change({
        metadata: { phone_number_id: '1002' },
        statuses: [{ id: 'w', status: 'sent', timestamp: '1' }],
      }),
    )
    expect(result).toMatchObject({
      ok: true,
      reports: [],
      elsewhere: [{ setting: 'phoneNumberId', value: '1002', reports: [{ kind: 'receipt' }] }],
    })
  })

  test.each([
    '{}',
    '{"entry":null}',
    '{"entry":[null,1,{"changes":"x"}]}',
    '{"entry":[{"changes":[{"field":7,"value":[]}]}]}',
    '{"entry":[{"changes":[{"field":"messages","value":{"statuses":[null,"x"],"messages":[[]],"contacts":5}}]}]}',
  ])('a signed oddity %s is nothing', (body) => expect(post(body)).toMatchObject({ ok: true, reports: [] }))
  test.each(['', '[]', 'null', '"x"', '{'])('a signed %s is no report', (body) =>
    expect(post(body)).toMatchObject({ ok: false, status: 400 }),
  )
})
