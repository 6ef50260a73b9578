import { createServer, type AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { formatCounts, readCounts } from './done-watch.ts'
import { describeDelays } from './event-loop.ts'
import { runLoad, type LoadJob } from './load.ts'
import { descendants, parseRollup } from './processes.ts'
import { estimate } from './progress.ts'

test('counts of the provider survive the wire', () => {
  const counts = { submitted: 5, receipts: 4, refused: 1, done: 2, bound: 1 }
  expect(readCounts(formatCounts(counts).trimEnd())).toEqual(counts)
})

test('time left follows the plan, and is stretched when the plan was too short', () => {
  expect(estimate({ plannedTotal: 100, plannedDone: 50, elapsedSeconds: 25 })).toEqual({
    percent: 50,
    leftSeconds: 50,
  })
  expect(estimate({ plannedTotal: 100, plannedDone: 50, elapsedSeconds: 100 })).toEqual({
    percent: 50,
    leftSeconds: 100,
  })
  expect(estimate({ plannedTotal: 100, plannedDone: 120, elapsedSeconds: 200 })).toEqual({
    percent: 100,
    leftSeconds: 0,
  })
})

test('all processes below one are found, at any depth', () => {
  const parents = new Map([
    [2, 1],
    [3, 2],
    [4, 3],
    [5, 1],
  ])
  expect(descendants(parents, 2)).toEqual([2, 3, 4])
})

test('memory is read from what Linux tells of a process', () => {
  const text =
    '00400000-7ffd00000000 ---p 00000000 00:00 0 [rollup]\nRss:    2000 kB\nPss:    1000 kB\nPss_Dirty: 10 kB\n'
  expect(parseRollup(text)).toEqual({ pssMb: 1.024, rssMb: 2.048 })
})

test('delays of the event loop are read from the metrics', () => {
  const metrics = [
    '# HELP pombo_event_loop_delay_seconds x',
    'pombo_event_loop_delay_seconds{process="worker",quantile="0.5"} 0.001',
    'pombo_event_loop_delay_seconds{process="worker",quantile="0.99"} 0.0205',
    'pombo_event_loop_delay_seconds{process="worker",quantile="1"} 0.1',
  ].join('\n')
  expect(describeDelays(metrics)).toBe('worker p50 1.0 ms, p99 20.5 ms, longest 100.0 ms')
  expect(describeDelays('')).toBe('not told by this Pombo')
})

/** Answers every request that is whole after a while; the time-out stands for the work. */
async function withServer(
  answerMs: number,
  status: string,
  work: (port: number) => Promise<void>,
): Promise<void> {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.on('end', () => socket.end())
    socket.on('data', () =>
      setTimeout(() => {
        // In two pieces, with the body split: the load must put them together.
        socket.write(`HTTP/1.1 ${status}\r\nContent-Length: 4\r\n\r\nab`)
        socket.write('cd')
      }, answerMs),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  try {
    await work((server.address() as AddressInfo).port)
  } finally {
    server.close()
  }
}

const job = (port: number, changes: Partial<LoadJob> = {}): LoadJob => ({
  port,
  path: '/',
  headers: {},
  bodies: ['{}'],
  connections: 2,
  durationMs: 200,
  expectedStatus: 200,
  ...changes,
})

test('the load counts answers, and keeps one that it did not expect', async () => {
  await withServer(0, '200 OK', async (port) => {
    const result = await runLoad(job(port))
    expect(result.requests).toBeGreaterThan(2)
    expect(result.otherStatuses).toEqual({})
  })
  await withServer(0, '503 Busy', async (port) => {
    const result = await runLoad(job(port))
    expect(result.otherStatuses).toEqual({ '503': result.requests })
    expect(result.firstUnexpected).toContain('503 Busy')
  })
})

test('an open loop counts from the moment a request was due, so a slow server cannot hide its queue', async () => {
  await withServer(50, '200 OK', async (port) => {
    const closed = await runLoad(job(port))
    // Two connections manage 40 a second; 200 are due.
    const open = await runLoad(job(port, { ratePerSecond: 200 }))
    expect(open.latency.max).toBeGreaterThan(closed.latency.p50 * 2)
  })
})

test('an open loop sends no more than was due', async () => {
  await withServer(0, '200 OK', async (port) => {
    const result = await runLoad(job(port, { ratePerSecond: 50 }))
    expect(result.requests).toBeGreaterThan(0)
    expect(result.requests).toBeLessThanOrEqual(10)
  })
})

test('the load holds back while the provider behind has not caught up', async () => {
  const provider = createServer((socket) => {
    socket.on('error', () => {})
    // Never finishes anything.
    socket.write(formatCounts({ submitted: 9, receipts: 0, refused: 0, done: 9, bound: 1 }))
  })
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve))
  try {
    await withServer(0, '200 OK', async (port) => {
      const backlog = { port: (provider.address() as AddressInfo).port, limit: 3 }
      expect((await runLoad(job(port, { backlog }))).requests).toBe(3)
    })
  } finally {
    provider.close()
  }
})
