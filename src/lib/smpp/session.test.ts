import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { Server, Socket } from 'node:net'
import * as fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import { connectSmpp } from './client.ts'
import { encodePdu } from './encode.ts'
import { decodePdu } from './decode.ts'
import type { Pdu } from './pdu.ts'
import { listenSmpp } from './server.ts'
import type { SmppServer } from './server.ts'
import { describeOutcome, SmppSession } from './session.ts'
import type { Answer, InboundRequest, RequestOutcome, SessionOptions } from './session.ts'
import { status } from './status.ts'
import { PduStream } from './stream.ts'
import { tags } from './tlv.ts'

const cleanups: (() => void | Promise<void>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup()
})

type Options = Omit<SessionOptions, 'role'>
const quiet = { enquireLinkMs: 0 }
const acceptAll = (pdu: InboundRequest): Answer => ({ messageId: `id-${pdu.sequence}`, systemId: 'smsc' })

async function serve(options: Options = {}): Promise<SmppServer> {
  const server = await listenSmpp(
    { host: '127.0.0.1', port: 0 },
    { ...quiet, onRequest: acceptAll, ...options },
  )
  cleanups.push(() => server.close())
  return server
}

async function join(port: number, options: Options = {}): Promise<SmppSession> {
  const session = await connectSmpp({ host: '127.0.0.1', port }, { ...quiet, ...options })
  cleanups.push(() => session.destroy('test over'))
  return session
}

async function bound(server: SmppServer, options: Options = {}): Promise<SmppSession> {
  const session = await join(server.port, options)
  expect(await session.request({ command: 'bind_transceiver', systemId: 'esme' })).toMatchObject({
    isOk: true,
  })
  return session
}

/** A peer without a session, to do what a session never would. */
class RawPeer {
  readonly socket: Socket
  readonly #stream = new PduStream()
  readonly #units: Pdu[] = []
  #wake = () => {}

