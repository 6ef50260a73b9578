/** Files of a message go into the store before the message, each in a transaction of its own. */
import type { Db } from '../store/db.ts'
import { storeFile } from '../store/files.ts'
import { asUnavailable } from './database-faults.ts'

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
      throw asUnavailable(error)
    }
  }
