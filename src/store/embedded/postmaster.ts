import { readdirSync, readlinkSync } from 'node:fs'
import { readFile, realpath, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { errnoOf } from './errors.ts'
import { runTool } from './run-tool.ts'

/** postmaster.pid as PostgreSQL writes it, one fact a line. */
export type Postmaster = { pid: number; port: number; socketDir: string; isReady: boolean }

export async function readPostmaster(data: string): Promise<Postmaster | undefined> {
  const text = await readFile(join(data, 'postmaster.pid'), 'utf8').catch(() => '')
  const lines = text.split('\n')
  const pid = Number(lines[0])
  if (!Number.isInteger(pid) || pid <= 0) return undefined
  return { pid, port: Number(lines[3]), socketDir: lines[4] ?? '', isReady: lines[7]?.trim() === 'ready' }
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return errnoOf(error) === 'EPERM'
  }
}

/**
 * A postmaster that outlived its Pombo, and backends that outlived their postmaster, are stopped before a new one
 * starts. Only for the holder of the data folder's lock. Ids are reused, so a process counts as ours only if it
 * is a postgres that works in this very folder (its processes never leave it).
 */
export async function stopOrphans(data: string): Promise<{ stoppedPids: number[] }> {
  const noted = await readPostmaster(data)
  if (!noted) return { stoppedPids: [] }
  const folder = await realpath(data)
  const postmaster = (await worksIn(noted.pid, folder)) ? noted.pid : undefined
  const stopped = new Set<number>()
  if (postmaster !== undefined) {
    stopped.add(postmaster)
    await stopProcess(postmaster, { fastMs: 5_000, immediateMs: 5_000 })
  }
  // A postmaster that died by kill -9 leaves backends which notice within milliseconds, unless they are busy.
  for (const pid of processesIn(folder)) {
    stopped.add(pid)
    await stopProcess(pid, { fastMs: 0, immediateMs: 1_000 })
  }
  await rm(join(data, 'postmaster.pid'), { force: true })
  if (noted.socketDir.startsWith('/tmp/pombo-'))
    await rm(dirname(noted.socketDir), { recursive: true, force: true })
  return { stoppedPids: [...stopped] }
}

/** Fast (connections are cut, a checkpoint is written), then immediate (recovery at the next start), then kill. */
export async function stopProcess(
  pid: number,
  limits: { fastMs: number; immediateMs: number },
): Promise<void> {
  const steps: [NodeJS.Signals, number][] = [
    ['SIGINT', limits.fastMs],
    ['SIGQUIT', limits.immediateMs],
    ['SIGKILL', 5_000],
  ]
  for (const [signal, waitMs] of steps) {
    if (waitMs === 0) continue
    try {
      process.kill(pid, signal)
    } catch {
      return
    }
    if (await isGoneWithin(pid, waitMs)) return
  }
}

async function isGoneWithin(pid: number, waitMs: number): Promise<boolean> {
  const until = performance.now() + waitMs
  while (performance.now() < until) {
    if (!isAlive(pid) || isZombie(pid)) return true
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  return false
}

/** A dead process whose parent has not looked yet still has its id. */
function isZombie(pid: number): boolean {
  if (process.platform !== 'linux') return false
  try {
    readlinkSync(`/proc/${pid}/cwd`)
    return false
  } catch (error) {
    return errnoOf(error) === 'ENOENT'
  }
}

async function worksIn(pid: number, folder: string): Promise<boolean> {
  if (!isAlive(pid)) return false
  if (process.platform === 'linux') return isOurs(pid, folder)
  if (process.platform === 'win32') return false
  const { output } = await runTool('/bin/ps', ['-p', String(pid), '-o', 'command='], {
    account: undefined,
    cwd: '/',
    timeoutMs: 5_000,
  })
  return output.includes(folder)
}

function processesIn(folder: string): number[] {
  if (process.platform !== 'linux') return []
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && pid !== process.pid && isOurs(pid, folder))
}

function isOurs(pid: number, folder: string): boolean {
  try {
    // After an upgrade of the package the running file's name ends in " (deleted)".
    const program = basename(readlinkSync(`/proc/${pid}/exe`)).split(' ')[0]
    return program === 'postgres' && readlinkSync(`/proc/${pid}/cwd`) === folder
  } catch {
    return false
  }
}
