/** One HTTP request and its answer over a given pool, bounded in time and size while it streams. */
import type { Dispatcher } from 'undici'
import { readConnectFault } from './connect.ts'
import { OutboundError } from './errors.ts'

export type OutboundResponse = { status: number; headers: Record<string, string>; body: Buffer }

export type ExchangeOptions = {
  method: string
  headers: Record<string, string>
  body: string | Buffer | undefined
  maxBytes: number
  /** The status is the answer: a body that is too large, too slow or cut off is given as far as it came. */
  canClip?: boolean
  hold?(bytes: number): boolean
  /** Aborts with `timed_out` when it fires. */
  deadline: AbortSignal
}

/**
 * On `dispatch`, not `request`: `onRequestStart` comes when a connection stands and before the first byte is written,
 * which is the only way to tell "never left" from "left, no answer".
 */
export function exchange(pool: Dispatcher, url: URL, options: ExchangeOptions): Promise<OutboundResponse> {
  return new Promise((resolve, reject) => {
    const { deadline, maxBytes } = options
    let controller: Dispatcher.DispatchController | undefined
    let isOver = false
    let status = 0
    let headers: Record<string, string> = {}
    let size = 0
    const chunks: Buffer[] = []

    const end = (act: () => void): void => {
      if (isOver) return
      isOver = true
      deadline.removeEventListener('abort', onDeadline)
      act()
    }
    const settleFault = (error: OutboundError): void =>
      end(() =>
        options.canClip && status >= 200
          ? resolve({ status, headers, body: Buffer.concat(chunks).subarray(0, maxBytes) })
          : reject(error),
      )
    const fail = (error: OutboundError): void => {
      settleFault(error)
      controller?.abort(error)
    }
    const onDeadline = (): void =>
      fail(new OutboundError('timed_out', 'no complete answer in time', controller !== undefined))
    if (deadline.aborted) return onDeadline()
    deadline.addEventListener('abort', onDeadline)

    pool.dispatch(
      {
        origin: url.origin,
        path: url.pathname + url.search,
        method: options.method,
        headers: options.headers,
        body: options.body ?? null,
      },
      {
        onRequestStart(started) {
          // Aborting here still keeps every byte back.
          if (isOver) return started.abort(new Error('over'))
          controller = started
        },
        onResponseStart(_, statusCode, answered) {
          status = statusCode
          headers = plainHeaders(answered)
          const announced = Number(headers['content-length'])
          if (announced > maxBytes && options.method !== 'HEAD' && !options.canClip) fail(tooLarge(maxBytes))
        },
        onResponseData(_, chunk) {
          if (isOver) return
          if (options.hold?.(chunk.length) === false) return fail(noRoom())
          size += chunk.length
          if (size <= maxBytes || options.canClip) chunks.push(chunk)
          if (size > maxBytes) fail(tooLarge(maxBytes))
        },
        onResponseEnd: () => end(() => resolve({ status, headers, body: Buffer.concat(chunks, size) })),
        onResponseError: (_, error) => settleFault(readFault(error, controller !== undefined)),
      },
    )
  })
}

const tooLarge = (maxBytes: number): OutboundError =>
  new OutboundError('too_large', `the answer is larger than ${maxBytes} bytes`, true)

const noRoom = (): OutboundError =>
  new OutboundError('too_large', 'there is no room for the answer at the moment', true)

function readFault(error: Error, wasSent: boolean): OutboundError {
  if (error instanceof OutboundError) return error
  if (wasSent) return new OutboundError('cut', `the connection broke: ${error.message}`, true)
  return readConnectFault(error)
}

function plainHeaders(answered: Record<string, string | string[] | undefined>): Record<string, string> {
  const plain: Record<string, string> = {}
  for (const [name, value] of Object.entries(answered)) {
    if (value !== undefined) plain[name.toLowerCase()] = Array.isArray(value) ? value.join(', ') : value
  }
  return plain
}
