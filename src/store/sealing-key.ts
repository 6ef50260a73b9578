/** The file that holds the sealing key, and its neighbours while the key is being changed. */
import { open, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'

export const keyFile = (dataDir: string): string => join(dataDir, 'sealing.key')

/** Written before the database is sealed with it: after a crash in between it is found here. */
export const nextKeyFile = (dataDir: string): string => join(dataDir, 'sealing.key.new')

/** Kept until the new key is in its place. */
export const formerKeyFile = (dataDir: string): string => join(dataDir, 'sealing.key.old')

export const isSealingKey = (text: string): boolean => /^[0-9a-f]{64}$/i.test(text)

/** For the owner only, and whole on the disk before it has its name. */
export async function writeKeyFile(path: string, key: string): Promise<void> {
  const unfinished = `${path}.${process.pid}.unfinished`
  await rm(unfinished, { force: true })
  const file = await open(unfinished, 'wx', 0o600)
  try {
    await file.writeFile(`${key}\n`)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(unfinished, path)
  await syncFolder(join(path, '..'))
}

/** The new key takes its place; from here on the former one is not needed any more. */
export async function promoteNextKey(dataDir: string): Promise<void> {
  await rename(nextKeyFile(dataDir), keyFile(dataDir))
  await syncFolder(dataDir)
  await rm(formerKeyFile(dataDir), { force: true })
}

/** The database was not sealed with it after all. */
export async function discardNextKey(dataDir: string): Promise<void> {
  await rm(nextKeyFile(dataDir), { force: true })
  await rm(formerKeyFile(dataDir), { force: true })
}

/** Undefined when there is no such file, or none with a key in it. */
export async function readNextKey(dataDir: string): Promise<string | undefined> {
  const text = await readFile(nextKeyFile(dataDir), 'utf8').catch(() => '')
  return isSealingKey(text.trim()) ? text.trim().toLowerCase() : undefined
}

/** A rename is safe from a power cut only when its folder is on the disk. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