  constructor(socket: Socket) {
    this.socket = socket
    socket.on('error', () => {})
    socket.on('close', () => this.#wake())
    socket.on('data', (chunk: Buffer) => {
      for (const unit of this.#stream.push(chunk).units) {
        const decoded = decodePdu(unit)
        if (decoded.ok) this.#units.push(decoded.pdu)
      }
      this.#wake()
    })
    cleanups.push(() => void socket.destroy())
  }

  async next(): Promise<Pdu | undefined> {
    while (this.#units.length === 0 && !this.socket.closed) {
      await new Promise<void>((resolve) => (this.#wake = resolve))
    }
    return this.#units.shift()
  }
}

async function rawClient(port: number): Promise<RawPeer> {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  return new RawPeer(socket)
}

/** A session towards a raw server. */
async function rawServer(options: Options = {}): Promise<{ session: SmppSession; peer: RawPeer }> {
  const server: Server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  cleanups.push(() => void server.close())
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const accepted = new Promise<Socket>((resolve) => server.once('connection', resolve))
  const session = await join(port, options)
  return { session, peer: new RawPeer(await accepted) }
}

describe('requests and answers', () => {
  test('bind, submit and be delivered to', async () => {
    const seen: InboundRequest[] = []
    const server = await serve({ onRequest: (pdu) => (seen.push(pdu), acceptAll(pdu)) })
    const received: InboundRequest[] = []
    const session = await bound(server, {
      onRequest: async (pdu) => {
        received.push(pdu)
        return {}
      },
    })
    expect(session.bind).toBe('transceiver')
    const submitted = await session.request({
      command: 'submit_sm',
      destination: '5531996883193',
      shortMessage: Buffer.from('hi'),
    })
    expect(submitted).toMatchObject({ kind: 'answered', isOk: true, pdu: { messageId: 'id-2' } })
    expect(seen[1]).toMatchObject({ command: 'submit_sm', destination: '5531996883193' })
    const [serverSide] = server.sessions
    expect(serverSide!.bind).toBe('transceiver')
    const delivered = await serverSide!.request({
      command: 'deliver_sm',
      source: '5531996883193',
      esmClass: 4,
    })
    expect(delivered).toMatchObject({ kind: 'answered', isOk: true, pdu: { command: 'deliver_sm_resp' } })
    expect(received).toMatchObject([{ command: 'deliver_sm', source: '5531996883193' }])
  })

  test('answers find their request in any order', async () => {
    const { session, peer } = await rawServer()
    const outcomes = ['a', 'b', 'c'].map((destination) =>
      session.request({ command: 'submit_sm', destination }),
    )
    const requests = [await peer.next(), await peer.next(), await peer.next()]
    for (const request of requests.toReversed()) {
      const { sequence } = request!
      peer.socket.write(encodePdu({ command: 'submit_sm_resp', sequence, messageId: `m${sequence}` }))
    }
    expect(await Promise.all(outcomes)).toMatchObject([1, 2, 3].map((n) => ({ pdu: { messageId: `m${n}` } })))
    expect(session.pendingCount).toBe(0)
  })

  test('a refusal, a nack and an answer that cannot be read', async () => {
    const { session, peer } = await rawServer()
    const refused = session.request({ command: 'submit_sm' })
    const nacked = session.request({ command: 'submit_sm' })
    const unreadable = session.request({ command: 'submit_sm' })
    for (let n = 0; n < 3; n++) await peer.next()
    const garbled = encodePdu({ command: 'submit_sm_resp', sequence: 3, messageId: 'x' })
    garbled[garbled.length - 1] = 0x41
    peer.socket.write(
      Buffer.concat([
        encodePdu({ command: 'submit_sm_resp', sequence: 1, status: status.ESME_RTHROTTLED }),
        encodePdu({ command: 'generic_nack', sequence: 2, status: status.ESME_RINVCMDID }),
        garbled,
      ]),
    )
    expect(await refused).toMatchObject({ kind: 'answered', isOk: false, pdu: { status: 0x58 } })
    expect(describeOutcome(await refused)).toBe('ESME_RTHROTTLED')
    expect(await nacked).toMatchObject({ kind: 'answered', isOk: false, pdu: { command: 'generic_nack' } })
    expect(await unreadable).toEqual({ kind: 'lost', reason: 'unreadable', isSent: true })
  })

  test('no answer in time, and the one that comes late', async () => {
    const unmatched: Pdu[] = []
    const { session, peer } = await rawServer({
      responseTimeoutMs: 20,
      onUnmatched: (pdu) => unmatched.push(pdu),
    })
    const outcome = await session.request({ command: 'submit_sm' })
    expect(outcome).toEqual({ kind: 'lost', reason: 'timeout', isSent: true })
    expect(describeOutcome(outcome)).toBe('lost: timeout')
    peer.socket.write(encodePdu({ command: 'submit_sm_resp', sequence: 1, messageId: 'late' }))
    await expect.poll(() => unmatched).toMatchObject([{ messageId: 'late' }])
  })

  test('an answer of another kind settles nothing', async () => {
    const unmatched: Pdu[] = []
    const { session, peer } = await rawServer({ onUnmatched: (pdu) => unmatched.push(pdu) })
    const outcome = session.request({ command: 'submit_sm' })
    peer.socket.write(encodePdu({ command: 'enquire_link_resp', sequence: 1 }))
    await expect.poll(() => unmatched).toHaveLength(1)
    expect(session.pendingCount).toBe(1)
    peer.socket.write(encodePdu({ command: 'submit_sm_resp', sequence: 1, messageId: 'x' }))
    expect(await outcome).toMatchObject({ isOk: true })
  })

  test('a value that does not fit is thrown, and the session goes on', async () => {
    const session = await bound(await serve())
    expect(() => session.request({ command: 'submit_sm', shortMessage: new Uint8Array(255) })).toThrow(
      RangeError,
    )
    expect(session.pendingCount).toBe(0)
    expect(await session.request({ command: 'submit_sm' })).toMatchObject({ isOk: true })
  })

  test('units go out together', async () => {
    const { session, peer } = await rawServer()
    const chunks: number[] = []
    peer.socket.on('data', (chunk: Buffer) => chunks.push(chunk.length))
    for (let n = 0; n < 100; n++) void session.request({ command: 'enquire_link' })
    for (let n = 0; n < 100; n++) await peer.next()
    // One write; the network may still deliver it in two.
    expect(chunks.length).toBeLessThanOrEqual(2)
  })
})

describe('limits', () => {
  test('numbers start again at one after the last', async () => {
    const { session, peer } = await rawServer({ firstSequence: 0x7fff_fffe })
    const sent: number[] = []
    for (let n = 0; n < 4; n++) {
      void session.request({ command: 'enquire_link' })
      sent.push((await peer.next())!.sequence)
    }
    expect(sent).toEqual([0x7fff_fffe, 0x7fff_ffff, 1, 2])
  })

  test('requests past what a slow peer leaves waiting are lost unsent', async () => {
    const { session, peer } = await rawServer({ maxQueuedBytes: 100_000 })
    peer.socket.pause()
    const lost: RequestOutcome[] = []
    const big = { tag: tags.messagePayload, value: Buffer.alloc(60_000) }
    await expect
      .poll(
        () => {
          void session.request({ command: 'data_sm', tlvs: [big] }).then((outcome) => lost.push(outcome))
          return lost.length
        },
        { interval: 1, timeout: 5_000 },
      )
      .toBeGreaterThan(0)
    expect(session.isCongested).toBe(true)
    expect(session.isOpen).toBe(true)
    expect(lost[0]).toEqual({ kind: 'lost', reason: 'congested', isSent: false })
    peer.socket.resume()
    await expect.poll(() => session.isCongested).toBe(false)
  })
})

describe('what the peer asks', () => {
  test('enquire_link is answered, also before a bind', async () => {
    const server = await serve()
    const peer = await rawClient(server.port)
    peer.socket.write(encodePdu({ command: 'enquire_link', sequence: 77 }))
    expect(await peer.next()).toEqual({ command: 'enquire_link_resp', status: 0, sequence: 77 })
  })

  test('unbind is answered and ends the session', async () => {
    const server = await serve()
    const session = await bound(server)
    const [serverSide] = server.sessions
    await session.unbind()
    expect(await session.closed).toBe('unbound')
    expect(await serverSide!.closed).toBe('the peer unbound')
    expect(session.isOpen).toBe(false)
    expect(server.sessions.size).toBe(0)
    await session.unbind()
  })

  test('work without the right bind is refused', async () => {
    const server = await serve()
    const session = await join(server.port)
    expect(await session.request({ command: 'submit_sm' })).toMatchObject({
      pdu: { status: status.ESME_RINVBNDSTS },
    })
    await session.request({ command: 'bind_receiver' })
    expect(session.bind).toBe('receiver')
    expect(await session.request({ command: 'submit_sm' })).toMatchObject({
      pdu: { status: status.ESME_RINVBNDSTS },
    })
    expect(await session.request({ command: 'bind_transceiver' })).toMatchObject({
      pdu: { command: 'bind_transceiver_resp', status: status.ESME_RALYBND },
    })
  })

  test('a refused bind leaves it unbound, and it may try again', async () => {
    const server = await serve({
      onRequest: (pdu) =>
        'password' in pdu && pdu.password !== 'good' ? { status: status.ESME_RINVPASWD } : acceptAll(pdu),
    })
    const session = await join(server.port)
    expect(await session.request({ command: 'bind_transceiver', password: 'bad' })).toMatchObject({
      isOk: false,
      pdu: { status: status.ESME_RINVPASWD },
    })
    expect(session.bind).toBeUndefined()
    expect(await session.request({ command: 'bind_transceiver', password: 'good' })).toMatchObject({
      isOk: true,
    })
  })

  test('a handler that fails is answered with a system error', async () => {
    const faults: unknown[] = []
    const failures = [
      () => {
        throw new Error('at once')
      },
      () => Promise.reject(new Error('later')),
      () => ({ messageId: '€' }),
    ]
    const server = await serve({
      onFault: (error) => faults.push(error),
      onRequest: (pdu) => (pdu.command === 'submit_sm' ? failures.shift()!() : {}),
    })
    const session = await bound(server)
    for (let n = 0; n < 3; n++) {
      expect(await session.request({ command: 'submit_sm' })).toMatchObject({
        pdu: { status: status.ESME_RSYSERR },
      })
    }
    expect(faults.map(String)).toEqual([
      'Error: at once',
      'Error: later',
      'RangeError: message_id has a character that is no octet',
    ])
  })

  test('a handler may leave a request without answer', async () => {
    const server = await serve({ onRequest: (pdu) => (pdu.command === 'submit_sm' ? undefined : {}) })
    const session = await bound(server)
    expect(await session.request({ command: 'submit_sm' }, 20)).toMatchObject({
      kind: 'lost',
      reason: 'timeout',
    })
  })

  test('more than can be worked on is throttled', async () => {
    const releases: (() => void)[] = []
    const server = await serve({
      maxInbound: 2,
      onRequest: (pdu) =>
        pdu.command === 'submit_sm' ? new Promise<Answer>((resolve) => releases.push(() => resolve({}))) : {},
    })
    const session = await bound(server)
    const outcomes = [1, 2, 3].map(() => session.request({ command: 'submit_sm' }))
    expect(await outcomes[2]).toMatchObject({ pdu: { status: status.ESME_RTHROTTLED } })
    for (const release of releases) release()
    expect(await Promise.all(outcomes.slice(0, 2))).toMatchObject([{ isOk: true }, { isOk: true }])
  })

  test('who does not bind is hung up on', async () => {
    const server = await serve({ bindTimeoutMs: 20 })
    const session = await join(server.port)
    expect(await session.closed).toBe('the peer hung up')
  })
})

describe('a peer that speaks nonsense', () => {
  test('unknown and cut-off units are refused one by one', async () => {
    const server = await serve()
    const peer = await rawClient(server.port)
    const unknown = encodePdu({ command: 'enquire_link', sequence: 5 })
    unknown.writeUInt32BE(0x21, 4)
    const cutOff = encodePdu({ command: 'bind_transceiver', sequence: 6, systemId: 'x' }).subarray(0, 18)
    cutOff.writeUInt32BE(18)
    peer.socket.write(Buffer.concat([unknown, cutOff, encodePdu({ command: 'enquire_link', sequence: 7 })]))
    expect(await peer.next()).toEqual({ command: 'generic_nack', status: status.ESME_RINVCMDID, sequence: 5 })
    expect(await peer.next()).toEqual({
      command: 'generic_nack',
      status: status.ESME_RINVCMDLEN,
      sequence: 6,
    })
    expect(await peer.next()).toEqual({ command: 'enquire_link_resp', status: 0, sequence: 7 })
  })

  test('an impossible length ends the session', async () => {
    const server = await serve()
    const peer = await rawClient(server.port)
    peer.socket.write('GET / HTTP/1.1\r\nHost: example.com\r\n\r\n')
    expect(await peer.next()).toMatchObject({ command: 'generic_nack', status: status.ESME_RINVCMDLEN })
    expect(await peer.next()).toBeUndefined()
    await expect.poll(() => server.sessions.size).toBe(0)
  })

  test('any garbage leaves the server serving', async () => {
    const server = await serve({ closeTimeoutMs: 50 })
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 200 }), async (garbage) => {
        const peer = await rawClient(server.port)
        peer.socket.end(garbage)
        while ((await peer.next()) !== undefined);
      }),
      { numRuns: 30 },
    )
    expect(await (await bound(server)).request({ command: 'submit_sm' })).toMatchObject({ isOk: true })
  })

