/** Structured logs, one JSON object a line. Fields that may hold a secret or a message's content never get out. */
import { pino } from 'pino'

export type Log = pino.Logger

/** Names that are secret wherever they stand, up to four levels deep. */
const secretNames = [
  'password',
  'secret',
  'token',
  'accessToken',
  'access_token',
  'platformPrivateToken',
  'authorization',
  'cookie',
  'apiKey',
  'privateKey',
  'text',
  'body',
  'content',
  'base64',
  'connectionString',
  'databaseUrl',
]
const redactedPaths = secretNames.flatMap((name) => [name, `*.${name}`, `*.*.${name}`, `*.*.*.${name}`])

export function createLog(level: string, bindings: Record<string, unknown> = {}): Log {
  return pino({
    level,
    base: bindings,
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: { paths: redactedPaths, censor: '[redacted]' },
  })
}

export const silentLog: Log = pino({ level: 'silent' })
