/**
 * The whole database in one file, as it was at one moment: every table by COPY inside one snapshot, the sealing key
 * with it. Nothing is held in memory but the piece that is on its way.
 */
import { access, open, rename, rm, type FileHandle } from 'node:fs/promises'
import { dirname } from 'node:path'
import { frame } from '../lib/frames.ts'
import { createSealer } from '../lib/secrets.ts'
import { listTables, readSequences, withCopyConnection, type CopyConnection } from '../store/copying.ts'
import { readMigrations } from '../store/migrate.ts'
import { partitionedMonths } from '../store/partitions.ts'
import { readSealingCheck, readSealingKey, type KeySource } from '../store/sealing.ts'
import { BackupError, writeBackup, type BackupEnd, type Manifest, type TableEnd } from './backup-file.ts'

export type BackUpProgress = {
  table: string
  tablesDone: number
  tables: number
  rows: number
  bytes: number
}

export type BackUpOptions = {
  databaseUrl: string
  keySource: KeySource
  file: string
  passphrase?: string
  now: Date
  onProgress?(progress: BackUpProgress): void
}

export type BackUpResult = {
  tables: number
  rows: number
  bytes: number
  migrations: number
  isProtected: boolean
}

/** COPY gives one row at a time; frames of this size keep their heads from counting. */
const frameBytes = 128 * 1024

export async function backUp(options: BackUpOptions): Promise<BackUpResult> {
  const { file } = options
  if (await exists(file))
    throw new BackupError(`${file} is there already: choose another name, or move it away.`)
  const unfinished = `${file}.${process.pid}.unfinished`
  const handle = await open(unfinished, 'wx', 0o600)
  try {
    const result = await withCopyConnection(options.databaseUrl, 'pombo backup', (connection) =>
      writeAll(connection, options, handle),
    )
    const { size } = await handle.stat()
    await handle.sync()
    await handle.close()
    await rename(unfinished, file)
    await syncFolder(dirname(file))
    return { ...result, bytes: size, isProtected: options.passphrase !== undefined }
  } catch (error) {
    await handle.close().catch(() => {})
    await rm(unfinished, { force: true })
    throw error
  }
}

async function writeAll(
  connection: CopyConnection,
  options: BackUpOptions,
  target: FileHandle,
): Promise<Omit<BackUpResult, 'bytes' | 'isProtected'>> {
  await connection.query('begin transaction isolation level repeatable read read only')
  const manifest = await readManifest(connection, options)
  const end: BackupEnd = { tables: [], rows: 0 }
  const frames = framesOf(connection, manifest, end, options)
  await target.writeFile(writeBackup(frames, { createdAt: manifest.createdAt }, options.passphrase))
  await connection.query('commit')
  return { tables: end.tables.length, rows: end.rows, migrations: manifest.migrations.length }
}

async function readManifest(connection: CopyConnection, options: BackUpOptions): Promise<Manifest> {
  const [made] = await connection.query<{ isMade: boolean }>(
    `select to_regclass('schema_migration') is not null and to_regclass('company') is not null as "isMade"`,
  )
  if (!made!.isMade)
    throw new BackupError('There is nothing to back up: the database has no tables of Pombo yet.')
  const key = await readSealingKey(options.keySource)
  if (key === undefined || createSealer(key).checkValue !== (await readSealingCheck(connection)))
    throw new BackupError(
      'The sealing key here is not the one of the database: without it the secrets in the backup could not be read. Copy sealing.key from the node that has it, or set POMBO_SEALING_KEY.',
    )
  const [server] = await connection.query<{ version: string }>(
    `select current_setting('server_version') as version`,
  )
  const tables = await listTables(connection)
  return {
    createdAt: options.now.toISOString(),
    postgres: server!.version,
    migrations: await readMigrations(connection),
    months: (await partitionedMonths(connection)).map((month) => month.toISOString()),
    // Numbers are drawn outside of any snapshot, so these are never behind the rows of ours.
    sequences: await readSequences(connection),
    estimatedBytes: tables.reduce((sum, table) => sum + table.estimatedBytes, 0),
    sealingKey: key,
  }
}

async function* framesOf(
  connection: CopyConnection,
  manifest: Manifest,
  end: BackupEnd,
  options: BackUpOptions,
): AsyncGenerator<Buffer> {
  const json = (kind: string, value: object) => frame(kind, Buffer.from(JSON.stringify(value)))
  yield json('M', manifest)
  const tables = await listTables(connection)
  const progress: BackUpProgress = { table: '', tablesDone: 0, tables: tables.length, rows: 0, bytes: 0 }
  for (const { name, columns } of tables) {
    progress.table = name
    yield json('T', { name, columns })
    const rows = connection.copyOut({ name, columns })
    for await (const piece of inPieces(rows as AsyncIterable<Buffer>)) {
      progress.bytes += piece.length
      options.onProgress?.({ ...progress })
      yield frame('D', piece)
    }
    const done: TableEnd = { name, rows: rows.rowCount }
    end.tables.push(done)
    end.rows += done.rows
    progress.rows = end.rows
    progress.tablesDone++
    options.onProgress?.({ ...progress })
    yield json('E', done)
  }
  yield json('Z', end)
}

async function* inPieces(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let held: Buffer[] = []
  let length = 0
  for await (const chunk of source) {
    // A single row may be larger than a frame should be.
    for (let at = 0; at < chunk.length; at += frameBytes) {
      const part = chunk.subarray(at, at + frameBytes)
      held.push(part)
      length += part.length
      if (length < frameBytes) continue
      yield Buffer.concat(held)
      held = []
      length = 0
    }
  }
  if (length > 0) yield Buffer.concat(held)
}

const exists = (file: string): Promise<boolean> =>
  access(file).then(
    () => true,
    () => false,
  )

async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
