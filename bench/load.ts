/**
 * The load, in a process of its own: plain sockets, requests built beforehand, answers scanned for status and
 * length only. (A general tool with 10,000 distinct bodies measured a quarter of the true rate.)
 *
 * Reads one JSON job from standard input, prints one JSON result.
 */
import { connect, type Socket } from 'node:net'

export type LoadJob = {
  port: number
  path: string
  headers: Record<string, string>
  /** Bodies, used round robin. */
  bodies: string[]
  connections: number
  durationMs: number
  /** Open loop: requests per second, sent when they are due whether or not earlier ones were answered. */
  ratePerSecond?: number
  expectedStatus: number
}

export type LoadResult = {
  requests: number
  seconds: number
  perSecond: number
  otherStatuses: Record<string, number>
  firstUnexpected?: string
  /** Milliseconds, from the intended moment in an open loop. */
  latency: { p50: number; p99: number; max: number }
  /** Cores used by this process itself. */
  ownCores: number
}

export async function runLoad(job: LoadJob): Promise<LoadResult> {
  const head =
    `POST ${job.path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n` +
    Object.entries(job.headers)
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join('')
  const requests = job.bodies.map((body) =>
    Buffer.from(`${head}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`),
  )
  const latencies: number[] = []
  const otherStatuses: Record<string, number> = {}
  let firstUnexpected: string | undefined
  let next = 0
  const cpu = process.cpuUsage()
  const startedAt = performance.now()
  const endsAt = startedAt + job.durationMs

  /** Open loop: the moment each request is due, handed out in order. */
  let due = 0
  const dueAt = () => startedAt + (due++ * 1000) / job.ratePerSecond!

  const drive = (socket: Socket) =>
    new Promise<void>((resolve, reject) => {
      let sentAt = 0
      let buffered: Buffer | undefined
      const sendNow = (intendedAt: number) => {
        sentAt = intendedAt
        socket.write(requests[next++ % requests.length]!)
      }
      const send = () => {
        const now = performance.now()
        if (now >= endsAt) return socket.end()
        if (job.ratePerSecond === undefined) return sendNow(now)
        const at = dueAt()
        if (at >= endsAt) return socket.end()
        if (at <= now) sendNow(at)
        else setTimeout(() => sendNow(at), at - now)
      }
      socket.on('data', (chunk) => {
        const data = buffered ? Buffer.concat([buffered, chunk]) : chunk
        const headerEnd = data.indexOf('\r\n\r\n')
        const length = headerEnd < 0 ? undefined : contentLength(data, headerEnd)
        if (length === undefined || data.length < headerEnd + 4 + length) {
          buffered = data
          return
        }
        buffered = undefined
        latencies.push(performance.now() - sentAt)
        const status = data.toString('latin1', 9, 12)
        if (status !== String(job.expectedStatus)) {
          otherStatuses[status] = (otherStatuses[status] ?? 0) + 1
          firstUnexpected ??= data.toString('utf8', 0, Math.min(data.length, 2000))
        }
        send()
      })
      socket.on('error', reject)
      socket.on('close', () => resolve())
      send()
    })

  const sockets = await Promise.all(
    Array.from({ length: job.connections }, () => {
      const socket = connect({ port: job.port, host: '127.0.0.1', noDelay: true })
      return new Promise<Socket>((resolve, reject) =>
        socket.once('connect', () => resolve(socket)).once('error', reject),
      )
    }),
  )
  await Promise.all(sockets.map(drive))
  const seconds = (performance.now() - startedAt) / 1000
  const used = process.cpuUsage(cpu)
  latencies.sort((a, b) => a - b)
  const at = (share: number) =>
    latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? 0
  return {
    requests: latencies.length,
    seconds,
    perSecond: latencies.length / seconds,
    otherStatuses,
    firstUnexpected,
    latency: { p50: at(0.5), p99: at(0.99), max: latencies.at(-1) ?? 0 },
    ownCores: (used.user + used.system) / 1e6 / seconds,
  }
}

const lengthHeader = Buffer.from('ontent-')

function contentLength(data: Buffer, headerEnd: number): number {
  // "content-length" in any case: every "ontent-" is looked at, the header is a few hundred bytes.
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
