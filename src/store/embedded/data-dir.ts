import { mkdir, realpath, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { takeFileLock, type FileLock } from '../../lib/file-lock.ts'
import { isRoot } from './account.ts'
import { EmbeddedError, errnoOf, fileFault } from './errors.ts'

/** One Pombo per data folder, for as long as the lock is held. */
export function lockDataDir(dataDir: string): FileLock {
  let lock
  try {
    lock = takeFileLock(join(dataDir, 'pombo.lock'))
  } catch (error) {
    throw fileFault(error, dataDir)
  }
  if (lock) return lock
  throw new EmbeddedError(
    'in_use',
    `Another Pombo uses the data folder ${dataDir}: stop it first, or set POMBO_DATA_DIR to another folder.`,
  )
}

/** Makes the folder when missing; returns its real path, so that one folder has one name. */
export async function openDataDir(dataDir: string): Promise<string> {
  try {
    await makeFolder(dataDir, isRoot() ? 0o711 : 0o700)
    return await realpath(dataDir)
  } catch (error) {
    throw fileFault(error, dataDir)
  }
}

/**
 * Folder by folder. `mkdir` with `recursive` never returns where a parent exists but nothing can be made in it
 * (seen with /proc on Node 24).
 */
async function makeFolder(folder: string, mode: number): Promise<void> {
  try {
    await mkdir(folder, { mode })
  } catch (error) {
    const code = errnoOf(error)
    if (code === 'EEXIST' && (await stat(folder)).isDirectory()) return
    const parent = dirname(folder)
    const isParentMissing =
      code === 'ENOENT' && parent !== folder && !(await stat(parent).catch(() => undefined))
    if (!isParentMissing) throw error
    await makeFolder(parent, mode)
    await mkdir(folder, { mode })
  }
}
