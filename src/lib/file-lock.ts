import { closeSync, existsSync, openSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'

/** Held until `release`, or until the operating system sees the process die, by kill -9 too. */
export type FileLock = { path: string; release(): void }

const SQLITE_BUSY = 5

/**
 * Takes an exclusive lock on `path`, or returns undefined when another process (also one in another container
 * on the same volume) holds it. Node has no flock of its own; SQLite's `BEGIN EXCLUSIVE` takes the same kernel
 * lock and writes nothing, so the file stays empty.
 *
 * POSIX drops a process's locks on a file as soon as that process closes *any* descriptor of it: nothing in the
 * process that holds the lock may open this file. Nor is the file ever removed: a second process could then
 * lock a new file of the same name.
 */
export function takeFileLock(path: string): FileLock | undefined {
  // SQLite says "unable to open database file" whatever the reason; the file system gives the real one.
  if (!existsSync(path)) closeSync(openSync(path, 'a', 0o600))
  const handle = new DatabaseSync(path, { timeout: 0 })
  try {
    // With its journal in memory it never writes: the lock can be had on a full disk too.
    handle.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
  } catch (error) {
    handle.close()
    if (error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY) return undefined
    throw error
  }
  let isHeld = true
  return {
    path,
    release() {
      if (!isHeld) return
      isHeld = false
      handle.close()
    },
  }
}
