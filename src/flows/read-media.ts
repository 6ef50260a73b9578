/** The content behind the address of a media item. Whoever knows the address may see it, as in a mail's picture. */
import type { MediaReference } from '../domain/media.ts'
import type { Db } from '../store/db.ts'
import { readFile } from '../store/files.ts'
import { findMediaByReference } from '../store/media.ts'

export type ReadMedia = (
  reference: MediaReference,
) => Promise<{ bytes: Buffer; mimeType: string } | undefined>

export const createReadMedia =
  ({ db }: { db: Db }): ReadMedia =>
  async (reference) => {
    const item = await findMediaByReference(db, reference)
    const bytes = item && (await readFile(db, item.companyId, item.hash))
    return bytes && { bytes, mimeType: item.mimeType }
  }
