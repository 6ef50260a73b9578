/** Headers that every send route of both APIs knows. */
import type { IncomingHttpHeaders } from 'node:http'
import { addError, type FieldErrors } from '../lib/read-json.ts'

export type SendHeaders = {
  idempotencyKey: string | undefined
  isDryRun: boolean
  /** By the header's name. */
  errors: FieldErrors | undefined
}

const plain: SendHeaders = { idempotencyKey: undefined, isDryRun: false, errors: undefined }
const visible = /^[\x21-\x7e]{1,255}$/

export function readSendHeaders(headers: IncomingHttpHeaders): SendHeaders {
  const key = headers['idempotency-key']
  const dryRun = headers['pombo-dry-run']
  if (key === undefined && dryRun === undefined) return plain
  let errors: FieldErrors | undefined
  if (key !== undefined && (typeof key !== 'string' || !visible.test(key)))
    errors = addError(errors, 'Idempotency-Key', 'must be 1 to 255 visible ASCII characters')
  if (dryRun !== undefined && dryRun !== 'true' && dryRun !== 'false')
    errors = addError(errors, 'Pombo-Dry-Run', 'must be true or false')
  return {
    idempotencyKey: typeof key === 'string' ? key : undefined,
    isDryRun: dryRun === 'true',
    errors,
  }
}
