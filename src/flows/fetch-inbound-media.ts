/** Fetches files that people sent, by the session of the line they came to, and stores them. */
import type { LineSession } from '../drivers/driver.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { Db } from '../store/db.ts'
import { storeFile } from '../store/files.ts'
import { claimMedia, markMediaFailed, markMediaStored, type PendingMedia } from '../store/inbound-media.ts'

const timeoutMs = 60_000
/** What WhatsApp allows for the largest kind, documents. */
const maxBytes = 100 * 1024 * 1024
const maxTries = 8
/** 1, 2, 4, … minutes: two hours in all. */
const backoffMs = (tries: number): number => 60_000 * 2 ** (tries - 1)

/** Up to `limit` files of this line, one after another, since each may be large; returns how many were looked at. */
export async function fetchInboundMedia(
  { db, clock, log }: { db: Db; clock: Clock; log: Log },
  lineId: string,
  session: Pick<LineSession, 'fetchMedia'>,
  limit = 4,
): Promise<number> {
  if (session.fetchMedia === undefined) return 0
  const now = clock.now()
  const againAt = new Date(now.getTime() + limit * timeoutMs + 60_000)
  const claimed = await claimMedia(db, lineId, now, againAt, limit)
  for (const media of claimed) {
    try {
      const file = await within(timeoutMs, session.fetchMedia(media.providerMediaId))
      if (file.bytes.length > maxBytes) throw new Error(`the file has ${file.bytes.length} bytes`)
      const stored = await storeFile(db, media.companyId, file.bytes)
      await markMediaStored(db, media, {
        ...stored,
        // The message itself told the person's own name of it; a fetched one is often the provider's.
        mimeType: file.mimeType || media.mimeType,
        name: media.name ?? (file.name || null),
      })
    } catch (error) {
      log.warn({ err: error, lineId, tries: media.tries }, 'a received file could not be fetched')
      await markMediaFailed(db, media, wordsOf(error), nextTry(media, clock.now()))
    }
  }
  return claimed.length
}

const nextTry = ({ tries }: PendingMedia, now: Date): Date | null =>
  tries >= maxTries ? null : new Date(now.getTime() + backoffMs(tries))

const wordsOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).replaceAll('\0', '').slice(0, 500)

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const tooLate = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('the provider took too long')), ms)
  })
  try {
    return await Promise.race([work, tooLate])
  } finally {
    clearTimeout(timer)
  }
}
