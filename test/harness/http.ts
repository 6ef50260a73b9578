/** A small HTTP client for tests: every status is an answer, nothing is followed, retried or hidden. */
import http from 'node:http'
import net from 'node:net'

export type Answer = {
  status: number
  /** Names in lower case. */
  headers: Record<string, string>
  text: string
  /** The body as a JSON object; empty when it is none. */
  body: Record<string, unknown>
}

export type RequestOptions = {
  method?: string
  headers?: Record<string, string | string[]>
  /** Text and bytes go out as they are, anything else as JSON. */
  body?: unknown
  /** Loopback address to call from; all of 127.0.0.0/8 works on Linux. */
  from?: string
  timeoutMs?: number
}

// Idle connections are given up long before the server does so (65 s), or a slow machine would see resets.
const agent = new http.Agent({ keepAlive: true, maxSockets: 1000, timeout: 10_000 })

export const toBytes = (body: unknown): Buffer =>
  Buffer.isBuffer(body) ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body), 'utf8')

/** JSON with its content type unless `headers` has another one; a header with no values is left out. */
export function request(url: string, options: RequestOptions = {}): Promise<Answer> {
  const bytes = options.body === undefined ? undefined : toBytes(options.body)
  const given = lowerCased(options.headers ?? {})
  const headers: Record<string, string | string[]> = {
    ...(bytes && { 'content-type': 'application/json', 'content-length': String(bytes.length) }),
    ...given,
  }
  for (const [name, value] of Object.entries(headers))
    if (Array.isArray(value) && value.length === 0) delete headers[name]
  return new Promise((resolve, reject) => {
    let hasAnswer = false
    const call = http.request(
      url,
      {
        method: options.method ?? (bytes ? 'POST' : 'GET'),
        headers,
        timeout: options.timeoutMs ?? 20_000,
        ...(options.from ? { localAddress: options.from, agent: false } : { agent }),
      },
      (response) => {
        hasAnswer = true
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', reject)
        response.on('end', () => resolve(toAnswer(response, Buffer.concat(chunks).toString('utf8'))))
      },
    )
    call.on('timeout', () => call.destroy(new Error(`No answer from ${url} in time.`)))
    // A server may answer and stop reading a body that it will not take: the answer counts, not the broken pipe.
    call.on('error', (error) => (hasAnswer ? undefined : reject(error)))
    call.end(bytes)
  })
}

const lowerCased = (headers: Record<string, string | string[]>) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))

function toAnswer(response: http.IncomingMessage, text: string): Answer {
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(response.headers))
    if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(', ') : value
  return { status: response.statusCode ?? 0, headers, text, body: parseObject(text) }
}

function parseObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : {}
  } catch {
    return {}
  }
}

export type RawConnection = {
  write(bytes: string | Buffer): void
  /** Everything received up to the first complete answer, by `Content-Length`, or up to the end. */
  answer(timeoutMs?: number): Promise<Answer>
  close(): void
}

/** A bare socket, for requests that no HTTP client would send. */
export async function connectRaw(url: string): Promise<RawConnection> {
  const { hostname, port } = new URL(url)
  const socket = net.connect(Number(port), hostname)
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve)
    socket.once('error', reject)
  })
  let received = Buffer.alloc(0)
  let isEnded = false
  let wake = () => {}
  socket.on('data', (chunk: Buffer) => {
    received = Buffer.concat([received, chunk])
    wake()
  })
  const end = () => {
    isEnded = true
    wake()
  }
  socket.on('error', end)
  socket.on('close', end)
  return {
    write: (bytes) => void socket.write(bytes),
    async answer(timeoutMs = 10_000) {
      const deadline = Date.now() + timeoutMs
      for (;;) {
        const answer = readAnswer(received, isEnded)
        if (answer) {
          received = received.subarray(answer.length)
          return answer.answer
        }
        if (isEnded) throw new Error('The connection ended without an answer.')
        const left = deadline - Date.now()
        if (left <= 0) throw new Error('No answer in time.')
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, left)
          wake = () => {
            clearTimeout(timer)
            resolve()
          }
        })
      }
    },
    close: () => void socket.destroy(),
  }
}

function readAnswer(bytes: Buffer, isEnded: boolean): { answer: Answer; length: number } | undefined {
  const headEnd = bytes.indexOf('\r\n\r\n')
  if (headEnd < 0) return undefined
  const [statusLine = '', ...lines] = bytes.subarray(0, headEnd).toString('latin1').split('\r\n')
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
    }),
  )
  const bodyStart = headEnd + 4
  const stated = headers['content-length']
  const end = stated === undefined ? bytes.length : bodyStart + Number(stated)
  if (bytes.length < end || (stated === undefined && !isEnded)) return undefined
  const text = bytes.subarray(bodyStart, end).toString('utf8')
  const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(statusLine)?.[1] ?? 0)
  return { answer: { status, headers, text, body: parseObject(text) }, length: end }
}

/** Waits for a condition instead of a time; fails with `what` when it never comes true. */
export async function until<T>(
  what: string,
  probe: () => T | undefined | false | Promise<T | undefined | false>,
  timeoutMs = 10_000,
): Promise<T> {
  const deadline = Date.now() + timeoutMs
  for (;;) {
    const value = await probe()
    if (value) return value
    if (Date.now() > deadline) throw new Error(`Waited in vain: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}
