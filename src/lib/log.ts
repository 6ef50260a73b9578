/**
 * Structured logs, one JSON object a line; on a terminal, a line for people. Fields that may hold a secret or a
 * message's content never get out.
 */
import { pino } from 'pino'

export type Log = pino.Logger

/** Names that are secret wherever they stand. */
const secretNames = new Set([
  'password',
  'secret',
  'token',
  'accesstoken',
  'access_token',
  'platformprivatetoken',
  'authorization',
  'cookie',
  'apikey',
  'privatekey',
  'text',
  'body',
  'content',
  'base64',
  'connectionstring',
  'databaseurl',
  // What PostgreSQL adds to an error may quote the row.
  'detail',
  'where',
  'internalquery',
])

const maxDepth = 6

/**
 * The value without its secrets; the same object when it has none. (A list of paths with wildcards for the logger's
 * own redaction cost 100 µs and more a line, ten times the line itself.)
 */
export function censor(value: unknown, depth = 0): unknown {
  if (typeof value !== 'object' || value === null || value instanceof Date || value instanceof Error)
    return value
  if (ArrayBuffer.isView(value)) return '[bytes]'
  if (depth > maxDepth) return '[deep]'
  if (Array.isArray(value)) return value.map((item) => censor(item, depth + 1))
  let copy: Record<string, unknown> | undefined
  for (const [name, field] of Object.entries(value)) {
    const safe = secretNames.has(name.toLowerCase()) ? '[redacted]' : censor(field, depth + 1)
    if (safe !== field) copy = { ...(copy ?? value), [name]: safe }
  }
  return copy ?? value
}

/** `destination`: where the lines go; standard output unless given. */
export function createLog(
  level: string,
  bindings: Record<string, unknown> = {},
  destination: pino.DestinationStream = process.stdout.isTTY ? terminal(process.stdout) : pino.destination(1),
): Log {
  return pino(
    {
      level,
      base: bindings,
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { err: (error: Error) => censor(pino.stdSerializers.err(error)) },
      formatters: { log: (fields) => censor(fields) as Record<string, unknown> },
    },
    destination,
  )
}

const levelNames: Record<number, string> = { 20: 'debug', 30: 'info', 40: 'warning', 50: 'error' }

/** Time, what happened, and the facts behind it in grey. */
function terminal(stream: NodeJS.WriteStream): pino.DestinationStream {
  return {
    write(line: string) {
      const {
        level,
        time,
        msg,
        process: origin,
        err,
        ...fields
      } = JSON.parse(line) as Record<string, unknown>
      const name = levelNames[level as number] ?? ''
      const colour = name === 'error' ? 31 : name === 'warning' ? 33 : 0
      const error = err as { message?: string; stack?: string } | undefined
      const facts = Object.entries(fields).map(
        ([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
      )
      const text = [
        name === 'info' ? '' : `${name}: `,
        String(msg),
        error?.message ? `: ${error.message}` : '',
      ].join('')
      const grey = [origin, ...facts].filter(Boolean).join(' ')
      stream.write(
        `${String(time).slice(11, 19)} \u001b[${colour}m${text}\u001b[0m  \u001b[90m${grey}\u001b[0m\n`,
      )
      if (name === 'error' && error?.stack) stream.write(`\u001b[90m${error.stack}\u001b[0m\n`)
    },
  }
}

export const silentLog: Log = pino({ level: 'silent' })
