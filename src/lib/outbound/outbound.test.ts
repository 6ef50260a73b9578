import { createServer } from 'node:http'
import type { RequestListener } from 'node:http'
import { createServer as createTcpServer } from 'node:net'
import type { AddressInfo, Server as TcpServer, Socket } from 'node:net'
import type { LookupAddress } from 'node:dns'
import { text as readText } from 'node:stream/consumers'
import { afterEach, describe, expect, test } from 'vitest'
import { createOutbound, judgeUrl, OutboundError, readExceptions } from './index.ts'
import type { Outbound, OutboundRequest, Purpose } from './index.ts'
import { guardedLookup } from './lookup.ts'
import type { Resolve } from './lookup.ts'

const closers: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close()
})

async function listen(server: TcpServer): Promise<number> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => sockets.add(socket.on('error', () => {})))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closers.push(() => {
    for (const socket of sockets) socket.destroy()
    return new Promise((resolve) => server.close(resolve))
  })
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it listens on a port
  return (server.address() as AddressInfo).port
}

const serve = (listener: RequestListener): Promise<number> => listen(createServer(listener))

function outboundWith(exceptions: string[] = [], resolve?: Resolve): Outbound {
  const reading = readExceptions(exceptions)
  if (!reading.ok) throw new Error(reading.reason)
  const outbound = createOutbound({ exceptions: reading.exceptions, ...(resolve ? { resolve } : {}) })
  closers.push(() => outbound.close())
  return outbound
}

const get: OutboundRequest = { method: 'GET', timeoutMs: 2000, maxBytes: 1000 }

async function faultOf(asked: Promise<unknown>): Promise<OutboundError> {
  try {
    await asked
  } catch (error) {
    if (error instanceof OutboundError) return error
    throw error
  }
  throw new Error('was not refused')
}

const resolveTo =
  (...answers: string[][]): Resolve =>
  (_, __, callback) => {
    const addresses = answers.length > 1 ? answers.shift()! : answers[0]!
    setImmediate(
      callback,
      null,
      addresses.map((address): LookupAddress => ({ address, family: address.includes(':') ? 6 : 4 })),
    )
  }

const badHosts = [
  '127.0.0.1',
  '127.1',
  '0x7f.1',
  '0x7f000001',
  '2130706433',
  '0177.0.0.1',
  '127.0.0.1.',
  '127。0。0。1',
  '１２７.0.0.1',
  '0',
  '0.0.0.0',
  '10.1.2.3',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.0.1',
  '100.64.0.1',
  '169.254.169.254',
  '168.63.129.16',
  '192.0.0.192',
  '192.0.2.1',
  '192.88.99.1',
  '198.18.0.1',
  '198.51.100.7',
  '203.0.113.9',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
  '[::]',
  '[::1]',
  '[0:0:0:0:0:0:0:1]',
  '[::127.0.0.1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[::ffff:8.8.8.8]',
  '[::ffff:0:127.0.0.1]',
  '[64:ff9b::7f00:1]',
  '[64:ff9b::169.254.169.254]',
  '[64:ff9b:1::1]',
  '[2002:7f00:1::]',
  '[2001:0:7f00:1::]',
  '[2001:db8::1]',
  '[3fff::1]',
  '[fe80::1]',
  '[fec0::1]',
  '[fc00::1]',
  '[fd00:ec2::254]',
  '[ff02::1]',
  '[100::1]',
  '[1::1]',
  'localhost',
  'LOCALHOST',
  'localhost.',
  'a.localhost',
  'a.b.localhost.',
  'ⓛocalhost',
]

describe('judgeUrl, without asking DNS', () => {
  test.each(badHosts)('refuses %s', (host) => {
    expect(judgeUrl(`http://${host}/x`).ok).toBe(false)
    expect(judgeUrl(`https://${host}:8443/x`).ok).toBe(false)
  })
  test.each([
    ['ftp://example.com/', 'http:// or https://'],
    ['file:///etc/passwd', 'http:// or https://'],
    ['javascript:alert(1)', 'http:// or https://'],
    ['http://user@example.com/', 'user name'],
    ['http://user:pass@example.com/', 'user name'],
    ['http://:pass@example.com/', 'user name'],
    ['example.com', 'not a URL'],
    ['http://', 'not a URL'],
    ['', 'not a URL'],
    [`http://example.com/${'a'.repeat(2048)}`, 'longer'],
  ])('refuses %s', (url, part) => {
    expect(judgeUrl(url)).toMatchObject({ ok: false, reason: expect.stringContaining(part) })
  })
  test.each([
    'https://example.com/hook?x=1',
    'http://example.com:8080/',
    'https://8.8.8.8/',
    'https://[2606:4700::1111]/',
    'https://localhost.example.com/',
    'https://notlocalhost/',
  ])('lets %s pass', (url) => expect(judgeUrl(url).ok).toBe(true))
})

