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

/** `destination`: where the lines go; standard output unless given. */
export function createLog(
  level: string,
  bindings: Record<string, unknown> = {},
  destination?: pino.DestinationStream,
): Log {
  const options: pino.LoggerOptions = {
    level,
    base: bindings,
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: { paths: redactedPaths, censor: '[redacted]' },
  }
  return destination ? pino(options, destination) : pino(options)
}

export const silentLog: Log = pino({ level: 'silent' })
