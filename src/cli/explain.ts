/** Turns what went wrong into one sentence for the person at the terminal. */
import { ConfigError } from '../config.ts'
import { BackupError } from '../flows/backup-file.ts'
import { EmbeddedError } from '../store/embedded/index.ts'
import { SchemaTooNewError } from '../store/migrate.ts'
import { sqlState } from '../store/db.ts'
import { SealingKeyError } from '../store/sealing.ts'
import { PortError, StartError } from '../supervisor/index.ts'
import { CommandError, UsageError } from './command.ts'

const ourOwn = [
  ConfigError,
  EmbeddedError,
  SchemaTooNewError,
  SealingKeyError,
  PortError,
  StartError,
  CommandError,
  UsageError,
  BackupError,
]

/** Undefined for what nobody foresaw: that deserves a stack trace. */
export function explain(error: unknown, databaseUrl: string | undefined): string | undefined {
  if (!(error instanceof Error)) return undefined
  if (ourOwn.some((known) => error instanceof known)) return error.message
  return databaseSentence(error, databaseUrl) ?? fileSentence(error)
}

/** Host, port and database, without user and password. */
function placeOf(databaseUrl: string | undefined): string {
  if (databaseUrl === undefined || !URL.canParse(databaseUrl)) return 'the database'
  const { hostname, port, pathname } = new URL(databaseUrl)
  return `the database ${decodeURIComponent(pathname.slice(1)) || 'of that user'} at ${hostname || 'localhost'}:${port || '5432'}`
}

function databaseSentence(error: Error, databaseUrl: string | undefined): string | undefined {
  const place = placeOf(databaseUrl)
  switch (sqlState(error)) {
    case '28P01':
    case '28000':
      return `The user or password for ${place} is wrong: correct DATABASE_URL.`
    case '3D000':
      return `There is no ${place.replace(/^the /, '')}: create it, or correct DATABASE_URL.`
    case '42501':
      return `The user of DATABASE_URL may not do this in ${place}: it must own the database or its schema public.`
    case '53300':
      return `${capital(place)} has no free connections: raise its max_connections, or lower POMBO_DATABASE_CONNECTIONS.`
    case '57P03':
      return `${capital(place)} is starting up or shutting down: try again in a moment.`
    case undefined:
  }
  const codes = [codeOf(error), ...(error instanceof AggregateError ? error.errors.map(codeOf) : [])]
  if (
    codes.some((code) => unreachable.includes(code ?? '')) ||
    /timeout|Connection terminated/i.test(error.message)
  )
    return `${capital(place)} cannot be reached (${codes.find(Boolean) ?? error.message}): start it, or correct DATABASE_URL.`
  if (/does not support SSL|SSL.*required|self.signed certificate/i.test(error.message))
    return `${capital(place)} does not agree on encryption (${error.message}): correct sslmode in DATABASE_URL.`
  return undefined
}

const unreachable = [
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ECONNRESET',
]

function fileSentence(error: Error): string | undefined {
  const path = 'path' in error && typeof error.path === 'string' ? error.path : undefined
  if (path === undefined) return undefined
  switch (codeOf(error)) {
    case 'ENOENT':
      return `There is no file ${path}.`
    case 'EISDIR':
      return `${path} is a folder, not a file.`
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return `${path} cannot be read or written (${codeOf(error)}): correct its owner and mode, or set POMBO_DATA_DIR to another folder.`
    case 'ENOSPC':
    case 'EDQUOT':
      return `The disk that holds ${path} is full: free some space, or set POMBO_DATA_DIR to a folder on another disk.`
    case undefined:
  }
  return undefined
}

const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)