describe('exceptions', () => {
  test.each([
    'callbacks=localhost',
    'callbacks=localhost:0',
    'callbacks=:80',
    'mails=localhost:80',
    'localhost:80',
    'files=x:70000',
  ])('refuses %s', (entry) =>
    expect(readExceptions([entry])).toMatchObject({
      ok: false,
      reason: expect.stringContaining(entry),
    }),
  )
  test('are for one purpose, one host and one port', async () => {
    const port = await serve((_, response) => response.end('yes'))
    const other = await serve((_, response) => response.end('no'))
    const outbound = outboundWith([`files=localhost:${port}`, `files=[::1]:${port}`])
    expect((await outbound.fetch('files', `http://LOCALHOST:${port}/`, get)).body.toString()).toBe('yes')
    const refusals: [Purpose, string][] = [
      ['callbacks', `http://localhost:${port}/`],
      ['brokers', `http://localhost:${port}/`],
      ['files', `http://localhost:${other}/`],
      ['files', `http://127.0.0.1:${port}/`],
    ]
    for (const [purpose, url] of refusals)
      expect((await faultOf(outbound.fetch(purpose, url, get))).kind).toBe('refused')
  })
})

const notFound: Resolve = (_, __, callback) =>
  callback(Object.assign(new Error('ENOTFOUND'), { code: 'ENOTFOUND' }), [])

