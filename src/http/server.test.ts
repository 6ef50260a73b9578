import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import http from 'node:http'
import https from 'node:https'
import net from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Registry } from 'prom-client'
import { expect, onTestFinished, test } from 'vitest'
import { connectRaw, request, until, type RawConnection } from '../../test/harness/http.ts'
import { createSelfSignedCertificate } from '../lib/self-signed-certificate.ts'
import { UnavailableError } from '../lib/unavailable.ts'
import { createLifecycle } from './lifecycle.ts'
import { createHttpMetrics } from './metrics.ts'
import { createOpsSurface } from './ops/index.ts'
import { readRawBodies, takeBody } from './read-body.ts'
import type { Surface } from './server.ts'
import { serve, testServerDeps } from './test-server.ts'
import { createBodyBudget } from './tracking.ts'

const requestIdForm = /^req_[0-9a-f]{32}$/

/** Answers with the number of bytes it got, or what was wrong with them. */
const echo: Surface = (scope) => {
  scope.post('/echo', async (request, reply) => {
    const body = takeBody(request)
    return reply.send(JSON.stringify({ got: typeof body === 'string' ? body : body.length }))
  })
  scope.get('/fault', async () => {
    throw new Error('secret detail')
  })
  scope.get('/busy', async () => {
    throw new UnavailableError('try later', 7)
  })
}

test('every answer carries its request id, in the header and in error bodies', async () => {
  const { addresses } = await serve({ main: [echo] })
  const found = await request(`${addresses.main}/echo`, { body: {} })
  expect(found.status).toBe(200)
  expect(found.headers['x-request-id']).toMatch(requestIdForm)
  expect(found.headers).not.toHaveProperty('server')
  const missing = await request(`${addresses.main}/nowhere`, { body: { a: 1 } })
  expect(missing.status).toBe(404)
  expect(missing.body).toEqual({ message: 'not found', requestId: missing.headers['x-request-id'] })
})

test.each(['GET', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'PROPFIND'])(
  '%s on a POST route is 404',
  async (method) => {
    const { addresses } = await serve({ main: [echo] })
    const answer = await request(`${addresses.main}/echo`, { method })
    expect(answer.status).toBe(404)
    expect(answer.body['requestId']).toMatch(requestIdForm)
  },
)

test('a path that cannot be decoded is 404 as well', async () => {
  const { addresses } = await serve({ main: [echo] })
  const answer = await request(`${addresses.main}/%zz`)
  expect(answer.status).toBe(404)
  expect(answer.body['requestId']).toBe(answer.headers['x-request-id'])
})

test('a fault is 500 and tells nothing of the inside; a busy server is 503 with Retry-After', async () => {
  const { addresses } = await serve({ main: [echo] })
  const fault = await request(`${addresses.main}/fault`)
  expect(fault.status).toBe(500)
  expect(fault.text).not.toContain('secret')
  expect(fault.body).toEqual({ message: 'internal error', requestId: fault.headers['x-request-id'] })
  const busy = await request(`${addresses.main}/busy`)
  expect(busy.status).toBe(503)
  expect(busy.headers['retry-after']).toBe('7')
})

test('bodies: JSON or no type at all; too large, compressed or of another type is told apart', async () => {
  const { addresses } = await serve({ main: [echo] })
  const got = async (body: string | Buffer, headers: Record<string, string | string[]> = {}) =>
    (await request(`${addresses.main}/echo`, { body, headers })).body['got']
  expect(await got('{}')).toBe(2)
  expect(await got('{}', { 'content-type': [] })).toBe(2)
  expect(await got('{}', { 'content-type': 'application/json; charset=UTF-8' })).toBe(2)
  expect(await got('{}', { 'content-type': 'application/problem+json' })).toBe(2)
  expect(await got('{}', { 'content-type': 'text/plain' })).toBe('media_type')
  expect(await got('{}', { 'content-type': 'application/json; charset=latin1' })).toBe('media_type')
  expect(await got('{}', { 'content-encoding': 'gzip' })).toBe('media_type')
  expect(await got(Buffer.alloc(1024 * 1024))).toBe(1024 * 1024)
  expect(await got(Buffer.alloc(1024 * 1024 + 1))).toBe('too_large')
  const broken = await request(`${addresses.main}/echo`, {
    body: '{}',
    headers: { 'content-type': 'nonsense' },
  })
  expect(broken.status).toBe(400)
})

