/** Small requests that want to become large: compressed, nested, counted, drawn. And those that never end. */
import { gzipSync, brotliCompressSync, deflateSync } from 'node:zlib'
import net from 'node:net'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createUnifiedSurface } from '../../src/http/unified/index.ts'
import { serve, testServerDeps } from '../../src/http/test-server.ts'
import { createOutbound, readExceptions } from '../../src/lib/outbound/index.ts'
import { keyClient, type Client } from '../contract/admin/support.ts'
import type { TestCompany } from '../harness/factories.ts'
import { request, until, type Answer } from '../harness/http.ts'
import { startWhole, type Whole } from '../harness/whole.ts'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { heapBytes, slow } from './fuzz.ts'

const mib = 1024 * 1024

describe('bombs', () => {
  let whole: Whole
  let company: TestCompany
  let token = ''
  let key: Client

  beforeAll(async () => {
    whole = await startWhole()
    company = await whole.makeCompany()
    key = await keyClient(whole, company, ['manage'])
    const { name, apiUser } = company
    const login = await request(`${whole.url}/v1/login`, {
      body: { Company: name, Username: apiUser.name, Password: apiUser.password },
    })
    token = String(login.body['access_token'])
  })
  afterAll(() => whole.stop())

  /** One route of each surface, with what it answers to a body that it will not take. */
  const doors = (): Record<
    string,
    { status: number; send(body: Buffer, headers?: object): Promise<Answer> }
  > => {
    const to = (path: string, authorization: string, status: number) => ({
      status,
      send: (body: Buffer, headers: object = {}) =>
        request(whole.url + path, {
          method: 'POST',
          body,
          headers: { authorization, 'x-pombo-console': '1', 'content-type': 'application/json', ...headers },
          timeoutMs: 60_000,
        }),
    })
    return {
      login: to('/v1/login', '', 400),
      unified: to('/v1/sendmessage', `Bearer ${token}`, 400),
      direct: to('/v1/directmessage/sms', `Bearer ${company.directToken.token}`, 422),
      admin: to('/admin/v1/templates', key.headers['authorization']!, 400),
      'sign-in': to('/admin/v1/session', '', 400),
    }
  }

  test('a compressed body is not even opened', slow, async () => {
    const large = Buffer.from(`{"text":"${'x'.repeat(64 * mib)}"}`)
    const bombs = {
      gzip: gzipSync(large),
      br: brotliCompressSync(large, { params: { 1: 1 } }),
      deflate: deflateSync(large),
    }
    for (const [encoding, bomb] of Object.entries(bombs))
      for (const [name, { status, send }] of Object.entries(doors())) {
        const before = heapBytes()
        const answer = await send(bomb.subarray(0, 900_000), { 'content-encoding': encoding })
        expect(answer.status, `${name} ${encoding} ${answer.text}`).toBe(status)
        expect(heapBytes() - before, `${name} ${encoding}`).toBeLessThan(32 * mib)
      }
  })

  test(
    'nesting, keys and values by the hundred thousand are refused, and cost no more than their length',
    slow,
    async () => {
      const repeat = (unit: string, count: number) => unit.repeat(count)
      const bodies: Record<string, string> = {
        'arrays in arrays': `{"text":${repeat('[', 100_000)}${repeat(']', 100_000)}}`,
        'objects in objects': `{"text":${repeat('{"a":', 100_000)}1${repeat('}', 100_000)}}`,
        'deep and unknown': `{"text":"","x":${repeat('[', 60_000)}${repeat(']', 60_000)}}`,
        'many keys': `{"text":"",${Array.from({ length: 60_000 }, (_, index) => `"k${index}":0`).join()}}`,
        'the same key again and again': `{${repeat('"text":"",', 60_000)}"text":1}`,
        'many items': `{"text":"","files":[${repeat('{},', 100_000)}{}]}`,
        'many values': `{"text":"","templateParameters":[${repeat('0,', 300_000)}0]}`,
        'many names': `{"text":"","variable_values":{${Array.from({ length: 40_000 }, (_, index) => `"v${index}":""`).join()}}}`,
        'a number without end': `{"text":"","channel":${repeat('9', 500_000)}}`,
        'escapes alone': `{"text":"","x":"${repeat('\\u0000', 100_000)}"}`,
        'spaces alone': `{"text":""${repeat(' ', 900_000)}}`,
      }
      for (const [how, body] of Object.entries(bodies))
        for (const [name, { status, send }] of Object.entries(doors())) {
          const answer = await send(Buffer.from(body))
          expect(answer.status, `${how} at ${name}: ${answer.text.slice(0, 200)}`).toBe(status)
          expect(answer.text.length, `${how} at ${name} is not answered at length`).toBeLessThan(200_000)
        }
      expect(whole.logLines.filter((line) => line.includes('"level":50'))).toEqual([])
      expect((await request(`${whole.url}/health/live`)).status).toBe(200)
    },
  )

  test('the largest bodies are bounded in what becomes of them', slow, async () => {
    const { send } = doors()['unified']!
    await send(Buffer.from('{}'))
    const before = heapBytes()
    const brackets = await send(Buffer.from(`{"text":"","x":[${'[],'.repeat(8 * mib)}0]}`))
    expect(brackets.status, brackets.text).toBe(400)
    const base64 = await send(
      Buffer.from(
        JSON.stringify({
          platformPrivateToken: company.privateToken,
          text: 'x',
          channel: 2,
          destination: { countryCode: 55, phoneNumber: 31987654321 },
          files: [{ name: 'a.zip', base64: Buffer.alloc(18 * mib).toString('base64') }],
        }),
      ),
    )
    expect(base64.status, 'no file goes by SMS').toBe(400)
    const tooLarge = await send(Buffer.alloc(33 * mib, 0x20))
    expect(tooLarge.status).toBe(400)
    await until('what was held is given back', () => heapBytes() - before < 48 * mib)
  })

  test(
    'a picture that says it is enormous, and an archive that would be, stay the bytes they are',
    slow,
    async () => {
      const chunk = Buffer.alloc(25)
      chunk.writeUInt32BE(13, 0)
      chunk.write('IHDR', 4, 'latin1')
      chunk.writeUInt32BE(0x7fffffff, 8)
      chunk.writeUInt32BE(0x7fffffff, 12)
      chunk.set([8, 6, 0, 0, 0], 16)
      const picture = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), chunk])
      const stored = await key.call('POST', '/media?name=huge.png', picture)
      expect(stored.status, stored.text).toBe(201)
      const before = heapBytes()
      const served = await fetch(whole.url + new URL(String(stored.body['url'])).pathname)
      expect(Buffer.from(await served.arrayBuffer()).equals(picture)).toBe(true)
      // In members, which unpack as one: made at once, the zeros themselves may still be held when it is counted.
      const archive = Buffer.concat(Array(256).fill(gzipSync(Buffer.alloc(mib))))
      const sent = await request(`${whole.url}/v1/sendmessage`, {
        headers: { authorization: `Bearer ${token}` },
        body: {
          platformPrivateToken: company.privateToken,
          text: 'x',
          channel: 1,
          emailSubject: 'x',
          destination: { email: 'ana@example.com' },
          files: [
            { name: 'bomb.zip', base64: archive.toString('base64') },
            { name: 'huge.png', base64: picture.toString('base64') },
          ],
        },
      })
      expect(sent.status, sent.text).toBe(200)
      expect(heapBytes() - before).toBeLessThan(32 * mib)
      const [row] = await whole.db.query<{ content: { files: { source: { size: number } }[] } }>(
        'select content from message where company_id = $1 order by id desc limit 1',
        [company.id],
      )
      expect(row!.content.files.map(({ source }) => source.size)).toEqual([archive.length, picture.length])
    },
  )
})

