/** An error in words for people. */
import { ApiError } from './api.ts'
import { text } from './text/index.ts'

export function explain(error: Error): string {
  if (!(error instanceof ApiError)) return text.common.somethingBroke
  if (error.status === 0) return text.common.noConnection
  if (error.status === 401) return text.common.signedOut
  if (error.status === 412) return text.common.changedMeanwhile
  if (error.status === 429) return text.common.tooMany(error.retryAfterSeconds)
  if (error.status === 503) return text.common.unavailable
  if (error.status >= 500) return text.common.serverFault(error.requestId)
  return error.message.charAt(0).toUpperCase() + error.message.slice(1)
}
