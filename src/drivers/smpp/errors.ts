/** command_status codes in the words of the closed list. */
import { status, statusName } from '../../lib/smpp/index.ts'
import type { RequestOutcome } from '../../lib/smpp/index.ts'
import { driverErrorPolicies } from '../errors.ts'
import type { DriverError, DriverErrorKind } from '../errors.ts'

type Meaning = { kind: DriverErrorKind; isRecipientOnly?: boolean; maxAttempts?: number }

const throttled: Meaning = { kind: 'throttled' }
/** Trouble with this one message that may pass; given up after a few tries. */
const fewTries: Meaning = { kind: 'throttled', isRecipientOnly: true, maxAttempts: 3 }
const misconfigured: Meaning = { kind: 'misconfigured' }
const invalid: Meaning = { kind: 'invalid_message' }
const rejected: Meaning = { kind: 'rejected' }
const unreachable: Meaning = { kind: 'unreachable' }

/** What an answer to submit_sm means. */
const submitMeanings: ReadonlyMap<number, Meaning> = new Map([
  [status.ESME_RINVMSGLEN, invalid],
  [status.ESME_RINVCMDLEN, invalid],
  [status.ESME_RINVCMDID, misconfigured],
  [status.ESME_RINVBNDSTS, unreachable],
  [status.ESME_RINVPRTFLG, invalid],
  [status.ESME_RINVREGDLVFLG, misconfigured],
  [status.ESME_RSYSERR, throttled],
  [status.ESME_RINVSRCADR, misconfigured],
  [status.ESME_RINVDSTADR, rejected],
  [status.ESME_RMSGQFUL, throttled],
  [status.ESME_RINVSERTYP, misconfigured],
  [status.ESME_RINVESMCLASS, invalid],
  [status.ESME_RSUBMITFAIL, fewTries],
  [status.ESME_RINVSRCTON, misconfigured],
  [status.ESME_RINVSRCNPI, misconfigured],
  [status.ESME_RINVDSTTON, misconfigured],
  [status.ESME_RINVDSTNPI, misconfigured],
  [status.ESME_RINVSYSTYP, misconfigured],
  [status.ESME_RTHROTTLED, throttled],
  [status.ESME_RINVSCHED, invalid],
  [status.ESME_RINVEXPIRY, invalid],
  [status.ESME_RX_T_APPN, fewTries],
  [status.ESME_RX_P_APPN, rejected],
  [status.ESME_RX_R_APPN, rejected],
  [status.ESME_RINVOPTPARSTREAM, invalid],
  [status.ESME_ROPTPARNOTALLWD, invalid],
  [status.ESME_RINVPARLEN, invalid],
  [status.ESME_RMISSINGOPTPARAM, invalid],
  [status.ESME_RINVOPTPARAMVAL, invalid],
  [status.ESME_RDELIVERYFAILURE, rejected],
  [status.ESME_RUNKNOWNERR, fewTries],
  [status.ESME_RSERTYPUNAUTH, misconfigured],
  [status.ESME_RPROHIBITED, rejected],
  [status.ESME_RSERTYPUNAVAIL, throttled],
  [status.ESME_RSERTYPDENIED, misconfigured],
  [status.ESME_RINVDCS, invalid],
])

/** Refusals of a bind that pass by themselves; all others need a person. */
const passingBindRefusals: ReadonlySet<number> = new Set([
  // An earlier session is not dead yet on the other side.
  status.ESME_RALYBND,
  status.ESME_RSYSERR,
  status.ESME_RMSGQFUL,
  status.ESME_RTHROTTLED,
  status.ESME_RX_T_APPN,
  status.ESME_RUNKNOWNERR,
])

export type Meanings = ReadonlyMap<number, Meaning>

const entryForm = /^(0x[0-9a-f]{1,8}|\d{1,10})=([a-z_]+)$/i

/** `0x0403=throttled, 1034=opted_out`. An entry that cannot be read throws, naming it. */
export function readMeanings(text: string): Meanings {
  const meanings = new Map(submitMeanings)
  for (const entry of text.split(/[\s,;]+/).filter((part) => part !== '')) {
    const [, code, name] = entryForm.exec(entry) ?? []
    const kind = kinds.find((known) => known === name)
    if (code === undefined || kind === undefined) {
      throw new Error(
        `The setting statusMeanings has an entry that is not code=meaning: ${entry} (meanings: ${kinds.join(', ')}).`,
      )
    }
    meanings.set(Number(code), { kind })
  }
  return meanings
}

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the keys are those of the closed list
const kinds = Object.keys(driverErrorPolicies) as DriverErrorKind[]

export function readStatus(
  code: number,
  attempt: number,
  meanings: Meanings,
  throttleMs: number,
): DriverError {
  const meaning = meanings.get(code) ?? rejected
  const isGivenUp = meaning.maxAttempts !== undefined && attempt >= meaning.maxAttempts
  const name = statusName(code)
  const hex = `0x${code.toString(16).padStart(2, '0')}`
  return {
    kind: isGivenUp ? 'rejected' : meaning.kind,
    code: hex,
    message: name.startsWith('0x') ? `the provider's own code ${hex}` : name,
    ...(code === status.ESME_RTHROTTLED ? { retryAfterMs: throttleMs } : {}),
    ...(meaning.isRecipientOnly && !isGivenUp ? { isRecipientOnly: true } : {}),
  }
}

export function readLost(outcome: Extract<RequestOutcome, { kind: 'lost' }>): DriverError {
  const code = outcome.reason
  if (outcome.reason === 'unreadable') {
    return { kind: 'unreadable_reply', code, message: 'the answer could not be read' }
  }
  if (!outcome.isSent) {
    return outcome.reason === 'congested'
      ? {
          kind: 'throttled',
          code,
          message: 'the provider reads more slowly than we write',
          retryAfterMs: 500,
        }
      : { kind: 'unreachable', code, message: 'the connection was lost before the message left' }
  }
  const words =
    outcome.reason === 'timeout' ? 'no answer in time' : 'the connection was lost before the answer came'
  return { kind: 'no_answer', code, message: words }
}

export function readBindRefusal(code: number): DriverError {
  const kind = passingBindRefusals.has(code) ? 'unreachable' : 'misconfigured'
  return {
    kind,
    code: `0x${code.toString(16).padStart(2, '0')}`,
    message: `the bind was refused: ${statusName(code)}`,
  }
}
