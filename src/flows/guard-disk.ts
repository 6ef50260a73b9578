/** Below a bound of free space nothing new is taken: a database on a full disk stops for everybody. */
import { freeBytesAt, type DiskGuard } from '../lib/disk-space.ts'
import { UnavailableError } from '../lib/unavailable.ts'
import { databaseFolder } from '../store/alerts.ts'
import type { Db } from '../store/db.ts'

const retryAfterSeconds = 30

/** 503 with `Retry-After` instead of the work. */
export const unlessDiskIsLow =
  <Given extends unknown[], Result>(
    disk: Pick<DiskGuard, 'isLow'> | undefined,
    work: (...given: Given) => Promise<Result>,
  ): ((...given: Given) => Promise<Result>) =>
  async (...given) => {
    if (disk?.isLow())
      throw new UnavailableError('the server is short of disk space; try again later', retryAfterSeconds)
    return await work(...given)
  }

/** Of the disk that the embedded database writes to; the data folder's, when that may not be asked. */
export function diskOf(db: Db, dataDir: string): () => Promise<number> {
  let folder: string | undefined
  return async () => {
    folder ??= (await databaseFolder(db)) ?? dataDir
    return await freeBytesAt(folder).catch(() => freeBytesAt(dataDir))
  }
}
