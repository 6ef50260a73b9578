/**
 * The sandbox's callback catcher is on loopback, where callbacks may not go: its very host and port are an exception in
 * demo installations. The port is another one at every start, and known only to the process that runs the sandbox.
 */
import type { Log } from '../../lib/log.ts'
import { readExceptions, type Exceptions } from '../../lib/outbound/index.ts'
import type { Queryable } from '../../store/db.ts'

const settingName = 'demo_catcher'
const refreshMs = 1_000

export async function publishCatcher(db: Queryable, catcherUrl: string): Promise<void> {
  await db.query(
    `insert into setting (key, value) values ($1, $2) on conflict (key) do update set value = excluded.value`,
    [settingName, JSON.stringify(new URL(catcherUrl).host)],
  )
}

/** The given exceptions, and the catcher of the moment. */
export async function withDemoCatcher(
  exceptions: Exceptions,
  { db, log }: { db: Queryable; log: Log },
): Promise<{ exceptions: Exceptions; close(): void }> {
  let known: string | undefined
  let catcher: Exceptions | undefined
  const refresh = async () => {
    const [row] = await db.query<{ value: string }>(
      { name: 'demo_catcher', text: 'select value from setting where key = $1' },
      [settingName],
    )
    if (row === undefined || row.value === known) return
    known = row.value
    const reading = readExceptions([`callbacks=${row.value}`])
    catcher = reading.ok ? reading.exceptions : undefined
  }
  await refresh()
  const timer = setInterval(() => {
    refresh().catch((error: unknown) => log.debug({ err: error }, 'the address of the catcher is not known'))
  }, refreshMs)
  return {
    exceptions: {
      allows: (purpose, hostname, port) =>
        exceptions.allows(purpose, hostname, port) || (catcher?.allows(purpose, hostname, port) ?? false),
    },
    close: () => clearInterval(timer),
  }
}
