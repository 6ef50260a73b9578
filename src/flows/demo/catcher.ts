/**
 * The sandbox is on loopback, where nothing may go: the very hosts and ports of its callback catcher and of its providers
 * are exceptions in demo installations. The ports are others at every start, and known only to the process that runs it.
 */
import type { Log } from '../../lib/log.ts'
import { readExceptions, type Exceptions } from '../../lib/outbound/index.ts'
import type { Queryable } from '../../store/db.ts'

const settingName = 'demo_catcher'
const refreshMs = 1_000
/** While processes start beside each other: who sends as soon as all are ready must not find the last start's ports. */
const startingMs = 15_000
const startingRefreshMs = 50

export async function publishCatcher(db: Queryable, catcherUrl: string): Promise<void> {
  await db.query(
    `insert into setting (key, value) values ($1, $2) on conflict (key) do update set value = excluded.value`,
    [settingName, JSON.stringify(new URL(catcherUrl).host)],
  )
}

/** The given exceptions, and the catcher and providers of the moment. */
export async function withDemoCatcher(
  exceptions: Exceptions,
  { db, log }: { db: Queryable; log: Log },
): Promise<{ exceptions: Exceptions; close(): void }> {
  let known: string | undefined
  let catcher: Exceptions | undefined
  const refresh = async () => {
    const rows = await db.query<{ key: string; value: string | string[] }>(
      {
        name: 'demo_peers',
        text: `select key, value from setting where key in ($1, 'demo_sandbox') order by key`,
      },
      [settingName],
    )
    const entries = rows.flatMap(({ key, value }) =>
      [value].flat().map((peer) => `${key === settingName ? 'callbacks' : 'brokers'}=${peer}`),
    )
    if (entries.join() === known) return
    known = entries.join()
    const reading = readExceptions(entries)
    catcher = reading.ok ? reading.exceptions : undefined
  }
  await refresh()
  const startedMs = performance.now()
  let timer: NodeJS.Timeout | undefined
  let isClosed = false
  const refreshLater = () => {
    if (isClosed) return
    const isStarting = performance.now() - startedMs < startingMs
    timer = setTimeout(
      () => {
        refresh()
          .catch((error: unknown) => log.debug({ err: error }, 'the address of the catcher is not known'))
          .finally(refreshLater)
      },
      isStarting ? startingRefreshMs : refreshMs,
    )
  }
  refreshLater()
  return {
    exceptions: {
      allows: (purpose, hostname, port) =>
        exceptions.allows(purpose, hostname, port) || (catcher?.allows(purpose, hostname, port) ?? false),
    },
    close() {
      isClosed = true
      clearTimeout(timer)
    },
  }
}