test('a chunked body past the limit is refused and the connection stays usable', async () => {
  const { addresses } = await serve({ main: [echo] })
  const raw = await connectRaw(addresses.main)
  raw.write('POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n')
  const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`
  for (let sent = 0; sent < 20; sent++) raw.write(chunk)
  expect((await raw.answer()).body['got']).toBe('too_large')
  raw.write('0\r\n\r\nPOST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc')
  expect((await raw.answer()).body['got']).toBe(3)
  raw.close()
})

test('bytes of a body count as long as they are worked on, also when the caller has gone away', async () => {
  const budget = createBodyBudget(100_000)
  const work = Promise.withResolvers<void>()
  let hasLeft = false
  const slow: Surface = (scope) => {
    scope.post('/slow', async (request, reply) => {
      takeBody(request)
      reply.raw.once('close', () => (hasLeft = true))
      await work.promise
      return reply.send('done')
    })
  }
  const { addresses } = await serve({ main: [slow] }, testServerDeps({ budget }))
  const leaving = new AbortController()
  const call = fetch(`${addresses.main}/slow`, {
    method: 'POST',
    body: 'x'.repeat(50_000),
    headers: { 'content-type': 'application/json' },
    signal: leaving.signal,
  })
  await until('the body is here', () => budget.heldBytes === 50_000)
  leaving.abort()
  await expect(call).rejects.toThrow()
  await until('the server knows that the caller has gone', () => hasLeft)
  const other = await fetch(`${addresses.main}/slow`, {
    method: 'POST',
    body: 'x'.repeat(60_000),
    headers: { 'content-type': 'application/json' },
  })
  expect(other.status).toBe(503)
  expect(budget.heldBytes).toBe(50_000)
  work.resolve()
  await until('the bytes are given back', () => budget.heldBytes === 0)
})

test('bytes of bodies in flight are bounded as a whole and given back when answered or cut', async () => {
  const budget = createBodyBudget(100_000)
  const { addresses } = await serve({ main: [echo] }, testServerDeps({ budget }))
  const slow = await connectRaw(addresses.main)
  slow.write(`POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 90000\r\n\r\n${'x'.repeat(80_000)}`)
  await until('the first bytes are counted', () => budget.heldBytes === 80_000)
  const refused = await request(`${addresses.main}/echo`, { body: Buffer.alloc(30_000) })
  expect(refused.status).toBe(503)
  expect(refused.headers['retry-after']).toBe('1')
  expect((await request(`${addresses.main}/echo`, { body: Buffer.alloc(10_000) })).status).toBe(200)
  slow.write('x'.repeat(10_000))
  expect((await slow.answer()).body['got']).toBe(90_000)
  await until('all bytes are given back', () => budget.heldBytes === 0)
  slow.write(`POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 90000\r\n\r\n${'x'.repeat(50_000)}`)
  await until('bytes are counted again', () => budget.heldBytes === 50_000)
  slow.close()
  await until('a cut connection gives its bytes back', () => budget.heldBytes === 0)
})

test.each([
  ['first line', ''],
  ['headers', 'POST /echo HTTP/1.1\r\nHost: x\r\nX-Slow: '],
  ['body', 'POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nx'],
])('a client that never ends its %s is cut', async (_what, bytes) => {
  const timeouts = { headersMs: 150, requestMs: 200, keepAliveMs: 1000, checkEveryMs: 30 }
  const budget = createBodyBudget(1000)
  const { addresses } = await serve({ main: [echo] }, testServerDeps({ timeouts, budget }))
  const raw = await connectRaw(addresses.main)
  raw.write(bytes)
  const answer = await raw.answer()
  expect(answer.status).toBe(400)
  expect(answer.body['message']).toBe('the request was not complete in time')
  expect(answer.body['requestId']).toBe(answer.headers['x-request-id'])
  await until('its bytes are given back', () => budget.heldBytes === 0)
})

test.each([
  ['no HTTP at all', 'hello\r\n\r\n', 'this is not HTTP that can be read'],
  ['too large headers', `GET / HTTP/1.1\r\nX-A: ${'x'.repeat(20_000)}\r\n\r\n`, 'the headers are too large'],
])('%s is answered with 400', async (_what, bytes, message) => {
  const { addresses } = await serve({ main: [echo] })
  const raw = await connectRaw(addresses.main)
  raw.write(bytes)
  const answer = await raw.answer()
  expect(answer.status).toBe(400)
  expect(answer.body['message']).toBe(message)
})

test('past the limit of connections new ones are dropped', async () => {
  const deps = testServerDeps()
  deps.config = { ...deps.config, maxConnections: 1 }
  const { addresses } = await serve({ main: [echo] }, deps)
  const first = await connectRaw(addresses.main)
  const second = net.connect(Number(new URL(addresses.main).port), '127.0.0.1')
  second.on('error', () => {})
  await once(second, 'close')
  first.write('POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\nx')
  expect((await first.answer()).status).toBe(200)
  first.close()
})

test('ready says why not, and the gate is shut for all but health and metrics', async () => {
  const lifecycle = createLifecycle()
  const registry = new Registry()
  const budget = createBodyBudget(1000)
  let missing: string | undefined
  const ops = createOpsSurface({
    lifecycle,
    checks: [async () => missing],
    metrics: async () => ({ contentType: registry.contentType, text: await registry.metrics() }),
  })
  const deps = testServerDeps({ lifecycle, budget, metrics: createHttpMetrics(registry, budget) })
  const { addresses } = await serve({ main: [ops, echo] }, deps)
  const ready = () => request(`${addresses.main}/health/ready`)
  expect((await ready()).body).toMatchObject({ reason: 'the server is starting' })
  expect((await request(`${addresses.main}/health/live`)).status).toBe(200)
  const early = await request(`${addresses.main}/echo`, { body: {} })
  expect([early.status, early.headers['retry-after'], early.body['message']]).toEqual([
    503,
    '2',
    'the server is starting',
  ])
  lifecycle.phase = 'serving'
  missing = 'the database does not answer'
  const notReady = await ready()
  expect([notReady.status, notReady.body['reason']]).toEqual([503, missing])
  missing = undefined
  await until('it asks again', async () => (await ready()).status === 200)
  await request(`${addresses.main}/echo`, { body: {} })
  const metrics = await request(`${addresses.main}/metrics`)
  expect(metrics.text).toContain('pombo_http_answers_total{route="/echo",status="200"} 1')
  expect(metrics.text).toContain('pombo_http_answers_total{route="/health/ready",status="503"}')
})

test('leaving: readiness says no, and a connection that was kept alive is served once more before it is closed', async () => {
  const deps = testServerDeps()
  const ops = createOpsSurface({
    lifecycle: deps.lifecycle,
    checks: [],
    metrics: async () => ({ contentType: 'text/plain', text: '' }),
  })
  const listening = await serve({ main: [ops, echo] }, deps, { leaveMs: 20_000, drainMs: 40_000 })
  const kept = await connectRaw(listening.addresses.main)
  const other = await connectRaw(listening.addresses.main)
  onTestFinished(() => void [kept, other].map((connection) => connection.close()))
  const send = (connection: RawConnection, path: string) =>
    connection.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`)
  send(kept, '/health/ready')
  expect((await kept.answer()).status).toBe(200)
  const closed = listening.close()
  send(other, '/health/ready')
  const told = await other.answer()
  expect([told.status, told.body['reason']]).toEqual([503, 'the server is stopping'])
  expect((await request(`${listening.addresses.main}/echo`, { body: { came: 'late' } })).status).toBe(200)
  kept.write(
    'POST /echo HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}',
  )
  const last = await kept.answer()
  expect([last.status, last.headers['connection']]).toEqual([200, 'close'])
  // Nobody is left, so it does not wait for the rest of its time.
  await closed
})

