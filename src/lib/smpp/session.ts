/**
 * One SMPP connection, of a client or of a server: numbering, waiting for answers, keep-alive and the closing
 * handshake. How many requests are under way at a time is the caller's affair. Every request settles, once, whatever
 * becomes of the connection.
 */
import type { Socket } from 'node:net'
import { decodePdu } from './decode.ts'
import { Outbox } from './outbox.ts'
import { isAnswer, isAnswerId } from './pdu.ts'
import type { AnswerCommand, Pdu, PduInput, RequestCommand } from './pdu.ts'
import { status, statusName } from './status.ts'
import { PduStream } from './stream.ts'
import type { Tlv } from './tlv.ts'

export type SmppRequest = Pdu<RequestCommand>
export type SmppAnswer = Pdu<AnswerCommand>
/** What the other side asks of us; the session itself answers enquire_link and unbind. */
export type InboundRequest = Pdu<Exclude<RequestCommand, 'enquire_link' | 'unbind'>>
/** What to answer: fields that the answer does not have are ignored. */
export type Answer = { status?: number; messageId?: string; systemId?: string; tlvs?: Tlv[] }

export type RequestOutcome =
  | { kind: 'answered'; pdu: SmppAnswer; isOk: boolean }
  /** No answer will come. `isSent` false: the peer never saw it; true: it may have acted on it. */
  | { kind: 'lost'; reason: 'timeout' | 'closed' | 'unreadable' | 'congested'; isSent: boolean }

export type SessionOptions = {
  role: 'client' | 'server'
  /** Undefined leaves the request without an answer. A throw is answered ESME_RSYSERR and told to `onFault`. */
  onRequest?: (pdu: InboundRequest, session: SmppSession) => Answer | undefined | Promise<Answer | undefined>
  /** An answer to nothing that waits: late, repeated or of another kind than the request. */
  onUnmatched?: (pdu: SmppAnswer) => void
  onFault?: (error: unknown) => void
  /** Every unit, both ways; passwords are masked. */
  trace?: (direction: 'in' | 'out', pdu: Pdu | PduInput) => void
  responseTimeoutMs?: number
  /** Sent when nothing came in for so long; two in a row without an answer end the session. 0: never. */
  enquireLinkMs?: number
  /** A server hangs up on who has not bound by then. */
  bindTimeoutMs?: number
  /** How long the peer may take to hang up after an unbind. */
  closeTimeoutMs?: number
  maxPduBytes?: number
  firstSequence?: number
  /** Requests of the peer being worked on; those past it are answered ESME_RTHROTTLED. */
  maxInbound?: number
  /** Octets waiting for the peer to read. Past it requests are lost unsent, past twice it the session ends. */
  maxQueuedBytes?: number
}

export type BindKind = 'receiver' | 'transmitter' | 'transceiver'

type Pending = {
  command: RequestCommand
  settle: (outcome: RequestOutcome) => void
  timer: NodeJS.Timeout
  batch: number
}

const maxSequence = 0x7fff_ffff
const missedLinksAllowed = 2

const answerTo = {
  bind_receiver: 'bind_receiver_resp',
  bind_transmitter: 'bind_transmitter_resp',
  bind_transceiver: 'bind_transceiver_resp',
  submit_sm: 'submit_sm_resp',
  deliver_sm: 'deliver_sm_resp',
  data_sm: 'data_sm_resp',
  unbind: 'unbind_resp',
  enquire_link: 'enquire_link_resp',
} as const satisfies Record<RequestCommand, AnswerCommand>

const bindKinds: ReadonlyMap<RequestCommand, BindKind> = new Map([
  ['bind_receiver', 'receiver'],
  ['bind_transmitter', 'transmitter'],
  ['bind_transceiver', 'transceiver'],
])

const withoutPassword = <P extends object>(pdu: P): P =>
  'password' in pdu ? { ...pdu, password: '***' } : pdu

export class SmppSession {
  /** Resolves, with the reason, when the connection is gone and every request has settled. */
  readonly closed: Promise<string>
  readonly remoteAddress: string
  readonly #socket: Socket
  readonly #options: SessionOptions
  readonly #responseTimeoutMs: number
  readonly #maxQueuedBytes: number
  readonly #maxInbound: number
  readonly #stream: PduStream
  readonly #outbox: Outbox
  readonly #pending = new Map<number, Pending>()
  readonly #resolveClosed: (reason: string) => void
  #state: 'open' | 'closing' | 'closed' = 'open'
  #bind: BindKind | 'binding' | undefined
  #sequence: number
  #inbound = 0
  #hasHeard = false
  #missedLinks = 0
  #closeReason: string | undefined
  #linkTimer: NodeJS.Timeout | undefined
  #bindTimer: NodeJS.Timeout | undefined
  #closeTimer: NodeJS.Timeout | undefined

