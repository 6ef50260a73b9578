/**
 * Some providers repeat what they were told, credentials and all, and their words are kept in the timeline of a
 * message. The line's own secrets are taken out of them before anybody keeps or shows them.
 */
import type { TObject } from 'typebox'
import type { LineSession, SendResult } from './driver.ts'
import { secretSettings } from './settings.ts'

const mark = '[secret]'
/** Shorter ones stand in ordinary words; nobody who means it has such a secret. */
const minLength = 4
/** Of a secret that was cut off where the text ends, this much may stay. */
const maxLeft = 5

export function withoutSecrets(
  session: LineSession,
  schema: TObject,
  settings: Record<string, unknown>,
): LineSession {
  const redact = createRedactor(schema, settings)
  return {
    ...session,
    send: async (message) => redactResult(await session.send(message), redact),
    health() {
      const { isUp, detail } = session.health()
      return { isUp, detail: redact(detail) }
    },
  }
}

type Redact = (text: string) => string

function redactResult(result: SendResult, redact: Redact): SendResult {
  if (result.ok) return result
  const { error, exchange } = result
  return {
    ...result,
    error: { ...error, code: redact(error.code), message: redact(error.message) },
    ...(exchange && {
      exchange: { request: redact(exchange.request), response: redact(exchange.response) },
    }),
  }
}

export function createRedactor(schema: TObject, settings: Record<string, unknown>): Redact {
  const names = secretSettings(schema)
  const texts = Object.entries(settings).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  )
  const secrets = texts.flatMap(([name, value]) =>
    names.includes(name) && value.length >= minLength ? [value] : [],
  )
  // Basic access joins a user with a secret before it encodes them; which setting is the user is the driver's matter.
  const users = texts.flatMap(([name, value]) => (names.includes(name) ? [] : [value]))
  const written = [...new Set(secrets.flatMap((secret) => waysToWrite(secret, users)))].toSorted(
    (a, b) => b.length - a.length,
  )
  if (written.length === 0) return (text) => text
  return (text) => {
    let clean = text
    for (const each of written) if (clean.includes(each)) clean = clean.replaceAll(each, mark)
    return withoutCutSecret(clean, written)
  }
}

const base64 = (text: string): string => Buffer.from(text).toString('base64')

function waysToWrite(secret: string, users: readonly string[]): string[] {
  const once = JSON.stringify(secret).slice(1, -1)
  return [
    secret,
    once,
    // JSON inside of JSON, as a broker has it that repeats a body.
    JSON.stringify(once).slice(1, -1),
    encodeURIComponent(secret),
    new URLSearchParams({ x: secret }).toString().slice(2),
    base64(secret),
    ...users.map((user) => base64(`${user}:${secret}`)),
  ]
}

/** Long answers are cut (see `exchange.ts`), and the cut may go through a secret. */
function withoutCutSecret(text: string, written: readonly string[]): string {
  const marker = text.lastIndexOf('… (')
  const head = marker < 0 ? text : text.slice(0, marker)
  for (const each of written)
    for (let length = Math.min(each.length - 1, head.length); length > maxLeft; length--)
      if (head.endsWith(each.slice(0, length))) return head.slice(0, -length) + mark + text.slice(head.length)
  return text
}
