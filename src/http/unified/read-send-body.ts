/**
 * From raw bytes to a send request as it was on the wire, with files decoded and hashed: everything about a body
 * that needs no database. Large bodies run through this in a worker thread, small ones where they are.
 */
import { createHash } from 'node:crypto'
import { compileReader, type FieldErrors } from '../../lib/read-json.ts'
import { parseJson } from '../parse-json.ts'
import { decodeBase64 } from './decode-base64.ts'
import { SendMessageIn, type FileIn } from './wire.ts'

export type DecodedFile =
  | { kind: 'content'; bytes: Uint8Array; hash: string }
  | { kind: 'invalid'; fault: string }
  | { kind: 'none' }

export type ReadSendBody =
  | { kind: 'not_an_object'; message: string }
  | { kind: 'no_text' }
  | {
      kind: 'read'
      /** As sent; checked before anything else is said about the body. */
      privateToken: unknown
      /** SHA-256 of the raw body; only when asked for. */
      bodyHash?: Uint8Array
      /** Lacks what is wrong when there are errors. */
      body: Partial<SendMessageIn>
      errors: FieldErrors | undefined
      /** Places in the array as sent of the files that are left, where some were empty. */
      filePlaces?: number[]
      /** One for each of `body.files`, whose base64 is taken out. */
      files: DecodedFile[]
    }

const readBody = compileReader(SendMessageIn)

export function readSendBody(raw: Uint8Array, isHashed: boolean): ReadSendBody {
  const bytes = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength)
  const parsed = parseJson(bytes)
  if (!parsed.ok) return { kind: 'not_an_object', message: parsed.message }
  const { value } = parsed
  const given = fieldOf(value, 'text')
  if (given === undefined || given === null) return { kind: 'no_text' }

  const reading = readBody(value)
  const body = reading.ok ? reading.value : (reading.partial ?? {})
  const read: ReadSendBody = {
    kind: 'read',
    privateToken: fieldOf(value, 'platformPrivateToken'),
    body,
    errors: reading.ok ? undefined : reading.errors,
    files: body.files === undefined ? [] : decodeFiles(body.files),
  }
  if (isHashed) read.bodyHash = createHash('sha256').update(bytes).digest()
  if (reading.places?.['files']) read.filePlaces = reading.places['files']
  return read
}

/** A top-level field by its name in any case; of several spellings the first that is not null. */
function fieldOf(value: object, name: string): unknown {
  const exact = Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined
  if (exact !== undefined && exact !== null) return exact
  const lower = name.toLowerCase()
  for (const [key, field] of Object.entries(value))
    if (field !== null && key.toLowerCase() === lower) return field
  return undefined
}

/** An item that was wrong is undefined in a partial body. */
const decodeFiles = (files: (FileIn | undefined)[]): DecodedFile[] =>
  files.map((file) => {
    if (file?.base64 === undefined) return { kind: 'none' }
    const decoded = decodeBase64(file.base64)
    file.base64 = undefined
    if (typeof decoded === 'string') return { kind: 'invalid', fault: decoded }
    return { kind: 'content', bytes: decoded, hash: createHash('sha256').update(decoded).digest('hex') }
  })
