/** Imports: a file is taken in as it arrives, then worked through in the background with progress and bad lines. */
import { Readable } from 'node:stream'
import { Type } from 'typebox'
import { restrictionFields } from '../../domain/restriction.ts'
import { showId } from '../../lib/ids.ts'
import type { Db } from '../../store/db.ts'
import {
  addImportChunk,
  createImport,
  getImport,
  listBadLines,
  listImports,
  queueImport,
  removeImport,
  type ImportJob,
  type ImportKind,
} from '../../store/imports.ts'
import { getRestrictionList } from '../../store/restriction-lists-admin.ts'
import { csvLine } from './csv.ts'
import { changed, done, invalid, notFound, type Changed } from './replies.ts'
import { act, read, type Call, type Route } from './route.ts'
import {
  cursorId,
  flag,
  idOf,
  instant,
  limitOf,
  maybeUuid,
  nullable,
  oneOf,
  optionalText,
  pageOfRows,
  pageOut,
  pageQuery,
} from './wire.ts'
import type { TObject } from 'typebox'

const JobOut = Type.Object({
  id: idOf('job', 'The import.'),
  kind: Type.String(),
  fileName: Type.String(),
  size: Type.Integer({ description: 'Bytes; 0 while it is being sent.' }),
  state: oneOf(['uploading', 'queued', 'running', 'done', 'failed'], 'Where it stands.'),
  progress: Type.Object({
    bytesRead: Type.Optional(Type.Integer()),
    linesRead: Type.Optional(Type.Integer()),
    added: Type.Optional(Type.Integer()),
    changed: Type.Optional(Type.Integer()),
    unchanged: Type.Optional(Type.Integer()),
    bad: Type.Optional(Type.Integer()),
  }),
  error: nullable(Type.String()),
  createdBy: Type.String(),
  createdAt: instant('When it was sent.'),
  finishedAt: nullable(instant('When it was done.')),
  listId: Type.Optional(idOf('lst', 'The list that it goes into.')),
})

const show = ({ targetId, ...job }: ImportJob) => ({
  ...job,
  id: showId('job', job.id),
  ...(targetId && { listId: showId('lst', targetId) }),
})

const maxImportBytes = 1024 * 1024 * 1024
const chunkBytes = 1024 * 1024
const badLinesShown = 20

type Upload = { kind: ImportKind; targetId?: string; options: Record<string, unknown>; fileName: string }

/** In chunks of a megabyte: a file of any size is never in memory. */
async function takeIn(call: Call<TObject, TObject>, upload: Upload): Promise<Changed> {
  const { deps, companyId, actor, request } = call
  const source = request.body as Readable | undefined
  if (!(source instanceof Readable)) return invalid({ field: 'body', message: 'must be a CSV file' })
  const id = await createImport(deps.db, companyId, { ...upload, createdBy: actor })
  const size = await storeChunks(deps.db, id, source)
  if (size === undefined || size === 0) {
    await removeImport(deps.db, companyId, id)
    return invalid({ field: 'body', message: size === 0 ? 'is empty' : 'has more than 1 GiB' })
  }
  await queueImport(deps.db, companyId, id, size)
  const job = (await getImport(deps.db, companyId, id))!
  return changed(
    show(job),
    { nounId: showId('job', id), detail: { kind: upload.kind, fileName: upload.fileName, size } },
    { status: 202 },
  )
}

async function storeChunks(db: Db, id: string, source: Readable): Promise<number | undefined> {
  let pending: Buffer[] = []
  let pendingBytes = 0
  let size = 0
  let position = 0
  const flush = async () => {
    if (pendingBytes > 0) await addImportChunk(db, id, position++, Buffer.concat(pending))
    pending = []
    pendingBytes = 0
  }
  for await (const chunk of source as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > maxImportBytes) return undefined
    pending.push(chunk)
    pendingBytes += chunk.length
    if (pendingBytes >= chunkBytes) await flush()
  }
  await flush()
  return size
}

const fileName = optionalText('What it is called, for people.')

