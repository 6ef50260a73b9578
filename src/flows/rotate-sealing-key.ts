/**
 * Seals everything with a new key. In this order, so that a crash at any moment leaves a key that opens the database:
 *   1. the new key is on the disk beside the present one, which is kept aside as well;
 *   2. all values and the check value change in one transaction;
 *   3. the new key takes the present one's place, and the copy of the old one goes.
 * After a crash between 2 and 3 the next start finds the new key by the check value and finishes (store/sealing.ts).
 */
import { mkdir } from 'node:fs/promises'
import { createSealer, newSealingKey } from '../lib/secrets.ts'
import type { Db } from '../store/db.ts'
import { withMigrationLock } from '../store/migrate.ts'
import { otherPombos } from '../store/other-pombos.ts'
import {
  discardNextKey,
  formerKeyFile,
  keyFile,
  nextKeyFile,
  promoteNextKey,
  writeKeyFile,
} from '../store/sealing-key.ts'
import { openSealer, readSealingKey, writeSealingCheck, type KeySource } from '../store/sealing.ts'
import { lockSealedTables, resealValues } from '../store/sealed-values.ts'

/** The key cannot be changed now; the message is for the person at the terminal. */
export class RotationRefused extends Error {}

export type RotationResult = {
  values: number
  /** Where the new key is. */
  file: string
  /** The present key comes from the environment: only a person can put the new one there. */
  mustBeSet: boolean
}

export async function rotateSealingKey(options: {
  db: Db
  keySource: KeySource
  /** The application name of the caller's own connections. */
  ownName: string
  onProgress?(done: number): void
}): Promise<RotationResult> {
  const { db, keySource } = options
  const connection = await db.connect({ isPatient: true })
  let isBroken = true
  try {
    // A Pombo that starts meanwhile waits here, and then finds one key or the other.
    const result = await withMigrationLock(connection, async () => {
      await refuseOthers(options)
      const present = await openSealer(connection, keySource)
      const key = newSealingKey()
      const next = createSealer(key)
      await mkdir(keySource.dataDir, { recursive: true })
      await writeKeyFile(formerKeyFile(keySource.dataDir), (await readSealingKey(keySource))!)
      await writeKeyFile(nextKeyFile(keySource.dataDir), key)
      await connection.query('begin')
      let values: number
      let isCommitting = false
      try {
        await lockSealedTables(connection)
        values = await resealValues(connection, present, next, options.onProgress)
        await writeSealingCheck(connection, next)
        isCommitting = true
        await connection.query('commit')
      } catch (error) {
        await connection.query('rollback').catch(() => {})
        // A COMMIT that failed may have gone through all the same: then both keys are kept, and the check value tells.
        if (!isCommitting) await discardNextKey(keySource.dataDir)
        throw error
      }
      if (keySource.sealingKey !== undefined)
        return { values, file: nextKeyFile(keySource.dataDir), mustBeSet: true }
      await promoteNextKey(keySource.dataDir)
      return { values, file: keyFile(keySource.dataDir), mustBeSet: false }
    })
    await connection.query('reset statement_timeout')
    isBroken = false
    return result
  } finally {
    connection.release(isBroken)
  }
}

/** A running Pombo holds the old key in memory and would open nothing any more. */
async function refuseOthers({ db, ownName }: { db: Db; ownName: string }): Promise<void> {
  const others = await otherPombos(db, ownName)
  if (others.length > 0)
    throw new RotationRefused(
      `A Pombo works on this database (${others.join(', ')}): stop every node first, then change the key.`,
    )
}
