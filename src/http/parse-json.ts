/** Bytes to a JSON object, or a sentence that says why not; for bodies of ordinary size. */
import { isUtf8 } from 'node:buffer'
import { isWithinJsonBounds } from './json-bounds.ts'

export type ParsedJson = { ok: true; value: object } | { ok: false; message: string }

const byteOrderMark = 0xfeff
const failed = (message: string): ParsedJson => ({ ok: false, message })

export function parseJson(bytes: Buffer): ParsedJson {
  if (!isUtf8(bytes)) return failed('the body is not valid UTF-8')
  if (!isWithinJsonBounds(bytes)) return failed('the body holds too many values')
  const text = bytes.toString('utf8')
  let value: unknown
  try {
    value = JSON.parse(text.charCodeAt(0) === byteOrderMark ? text.slice(1) : text)
  } catch {
    return failed('the body is not valid JSON')
  }
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? { ok: true, value }
    : failed('the body must be a JSON object')
}
