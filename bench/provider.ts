/**
 * A lean SMPP provider in a process of its own: answers submit_sm at once and, when asked to, reports twice on every
 * message. It says over a second port what it has done.
 *
 * Both receipts must change something, or the first would cost next to nothing (an ENROUTE of a message that counts
 * as sent already is no news): so the first says EXPIRED and the second, later one corrects it to DELIVRD.
 */
import { createServer, type Socket } from 'node:net'
import {
  listenSmpp,
  status,
  tags,
  textTlv,
  uint8Tlv,
  type PduInput,
  type SmppSession,
} from '../src/lib/smpp/index.ts'
import { formatCounts, tellEveryMs, type ProviderCounts } from './done-watch.ts'

const receiptsPerMessage = process.argv[2] === 'receipts' ? 2 : 0

/** As a provider with little to do: well after the answer, and the two far apart. */
const receiptDelaysMs = [300, 600]
/** deliver_sm that wait for their answer; the rest queues here. */
const receiptWindow = 1_000

const counts: ProviderCounts = { submitted: 0, receipts: 0, refused: 0, done: 0, bound: 0 }

type Receipt = { session: SmppSession; id: string; from: string; to: string; isLast: boolean; dueAt: number }

/** In the order in which they are due: every queue has one delay. */
const waiting: Receipt[][] = receiptDelaysMs.map(() => [])
const heads = receiptDelaysMs.map(() => 0)

function receiptPdu({ id, from, to, isLast }: Receipt): PduInput<'deliver_sm'> {
  const [state, name, delivered, error] = isLast
    ? ([2, 'DELIVRD', '001', '000'] as const)
    : ([3, 'EXPIRED', '000', '001'] as const)
  const words = `id:${id} sub:001 dlvrd:${delivered} submit date:2601010000 done date:2601010000 stat:${name} err:${error} text:`
  return {
    command: 'deliver_sm',
    source: to,
    sourceTon: 1,
    sourceNpi: 1,
    destination: from,
    destinationTon: 1,
    destinationNpi: 1,
    esmClass: 0x04,
    shortMessage: Buffer.from(words, 'latin1'),
    tlvs: [textTlv(tags.receiptedMessageId, id), uint8Tlv(tags.messageState, state)],
  }
}

async function deliver(receipt: Receipt): Promise<void> {
  const outcome = await receipt.session.request(receiptPdu(receipt))
  if (outcome.kind === 'answered' && outcome.isOk) {
    counts.receipts++
    if (receipt.isLast) counts.done++
    return
  }
  counts.refused++
  if (receipt.session.isOpen)
    waiting[receipt.isLast ? 1 : 0]!.push({ ...receipt, dueAt: performance.now() + receiptDelaysMs[0]! })
}

function deliverDue(): void {
  const now = performance.now()
  for (const [place, queue] of waiting.entries()) {
    let head = heads[place]!
    while (head < queue.length && queue[head]!.dueAt <= now) {
      const receipt = queue[head]!
      if (receipt.session.pendingCount >= receiptWindow) break
      head++
      void deliver(receipt)
    }
    // Cut off now and then: shifting every one of thousands would cost more than the receipts.
    if (head > 10_000) queue.splice(0, head)
    heads[place] = head > 10_000 ? 0 : head
  }
}

const server = await listenSmpp(
  { host: '127.0.0.1', port: 0 },
  {
    enquireLinkMs: 0,
    onRequest(pdu, session) {
      if (pdu.command !== 'submit_sm') return { systemId: 'bench' }
      const id = String(++counts.submitted)
      if (receiptsPerMessage === 0) counts.done++
      else {
        const now = performance.now()
        for (const [place, delay] of receiptDelaysMs.entries())
          waiting[place]!.push({
            session,
            id,
            from: pdu.source,
            to: pdu.destination,
            isLast: place === receiptDelaysMs.length - 1,
            dueAt: now + delay,
          })
      }
      return { status: status.ESME_ROK, messageId: id }
    },
  },
)
if (receiptsPerMessage > 0) setInterval(deliverDue, 5)

const listeners = new Set<Socket>()
const telling = createServer((socket) => {
  listeners.add(socket)
  socket.on('error', () => {})
  socket.on('close', () => listeners.delete(socket))
})
setInterval(() => {
  counts.bound = [...server.sessions].filter((session) => session.bind !== undefined).length
  const line = formatCounts(counts)
  for (const socket of listeners) socket.write(line)
}, tellEveryMs)
telling.listen(0, '127.0.0.1', () => {
  const address = telling.address()
  const countsPort = typeof address === 'object' ? address?.port : 0
  process.stdout.write(`${JSON.stringify({ port: server.port, countsPort })}\n`)
})
// Whoever started us is gone.
process.stdin.resume().on('end', () => process.exit(0))
process.on('SIGTERM', () => process.exit(0))
