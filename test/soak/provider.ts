/**
 * The provider: SMPP and HTTP on loopback, with one memory of what it took and reported. It behaves as its mood is.
 * What it takes it remembers before it answers, so that its word stands against ours.
 */
import http from 'node:http'
import net, { type AddressInfo } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import {
  SmppSession,
  status,
  tags,
  textTlv,
  uint8Tlv,
  type Answer,
  type InboundRequest,
} from '../../src/lib/smpp/index.ts'
import { findMark } from './ledger.ts'
import { createReceipts, type Receipts } from './receipts.ts'
import type { Random } from './random.ts'

/** `hangs`: takes and says nothing. `throttles`: takes nothing, asks for time. `is away`: not there at all. */
export const moods = ['well', 'hangs', 'resets', 'answers garbage', 'throttles', 'lies', 'is away'] as const
export type Mood = (typeof moods)[number]

export type Provider = {
  smppPort: number
  httpPort: number
  taken: Map<string, number>
  reported: Map<string, Set<string>>
  acknowledged: Set<string>
  receipts: Receipts
  setMood(mood: Mood): void
  close(): Promise<void>
}

export async function startProvider(random: Random): Promise<Provider> {
  const taken = new Map<string, number>()
  const reported = new Map<string, Set<string>>()
  const receipts = createReceipts(random, (mark, state) => {
    const states = reported.get(mark) ?? new Set()
    reported.set(mark, states.add(state))
  })
  const sockets = new Set<net.Socket>()
  /** The newest of each account: it gets the receipts of those before it. */
  const sessions = new Map<string, SmppSession>()
  let mood: Mood = 'well'
  let lastId = 0

  const take = (text: string): string | undefined => {
    const mark = findMark(text)
    if (mark !== undefined) taken.set(mark, (taken.get(mark) ?? 0) + 1)
    return mark
  }
  const keep = (socket: net.Socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.once('close', () => sockets.delete(socket))
  }

  /** As over a distance, so that whatever happens finds messages under way. */
  const think = () => wait(random.between(10, 150))

  async function onSubmit(
    pdu: Extract<InboundRequest, { command: 'submit_sm' }>,
    systemId: string,
    socket: net.Socket,
  ): Promise<Answer | undefined> {
    if (mood === 'throttles') return { status: status.ESME_RTHROTTLED }
    const mark = take(Buffer.from(pdu.shortMessage).toString('latin1'))
    const id = `s${++lastId}`
    switch (mood) {
      case 'hangs':
        return undefined
      case 'is away':
      case 'resets':
        socket.resetAndDestroy()
        return undefined
      case 'answers garbage':
        socket.write(Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\nnothing that SMPP knows'))
        return undefined
      case 'lies':
      case 'well': {
        const send = (state: 'delivered' | 'failed', ofId: string) =>
          sendReceipt(sessions.get(systemId)!, ofId, state, pdu.source, pdu.destination)
        if (mark !== undefined) receipts.plan({ mark, id, send, isLying: mood === 'lies' })
        await think()
        return { status: status.ESME_ROK, messageId: id }
      }
    }
  }

  const smpp = net.createServer((socket) => {
    keep(socket)
    if (mood === 'is away') return void socket.destroy()
    let systemId = ''
    // The session reads the socket; it ends by itself when that does.
    void new SmppSession(socket, {
      role: 'server',
      enquireLinkMs: 0,
      onRequest(pdu, session) {
        if (pdu.command === 'submit_sm') return onSubmit(pdu, systemId, socket)
        if (pdu.command === 'bind_transceiver') {
          systemId = pdu.systemId
          sessions.set(systemId, session)
        }
        return { systemId: 'soak' }
      },
    })
  })

  const web = http.createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => void answer(response, Buffer.concat(chunks).toString('utf8')))
  })
  web.on('connection', (socket) => {
    keep(socket)
    if (mood === 'is away') socket.destroy()
  })

  async function answer(response: http.ServerResponse, body: string): Promise<void> {
    if (mood === 'throttles')
      return void response.writeHead(429, { 'retry-after': '1' }).end('{"code":"slow down"}')
    const { text, hook } = JSON.parse(body) as { text: string; hook: string }
    const mark = take(text)
    const id = `h${++lastId}`
    switch (mood) {
      case 'hangs':
        return
      case 'is away':
      case 'resets':
        return void response.socket?.resetAndDestroy()
      case 'answers garbage':
        return void response.writeHead(200).end('<html>It works!</html>')
      case 'lies':
      case 'well':
        if (mark !== undefined)
          receipts.plan({
            mark,
            id,
            send: (state, ofId) => postReceipt(hook, ofId, state),
            isLying: mood === 'lies',
          })
        await think()
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ id }))
    }
  }

  await Promise.all([smpp, web].map((server) => listen(server)))
  return {
    smppPort: (smpp.address() as AddressInfo).port,
    httpPort: (web.address() as AddressInfo).port,
    taken,
    reported,
    acknowledged: receipts.acknowledged,
    receipts,
    setMood(next) {
      // Whoever hung until now learns that there will be no answer; who is away is so at once.
      if (mood === 'hangs' || next === 'is away') for (const socket of sockets) socket.destroy()
      mood = next
    },
    async close() {
      receipts.close()
      for (const socket of sockets) socket.destroy()
      await Promise.all([smpp, web].map((server) => new Promise((done) => server.close(done))))
    },
  }
}

const listen = (server: net.Server) =>
  new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })

/** True when it was taken. A session that is gone takes nothing; the next one of the same line may. */
async function sendReceipt(
  session: SmppSession,
  id: string,
  state: 'delivered' | 'failed',
  from: string,
  to: string,
): Promise<boolean> {
  if (!session.isOpen) return false
  const [code, word] = state === 'delivered' ? ([2, 'DELIVRD'] as const) : ([5, 'UNDELIV'] as const)
  const words = `id:${id} sub:001 dlvrd:001 submit date:2601010000 done date:2601010000 stat:${word} err:000 text:`
  const outcome = await session.request({
    command: 'deliver_sm',
    source: to,
    destination: from,
    esmClass: 0x04,
    shortMessage: Buffer.from(words, 'latin1'),
    tlvs: [textTlv(tags.receiptedMessageId, id), uint8Tlv(tags.messageState, code)],
  })
  return outcome.kind === 'answered' && outcome.isOk
}

async function postReceipt(hook: string, id: string, state: string): Promise<boolean> {
  const response = await fetch(hook, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ id, status: state }),
    signal: AbortSignal.timeout(10_000),
  })
  await response.arrayBuffer()
  return response.ok
}