describe('fetch', () => {
  test.each(badHosts)('never connects to %s', async (host) => {
    const fault = await faultOf(outboundWith().fetch('files', `http://${host}/`, get))
    expect(fault).toMatchObject({ kind: 'refused', wasSent: false })
  })

  test.each([
    ['a private address', ['10.0.0.1']],
    ['loopback', ['127.0.0.1']],
    ['mapped loopback', ['::ffff:127.0.0.1']],
    ['a public and a private one', ['93.184.216.34', '192.168.0.1']],
    ['a private and a public one', ['169.254.169.254', '93.184.216.34']],
    ['a public IPv4 and a private IPv6', ['93.184.216.34', 'fd00::1']],
  ])('refuses a name that resolves to %s', async (_, addresses) => {
    const outbound = outboundWith([], resolveTo(addresses))
    const fault = await faultOf(outbound.fetch('callbacks', 'http://rebind.example/', get))
    expect(fault).toMatchObject({ kind: 'refused', wasSent: false })
    expect(
      (await faultOf(outbound.connect('brokers', { host: 'rebind.example', port: 25, timeoutMs: 1000 })))
        .kind,
    ).toBe('refused')
  })

  test('judges the very answer that the socket uses: a name that turns private later is refused then', async () => {
    const asked: string[] = []
    const answers = ['93.184.216.34', '127.0.0.1']
    const lookup = guardedLookup((hostname, _, callback) => {
      asked.push(hostname)
      callback(null, [{ address: answers.shift()!, family: 4 }])
    })
    const ask = (all: boolean) =>
      new Promise((resolve) => lookup('rebind.example', { all }, (error, found) => resolve(error ?? found)))
    expect(await ask(true)).toEqual([{ address: '93.184.216.34', family: 4 }])
    expect(await ask(true)).toMatchObject({ kind: 'refused' })
    expect(asked).toHaveLength(2)
  })

  test('answers both shapes in which Node asks', () => {
    const lookup = guardedLookup((_, __, callback) =>
      callback(null, [{ address: '93.184.216.34', family: 4 }]),
    )
    lookup('a.example', { all: true }, (error, found) =>
      expect([error, found]).toEqual([null, [{ address: '93.184.216.34', family: 4 }]]),
    )
    lookup('a.example', {}, (error, found, family) =>
      expect([error, found, family]).toEqual([null, '93.184.216.34', 4]),
    )
  })

  test('says unreachable when a name has no address, or nobody listens', async () => {
    expect(await faultOf(outboundWith([], notFound).fetch('files', 'http://a.example/', get))).toMatchObject({
      kind: 'unreachable',
      wasSent: false,
    })
    expect(
      await faultOf(outboundWith([], resolveTo([])).fetch('files', 'http://a.example/', get)),
    ).toMatchObject({ kind: 'unreachable' })
    const port = await serve(() => {})
    await closers.pop()!()
    const refused = outboundWith([`files=127.0.0.1:${port}`]).fetch('files', `http://127.0.0.1:${port}/`, get)
    expect(await faultOf(refused)).toMatchObject({ kind: 'unreachable', wasSent: false })
  })

  test('sends method, headers and body, and reads status, headers and body', async () => {
    const port = await serve((request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        response.writeHead(418, { 'X-Seen': String(request.headers['x-given']) })
        response.end(`${request.method} ${request.url} ${Buffer.concat(chunks).toString()}`)
      })
    })
    const outbound = outboundWith([`callbacks=127.0.0.1:${port}`])
    const answer = await outbound.fetch('callbacks', `http://127.0.0.1:${port}/a?b=1`, {
      ...get,
      method: 'POST',
      headers: { 'X-Given': 'é'.normalize('NFKD')[0]! },
      body: '{"a":1}',
    })
    expect({ ...answer, headers: answer.headers['x-seen'] }).toEqual({
      status: 418,
      headers: 'e',
      body: Buffer.from('POST /a?b=1 {"a":1}'),
    })
  })

  test('sends a form as multipart', async () => {
    const port = await serve((request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () =>
        response.end(`${request.headers['content-type']}\n${Buffer.concat(chunks).toString('latin1')}`),
      )
    })
    const form = new FormData()
    form.set('type', 'image/png')
    form.set('file', new Blob([Buffer.from('bytes')], { type: 'image/png' }), 'a.png')
    const answer = await outboundWith([`brokers=127.0.0.1:${port}`]).fetch(
      'brokers',
      `http://127.0.0.1:${port}/`,
      { ...get, method: 'POST', body: form },
    )
    expect(answer.body.toString()).toMatch(/^multipart\/form-data; boundary=/)
    expect(answer.body.toString()).toContain('filename="a.png"')
  })

  test('ends a body that is announced too large, and one that grows too large', async () => {
    const port = await serve((request, response) => {
      if (request.url === '/announced')
        return response.writeHead(200, { 'content-length': '5000' }).end(Buffer.alloc(5000))
      const grow = (): void =>
        void (response.destroyed || response.write(Buffer.alloc(400), () => setImmediate(grow)))
      return grow()
    })
    const outbound = outboundWith([`files=127.0.0.1:${port}`])
    for (const path of ['announced', 'growing']) {
      expect((await faultOf(outbound.fetch('files', `http://127.0.0.1:${port}/${path}`, get))).kind).toBe(
        'too_large',
      )
    }
    expect(
      (await outbound.fetch('files', `http://127.0.0.1:${port}/announced`, { ...get, maxBytes: 5000 })).body,
    ).toHaveLength(5000)
  })

  test('bounds the whole time: no answer, headers that stall, a body that drips', async () => {
    const port = await serve((request, response) => {
      if (request.url === '/silent') return
      response.writeHead(200)
      response.write('a')
      if (request.url === '/stalled') return
      const drip = (): void => void (response.destroyed || (response.write('a'), setTimeout(drip, 20)))
      drip()
    })
    const outbound = outboundWith([`files=127.0.0.1:${port}`])
    for (const path of ['silent', 'stalled', 'dripping']) {
      const fault = await faultOf(
        outbound.fetch('files', `http://127.0.0.1:${port}/${path}`, { ...get, timeoutMs: 120 }),
      )
      expect(fault).toMatchObject({ kind: 'timed_out', wasSent: true })
    }
  })

  test('bounds a resolver that never answers, and keeps every byte back', async () => {
    const fault = await faultOf(
      outboundWith([], () => {}).fetch('files', 'http://a.example/', { ...get, timeoutMs: 50 }),
    )
    expect(fault).toMatchObject({ kind: 'timed_out', wasSent: false })
  })

  test('tells a connection cut after the request from one that never stood', async () => {
    const port = await listen(createTcpServer((socket) => socket.once('data', () => socket.destroy())))
    const outbound = outboundWith([`callbacks=127.0.0.1:${port}`])
    const fault = await faultOf(
      outbound.fetch('callbacks', `http://127.0.0.1:${port}/`, { ...get, method: 'POST', body: 'x' }),
    )
    expect(fault).toMatchObject({ kind: 'cut', wasSent: true })
  })

  test('says cut when the answer is not HTTP', async () => {
    const port = await listen(
      createTcpServer((socket) => socket.on('error', () => {}).end('220 mail.example ESMTP\r\n')),
    )
    const fault = await faultOf(
      outboundWith([`callbacks=127.0.0.1:${port}`]).fetch('callbacks', `http://127.0.0.1:${port}/`, get),
    )
    expect(fault.kind).toBe('cut')
  })
})