export const importRoutes: Route[] = [
  read({
    method: 'GET',
    path: '/imports',
    summary: 'List imports',
    query: Type.Object({ ...pageQuery, listId: Type.Optional(idOf('lst', 'Only into this list.')) }),
    answer: pageOut(JobOut),
    async handle({ db, companyId, query }) {
      const limit = limitOf(query)
      const rows = await listImports(db, companyId, {
        targetId: maybeUuid('lst', query.listId),
        beforeId: cursorId(query.cursor),
        limit: limit + 1,
      })
      return done(pageOfRows(rows, limit, ({ id }) => [id], show))
    },
  }),
  read({
    method: 'GET',
    path: '/imports/:id',
    ids: ['job'],
    summary: 'How an import is doing',
    answer: Type.Object({
      ...JobOut.properties,
      badLines: Type.Array(Type.Object({ line: Type.Integer(), reason: Type.String() }), {
        description: 'The first ones that were not taken; all of them: `bad-lines`.',
      }),
    }),
    async handle({ db, companyId, ids: [id = ''] }) {
      const job = await getImport(db, companyId, id)
      if (job === undefined) return notFound
      const badLines = await listBadLines(db, companyId, id, { afterLine: 0, limit: badLinesShown })
      return done({ ...show(job), badLines })
    },
  }),
  read({
    method: 'GET',
    path: '/imports/:id/bad-lines',
    ids: ['job'],
    summary: 'Lines that were not taken, with the reason',
    description: 'As CSV: line, reason. At most 100,000.',
    async handle({ deps, db, companyId, ids: [id = ''], reply }) {
      if (!(await getImport(db, companyId, id))) return notFound
      const lines = async function* () {
        yield csvLine(['line', 'reason'])
        for (let afterLine = 0; ;) {
          const page = await listBadLines(deps.db, companyId, id, { afterLine, limit: 1000 })
          if (page.length === 0) return
          yield page.map(({ line, reason }) => csvLine([line, reason])).join('')
          afterLine = page.at(-1)!.line
        }
      }
      await reply
        .header('content-type', 'text/csv; charset=utf-8')
        .header('content-disposition', 'attachment; filename="bad-lines.csv"')
        .header('cache-control', 'no-store')
        .send(Readable.from(lines()))
      return { kind: 'sent' }
    },
  }),
  act({
    method: 'POST',
    path: '/contacts/import',
    noun: 'import',
    action: 'import_contacts',
    summary: 'Import contacts from CSV',
    description:
      'The body is the file. Its first line names the columns: phone, email, name, tax_id, custom_code, tag, joker1 to joker5, segment, opted_out. Good lines go in, bad ones are reported by their number.',
    query: Type.Object({ fileName, updateIfExists: flag('Overwrite what is stored of known contacts.') }),
    bodyKind: 'stream',
    answer: JobOut,
    status: 202,
    async handle(call) {
      const { query, deps } = call
      const answer = await takeIn(call, {
        kind: 'contacts',
        options: { updateIfExists: query.updateIfExists ?? false },
        fileName: query.fileName ?? 'contacts.csv',
      })
      return answer.kind === 'done' ? { ...answer, afterCommit: () => deps.imports.wake() } : answer
    },
  }),
  act({
    method: 'POST',
    path: '/restriction-lists/:id/import',
    ids: ['lst'],
    noun: 'import',
    action: 'import_restrictions',
    summary: 'Import entries of a restriction list from CSV',
    description:
      'The body is the file: columns field, value, match (exact or prefix), expires_at; or bare values with `field` in the query.',
    query: Type.Object({ fileName, field: Type.Optional(oneOf(restrictionFields, 'What bare values are.')) }),
    bodyKind: 'stream',
    answer: JobOut,
    status: 202,
    async handle(call) {
      const {
        query,
        deps,
        db,
        companyId,
        ids: [id = ''],
      } = call
      if (!(await getRestrictionList(db, companyId, id))) return notFound
      const answer = await takeIn(call, {
        kind: 'restrictions',
        targetId: id,
        options: { field: query.field },
        fileName: query.fileName ?? 'restrictions.csv',
      })
      return answer.kind === 'done' ? { ...answer, afterCommit: () => deps.imports.wake() } : answer
    },
  }),
]
