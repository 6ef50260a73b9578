import { readdirSync, readlinkSync } from 'node:fs'
import { readFile, realpath, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
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

/** A dead process that its parent has not looked at yet (a container without init) still has its id; it is dead. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch (error) {
    return errnoOf(error) === 'EPERM'
  }
  if (process.platform !== 'linux') return true
  try {
    readlinkSync(`/proc/${pid}/cwd`)
    return true
  } catch (error) {
    return errnoOf(error) !== 'ENOENT'
  }
}

/**
 * A postmaster that outlived its Pombo, and backends that outlived their postmaster, are stopped before a new one
 * starts. Only for the holder of the data folder's lock. Ids are reused, so a process counts as ours only if it
 * is a postgres that works in this very folder (its processes never leave it).
 */
export async function stopOrphans(
  data: string,
): Promise<{ stoppedPids: number[]; socketDir: string | undefined }> {
  const noted = await readPostmaster(data)
  if (!noted) return { stoppedPids: [], socketDir: undefined }
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
  return { stoppedPids: [...stopped], socketDir: noted.socketDir }
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
    if (!isAlive(pid)) return true
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  return false
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
    return readlinkSync(`/proc/${pid}/cwd`) === folder && isPostgres(pid)
  } catch {
    return false
  }
}

function isPostgres(pid: number): boolean {
  try {
    // After an upgrade of the package the running file's name ends in " (deleted)".
    return basename(readlinkSync(`/proc/${pid}/exe`)).split(' ')[0] === 'postgres'
  } catch (error) {
    // A dying process loses its program first and lets go of the shared memory a moment later: wait for it too.
    return errnoOf(error) === 'ENOENT'
  }
}