test('draining: what is in flight ends with Connection: close, nothing new is taken', async () => {
  const deps = testServerDeps()
  let release = () => {}
  const isHeld = new Promise<void>((resolve) => (release = resolve))
  let hasArrived = false
  const slow: Surface = (scope) => {
    scope.get('/slow', async (_request, reply) => {
      hasArrived = true
      await isHeld
      return reply.send('{"done":true}')
    })
  }
  const listening = await serve({ main: [slow] }, deps)
  const agent = new http.Agent({ keepAlive: true })
  onTestFinished(() => agent.destroy())
  const answered = new Promise<http.IncomingMessage>((resolve, reject) => {
    http.get(`${listening.addresses.main}/slow`, { agent }, resolve).on('error', reject)
  })
  await until('the request is in flight', () => hasArrived)
  const closed = listening.close()
  await expect(
    request(`${listening.addresses.main}/slow`, { headers: { connection: 'close' } }),
  ).rejects.toThrow()
  release()
  const answer = await answered
  answer.resume()
  expect(answer.statusCode).toBe(200)
  expect(answer.headers.connection).toBe('close')
  await closed
})

test('what does not end while draining is cut at the end of its time', async () => {
  let hasArrived = false
  const hang: Surface = (scope) => {
    scope.get('/hang', () => {
      hasArrived = true
      return new Promise(() => {})
    })
  }
  const listening = await serve({ main: [hang] }, testServerDeps(), { drainMs: 50 })
  const failed = expect(request(`${listening.addresses.main}/hang`)).rejects.toThrow()
  await until('it is in flight', () => hasArrived)
  await listening.close()
  await failed
})

