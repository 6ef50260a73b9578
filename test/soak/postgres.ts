/** The embedded PostgreSQL as a set of processes that can be stopped, continued and killed one by one. */
import { readdirSync, readFileSync } from 'node:fs'
import pg from 'pg'
import { findHome } from '../../src/store/embedded/home.ts'
import { readPostmaster } from '../../src/store/embedded/postmaster.ts'

export async function postmasterOf(dataDir: string): Promise<number> {
  const found = await readPostmaster((await findHome(dataDir)).data)
  if (found === undefined) throw new Error('There is no PostgreSQL.')
  return found.pid
}

/** Backends and helpers, the postmaster's own children. */
export function childrenOf(parent: number): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && parentOf(pid) === parent)
}

function parentOf(pid: number): number | undefined {
  try {
    // The name in brackets may hold anything; what follows it does not.
    return Number(
      readFileSync(`/proc/${pid}/stat`, 'utf8')
        .replace(/^.*\) /s, '')
        .split(' ')[1],
    )
  } catch {
    return undefined
  }
}

export function signal(pids: readonly number[], name: NodeJS.Signals): void {
  for (const pid of pids)
    try {
      process.kill(pid, name)
    } catch {
      // It has just ended by itself.
    }
}

/** Stands still as a whole, as on a machine that is swapping, until the returned function is called. */
export async function freeze(dataDir: string): Promise<() => void> {
  const postmaster = await postmasterOf(dataDir)
  // The postmaster first: it would otherwise make new ones.
  signal([postmaster], 'SIGSTOP')
  const children = childrenOf(postmaster)
  signal(children, 'SIGSTOP')
  return () => signal([...children, postmaster], 'SIGCONT')
}

/** Takes every connection that the server has, and cuts those of Pombo; resolves with what gives them back. */
export async function useUpConnections(url: string): Promise<{ taken: number; release(): Promise<void> }> {
  const clients: pg.Client[] = []
  const release = async () => void (await Promise.all(clients.map((client) => client.end().catch(() => {}))))
  const grab = async (): Promise<boolean> => {
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000 })
    client.on('error', () => {})
    try {
      await client.connect()
      clients.push(client)
      return true
    } catch {
      return false
    }
  }
  try {
    while (clients.length < 500 && (await grab()));
    const cut = `select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'pombo%'`
    // Whoever was cut comes back at once, so we are quicker, and cut again.
    for (let turn = 0; turn < 20; turn++) {
      const result = await clients[0]!.query(cut)
      if (result.rowCount === 0) break
      while (clients.length < 500 && (await grab()));
    }
  } catch (error) {
    await release()
    throw error
  }
  return { taken: clients.length, release }
}
