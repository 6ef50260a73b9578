import { setTimeout as delay } from 'node:timers/promises'
import { lockDataDir, startEmbedded, type EmbeddedPostgres } from '../store/embedded/index.ts'
import type { SupervisorLog } from './slot.ts'

export type SupervisedDatabase = {
  url(): string
  isUp(): boolean
  pid(): number | undefined
  stop(): Promise<void>
}

/** Waits between attempts to bring a died server back. */
const BACKOFF_MS = [0, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000]

/** A server that lived this long was well: its next death counts as the first. */
const WELL_AFTER_MS = 30_000

/** The embedded server, started again when it dies, under one lock for the supervisor's whole life. */
export async function superviseDatabase(options: {
  dataDir: string
  log: SupervisorLog
  onChange: () => void
}): Promise<SupervisedDatabase> {
  const { dataDir, log } = options
  const lock = lockDataDir(dataDir)
  let server: EmbeddedPostgres | undefined
  const stopping = new AbortController()
  try {
    server = await startEmbedded({ dataDir, log, lock })
  } catch (error) {
    lock.release()
    throw error
  }
  let { url } = server
  const watching = watch(server)

  async function watch(first: EmbeddedPostgres): Promise<void> {
    let deathsInARow = 0
    for (let current = first; ;) {
      const startedAt = performance.now()
      const exit = await current.exited
      if (stopping.signal.aborted) return
      deathsInARow = performance.now() - startedAt > WELL_AFTER_MS ? 1 : deathsInARow + 1
      server = undefined
      log.error(exit, 'the embedded PostgreSQL died and is started again')
      options.onChange()
      await current.stop()
      const next = await startAgain(deathsInARow - 1)
      if (!next) return
      if (stopping.signal.aborted) return next.stop()
      current = server = next
      url = next.url
      log.info({ pid: next.pid }, 'the embedded PostgreSQL is back')
      options.onChange()
    }
  }

  async function startAgain(earlierAttempts: number): Promise<EmbeddedPostgres | undefined> {
    for (let attempt = earlierAttempts; !stopping.signal.aborted; attempt += 1) {
      const waitMs = BACKOFF_MS[Math.min(attempt, BACKOFF_MS.length - 1)]
      await delay(waitMs, undefined, { signal: stopping.signal }).catch(() => undefined)
      try {
        return await startEmbedded({ dataDir, log, lock })
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error)
        log.error({ attempt, reason }, 'the embedded PostgreSQL did not come back')
      }
    }
    return undefined
  }

  return {
    url: () => url,
    isUp: () => server !== undefined,
    pid: () => server?.pid,
    async stop() {
      stopping.abort()
      await server?.stop()
      await watching
      lock.release()
    },
  }
}
