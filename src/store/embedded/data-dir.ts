import { mkdir, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { takeFileLock, type FileLock } from '../../lib/file-lock.ts'
import { isRoot } from './account.ts'
import { EmbeddedError, fileFault } from './errors.ts'

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
    await mkdir(dataDir, { recursive: true, mode: isRoot() ? 0o711 : 0o700 })
    return await realpath(dataDir)
  } catch (error) {
    throw fileFault(error, dataDir)
  }
}
