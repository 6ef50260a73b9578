/** Files that people import: kept in chunks until a process has worked through them, with progress and bad lines. */
import { newId } from '../lib/ids.ts'
import type { Queryable } from './db.ts'

export type ImportKind = 'contacts' | 'restrictions'

export type ImportProgress = {
  bytesRead: number
  linesRead: number
  added: number
  changed: number
  unchanged: number
  bad: number
}

export type ImportJob = {
  id: string
  kind: ImportKind
  targetId: string | null
  fileName: string
  size: number
  state: 'uploading' | 'queued' | 'running' | 'done' | 'failed'
  progress: Partial<ImportProgress>
  error: string | null
  createdBy: string
  createdAt: Date
  finishedAt: Date | null
}

const columns = `id, kind, target_id as "targetId", file_name as "fileName", size, state, progress, error, created_by as "createdBy",
  created_at as "createdAt", finished_at as "finishedAt"`

export async function createImport(
  db: Queryable,
  companyId: string,
  input: {
    kind: ImportKind
    targetId?: string
    options: Record<string, unknown>
    fileName: string
    createdBy: string
  },
): Promise<string> {
  const id = newId()
  await db.query(
    `insert into import_job (id, company_id, kind, target_id, options, file_name, created_by) values ($1, $2, $3, $4, $5, $6, $7)`,
    [
      id,
      companyId,
      input.kind,
      input.targetId,
      JSON.stringify(input.options),
      input.fileName.slice(0, 255),
      input.createdBy,
    ],
  )
  return id
}

export async function addImportChunk(
  db: Queryable,
  jobId: string,
  position: number,
  bytes: Buffer,
): Promise<void> {
  await db.query('insert into import_chunk (job_id, position, bytes) values ($1, $2, $3)', [
    jobId,
    position,
    bytes,
  ])
}

export async function queueImport(db: Queryable, companyId: string, id: string, size: number): Promise<void> {
  await db.query(`update import_job set state = 'queued', size = $3 where company_id = $1 and id = $2`, [
    companyId,
    id,
    size,
  ])
}

export async function removeImport(db: Queryable, companyId: string, id: string): Promise<void> {
  await db.query('delete from import_job where company_id = $1 and id = $2', [companyId, id])
}

export async function getImport(
  db: Queryable,
  companyId: string,
  id: string,
): Promise<ImportJob | undefined> {
  return (
    await db.query<ImportJob>(`select ${columns} from import_job where company_id = $1 and id = $2`, [
      companyId,
      id,
    ])
  )[0]
}

export const listImports = (
  db: Queryable,
  companyId: string,
  page: { targetId?: string; beforeId?: string; limit: number },
): Promise<ImportJob[]> =>
  db.query<ImportJob>(
    `select ${columns} from import_job where company_id = $1 and ($2::uuid is null or id < $2)
      and ($4::uuid is null or target_id = $4) order by id desc limit $3`,
    [companyId, page.beforeId, page.limit, page.targetId],
  )

export type BadLine = { line: number; reason: string }

/** More bad lines than this are counted, not listed. */
export const maxBadLines = 100_000

export const listBadLines = (
  db: Queryable,
  companyId: string,
  jobId: string,
  page: { afterLine: number; limit: number },
): Promise<BadLine[]> =>
  db.query<BadLine>(
    `select e.line, e.reason from import_error e join import_job j on j.id = e.job_id
      where j.company_id = $1 and e.job_id = $2 and e.line > $3 order by e.line limit $4`,
    [companyId, jobId, page.afterLine, page.limit],
  )

export async function addBadLines(db: Queryable, jobId: string, lines: readonly BadLine[]): Promise<void> {
  await db.query(
    `insert into import_error (job_id, line, reason) select $1, * from unnest($2::int[], $3::text[]) on conflict do nothing`,
    [jobId, lines.map(({ line }) => line), lines.map(({ reason }) => reason.slice(0, 500))],
  )
}

export type ClaimedImport = {
  id: string
  companyId: string
  kind: ImportKind
  targetId: string | null
  options: Record<string, unknown>
}

/** A queued one, or one whose process went silent; an import may be run again, what is in stays in. */
export async function claimImport(
  db: Queryable,
  leaseMs: number,
  maxTries: number,
): Promise<ClaimedImport | undefined> {
  const rows = await db.query<ClaimedImport>(
    `with given_up as (
        update import_job set state = 'failed', finished_at = now(), error = 'it could not be finished'
        where state = 'running' and leased_until < clock_timestamp() and tries >= $2
      ), abandoned as (
        delete from import_job where state = 'uploading' and created_at < clock_timestamp() - interval '1 hour'
      ), next as (
        select id from import_job where state = 'queued' or (state = 'running' and leased_until < clock_timestamp() and tries < $2)
        order by id limit 1 for update skip locked
      ), cleared as (delete from import_error using next where job_id = next.id)
      update import_job j set state = 'running', tries = tries + 1, progress = '{}',
        leased_until = clock_timestamp() + $1 * interval '1 millisecond'
      from next where j.id = next.id
      returning j.id, j.company_id as "companyId", j.kind, j.target_id as "targetId", j.options`,
    [leaseMs, maxTries],
  )
  return rows[0]
}

/** Also says that the process is alive. */
export async function saveProgress(
  db: Queryable,
  jobId: string,
  progress: ImportProgress,
  leaseMs: number,
): Promise<void> {
  await db.query(
    `update import_job set progress = $2, leased_until = clock_timestamp() + $3 * interval '1 millisecond' where id = $1`,
    [jobId, JSON.stringify(progress), leaseMs],
  )
}

export async function finishImport(
  db: Queryable,
  jobId: string,
  result: { progress: ImportProgress } | { error: string },
): Promise<void> {
  await db.query(
    `with bytes as (delete from import_chunk where job_id = $1)
      update import_job set state = case when $3::text is null then 'done' else 'failed' end, progress = coalesce($2, progress), error = $3,
        finished_at = now(), leased_until = null where id = $1`,
    [
      jobId,
      'progress' in result ? JSON.stringify(result.progress) : null,
      'error' in result ? result.error : null,
    ],
  )
}

/** The file, chunk by chunk. */
export async function* readImport(db: Queryable, jobId: string): AsyncGenerator<Uint8Array> {
  for (let position = 0; ; position++) {
    const [chunk] = await db.query<{ bytes: Buffer }>(
      'select bytes from import_chunk where job_id = $1 and position = $2',
      [jobId, position],
    )
    if (chunk === undefined) return
    yield chunk.bytes
  }
}

/** Removes up to `limit` imports that ended before, with what was said about their lines. */
export async function removeOldImports(db: Queryable, before: Date, limit: number): Promise<number> {
  const rows = await db.query(
    `delete from import_job where id in (
        select id from import_job where finished_at < $1 order by id limit $2 for update skip locked) returning 1`,
    [before, limit],
  )
  return rows.length
}
