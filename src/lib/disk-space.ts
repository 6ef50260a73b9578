/** Free space of a disk, and a guard that measures it now and then so that asking costs nothing. */
import { statfs } from 'node:fs/promises'
import type { Log } from './log.ts'

/** What a process without special rights may still write. */
export async function freeBytesAt(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder)
  return bavail * bsize
}

export type DiskGuard = { isLow(): boolean; close(): void }

/** Writing at full speed takes some 100 MiB in this time. */
const everyMs = 2_000

/** A disk that cannot be measured is not called low: that would stop what may well work. */
export async function createDiskGuard(options: {
  measure(): Promise<number>
  minFreeBytes: number
  log: Log
  everyMs?: number
}): Promise<DiskGuard> {
  const { minFreeBytes, log } = options
  let isLow = false
  async function look(): Promise<void> {
    try {
      const free = await options.measure()
      const wasLow = isLow
      isLow = free < minFreeBytes
      if (isLow !== wasLow)
        log.warn({ freeBytes: free, minFreeBytes }, isLow ? 'disk space is low' : 'disk space is back')
    } catch (error) {
      if (isLow) log.warn({ err: error }, 'the disk space cannot be measured')
      isLow = false
    }
  }
  await look()
  const timer = setInterval(() => void look(), options.everyMs ?? everyMs)
  timer.unref()
  return { isLow: () => isLow, close: () => clearInterval(timer) }
}