async function redirecting(): Promise<{
  port: number
  seen: { url: string; authorization: string | undefined }[]
}> {
  const seen: { url: string; authorization: string | undefined }[] = []
  const port = await serve((request, response) => {
    seen.push({ url: request.url!, authorization: request.headers.authorization })
    const [, kind, count] = /^\/(\w+)\/?(.*)$/.exec(request.url!)!
    if (kind === 'hop' && Number(count) > 0)
      return response.writeHead(302, { location: `/hop/${Number(count) - 1}` }).end()
    if (kind === 'to') return response.writeHead(307, { location: decodeURIComponent(count!) }).end()
    return response.end('arrived')
  })
  return { port, seen }
}

describe('redirects', () => {
  test('files: three are followed, the fourth is not, and credentials stay with the first host', async () => {
    const { port, seen } = await redirecting()
    const outbound = outboundWith([`files=127.0.0.1:${port}`])
    const ask = (hops: number) =>
      outbound.fetch('files', `http://127.0.0.1:${port}/hop/${hops}`, {
        ...get,
        headers: { Authorization: 'Bearer x' },
      })
    expect((await ask(3)).body.toString()).toBe('arrived')
    expect(seen.map(({ authorization }) => authorization)).toEqual([
      'Bearer x',
      undefined,
      undefined,
      undefined,
    ])
    expect((await faultOf(ask(4))).kind).toBe('too_many_redirects')
  })

  test.each([
    'http://169.254.169.254/latest',
    'http://127.0.0.1:1/',
    'http://[::ffff:127.0.0.1]/',
    'http://localhost/',
    'file:///etc/passwd',
    'ftp://a.example/',
    'http://u:p@a.example/',
    'http://0x7f.1/',
    '//2130706433/',
  ])('files: one to %s is refused', async (target) => {
    const { port, seen } = await redirecting()
    const outbound = outboundWith([`files=127.0.0.1:${port}`])
    const fault = await faultOf(
      outbound.fetch('files', `http://127.0.0.1:${port}/to/${encodeURIComponent(target)}`, get),
    )
    expect(fault.kind).toBe('refused')
    expect(seen).toHaveLength(1)
  })

  test('callbacks and brokers get the redirect itself; nothing but GET and HEAD is ever followed', async () => {
    const { port, seen } = await redirecting()
    const outbound = outboundWith([
      `callbacks=127.0.0.1:${port}`,
      `brokers=127.0.0.1:${port}`,
      `files=127.0.0.1:${port}`,
    ])
    for (const purpose of ['callbacks', 'brokers'] as const) {
      expect((await outbound.fetch(purpose, `http://127.0.0.1:${port}/hop/1`, get)).status).toBe(302)
    }
    expect(
      (await outbound.fetch('files', `http://127.0.0.1:${port}/hop/1`, { ...get, method: 'POST', body: 'x' }))
        .status,
    ).toBe(302)
    expect(seen).toHaveLength(3)
  })
})

describe('connect', () => {
  test('opens a socket to an excepted host and refuses all others', async () => {
    const port = await listen(createTcpServer((socket) => socket.end('hello')))
    const outbound = outboundWith([`brokers=localhost:${port}`])
    const socket = await outbound.connect('brokers', { host: 'localhost', port, timeoutMs: 1000 })
    expect(await readText(socket)).toBe('hello')
    for (const host of ['127.0.0.1', '::1', 'localhost.', '0x7f.1']) {
      const asked = outbound.connect('brokers', {
        host,
        port: host === 'localhost.' ? port + 1 : port,
        timeoutMs: 1000,
      })
      expect((await faultOf(asked)).kind).toBe('refused')
    }
  })

  test('bounds a TLS handshake that never ends, and names a peer without TLS', async () => {
    const silent = await listen(createTcpServer())
    const talking = await listen(createTcpServer((socket) => void socket.write('220 not TLS\r\n')))
    const ports = [silent, talking]
    const outbound = outboundWith(ports.map((port) => `brokers=127.0.0.1:${port}`))
    const ask = (port: number) =>
      outbound.connect('brokers', {
        host: '127.0.0.1',
        port,
        timeoutMs: 100,
        tls: { canBeUnverified: false },
      })
    expect((await faultOf(ask(silent))).kind).toBe('timed_out')
    expect((await faultOf(ask(talking))).kind).toBe('untrusted')
  })
})
