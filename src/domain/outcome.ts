/** What became of a request to send. A surface turns each kind into its own status and body. */
import { ruleKinds } from './rule.ts'

/** Where in the request a problem lies, in our words; each surface maps it to the path of its own field. */
export type Place =
  | 'template'
  /** All variables of the template, or one of them by name. */
  | 'variables'
  | `variables.${string}`
  /** Direct WhatsApp: the name of the header's variable, or the header's value. */
  | 'header'
  | 'header.value'
  | 'line'
  | 'attendant'
  | 'segment'
  | 'wallet'
  | 'text'
  | 'subject'
  | 'files'
  | `files[${number}]`
  | 'company'
  | 'what'
  | 'idempotencyKey'

export type Problem = { at: Place; message: string }

/** What is looked at besides the rules: the state of the contact, and whether its company is still there. */
export const stateVerdictKinds = ['attendance', 'recent_contact', 'window', 'company'] as const
export const verdictKinds = [...ruleKinds, ...stateVerdictKinds] as const
export type VerdictKind = (typeof verdictKinds)[number]

/** One thing that was looked at: the contact's state or a rule of the company. */
export type Verdict = {
  rule: VerdictKind
  ruleId?: string
  passed: boolean
  /** For a rule that did not pass: does it refuse, or only delay? */
  action?: 'block' | 'defer'
  reason?: string
  /** The record that matched, for people: a list's name and entry, a counter. */
  matched?: string
  nextAllowedAt?: Date
}

export type Outcome =
  | { kind: 'accepted'; messageId: string | null; requestId: string; isReplay: boolean; verdicts: Verdict[] }
  /** Direct API: valid, but no line serves the channel and segment. */
  | { kind: 'not_sent'; messageId: string | null; requestId: string; isReplay: boolean; verdicts: Verdict[] }
  /** The contact's state or the company's rules say no; recorded as `blocked`. Holds every verdict, also passed ones. */
  | { kind: 'refused'; verdicts: Verdict[] }
  | { kind: 'invalid'; problems: Problem[]; verdicts: Verdict[] }
  | { kind: 'key_reused' }
  /** The token was replaced or revoked between the door and the transaction. */
  | { kind: 'unauthorized' }
  /** The door recalled the caller, and what it recalled is no longer so: to be looked up. */
  | { kind: 'unproven' }
  | { kind: 'suspended' }
  | { kind: 'unavailable'; retryAfterSeconds: number }
  /** A fault of ours, logged with the request id. */
  | { kind: 'failed' }