test('a surface with a port of its own is 404 on the main one', async () => {
  const direct: Surface = (scope) => {
    scope.get('/direct', (_request, reply) => reply.send('{}'))
  }
  const together = await serve({ main: [echo], direct: [direct] })
  expect(together.addresses.direct).toBe(together.addresses.main)
  expect((await request(`${together.addresses.main}/direct`)).status).toBe(200)
  const port = await freePort()
  const apart = await serve({ main: [echo], direct: [direct] }, testServerDeps(), { directPort: port })
  expect(apart.addresses.direct).toBe(`http://127.0.0.1:${port}`)
  expect((await request(`${apart.addresses.direct}/direct`)).status).toBe(200)
  expect((await request(`${apart.addresses.main}/direct`)).status).toBe(404)
  expect((await request(`${apart.addresses.direct}/echo`, { body: {} })).status).toBe(404)
})

test('HTTPS by files', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'pombo-tls-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const { key, cert } = createSelfSignedCertificate(['localhost', '127.0.0.1'], new Date())
  const tls = { certFile: join(folder, 'cert.pem'), keyFile: join(folder, 'key.pem') }
  await writeFile(tls.certFile, cert)
  await writeFile(tls.keyFile, key)
  const deps = testServerDeps()
  deps.config = { ...deps.config, tls }
  const { addresses } = await serve({ main: [echo] }, deps, { tls })
  expect(addresses.main).toMatch(/^https:/)
  const status = await new Promise((resolve, reject) => {
    https
      .get(`${addresses.main}/nowhere`, { ca: cert }, (answer) => resolve(answer.resume().statusCode))
      .on('error', reject)
  })
  expect(status).toBe(404)
})

test('a request limit per address answers 429', async () => {
  const deps = testServerDeps({
    limits: {
      hasAddressLimit: true,
      admitAddress: () => false,
      admitSender: () => true,
      close: async () => {},
    },
  })
  const { addresses } = await serve({ main: [echo] }, deps)
  const answer = await request(`${addresses.main}/echo`, { body: {} })
  expect([answer.status, answer.headers['retry-after']]).toEqual([429, '1'])
})

test('a scope may take other types of bodies', async () => {
  const budget = createBodyBudget(1000)
  const upload: Surface = (scope) => {
    readRawBodies(scope, { budget, maxBytes: 10, isWanted: (type) => type === 'image/png' })
    scope.post('/upload', async (request, reply) =>
      reply.send(JSON.stringify({ got: takeBody(request).length })),
    )
  }
  const { addresses } = await serve({ main: [upload] }, testServerDeps({ budget }))
  const headers = { 'content-type': 'image/png' }
  expect((await request(`${addresses.main}/upload`, { body: Buffer.alloc(4), headers })).body['got']).toBe(4)
})

async function freePort(): Promise<number> {
  const server = net.createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as net.AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
