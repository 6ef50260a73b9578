/**
 * Files once per company by content, in chunks: nodes share no disk. A file is stored in a transaction of its own
 * before the message that needs it; one that nothing referred to for 48 hours is removed by housekeeping.
 */
import { createHash } from 'node:crypto'
import type { Db, Queryable } from './db.ts'

export type StoredFile = {
  /** SHA-256, hexadecimal. */
  hash: string
  size: number
}

const chunkBytes = 256 * 1024
/** 4 MiB per round trip: a file of 32 MiB takes eight. */
const chunksPerStatement = 16

export const fileHash = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

/** `hash` when it is known already. A file that is there gets a fresh `referenced_at`. */
export async function storeFile(
  db: Pick<Db, 'transaction'>,
  companyId: string,
  bytes: Uint8Array,
  hash: string = fileHash(bytes),
): Promise<StoredFile> {
  await db.transaction(async (connection) => {
    // Waits for another transaction that is storing the same file, and then finds it there.
    const [file] = await connection.query<{ isNew: boolean }>(
      `insert into file (company_id, hash, size) values ($1, decode($2, 'hex'), $3)
        on conflict (company_id, hash) do update set referenced_at = now()
        returning xmax = 0 as "isNew"`,
      [companyId, hash, bytes.length],
    )
    if (file!.isNew) await storeChunks(connection, companyId, hash, bytes)
  })
  return { hash, size: bytes.length }
}

async function storeChunks(
  connection: Queryable,
  companyId: string,
  hash: string,
  bytes: Uint8Array,
): Promise<void> {
  for (let start = 0; start < bytes.length; start += chunkBytes * chunksPerStatement) {
    const values: unknown[] = [companyId, hash]
    const rows: string[] = []
    const end = Math.min(bytes.length, start + chunkBytes * chunksPerStatement)
    for (let at = start; at < end; at += chunkBytes) {
      values.push(
        at / chunkBytes,
        Buffer.from(bytes.buffer, bytes.byteOffset + at, Math.min(chunkBytes, bytes.length - at)),
      )
      rows.push(`($1, decode($2, 'hex'), $${values.length - 1}, $${values.length})`)
    }
    await connection.query(
      `insert into file_chunk (company_id, hash, position, bytes) values ${rows.join(', ')}`,
      values,
    )
  }
}

/** The whole file; undefined when this company has none with that hash. */
export async function readFile(db: Queryable, companyId: string, hash: string): Promise<Buffer | undefined> {
  const [file] = await db.query<{ size: number }>(
    `select size from file where company_id = $1 and hash = decode($2, 'hex')`,
    [companyId, hash],
  )
  if (file === undefined) return undefined
  const bytes = Buffer.alloc(file.size)
  for (let at = 0; at < file.size;) {
    const chunks = await db.query<{ bytes: Buffer }>(
      `select bytes from file_chunk where company_id = $1 and hash = decode($2, 'hex') and position >= $3
        order by position limit ${chunksPerStatement}`,
      [companyId, hash, at / chunkBytes],
    )
    if (chunks.length === 0) return undefined
    for (const chunk of chunks) at += chunk.bytes.copy(bytes, at)
  }
  return bytes
}
