export type EmbeddedFault =
  | 'in_use'
  | 'other_version'
  | 'not_writable'
  | 'disk_full'
  | 'port_taken'
  | 'no_binaries'
  | 'no_account'
  | 'start_failed'

/** A reason why the embedded database cannot run; the message is one sentence for the person at the terminal. */
export class EmbeddedError extends Error {
  readonly code: EmbeddedFault

  constructor(code: EmbeddedFault, message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.name = 'EmbeddedError'
    this.code = code
  }
}

export function errnoOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

/** Turns an error of the file system into a sentence about `path`. */
export function fileFault(error: unknown, path: string): unknown {
  if (error instanceof EmbeddedError || !(error instanceof Error)) return error
  const errno = errnoOf(error) ?? ''
  if (['EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'EEXIST', 'ENOENT'].includes(errno)) {
    const text = `The data folder ${path} cannot be written (${errno}): set POMBO_DATA_DIR to a folder of yours, or correct its owner and mode.`
    return new EmbeddedError('not_writable', text, { cause: error })
  }
  if (errno === 'ENOSPC' || errno === 'EDQUOT') return diskFull(path, error)
  return error
}

/** What PostgreSQL or initdb wrote before it gave up, as a sentence. */
export function serverFault(output: string, facts: { dataDir: string; port?: number }): EmbeddedError {
  if (/No space left on device|Disk quota exceeded|Check free disk space|wrote only \d+ of/.test(output))
    return diskFull(facts.dataDir)
  if (/could not bind|could not create any TCP\/IP sockets/.test(output)) return portTaken(facts.port)
  if (/pre-existing shared memory block|lock file .* already exists/.test(output)) {
    return new EmbeddedError(
      'in_use',
      `Another PostgreSQL still works on the data folder ${facts.dataDir}: stop it first.`,
    )
  }
  if (/Permission denied|Read-only file system/.test(output)) {
    const text = `PostgreSQL cannot write to the data folder ${facts.dataDir}: correct its owner and mode, or set POMBO_DATA_DIR.`
    return new EmbeddedError('not_writable', text)
  }
  const said =
    output.split('\n').findLast((line) => /FATAL|PANIC|error:|ERROR/.test(line)) ??
    output.trim().split('\n').at(-1)
  return new EmbeddedError(
    'start_failed',
    `The embedded PostgreSQL did not start: ${said?.trim() || 'it said nothing'}.`,
  )
}

export function diskFull(path: string, cause?: unknown): EmbeddedError {
  const text = `The disk that holds the data folder ${path} is full: free some space, or set POMBO_DATA_DIR to a folder on another disk.`
  return new EmbeddedError('disk_full', text, { cause })
}

export function portTaken(port: number | undefined): EmbeddedError {
  return new EmbeddedError(
    'port_taken',
    `Port ${port ?? ''} on 127.0.0.1, meant for the embedded PostgreSQL, is taken: stop what listens there, or choose another.`,
  )
}