  /** The socket is connected (and secure, where TLS is used), and nobody else reads from it. */
  constructor(socket: Socket, options: SessionOptions) {
    this.#socket = socket
    this.#options = options
    this.#responseTimeoutMs = options.responseTimeoutMs ?? 10_000
    this.#maxQueuedBytes = options.maxQueuedBytes ?? 4 * 1024 * 1024
    this.#maxInbound = options.maxInbound ?? 5_000
    this.#sequence = (options.firstSequence ?? 1) - 1
    this.#outbox = new Outbox(socket)
    this.#stream = new PduStream(options.maxPduBytes)
    this.remoteAddress = socket.remoteAddress ?? ''
    const { promise, resolve } = Promise.withResolvers<string>()
    this.closed = promise
    this.#resolveClosed = resolve
    socket.setNoDelay(true)
    socket.on('data', (chunk: Buffer) => this.#read(chunk))
    socket.on('error', (error: Error) => (this.#closeReason ??= error.message))
    socket.on('close', () => this.#finish(this.#closeReason ?? 'the peer hung up'))
    if (socket.destroyed) queueMicrotask(() => this.#finish('the peer hung up'))
    const enquireLinkMs = options.enquireLinkMs ?? 30_000
    if (enquireLinkMs > 0) this.#linkTimer = setInterval(() => void this.#keepAlive(), enquireLinkMs)
    if (options.role === 'server') {
      this.#bindTimer = setTimeout(() => this.destroy('no bind in time'), options.bindTimeoutMs ?? 30_000)
    }
  }

  get isOpen(): boolean {
    return this.#state === 'open'
  }

  /** How it is bound, or undefined while it is not. */
  get bind(): BindKind | undefined {
    return this.#bind === 'binding' ? undefined : this.#bind
  }

  /** Requests that wait for their answer. */
  get pendingCount(): number {
    return this.#pending.size
  }

  /** The peer reads slower than we write: a good moment to send nothing more. */
  get isCongested(): boolean {
    return this.#outbox.isBlocked
  }

  /** Settles always and never rejects, but throws at once when a value does not fit in its field. */
  request(
    pdu: PduInput<RequestCommand>,
    timeoutMs: number = this.#responseTimeoutMs,
  ): Promise<RequestOutcome> {
    if (this.#state !== 'open') return Promise.resolve({ kind: 'lost', reason: 'closed', isSent: false })
    if (this.#outbox.queuedBytes > this.#maxQueuedBytes) {
      return Promise.resolve({ kind: 'lost', reason: 'congested', isSent: false })
    }
    const sequence = this.#nextSequence()
    this.#write(pdu, sequence)
    return new Promise((settle) => {
      const timer = setTimeout(() => this.#lose(sequence, 'timeout'), timeoutMs)
      this.#pending.set(sequence, { command: pdu.command, settle, timer, batch: this.#outbox.batch })
    })
  }

  /** Says goodbye, waits for the answer, and hangs up. Safe to call twice. */
  async unbind(): Promise<void> {
    if (this.#state === 'open') {
      const answered = this.request({ command: 'unbind' })
      this.#state = 'closing'
      await answered
      this.#hangUp('unbound')
    }
    await this.closed
  }

  /** Cuts the connection at once. */
  destroy(reason: string): void {
    this.#closeReason ??= reason
    this.#socket.destroy()
    this.#finish(this.#closeReason)
  }

  #nextSequence(): number {
    do this.#sequence = this.#sequence === maxSequence ? 1 : this.#sequence + 1
    while (this.#pending.has(this.#sequence))
    return this.#sequence
  }

  #write(pdu: PduInput, sequence: number): void {
    if (this.#outbox.queuedBytes > 2 * this.#maxQueuedBytes) return this.destroy('the peer does not read')
    this.#outbox.write(pdu, sequence)
    this.#options.trace?.('out', withoutPassword({ ...pdu, sequence }))
  }

  #read(chunk: Buffer): void {
    this.#hasHeard = true
    this.#missedLinks = 0
    const { units, fault } = this.#stream.push(chunk)
    for (const unit of units) {
      if (this.#state === 'closed') return
      this.#readUnit(unit)
    }
    if (fault !== undefined && this.#state !== 'closed') {
      this.#write({ command: 'generic_nack', status: status.ESME_RINVCMDLEN }, 0)
      this.#hangUp(`unreadable: ${fault}`)
    }
  }

  #readUnit(unit: Buffer): void {
    const decoded = decodePdu(unit)
    if (decoded.ok) {
      this.#options.trace?.('in', withoutPassword(decoded.pdu))
      if (isAnswer(decoded.pdu)) this.#readAnswer(decoded.pdu)
      else this.#readRequest(decoded.pdu)
      return
    }
    const { header } = decoded
    if (header === undefined) return
    if (!isAnswerId(header.commandId)) {
      this.#write({ command: 'generic_nack', status: decoded.status }, header.sequence)
    } else this.#lose(header.sequence, 'unreadable')
  }

  #readAnswer(pdu: SmppAnswer): void {
    const pending = this.#pending.get(pdu.sequence)
    if (
      pending === undefined ||
      (pdu.command !== answerTo[pending.command] && pdu.command !== 'generic_nack')
    ) {
      this.#options.onUnmatched?.(pdu)
      return
    }
    this.#pending.delete(pdu.sequence)
    clearTimeout(pending.timer)
    const isOk = pdu.status === 0 && pdu.command !== 'generic_nack'
    if (isOk) this.#bind = bindKinds.get(pending.command) ?? this.#bind
    pending.settle({ kind: 'answered', pdu, isOk })
  }

  #lose(sequence: number, reason: 'timeout' | 'closed' | 'unreadable'): void {
    const pending = this.#pending.get(sequence)
    if (pending === undefined) return
    this.#pending.delete(sequence)
    clearTimeout(pending.timer)
    // While the connection lives, what still waits to be written will be.
    const isSent = reason !== 'closed' || pending.batch < this.#outbox.batch
    pending.settle({ kind: 'lost', reason, isSent })
  }

  #readRequest(pdu: SmppRequest): void {
    if (pdu.command === 'enquire_link') return this.#answer(pdu, {})
    if (pdu.command === 'unbind') {
      this.#answer(pdu, {})
      this.#hangUp('the peer unbound')
      return
    }
    const refusal = this.#refusal(pdu)
    if (refusal !== undefined) return this.#answer(pdu, { status: refusal })
    const { onRequest } = this.#options
    if (onRequest === undefined) {
      this.#write({ command: 'generic_nack', status: status.ESME_RINVCMDID }, pdu.sequence)
      return
    }
    if (bindKinds.get(pdu.command) !== undefined) this.#bind = 'binding'
    this.#inbound++
    let answer: ReturnType<typeof onRequest>
    try {
      answer = onRequest(pdu, this)
    } catch (error) {
      return this.#answerFault(pdu, error)
    }
    if (!(answer instanceof Promise)) return this.#answerInbound(pdu, answer)
    answer.then(
      (value) => this.#answerInbound(pdu, value),
      (error: unknown) => this.#answerFault(pdu, error),
    )
  }

  /** The status that refuses a request for which the session is in no state, or undefined. */
  #refusal(pdu: InboundRequest): number | undefined {
    if (this.#state !== 'open') return status.ESME_RINVBNDSTS
    if (this.#inbound >= this.#maxInbound) return status.ESME_RTHROTTLED
    if (bindKinds.get(pdu.command) !== undefined) {
      if (this.#options.role === 'client') return status.ESME_RINVBNDSTS
      return this.#bind === undefined ? undefined : status.ESME_RALYBND
    }
    if (this.#options.role === 'client') return undefined
    const canSubmit = this.#bind === 'transmitter' || this.#bind === 'transceiver'
    return canSubmit ? undefined : status.ESME_RINVBNDSTS
  }

  #answerFault(pdu: InboundRequest, error: unknown): void {
    this.#options.onFault?.(error)
    this.#answerInbound(pdu, { status: status.ESME_RSYSERR })
  }

  #answerInbound(pdu: InboundRequest, answer: Answer | undefined): void {
    this.#inbound--
    const kind = bindKinds.get(pdu.command)
    if (kind !== undefined) {
      const isBound = answer !== undefined && (answer.status ?? 0) === 0
      this.#bind = isBound ? kind : undefined
      if (isBound) clearTimeout(this.#bindTimer)
    }
    if (answer !== undefined) this.#answer(pdu, answer)
  }

  #answer(pdu: SmppRequest, answer: Answer): void {
    if (this.#state === 'closed') return
    const command = answerTo[pdu.command]
    try {
      this.#write({ ...answer, command }, pdu.sequence)
    } catch (error) {
      this.#options.onFault?.(error)
      this.#write({ command, status: status.ESME_RSYSERR }, pdu.sequence)
    }
  }

  async #keepAlive(): Promise<void> {
    if (this.#state !== 'open') return
    if (this.#hasHeard) {
      this.#hasHeard = false
      return
    }
    const outcome = await this.request({ command: 'enquire_link' })
    if (outcome.kind !== 'lost' || outcome.reason === 'closed') return
    this.#missedLinks++
    if (this.#missedLinks >= missedLinksAllowed) this.destroy('no answer to enquire_link')
  }

  /** Sends what is left, then hangs up; cuts when the peer does not follow. */
  #hangUp(reason: string): void {
    if (this.#state === 'closed') return
    this.#state = 'closing'
    this.#closeReason ??= reason
    this.#outbox.end()
    this.#closeTimer ??= setTimeout(() => this.destroy(reason), this.#options.closeTimeoutMs ?? 2_000)
  }

  #finish(reason: string): void {
    if (this.#state === 'closed') return
    this.#state = 'closed'
    this.#bind = undefined
    clearInterval(this.#linkTimer)
    clearTimeout(this.#bindTimer)
    clearTimeout(this.#closeTimer)
    for (const sequence of this.#pending.keys()) this.#lose(sequence, 'closed')
    this.#resolveClosed(reason)
  }
}

/** `ESME_RTHROTTLED`, `lost: timeout`: for logs and traces. */
export const describeOutcome = (outcome: RequestOutcome): string =>
  outcome.kind === 'lost' ? `lost: ${outcome.reason}` : statusName(outcome.pdu.status)