test('a fetched answer is not unpacked: the limit counts what came over the wire', async () => {
  const bomb = gzipSync(Buffer.alloc(64 * mib))
  const server = http.createServer((_request, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip', 'content-type': 'text/plain' })
    response.end(bomb)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const exceptions = readExceptions([`files=127.0.0.1:${port}`])
  if (!exceptions.ok) throw new Error(exceptions.reason)
  const outbound = createOutbound(exceptions)
  onTestFinished(() => outbound.close())
  const answer = await outbound.fetch('files', `http://127.0.0.1:${port}/x`, {
    method: 'GET',
    timeoutMs: 10_000,
    maxBytes: mib,
  })
  expect(answer.body.equals(bomb)).toBe(true)
})

describe('requests that never end', () => {
  const timeouts = { headersMs: 300, requestMs: 700, keepAliveMs: 300, checkEveryMs: 50 }

  /** Sends a byte whenever the last one has left, until the server ends the connection; gives what it said. */
  async function drip(url: string, head: string, bytes: string): Promise<string> {
    const { hostname, port } = new URL(url)
    const socket = net.connect(Number(port), hostname)
    const heard: Buffer[] = []
    socket.on('data', (chunk: Buffer) => heard.push(chunk))
    const ended = new Promise<void>((resolve) => {
      socket.on('close', () => resolve())
      socket.on('error', () => resolve())
    })
    socket.write(head)
    let place = 0
    const timer = setInterval(() => socket.write(bytes[place++ % bytes.length]!), 20)
    await ended
    clearInterval(timer)
    return Buffer.concat(heard).toString('utf8')
  }

  const neverAccepts: Parameters<typeof createUnifiedSurface>[0] = {
    tokens: { api: async () => undefined, direct: async () => undefined },
  } as unknown as Parameters<typeof createUnifiedSurface>[0]

  async function startServer() {
    const deps = testServerDeps({ timeouts })
    const unified = createUnifiedSurface({
      ...neverAccepts,
      budget: deps.budget,
      config: { maxBodyBytes: mib, maxSendBodyBytes: mib },
    })
    return { url: (await serve({ main: [unified] }, deps)).addresses.main, budget: deps.budget }
  }

  test('headers that drip, and a request line that never ends', async () => {
    const { url } = await startServer()
    for (const head of ['POST /v1/login HTTP/1.1\r\nHost: x\r\nX-Slow: ', 'POST /v1/', ''])
      expect(await drip(url, head, 'a'), head).toMatch(/^(HTTP\/1\.1 400 |$)/)
  })

  test('a body that drips, announced or in chunks, is cut, and what it held is given back', async () => {
    const { url, budget } = await startServer()
    const head = (more: string) =>
      `POST /v1/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${more}\r\n\r\n`
    expect(await drip(url, head('Content-Length: 100000'), '{"Company":"')).toMatch(
      /^HTTP\/1\.1 400 .*in time/s,
    )
    expect(await drip(url, head('Transfer-Encoding: chunked'), '1\r\nx\r\n')).toMatch(/^(HTTP\/1\.1 400 |$)/)
    await until('nothing is held', () => budget.heldBytes === 0)
  })

  test('connections that say nothing, and many at once, go as well, while others are served', async () => {
    const { url } = await startServer()
    const slowOnes = Array.from({ length: 60 }, () =>
      drip(url, 'POST /v1/login HTTP/1.1\r\nHost: x\r\nX: ', 'a'),
    )
    const answer = await request(`${url}/v1/login`, { body: '{}' })
    expect(answer.status).toBe(400)
    await Promise.all(slowOnes)
    const idle = net.connect(Number(new URL(url).port), '127.0.0.1')
    idle.write('GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n')
    idle.resume()
    await new Promise<void>((resolve) => void idle.on('close', () => resolve()))
  })

  test('headers past all reason, and requests that two readers would read differently, are refused', async () => {
    const { url } = await startServer()
    const say = async (text: string) => await drip(url, text, '')
    const line = 'POST /v1/login HTTP/1.1\r\nHost: x\r\n'
    for (const smuggled of [
      `${line}X: ${'a'.repeat(20_000)}\r\n\r\n`,
      `${line}${'X: a\r\n'.repeat(3_000)}\r\n`,
      `${line}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /`,
      `${line}Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello`,
      `${line}Content-Length: +5\r\n\r\nhello`,
      `${line}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n`,
      `${line}X : a\r\n\r\n`,
      `${line}X: a\nY: b\r\n\r\n`,
    ])
      expect(await say(smuggled), smuggled.slice(0, 90)).toMatch(/^HTTP\/1\.1 400 /)
  })
})
