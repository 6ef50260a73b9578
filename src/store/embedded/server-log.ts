import { closeSync, openSync } from 'node:fs'
import { copyFile, open, stat, truncate } from 'node:fs/promises'

export type ServerLog = { fd: number; closeOurs(): void; sinceStart(): Promise<string>; stop(): void }

const MAX_BYTES = 8 * 1024 * 1024
const LOOK_EVERY_MS = 30_000

/**
 * PostgreSQL appends to the file itself, so it can go on when Pombo is gone and never waits for us. Bounded by
 * looking now and then: past 8 MB the file is copied to `.1` and emptied (appending goes on at the start).
 */
export async function openServerLog(path: string): Promise<ServerLog> {
  await bound(path)
  const startsAt = (await stat(path).catch(() => ({ size: 0 }))).size
  const fd = openSync(path, 'a', 0o600)
  const timer = setInterval(() => void bound(path).catch(() => undefined), LOOK_EVERY_MS)
  timer.unref()
  return {
    fd,
    closeOurs: () => closeSync(fd),
    async sinceStart() {
      const handle = await open(path, 'r')
      try {
        const { buffer, bytesRead } = await handle.read({ buffer: Buffer.alloc(65_536), position: startsAt })
        return buffer.toString('utf8', 0, bytesRead)
      } finally {
        await handle.close()
      }
    },
    stop: () => clearInterval(timer),
  }
}

async function bound(path: string): Promise<void> {
  const facts = await stat(path).catch(() => undefined)
  if (!facts || facts.size <= MAX_BYTES) return
  await copyFile(path, `${path}.1`)
  await truncate(path, 0)
}
