/**
 * The key that seals secrets at rest: from the configuration, or from a file in the data folder. The database
 * keeps a value derived from it, so that a node with another key refuses to start instead of failing on every
 * secret it meets.
 */
import { link, mkdir, open, readFile, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { createSealer, newSealingKey, type Sealer } from '../lib/secrets.ts'
import type { Queryable } from './db.ts'

/** The key is missing, unreadable or another one; the message is for the person who starts Pombo. */
export class SealingKeyError extends Error {}

export type KeySource = { sealingKey: string | undefined; dataDir: string }

const settingName = 'sealing_check'

const keyFile = (source: KeySource) => join(source.dataDir, 'sealing.key')

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
  else if (known !== sealer.checkValue) throw another(source)
  return sealer
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
  if (!/^[0-9a-f]{64}$/i.test(key))
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
