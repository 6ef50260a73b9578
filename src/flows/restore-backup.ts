/**
 * A backup into an empty database, in one transaction: its schema as it was, its rows, its sequences; then whatever
 * migrations this program has beyond it. A file that is damaged leaves the database empty.
 */
import { rm, stat } from 'node:fs/promises'
import type { Frame } from '../lib/frames.ts'
import {
  hasNoTables,
  listTables,
  setSequence,
  suspendConstraints,
  withCopyConnection,
  type CopyConnection,
} from '../store/copying.ts'
import { compareMigrations, createSchema, withMigrationLock } from '../store/migrate.ts'
import { analyzeFilled, ensureMonths } from '../store/partitions.ts'
import { adoptSealingKey, type KeySource } from '../store/sealing.ts'
import { keyFile } from '../store/sealing-key.ts'
import {
  BackupError,
  damaged,
  readBackup,
  type BackupEnd,
  type Manifest,
  type TableEnd,
  type TableStart,
} from './backup-file.ts'

export type RestoreProgress = { bytes: number; totalBytes: number; table: string; rows: number }

export type RestoreOptions = {
  databaseUrl: string
  keySource: KeySource
  file: string
  passphrase?: string
  /** Messages that waited when the backup was made stay where they are until somebody looks. */
  isPausingLines?: boolean
  now: Date
  onProgress?(progress: RestoreProgress): void
}

export type RestoreResult = {
  createdAt: string
  tables: number
  rows: number
  /** Tables of the file that Pombo does not know: they were somebody else's. */
  skipped: string[]
  /** In the outbox: these leave with the next start, unless the lines are paused. */
  waitingMessages: number
}

export async function restoreBackup(options: RestoreOptions): Promise<RestoreResult> {
  const { size } = await stat(options.file)
  const progress: RestoreProgress = { bytes: 0, totalBytes: size, table: '', rows: 0 }
  const frames = readBackup(options.file, options.passphrase, (count) => {
    progress.bytes += count
    options.onProgress?.({ ...progress })
  })
  try {
    const manifest = readJson(await nextFrame(frames, 'M', options.file)) as Manifest
    await checkVersion(manifest, options.file)
    return await withCopyConnection(options.databaseUrl, 'pombo restore', (connection) =>
      withMigrationLock(connection, () => load(connection, frames, manifest, options, progress)),
    )
  } finally {
    await frames.return(undefined)
  }
}

async function checkVersion(manifest: Manifest, file: string): Promise<void> {
  const { unknown } = await compareMigrations(manifest.migrations)
  if (unknown.length > 0)
    throw new BackupError(
      `${file} was made by a newer Pombo (this one has no migration ${unknown[0]}): install that version, and restore it there.`,
    )
}

async function load(
  connection: CopyConnection,
  frames: AsyncGenerator<Frame>,
  manifest: Manifest,
  options: RestoreOptions,
  progress: RestoreProgress,
): Promise<RestoreResult> {
  if (!(await hasNoTables(connection)))
    throw new BackupError(
      'The database is not empty: restore into a new one (another DATABASE_URL, or a new folder as POMBO_DATA_DIR).',
    )
  // Before the commit: rows without their key are worthless, a key without rows harms nobody.
  const isNewKey = await adoptSealingKey(options.keySource, manifest.sealingKey)
  try {
    await connection.query('begin')
    await createSchema(connection, manifest.migrations)
    await ensureMonths(
      connection,
      manifest.months.map((month) => new Date(month)),
    )
    const putBack = await suspendConstraints(connection)
    const { end, skipped } = await loadTables(connection, frames, options, progress)
    await putBack()
    for (const sequence of manifest.sequences) await setSequence(connection, sequence)
    if (options.isPausingLines)
      await connection.query('update line set paused_at = $1, paused_reason = $2 where paused_at is null', [
        options.now,
        'restored from a backup',
      ])
    const [waiting] = await connection.query<{ count: number }>('select count(*)::int as count from outbox')
    await connection.query('commit')
    await analyzeFilled(connection)
    return {
      createdAt: manifest.createdAt,
      tables: end.tables.length - skipped.length,
      rows: progress.rows,
      skipped,
      waitingMessages: waiting!.count,
    }
  } catch (error) {
    await connection.query('rollback').catch(() => {})
    if (isNewKey) await rm(keyFile(options.keySource.dataDir), { force: true })
    throw error
  }
}

async function loadTables(
  connection: CopyConnection,
  frames: AsyncGenerator<Frame>,
  { file }: RestoreOptions,
  progress: RestoreProgress,
): Promise<{ end: BackupEnd; skipped: string[] }> {
  const known = new Set((await listTables(connection)).map(({ name }) => name))
  const skipped: string[] = []
  let count = 0
  for (;;) {
    const next = await frames.next()
    if (next.done) throw damaged(file)
    if (next.value.kind === 'Z') {
      const end = readJson(next.value) as BackupEnd
      if (end.tables.length !== count) throw damaged(file)
      if (!(await frames.next()).done) throw damaged(file)
      return { end, skipped }
    }
    if (next.value.kind !== 'T') throw damaged(file)
    const table = readJson(next.value) as TableStart
    count++
    progress.table = table.name
    const last: { frame?: Frame } = {}
    const rows = rowsOf(frames, file, last)
    const isKnown = known.has(table.name)
    if (!isKnown) skipped.push(table.name)
    const copied = isKnown ? await connection.copyIn(table, rows) : await discard(rows)
    const told = readJson(last.frame!) as TableEnd
    if (told.name !== table.name || (isKnown && told.rows !== copied)) throw damaged(file)
    progress.rows += copied
  }
}

/** The rows of one table; the frame that ends it is left in `last`. */
async function* rowsOf(
  frames: AsyncGenerator<Frame>,
  file: string,
  last: { frame?: Frame },
): AsyncGenerator<Buffer> {
  for (;;) {
    const next = await frames.next()
    if (next.done) throw damaged(file)
    if (next.value.kind === 'D') yield next.value.bytes
    else if (next.value.kind === 'E') {
      last.frame = next.value
      return
    } else throw damaged(file)
  }
}

async function discard(rows: AsyncIterable<Buffer>): Promise<number> {
  for await (const _ of rows);
  return 0
}

async function nextFrame(frames: AsyncGenerator<Frame>, kind: string, file: string): Promise<Frame> {
  const next = await frames.next()
  if (next.done || next.value.kind !== kind) throw damaged(file)
  return next.value
}

const readJson = (frame: Frame): unknown => JSON.parse(frame.bytes.toString('utf8'))
