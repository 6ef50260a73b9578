/** Files of a message go into the store before the message, each in a transaction of its own. */
import { UnavailableError } from '../lib/unavailable.ts'
import { isConnectionError, type Db } from '../store/db.ts'
import { storeFile } from '../store/files.ts'

export type StoreAttachments = (
  companyId: string,
  attachments: { bytes: Uint8Array; hash: string }[],
) => Promise<void>

export const createStoreAttachments =
  ({ db }: { db: Db }): StoreAttachments =>
  async (companyId, attachments) => {
    try {
      for (const { bytes, hash } of attachments) await storeFile(db, companyId, bytes, hash)
    } catch (error) {
      if (isConnectionError(error))
        throw new UnavailableError('the database does not answer', 2, { cause: error })
      throw error
    }
  }
