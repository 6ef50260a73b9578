/**
 * Wake-ups between processes: one NOTIFY per process at most every 50 ms, on the pool and never inside an accepting
 * or settling transaction (there it took 8.7 k to 3.5 k commits per second). Losing one costs a second: lanes poll.
 */
import pg from 'pg'
import type { Log } from '../lib/log.ts'
import type { Db } from '../store/db.ts'

const channel = 'pombo_lanes'
const intervalMs = 50
/** A payload holds 8,000 bytes; past that everybody looks at everything. */
const maxIds = 200

export type Notifier = { wake(lineIds: Iterable<string>): void; close(): void }

export function createNotifier(db: Db, log: Log): Notifier {
  const waiting = new Set<string>()
  let timer: NodeJS.Timeout | undefined
  let lastSentMs = 0

  const send = () => {
    timer = undefined
    lastSentMs = performance.now()
    const payload = waiting.size > maxIds ? '*' : [...waiting].join(',')
    waiting.clear()
    db.query({ name: 'lane_notify', text: 'select pg_notify($1, $2)' }, [channel, payload]).catch(
      (error: unknown) => log.debug({ err: error }, 'a wake-up was not sent; the poll will find the work'),
    )
  }

  return {
    wake(lineIds) {
      for (const id of lineIds) waiting.add(id)
      timer ??= setTimeout(send, Math.max(0, lastSentMs + intervalMs - performance.now()))
    },
    close: () => clearTimeout(timer),
  }
}

/** Listens on a connection of its own, and connects again when it is lost. */
export async function listenForWakes(
  url: string,
  log: Log,
  onWake: (lineIds: string[] | '*') => void,
): Promise<{ close(): Promise<void> }> {
  let client: pg.Client | undefined
  let isClosed = false
  let retry: NodeJS.Timeout | undefined

  async function connect(): Promise<void> {
    const next = new pg.Client({
      connectionString: url,
      application_name: 'pombo wake-ups',
      keepAlive: true,
      connectionTimeoutMillis: 5_000,
    })
    const again = () => {
      if (isClosed || client !== next) return
      client = undefined
      next.end().catch(() => {})
      retry = setTimeout(() => void connect(), 1_000)
    }
    client = next
    next.on('error', again)
    next.on('end', again)
    next.on('notification', ({ payload }) => onWake(!payload || payload === '*' ? '*' : payload.split(',')))
    try {
      await next.connect()
      await next.query(`listen ${channel}`)
      // What was told while nobody listened.
      onWake('*')
    } catch (error) {
      log.debug({ err: error }, 'cannot listen for wake-ups; polling')
      again()
    }
  }
  await connect()
  return {
    async close() {
      isClosed = true
      clearTimeout(retry)
      await client?.end().catch(() => {})
    },
  }
}
