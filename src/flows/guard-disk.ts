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

/** Of the disk that the database writes to; one on another machine is not ours to measure, and never short. */
export function diskOf(db: Db): () => Promise<number> {
  let folder: { path: string | undefined } | undefined
  return async () => {
    folder ??= { path: await databaseFolder(db) }
    return folder.path === undefined ? Infinity : await freeBytesAt(folder.path)
  }
}
