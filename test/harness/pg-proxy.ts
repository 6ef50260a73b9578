/**
 * Stands between the program and PostgreSQL and breaks the connection at a chosen statement: before it was passed
 * on (the database never saw it) or after the database has done it (the program never hears of it).
 */
import net from 'node:net'
import type { AddressInfo } from 'node:net'

export type CutPoint = 'before' | 'after'

export type PgProxy = {
  /** The given address, but through the proxy. */
  url: string
  /** Breaks the next connection that sends a statement that matches; resolves when it has happened. */
  cutAt(point: CutPoint, statement?: RegExp): Promise<void>
  /** The database is away: open connections break, new ones are refused. */
  goAway(): void
  comeBack(): void
  /** Holds everything that the program sends, on all connections, until `resume`. */
  pause(): void
  resume(): void
  readonly connections: number
  close(): Promise<void>
}

type Plan = { point: CutPoint; statement: RegExp; done: () => void }

export async function startPgProxy(databaseUrl: string): Promise<PgProxy> {
  const upstream = upstreamOf(databaseUrl)
  const pairs = new Set<Pair>()
  let plan: Plan | undefined
  let isAway = false
  let isPaused = false

  const server = net.createServer((client) => {
    if (isAway) return void client.destroy()
    const pair = createPair(client, upstream, {
      isPaused: () => isPaused,
      takePlan(statement) {
        if (!plan?.statement.test(statement)) return undefined
        const taken = plan
        plan = undefined
        return taken
      },
      ended: () => pairs.delete(pair),
    })
    pairs.add(pair)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))

  return {
    url: throughProxy(databaseUrl, (server.address() as AddressInfo).port),
    get connections() {
      return pairs.size
    },
    cutAt: (point, statement = /^\s*commit\b/i) =>
      new Promise<void>((done) => {
        plan = { point, statement, done }
      }),
    goAway() {
      isAway = true
      for (const pair of pairs) pair.break()
    },
    comeBack() {
      isAway = false
    },
    pause() {
      isPaused = true
    },
    resume() {
      isPaused = false
      for (const pair of pairs) pair.flush()
    },
    async close() {
      for (const pair of pairs) pair.break()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

type Pair = { break(): void; flush(): void }
type PairContext = {
  isPaused(): boolean
  takePlan(statement: string): Plan | undefined
  ended(): void
}

function createPair(client: net.Socket, upstream: net.NetConnectOpts, context: PairContext): Pair {
  const server = net.connect(upstream)
  const prepared = new Map<string, string>()
  let isStarted = false
  let pending = Buffer.alloc(0)
  /** Set while the database does the statement whose answer the program will not get. */
  let isAwaitingDone: Plan | undefined
  let answers = Buffer.alloc(0)

  const breakBoth = () => {
    client.destroy()
    server.destroy()
  }
  for (const socket of [client, server]) {
    socket.setNoDelay(true)
    socket.on('error', () => {})
    socket.on('close', () => {
      breakBoth()
      context.ended()
    })
  }

  const forward = () => {
    while (!context.isPaused() && !isAwaitingDone) {
      const message = takeMessage(pending, isStarted)
      if (!message) return
      pending = pending.subarray(message.length)
      const statement = isStarted ? statementOf(message, prepared) : undefined
      isStarted = true
      const plan = statement === undefined ? undefined : context.takePlan(statement)
      if (plan?.point === 'before') {
        breakBoth()
        return plan.done()
      }
      if (plan) {
        isAwaitingDone = plan
        // A prepared statement is done only when the Sync that follows has arrived: pass on the rest as it is.
        server.write(Buffer.concat([message, pending]))
        pending = Buffer.alloc(0)
        return
      }
      server.write(message)
    }
  }

  client.on('data', (chunk: Buffer) => {
    if (isAwaitingDone) return void server.write(chunk)
    pending = Buffer.concat([pending, chunk])
    forward()
  })
  server.on('data', (chunk: Buffer) => {
    if (!isAwaitingDone) return void client.write(chunk)
    answers = Buffer.concat([answers, chunk])
    for (;;) {
      const message = takeMessage(answers, true)
      if (!message) return
      answers = answers.subarray(message.length)
      if (String.fromCharCode(message[0]!) !== 'Z') continue
      const plan = isAwaitingDone
      breakBoth()
      return plan.done()
    }
  })
  return { break: breakBoth, flush: forward }
}

/** The first message has no type; all others are one letter, four bytes of length, and the rest. */
function takeMessage(bytes: Buffer, isStarted: boolean): Buffer | undefined {
  const lengthAt = isStarted ? 1 : 0
  if (bytes.length < lengthAt + 4) return undefined
  const length = lengthAt + bytes.readUInt32BE(lengthAt)
  return bytes.length < length ? undefined : bytes.subarray(0, length)
}

/** The text of a statement that is about to run: a simple query, or the execution of a prepared one. */
function statementOf(message: Buffer, prepared: Map<string, string>): string | undefined {
  switch (String.fromCharCode(message[0]!)) {
    case 'Q':
      return readText(message, 5).text
    case 'P': {
      const name = readText(message, 5)
      prepared.set(name.text, readText(message, name.end).text)
      return undefined
    }
    case 'B': {
      const portal = readText(message, 5)
      return prepared.get(readText(message, portal.end).text)
    }
    default:
      return undefined
  }
}

function readText(message: Buffer, from: number): { text: string; end: number } {
  const zero = message.indexOf(0, from)
  return { text: message.toString('utf8', from, zero), end: zero + 1 }
}

function upstreamOf(databaseUrl: string): net.NetConnectOpts {
  const url = new URL(databaseUrl)
  const host = url.searchParams.get('host') ?? decodeURIComponent(url.hostname)
  const port = Number(url.port || url.searchParams.get('port') || 5432)
  return host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host: host || '127.0.0.1', port }
}

function throughProxy(databaseUrl: string, port: number): string {
  const url = new URL(databaseUrl)
  url.searchParams.delete('host')
  url.searchParams.delete('port')
  url.hostname = '127.0.0.1'
  url.port = String(port)
  return url.toString()
}
