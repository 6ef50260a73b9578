/**
 * The load, in a process of its own: plain sockets, requests built beforehand, answers scanned for status and
 * length only. (A general tool with 10,000 distinct bodies measured a quarter of the true rate.)
 *
 * Reads one JSON job from standard input, prints one JSON result.
 */
import { connect, type Socket } from 'node:net'
import { watchDone, type DoneWatch } from './done-watch.ts'
import { percentile } from './statistics.ts'

export type LoadJob = {
  port: number
  path: string
  headers: Record<string, string>
  /** Bodies, used round robin. */
  bodies: string[]
  connections: number
  /** How long it goes before anything is measured: the load itself is a program that has to be compiled first. */
  rampMs?: number
  durationMs: number
  /**
   * Open loop: requests per second, each due at its own moment whether or not earlier ones were answered. One that
   * finds no free connection goes late, and its latency counts from when it was due.
   */
  ratePerSecond?: number
  /** Holds back while more than so many were accepted that the provider behind has not finished: a steady state. */
  backlog?: { port: number; limit: number }
  expectedStatus: number
}

export type LoadResult = {
  /** All that were answered. */
  requests: number
  /** After the ramp, like all that follows. */
  seconds: number
  perSecond: number
  otherStatuses: Record<string, number>
  firstUnexpected?: string
  /** Milliseconds, from the intended moment in an open loop. */
  latency: { p50: number; p99: number; max: number }
  /** Milliseconds that an open loop itself sent too late, with a connection at hand. */
  latenessP99: number
  /** Cores used by this process itself. */
  ownCores: number
  startedAtMs: number
}

export async function runLoad(job: LoadJob): Promise<LoadResult> {
  const requests = buildRequests(job)
  const sockets = await Promise.all(Array.from({ length: job.connections }, () => open(job.port)))
  const watch = job.backlog && (await watchDone(job.backlog.port))
  const state = await drive(job, requests, sockets, watch)
  watch?.close()
  const latencies = Float64Array.from(state.latencies).toSorted()
  return {
    requests: state.requests,
    seconds: state.seconds,
    perSecond: latencies.length / state.seconds,
    otherStatuses: state.otherStatuses,
    firstUnexpected: state.firstUnexpected,
    latency: {
      p50: percentile(latencies, 0.5),
      p99: percentile(latencies, 0.99),
      max: latencies.at(-1) ?? 0,
    },
    latenessP99: percentile(Float64Array.from(state.lateness).toSorted(), 0.99),
    ownCores: state.cpuSeconds / state.seconds,
    startedAtMs: state.startedAtMs,
  }
}

function buildRequests(job: LoadJob): Buffer[] {
  const head =
    `POST ${job.path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n` +
    Object.entries(job.headers)
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join('')
  return job.bodies.map((body) =>
    Buffer.from(`${head}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`),
  )
}

function open(port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  return new Promise((resolve, reject) => socket.once('connect', () => resolve(socket)).once('error', reject))
}

type Driven = Pick<
  LoadResult,
  'requests' | 'otherStatuses' | 'firstUnexpected' | 'seconds' | 'startedAtMs'
> & {
  latencies: number[]
  lateness: number[]
  cpuSeconds: number
}

