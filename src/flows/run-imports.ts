/** Works through imported files, one at a time per process, whichever node took them in. */
import type { Log } from '../lib/log.ts'
import type { RestrictionField } from '../domain/restriction.ts'
import { ImportFault, importContacts } from '../store/contact-import.ts'
import type { Db } from '../store/db.ts'
import {
  addBadLines,
  claimImport,
  finishImport,
  maxBadLines,
  readImport,
  saveProgress,
  type BadLine,
  type ClaimedImport,
  type ImportProgress,
} from '../store/imports.ts'
import { importRestrictions } from '../store/restriction-import.ts'

export type ImportRunner = {
  /** Something was queued here. */
  wake(): void
  close(): Promise<void>
}

/** Saving progress renews it; a merge takes half a second. */
const leaseMs = 60_000
const maxTries = 3
/** How long a file of another, dead node waits at most before somebody looks. */
const lookEveryMs = 15_000

export function createImportRunner({ db, log }: { db: Db; log: Log }): ImportRunner {
  let isClosed = false
  let working: Promise<void> | undefined
  let isAsked = false

  const work = async () => {
    do {
      isAsked = false
      for (let job = await claim(); job !== undefined && !isClosed; job = await claim())
        await runImport({ db, log }, job)
    } while (isAsked && !isClosed)
  }
  const claim = () => (isClosed ? undefined : claimImport(db, leaseMs, maxTries))
  const wake = () => {
    isAsked = true
    if (isClosed || working) return
    working = work()
      .catch((error: unknown) => log.warn({ err: error }, 'imports could not be looked for'))
      .finally(() => (working = undefined))
  }
  const timer = setInterval(wake, lookEveryMs)
  timer.unref()
  return {
    wake,
    async close() {
      isClosed = true
      clearInterval(timer)
      await working
    },
  }
}

async function runImport({ db, log }: { db: Db; log: Log }, job: ClaimedImport): Promise<void> {
  let bad: BadLine[] = []
  let listed = 0
  const onBadLine = (line: BadLine) => {
    if (listed++ < maxBadLines) bad.push(line)
  }
  const onProgress = async (progress: ImportProgress) => {
    const lines = bad
    bad = []
    if (lines.length > 0) await addBadLines(db, job.id, lines)
    await saveProgress(db, job.id, progress, leaseMs)
  }
  try {
    const progress = await importFile(db, job, onBadLine, onProgress)
    await onProgress(progress)
    await finishImport(db, job.id, { progress })
  } catch (error) {
    if (!(error instanceof ImportFault)) log.warn({ err: error, job: job.id }, 'an import failed')
    await finishImport(db, job.id, {
      error: error instanceof ImportFault ? error.message : 'A fault of the server; try again.',
    })
  }
}

async function importFile(
  db: Db,
  { id, companyId, kind, targetId, options }: ClaimedImport,
  onBadLine: (bad: BadLine) => void,
  onProgress: (progress: ImportProgress) => Promise<void>,
): Promise<ImportProgress> {
  const source = readImport(db, id)
  if (kind === 'contacts')
    return await importContacts({
      db,
      companyId,
      source,
      updateIfExists: options['updateIfExists'] === true,
      onBadLine,
      onProgress,
    })
  if (targetId === null) throw new Error('An import of restrictions has no list.')
  // Written one after another; the importer does not wait for it.
  let saving = Promise.resolve()
  const progress = await importRestrictions({
    databaseUrl: db.url,
    listId: targetId,
    source,
    field: options['field'] as RestrictionField | undefined,
    onBadLine,
    onProgress: (now) => {
      saving = saving.then(() => onProgress(now))
      saving.catch(() => {})
    },
  })
  await saving
  return progress
}
