/**
 * The file of a backup: a line that says what it is, a line of JSON in the clear (made when, by which version, and
 * how its passphrase becomes a key), then frames, compressed and, with a passphrase, sealed in chunks:
 *   M  the manifest    T  a table begins    D  rows of it    E  it ends, with its count    Z  the end, with all counts
 *   .  the digest of everything before it
 */
import { createReadStream } from 'node:fs'
import { Readable } from 'node:stream'
import zlib from 'node:zlib'
import { checkDigest, FrameError, readFrames, withDigest, type Frame } from '../lib/frames.ts'
import {
  newPassphraseFacts,
  openChunks,
  passphraseKey,
  sealChunks,
  UnsealError,
  type PassphraseFacts,
} from '../lib/sealed-chunks.ts'
import type { SequenceFacts } from '../store/copying.ts'
import type { AppliedMigration } from '../store/migrate.ts'

/** Something is wrong with the file or with where it is to go; the message is for the person at the terminal. */
export class BackupError extends Error {}

export type BackupHeader = { createdAt: string; passphrase: PassphraseFacts | null }

export type Manifest = {
  createdAt: string
  /** Of the server it was made from, for people. */
  postgres: string
  migrations: AppliedMigration[]
  /** First days of the months that have partitions. */
  months: string[]
  sequences: SequenceFacts[]
  estimatedBytes: number
  sealingKey: string
}

export type TableStart = { name: string; columns: string[] }
export type TableEnd = { name: string; rows: number }
export type BackupEnd = { tables: TableEnd[]; rows: number }

const magic = 'POMBO BACKUP 1\n'
const maxHeaderBytes = 4096

/** The bytes of a whole file from its frames. */
export async function* writeBackup(
  frames: AsyncIterable<Buffer>,
  header: Omit<BackupHeader, 'passphrase'>,
  passphrase: string | undefined,
): AsyncGenerator<Buffer> {
  const facts = passphrase === undefined ? null : newPassphraseFacts()
  const head = Buffer.from(
    `${magic}${JSON.stringify({ ...header, passphrase: facts } satisfies BackupHeader)}\n`,
  )
  yield head
  const packed = through(Readable.from(withDigest(frames), { objectMode: false }), zlib.createZstdCompress())
  if (facts === null) yield* packed
  else yield* sealChunks(packed, await passphraseKey(passphrase!, facts), head)
}

/** Opens the file and gives its frames; everything that can be wrong with it is said by a `BackupError`. */
export async function* readBackup(
  file: string,
  passphrase: string | undefined,
  onBytes: (count: number) => void = () => {},
): AsyncGenerator<Frame> {
  const source = counted(createReadStream(file, { highWaterMark: 256 * 1024 }), onBytes)
  try {
    const { head, header, rest } = await readHead(source, file)
    if (header.passphrase !== null && passphrase === undefined)
      throw new BackupError(`${file} is protected by a passphrase: give it with --passphrase-file.`)
    const packed =
      header.passphrase === null
        ? rest
        : openChunks(rest, await passphraseKey(passphrase!, header.passphrase), head)
    yield* checkDigest(
      readFrames(through(Readable.from(packed, { objectMode: false }), zlib.createZstdDecompress())),
    )
  } catch (error) {
    throw faultOf(error, file)
  } finally {
    await source.return(undefined)
  }
}

function faultOf(error: unknown, file: string): unknown {
  if (error instanceof UnsealError)
    return error.message.startsWith('The passphrase')
      ? new BackupError(`The passphrase of ${file} is another one.`, { cause: error })
      : damaged(file, error)
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (error instanceof FrameError || code.startsWith('ZSTD_') || code.startsWith('Z_') || code === 'ERR_ZLIB')
    return damaged(file, error)
  return error
}

export const damaged = (file: string, cause?: unknown): BackupError =>
  new BackupError(`${file} is damaged or cut off: use another copy.`, { cause })

async function readHead(source: AsyncGenerator<Buffer>, file: string) {
  let bytes = Buffer.alloc(0)
  let end = -1
  while (end === -1 && bytes.length < maxHeaderBytes) {
    const next = await source.next()
    if (next.done) break
    bytes = Buffer.concat([bytes, next.value])
    const first = bytes.indexOf('\n')
    end = first === -1 ? -1 : bytes.indexOf('\n', first + 1)
  }
  if (!bytes.toString('latin1', 0, magic.length).startsWith(magic.slice(0, -2)))
    throw new BackupError(`${file} is not a backup of Pombo.`)
  if (bytes.toString('latin1', 0, magic.length) !== magic)
    throw new BackupError(`${file} was made by a newer Pombo: restore it with that one.`)
  if (end === -1) throw damaged(file)
  const head = bytes.subarray(0, end + 1)
  let header: BackupHeader
  try {
    header = JSON.parse(head.toString('utf8', magic.length)) as BackupHeader
  } catch (error) {
    throw damaged(file, error)
  }
  return { head, header, rest: following(bytes.subarray(end + 1), source) }
}

async function* following(first: Buffer, source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  if (first.length > 0) yield first
  yield* source
}

async function* counted(source: Readable, onBytes: (count: number) => void): AsyncGenerator<Buffer> {
  for await (const chunk of source as AsyncIterable<Buffer>) {
    onBytes(chunk.length)
    yield chunk
  }
}

/** A fault of the source reaches who reads the result. */
function through(
  source: Readable,
  transform: zlib.ZstdCompress | zlib.ZstdDecompress,
): AsyncIterable<Buffer> {
  source.on('error', (error) => transform.destroy(error))
  transform.on('close', () => source.destroy())
  return source.pipe(transform) as AsyncIterable<Buffer>
}