/** Sends until the time is up, then waits for what is under way. */
async function drive(
  job: LoadJob,
  requests: readonly Buffer[],
  sockets: readonly Socket[],
  watch: DoneWatch | undefined,
): Promise<Driven> {
  const latencies: number[] = []
  const lateness: number[] = []
  const otherStatuses: Record<string, number> = {}
  let firstUnexpected: string | undefined
  let sent = 0
  let answered = 0
  /** Connections with nothing to do: until the next moment is due, or until the provider has caught up. */
  const idle: Connection[] = []
  const rampMs = job.rampMs ?? 0
  const startedAtMs = Date.now() + rampMs
  const startedAt = performance.now()
  const measuredFrom = startedAt + rampMs
  const endsAt = measuredFrom + job.durationMs
  let cpu = process.cpuUsage()
  setTimeout(() => (cpu = process.cpuUsage()), rampMs)
  const isHeld = () => watch !== undefined && sent - watch.done() >= job.backlog!.limit

  const expected = String(job.expectedStatus)
  const onAnswer = (connection: Connection, status: string, answer: Buffer) => {
    const now = performance.now()
    answered++
    if (now >= measuredFrom) latencies.push(now - connection.sentAt)
    if (status !== expected) {
      otherStatuses[status] = (otherStatuses[status] ?? 0) + 1
      firstUnexpected ??= answer.toString('utf8', 0, Math.min(answer.length, 2000))
    }
    next(connection)
  }
  const send = (connection: Connection, intendedAt: number) => {
    connection.sentAt = intendedAt
    connection.socket.write(requests[sent++ % requests.length]!)
  }
  const dueAt = () => startedAt + (sent * 1000) / job.ratePerSecond!
  const next = (connection: Connection) => {
    const now = performance.now()
    if (now >= endsAt) return connection.socket.end()
    if (job.ratePerSecond === undefined) {
      if (isHeld()) idle.push(connection)
      else send(connection, now)
      return
    }
    const at = dueAt()
    if (at <= now && at < endsAt) send(connection, at)
    else idle.push(connection)
  }
  /** A timer of a millisecond is as fine as Node has; what that costs is reported as lateness. */
  const tick = () => {
    const now = performance.now()
    if (now >= endsAt) for (const connection of idle.splice(0)) connection.socket.end()
    while (idle.length > 0) {
      if (job.ratePerSecond === undefined) {
        if (isHeld()) break
        send(idle.pop()!, now)
        continue
      }
      const at = dueAt()
      if (at > now || at >= endsAt) break
      if (now >= measuredFrom) lateness.push(now - at)
      send(idle.pop()!, at)
    }
  }
  const ticker = setInterval(tick, 1)
  const closed = sockets.map((socket) => readAnswers({ socket, sentAt: 0 }, onAnswer, next))
  await Promise.all(closed)
  clearInterval(ticker)
  const used = process.cpuUsage(cpu)
  return {
    latencies,
    lateness,
    otherStatuses,
    firstUnexpected,
    requests: answered,
    startedAtMs,
    seconds: (performance.now() - measuredFrom) / 1000,
    cpuSeconds: (used.user + used.system) / 1e6,
  }
}

type Connection = { socket: Socket; sentAt: number }

/** Resolves when the connection is closed. One request at a time is under way on it. */
function readAnswers(
  connection: Connection,
  onAnswer: (connection: Connection, status: string, answer: Buffer) => void,
  begin: (connection: Connection) => void,
): Promise<void> {
  const { socket } = connection
  return new Promise((resolve, reject) => {
    let buffered: Buffer | undefined
    socket.on('data', (chunk) => {
      const data = buffered ? Buffer.concat([buffered, chunk]) : chunk
      const headerEnd = data.indexOf('\r\n\r\n')
      if (headerEnd < 0 || data.length < headerEnd + 4 + contentLength(data, headerEnd)) {
        buffered = data
        return
      }
      buffered = undefined
      onAnswer(connection, data.toString('latin1', 9, 12), data)
    })
    socket.on('error', reject)
    socket.on('close', () => resolve())
    begin(connection)
  })
}

const lengthHeader = Buffer.from('ontent-')

function contentLength(data: Buffer, headerEnd: number): number {
  // "content-length" with capitals or without: every "ontent-" is looked at, the header is a few hundred bytes.
  for (let from = 0; ;) {
    const found = data.indexOf(lengthHeader, from)
    if (found < 0 || found > headerEnd) return 0
    const line = data.toString('latin1', found + 7, Math.min(found + 40, headerEnd)).toLowerCase()
    if (line.startsWith('length:')) return parseInt(line.slice(7), 10)
    from = found + 7
  }
}

if (process.argv[2] === 'run') {
  const chunks: Buffer[] = []
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer)
  const result = await runLoad(JSON.parse(Buffer.concat(chunks).toString('utf8')) as LoadJob)
  process.stdout.write(JSON.stringify(result))
}
