/**
 * The key that seals secrets at rest: from the configuration, or from a file in the data folder. The database
 * keeps a value derived from it, so that a node with another key refuses to start instead of failing on every
 * secret it meets.
 */
import { link, mkdir, open, readFile, unlink } from 'node:fs/promises'
import { createSealer, newSealingKey, type Sealer } from '../lib/secrets.ts'
import type { Queryable } from './db.ts'
import {
  isSealingKey,
  keyFile as keyFileIn,
  promoteNextKey,
  readNextKey,
  writeKeyFile,
} from './sealing-key.ts'

/** The key is missing, unreadable or another one; the message is for the person who starts Pombo. */
export class SealingKeyError extends Error {}

export type KeySource = { sealingKey: string | undefined; dataDir: string }

const settingName = 'sealing_check'

const keyFile = (source: KeySource) => keyFileIn(source.dataDir)

/** For the one who prepares the database, under the migration lock: makes the key when there is none yet. */
export async function prepareSealer(db: Queryable, source: KeySource): Promise<Sealer> {
  const known = await readCheckValue(db)
  const key = await findKey(source)
  if (key === undefined && known !== undefined) throw missing(source)
  const sealer = sealerOf(key ?? (await createKeyFile(source)), source)
  if (known === undefined)
    await db.query('insert into setting (key, value) values ($1, $2)', [
      settingName,
      JSON.stringify(sealer.checkValue),
    ])
  else if (known !== sealer.checkValue) {
    const next = await finishKeyChange(source, known)
    if (next === undefined) throw another(source)
    return next
  }
  return sealer
}

/** A change of the key that was cut off after its commit: the database already speaks the new one. */
async function finishKeyChange(source: KeySource, known: string): Promise<Sealer | undefined> {
  if (source.sealingKey !== undefined) return undefined
  const key = await readNextKey(source.dataDir)
  if (key === undefined || createSealer(key).checkValue !== known) return undefined
  await promoteNextKey(source.dataDir)
  return createSealer(key)
}

/** The key itself, for a backup; undefined when there is none here. */
export async function readSealingKey(source: KeySource): Promise<string | undefined> {
  const key = await findKey(source)
  if (key !== undefined) sealerOf(key, source)
  return key?.toLowerCase()
}

/** For a restore: the key of the backup becomes this node's. True when a file was written for it. */
export async function adoptSealingKey(source: KeySource, key: string): Promise<boolean> {
  const own = await readSealingKey(source)
  if (own === key) return false
  if (own !== undefined)
    throw new SealingKeyError(
      source.sealingKey === undefined
        ? `There is another sealing key in ${keyFile(source)} already: move it away, or set POMBO_DATA_DIR to a new folder.`
        : 'POMBO_SEALING_KEY is another key than the one of the backup: leave it empty, or set it to that key.',
    )
  await mkdir(source.dataDir, { recursive: true })
  await writeKeyFile(keyFile(source), key)
  return true
}

/** What the database says about its key: undefined while it has none. */
export const readSealingCheck = (db: Queryable): Promise<string | undefined> => readCheckValue(db)

/** In the transaction that seals everything with another key. */
export async function writeSealingCheck(transaction: Queryable, sealer: Sealer): Promise<void> {
  await transaction.query('update setting set value = $2 where key = $1', [
    settingName,
    JSON.stringify(sealer.checkValue),
  ])
}

/** For everyone else: the key must be there and must be the database's. */
export async function openSealer(db: Queryable, source: KeySource): Promise<Sealer> {
  const key = await findKey(source)
  if (key === undefined) throw missing(source)
  const sealer = sealerOf(key, source)
  if ((await readCheckValue(db)) !== sealer.checkValue) throw another(source)
  return sealer
}

async function readCheckValue(db: Queryable): Promise<string | undefined> {
  const [row] = await db.query<{ value: string }>('select value from setting where key = $1', [settingName])
  return row?.value
}

async function findKey(source: KeySource): Promise<string | undefined> {
  if (source.sealingKey !== undefined) return source.sealingKey
  return readFile(keyFile(source), 'utf8').then(
    (text) => text.trim(),
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined
      throw new SealingKeyError(
        `The sealing key ${keyFile(source)} cannot be read (${error.code}): correct its owner and mode, or set POMBO_SEALING_KEY.`,
      )
    },
  )
}

function sealerOf(key: string, source: KeySource): Sealer {
  if (!isSealingKey(key))
    throw new SealingKeyError(
      `The sealing key ${keyFile(source)} must hold 64 hexadecimal digits and nothing else: restore it from a backup.`,
    )
  return createSealer(key.toLowerCase())
}

/** Complete on disk before it has its name, and never over a file that another start has just made. */
async function createKeyFile(source: KeySource): Promise<string> {
  const key = newSealingKey()
  const unfinished = `${keyFile(source)}.${process.pid}.new`
  await mkdir(source.dataDir, { recursive: true })
  const file = await open(unfinished, 'wx', 0o600)
  try {
    await file.writeFile(`${key}\n`)
    await file.sync()
  } finally {
    await file.close()
  }
  try {
    await link(unfinished, keyFile(source))
    return key
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    return (await readFile(keyFile(source), 'utf8')).trim()
  } finally {
    await unlink(unfinished)
  }
}

const missing = (source: KeySource) =>
  new SealingKeyError(
    `The database was sealed with a key that is not here: copy sealing.key from the node that made it to ${keyFile(source)}, or set POMBO_SEALING_KEY.`,
  )

const another = (source: KeySource) =>
  new SealingKeyError(
    `The database was sealed with another key than ${source.sealingKey ? 'POMBO_SEALING_KEY' : keyFile(source)}: use the key of the node that made the database.`,
  )
