/** What every driver test needs: a context on loopback, a line, a message, peers on real sockets. */
import { createServer, Socket } from 'node:net'
import type { AddressInfo, Server } from 'node:net'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { MessageContent } from '../domain/message.ts'
import { systemClock } from '../lib/clock.ts'
import { silentLog } from '../lib/log.ts'
import { createOutbound } from '../lib/outbound/index.ts'
import type {
  Driver,
  DriverContext,
  DriverLine,
  LineReport,
  LineSession,
  OutgoingMessage,
  SendResult,
} from './driver.ts'
import type { DriverErrorKind } from './errors.ts'

const isLoopback = (host: string): boolean => /^(?:127\.|::1$|\[::1\]$|localhost$)/.test(host)

/** `connect` takes options, or port and host, and comes from `net.connect` wrapped in an array. */
function hostOf(given: unknown[]): string {
  const [first, second] = given.flat(2)
  if (typeof first !== 'object' || first === null) return typeof second === 'string' ? second : 'localhost'
  return 'host' in first && typeof first.host === 'string' ? first.host : 'localhost'
}

// oxlint-disable-next-line typescript/unbound-method -- put back as it was
const { connect: realConnect } = Socket.prototype

function guardedConnect(this: Socket, ...given: unknown[]): Socket {
  const host = hostOf(given)
  if (!isLoopback(host)) throw new Error(`A test tried to connect to ${host}, which is not this machine.`)
  Reflect.apply(realConnect, this, given)
  return this
}

const closers: (() => unknown)[] = []

/** Runs when the test ends, last in first out. */
export const atEnd = (close: () => unknown): void => void closers.push(close)

/**
 * Call once in each driver's test file. Whatever the code under test or its libraries connect to must be this
 * machine; anything else throws, so that no test ever talks to a real provider.
 */
export function guardDriverTests(): void {
  beforeAll(() => {
    Socket.prototype.connect = guardedConnect
  })
  afterAll(() => {
    Socket.prototype.connect = realConnect
  })
  afterEach(async () => {
    for (const close of closers.splice(0).toReversed()) await close()
  })
}

export type TestContext = DriverContext & { reports: LineReport[] }

export function testContext(overrides: Partial<DriverContext> = {}): TestContext {
  const outbound = createOutbound({ exceptions: { allows: (_, host) => isLoopback(host) } })
  atEnd(() => outbound.close())
  const reports: LineReport[] = []
  return {
    clock: systemClock,
    log: silentLog,
    report: async (given) => void reports.push(...given),
    fetch: (url, request) => outbound.fetch('brokers', url, request),
    connect: (target) => outbound.connect('brokers', target),
    reports,
    ...overrides,
  }
}

export const testLine = (
  driver: Driver,
  settings: Record<string, unknown>,
  address?: string,
): DriverLine => ({
  id: 'lin_0198a0000000700080000000000000aa',
  channel: driver.channel,
  address: address ?? (driver.channel === 'email' ? 'sender@pombo.example' : '5511987654321'),
  settings,
  hookUrl: `https://pombo.example/hooks/${driver.name}/lin_1`,
})

export function openLine(
  driver: Driver,
  settings: Record<string, unknown>,
  context = testContext(),
): LineSession {
  const session = driver.open(testLine(driver, settings), context)
  atEnd(() => session.close())
  return session
}

let nextMessage = 1

export const testMessage = (overrides: Partial<OutgoingMessage> = {}): OutgoingMessage => ({
  id: `msg_0198a00000007000800000000${String(nextMessage++).padStart(7, '0')}`,
  recipient: '5531996883193',
  content: testText('Hello'),
  files: new Map(),
  expiresAt: new Date(Date.now() + 3_600_000),
  attempt: 1,
  ...overrides,
})

export const testText = (
  text: string,
  more: Partial<Extract<MessageContent, { kind: 'text' }>> = {},
): MessageContent => ({
  kind: 'text',
  text,
  files: [],
  ...more,
})

/** Listens on a free loopback port until the test ends, then cuts whoever is still there. */
export async function listen(server: Server): Promise<number> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => sockets.add(socket.on('error', () => {})))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  atEnd(() => {
    for (const socket of sockets) socket.destroy()
    return new Promise((resolve) => server.close(resolve))
  })
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it listens on a port
  return (server.address() as AddressInfo).port
}

/** A port on which nobody listens. */
export async function deadPort(): Promise<number> {
  const port = await listen(createServer())
  await closers.pop()!()
  return port
}

/** Resolves when `isSo` holds; fails with `what` after five seconds. */
export async function until(what: string, isSo: () => boolean): Promise<void> {
  const deadline = Date.now() + 5000
  while (!isSo()) {
    if (Date.now() > deadline) throw new Error(`Waited in vain: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
}

/** One way a provider can fail, and what the driver must make of it. */
export type FaultCase<Answer> = {
  name: string
  answer: Answer
  kind: DriverErrorKind
  code?: string
  retryAfterMs?: number
  isRecipientOnly?: boolean
}

/** The same table test for every driver: each answer of the provider becomes exactly one row of the closed list. */
export function testFaults<Answer>(
  cases: readonly FaultCase<Answer>[],
  send: (answer: Answer) => Promise<SendResult>,
): void {
  test.each(cases)('$name → $kind', async ({ answer, kind, code, retryAfterMs, isRecipientOnly }) => {
    const result = await send(answer)
    expect(result).toMatchObject({
      ok: false,
      error: {
        kind,
        ...(code === undefined ? {} : { code }),
        ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
      },
    })
    if (!result.ok) {
      expect(Boolean(result.error.isRecipientOnly)).toBe(Boolean(isRecipientOnly))
      expect(result.error.message).not.toBe('')
    }
  })
}
