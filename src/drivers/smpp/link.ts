/** The bound session of a line: opened at once, opened again when it is lost, with growing pauses. */
import { SmppSession } from '../../lib/smpp/index.ts'
import type { Answer, InboundRequest, RequestOutcome } from '../../lib/smpp/index.ts'
import { OutboundError } from '../../lib/outbound/index.ts'
import type { DriverContext } from '../driver.ts'
import type { DriverError } from '../errors.ts'
import { readBindRefusal } from './errors.ts'
import type { SmppSettings } from './settings.ts'

export type LinkTiming = {
  connectMs: number
  /** The first pause; it doubles up to `maxPauseMs`. */
  minPauseMs: number
  maxPauseMs: number
  /** After wrong credentials: providers lock accounts that hammer. */
  refusedPauseMs: number
}

export const usualTiming: LinkTiming = {
  connectMs: 10_000,
  minPauseMs: 500,
  maxPauseMs: 60_000,
  refusedPauseMs: 300_000,
}

const protocolVersion = 0x34
const goodbyeMs = 2_000

export class SmppLink {
  readonly #settings: SmppSettings
  readonly #context: DriverContext
  readonly #onRequest: (pdu: InboundRequest) => Answer | Promise<Answer>
  readonly #timing: LinkTiming
  #session: SmppSession | undefined
  /** The attempt under way. */
  #opening: Promise<void> | undefined
  #fault: DriverError | undefined
  #pauses = 0
  #nextTryAt = 0
  #timer: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(
    settings: SmppSettings,
    context: DriverContext,
    onRequest: (pdu: InboundRequest) => Answer | Promise<Answer>,
    timing: LinkTiming,
  ) {
    this.#settings = settings
    this.#context = context
    this.#onRequest = onRequest
    this.#timing = timing
    this.#opening = this.#open()
  }

  /** Undefined while there is none: then `ready` tells more. */
  get session(): SmppSession | undefined {
    return this.#session?.isOpen ? this.#session : undefined
  }

  get fault(): DriverError | undefined {
    return this.#fault
  }

  get isOpening(): boolean {
    return this.#opening !== undefined
  }

  /** Waits for an attempt that is under way, never for a pause. */
  async ready(): Promise<SmppSession | DriverError> {
    await this.#opening
    const session = this.session
    if (session !== undefined) return session
    const retryAfterMs = Math.max(0, this.#nextTryAt - Date.now())
    return {
      ...(this.#fault ?? notBound),
      ...(this.#fault?.kind === 'misconfigured' ? {} : { retryAfterMs }),
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    await this.#opening
    const session = this.#session
    if (session === undefined) return
    const timer = setTimeout(() => session.destroy('no answer to unbind'), goodbyeMs)
    await session.unbind()
    clearTimeout(timer)
  }

  async #open(): Promise<void> {
    try {
      const fault = await this.#tryOpen()
      this.#fault = fault
      if (fault === undefined) this.#pauses = 0
      else this.#pause(fault)
    } finally {
      this.#opening = undefined
    }
  }

  async #tryOpen(): Promise<DriverError | undefined> {
    const { host, port, isTls, canBeUnverified, systemId, password, systemType } = this.#settings
    const { log } = this.#context
    let session: SmppSession
    try {
      const target = {
        host,
        port,
        timeoutMs: this.#timing.connectMs,
        ...(isTls ? { tls: { canBeUnverified } } : {}),
      }
      const socket = await this.#context.connect(target)
      session = new SmppSession(socket, {
        role: 'client',
        onRequest: this.#onRequest,
        onFault: (error) =>
          log.error(
            { err: error },
            'an SMPP delivery could not be recorded; the provider will send it again',
          ),
        responseTimeoutMs: this.#settings.answerTimeoutSeconds * 1000,
        enquireLinkMs: this.#settings.enquireLinkSeconds * 1000,
      })
    } catch (error) {
      return connectFault(error)
    }
    if (this.#isClosed) {
      session.destroy('closed')
      return notBound
    }
    let bound: RequestOutcome
    try {
      bound = await session.request(
        { command: 'bind_transceiver', systemId, password, systemType, interfaceVersion: protocolVersion },
        this.#timing.connectMs,
      )
    } catch (error) {
      // A value that does not fit in its field.
      session.destroy('not bound')
      return {
        kind: 'misconfigured',
        code: 'bind',
        message: error instanceof Error ? error.message : String(error),
      }
    }
    if (bound.kind === 'answered' && bound.isOk) {
      this.#session = session
      void this.#watch(session)
      return undefined
    }
    session.destroy('not bound')
    if (bound.kind === 'lost')
      return { kind: 'unreachable', code: bound.reason, message: 'no answer to the bind' }
    return readBindRefusal(bound.pdu.status)
  }

  async #watch(session: SmppSession): Promise<void> {
    const reason = await session.closed
    if (this.#session === session) this.#session = undefined
    if (this.#isClosed) return
    this.#fault = { kind: 'unreachable', code: 'closed', message: `the session ended: ${reason}` }
    this.#context.log.warn({ reason }, 'SMPP session lost')
    this.#pause(this.#fault)
  }

  #pause(fault: DriverError): void {
    if (this.#isClosed) return
    const { minPauseMs, maxPauseMs, refusedPauseMs } = this.#timing
    const full =
      fault.kind === 'misconfigured'
        ? refusedPauseMs
        : Math.min(maxPauseMs, minPauseMs * 2 ** Math.min(this.#pauses++, 16))
    // Half fixed, half drawn: many lines of one provider do not come back at the same moment.
    const pauseMs = full * (0.5 + Math.random() / 2)
    this.#nextTryAt = Date.now() + pauseMs
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      this.#opening = this.#open()
    }, pauseMs)
  }
}

const notBound: DriverError = { kind: 'unreachable', code: 'not_bound', message: 'the session is not bound' }

function connectFault(error: unknown): DriverError {
  const message = error instanceof Error ? error.message : String(error)
  if (!(error instanceof OutboundError)) return { kind: 'unreachable', code: 'no_connection', message }
  const isSetUpWrong = error.kind === 'refused' || error.kind === 'untrusted'
  return { kind: isSetUpWrong ? 'misconfigured' : 'unreachable', code: error.kind, message }
}