  test('one that asks and never reads is cut off', async () => {
    const server = await serve({ maxQueuedBytes: 1_000 })
    const peer = await rawClient(server.port)
    peer.socket.pause()
    await expect.poll(() => server.sessions.size).toBe(1)
    const [serverSide] = server.sessions
    const flood = Buffer.concat(Array.from({ length: 1_000 }, () => encodePdu({ command: 'enquire_link' })))
    const pump = () => {
      while (!peer.socket.destroyed && peer.socket.write(flood));
    }
    peer.socket.on('drain', pump)
    pump()
    expect(await serverSide!.closed).toBe('the peer does not read')
  })
})

describe('the end of a connection', () => {
  test('a cut settles every request', async () => {
    const { session, peer } = await rawServer()
    const outcomes = Array.from({ length: 50 }, () => session.request({ command: 'submit_sm' }))
    for (let n = 0; n < 50; n++) await peer.next()
    const unsent = session.request({ command: 'submit_sm' })
    session.destroy('cut')
    const settled = await Promise.all(outcomes)
    expect(settled).toEqual(outcomes.map(() => ({ kind: 'lost', reason: 'closed', isSent: true })))
    expect(await unsent).toEqual({ kind: 'lost', reason: 'closed', isSent: false })
    expect(await session.closed).toBe('cut')
    expect(await session.request({ command: 'submit_sm' })).toEqual({
      kind: 'lost',
      reason: 'closed',
      isSent: false,
    })
    expect(session.pendingCount).toBe(0)
  })

  test.each(['destroy', 'resetAndDestroy', 'end'] as const)('the peer leaves by %s', async (way) => {
    const { session, peer } = await rawServer()
    const outcome = session.request({ command: 'submit_sm' })
    await peer.next()
    peer.socket[way]()
    expect(await outcome).toEqual({ kind: 'lost', reason: 'closed', isSent: true })
    expect(await session.closed).toMatch(/hung up|ECONNRESET/)
  })

  test('a peer that ignores an unbind is hung up on', async () => {
    const { session, peer } = await rawServer({ responseTimeoutMs: 20, closeTimeoutMs: 20 })
    peer.socket.allowHalfOpen = true
    await session.unbind()
    expect(await session.closed).toBe('unbound')
  })

  test('a silent peer is asked, and cut off after two silences', async () => {
    const { session, peer } = await rawServer({ enquireLinkMs: 20, responseTimeoutMs: 20 })
    expect(await peer.next()).toMatchObject({ command: 'enquire_link' })
    expect(await peer.next()).toMatchObject({ command: 'enquire_link' })
    expect(await session.closed).toBe('no answer to enquire_link')
  })

  test('a peer that answers enquire_link is kept', async () => {
    const { session, peer } = await rawServer({ enquireLinkMs: 10, responseTimeoutMs: 1_000 })
    for (let n = 0; n < 4; n++) {
      const asked = await peer.next()
      expect(asked).toMatchObject({ command: 'enquire_link' })
      peer.socket.write(encodePdu({ command: 'enquire_link_resp', sequence: asked!.sequence }))
    }
    expect(session.isOpen).toBe(true)
  })

  test('no connection is a fault that says so', async () => {
    const server = await serve()
    await server.close()
    await expect(connectSmpp({ host: '127.0.0.1', port: server.port })).rejects.toThrow('ECONNREFUSED')
    await expect(
      connectSmpp({ host: '127.0.0.1', port: server.port, signal: AbortSignal.abort(new Error('stopping')) }),
    ).rejects.toThrow('stopping')
  })
})

test('passwords do not reach a trace', async () => {
  const traced: unknown[] = []
  const trace = (_: unknown, pdu: unknown) => traced.push(pdu)
  const session = await join((await serve({ trace })).port, { trace })
  await session.request({ command: 'bind_transceiver', systemId: 'me', password: 'secret1' })
  expect(traced).toHaveLength(4)
  expect(JSON.stringify(traced)).not.toContain('secret1')
})
