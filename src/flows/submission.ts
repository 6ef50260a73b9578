/** What a surface hands to the accept path, and the accept path as surfaces see it. */
import type { Outcome } from '../domain/outcome.ts'
import type { SendRequest } from '../domain/send-request.ts'

export type TokenSender = {
  kind: 'api_user' | 'direct_token'
  id: string
  companyId: string
  /** In hexadecimal digits. */
  tokenHash: string
  /** The door did not look it up but recalled it, as of this version of its company. */
  recalledAtVersion?: number
}

/** Who sends: known at the door by the token's hash, proven inside the accepting transaction. */
export type Sender =
  | TokenSender
  /** A person of the console, whose session was looked up when the request came. */
  | { kind: 'console_user'; id: string; companyId: string }

export type Submission = {
  sender: Sender
  request: SendRequest
  requestId: string
  isDryRun: boolean
  /** `bodyHash`: SHA-256 of the raw body. */
  idempotency?: { route: string; key: string; bodyHash: Buffer }
}

export type AcceptMessage = (submission: Submission) => Promise<Outcome>
