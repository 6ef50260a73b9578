/**
 * The closed list of ways a hand-over can fail. Each says whether to try again, whose fault it is, and what the
 * operator reads. A driver maps every answer of its provider to one of them and to nothing else.
 */
export type DriverErrorKind =
  | 'misconfigured'
  | 'unreachable'
  | 'throttled'
  | 'rejected'
  | 'unreadable_reply'
  | 'opted_out'
  | 'invalid_message'
  | 'no_answer'

export type DriverError = {
  kind: DriverErrorKind
  /** The provider's own code, or ours in lower case. */
  code: string
  /** The provider's own words, or ours; no secrets. */
  message: string
  retryAfterMs?: number
  /** Throttled for this recipient only (WhatsApp's pair rate): the line goes on. */
  isRecipientOnly?: boolean
  /** Opted out of marketing only: everything else may still be sent to this person. */
  isMarketingOnly?: boolean
  /** There is no such mailbox: the contact's address is marked, so that nothing more is sent to it. */
  isAddressGone?: boolean
}

export type DriverErrorPolicy = {
  /** What becomes of the message. `unknown`: it may have been taken; never sent again blindly. */
  message: 'retry' | 'fail' | 'unknown'
  /** What becomes of the line. */
  line: 'goes_on' | 'pauses' | 'backs_off'
  fault: 'ours' | 'provider' | 'sender' | 'recipient'
  operatorReads: string
}

export const driverErrorPolicies: Record<DriverErrorKind, DriverErrorPolicy> = {
  misconfigured: {
    message: 'retry',
    line: 'pauses',
    fault: 'sender',
    operatorReads:
      'The provider does not accept this line (credentials, suspended account, missing right). The line is paused; correct it and resume.',
  },
  unreachable: {
    message: 'retry',
    line: 'backs_off',
    fault: 'provider',
    operatorReads:
      'The provider could not be reached, and nothing was handed over. Tried again with growing pauses.',
  },
  throttled: {
    message: 'retry',
    line: 'backs_off',
    fault: 'provider',
    operatorReads: 'The provider asked for a slower pace. The line waits as long as it said.',
  },
  rejected: {
    message: 'fail',
    line: 'goes_on',
    fault: 'recipient',
    operatorReads: 'The provider refused this message for good.',
  },
  unreadable_reply: {
    message: 'unknown',
    line: 'goes_on',
    fault: 'provider',
    operatorReads:
      'The provider answered something that cannot be understood; whether it took the message is not known.',
  },
  opted_out: {
    message: 'fail',
    line: 'goes_on',
    fault: 'recipient',
    operatorReads: 'The recipient wants no messages from this sender; the contact is marked.',
  },
  invalid_message: {
    message: 'fail',
    line: 'goes_on',
    fault: 'sender',
    operatorReads: 'The message or its template is wrong for this provider; correct it before sending again.',
  },
  no_answer: {
    message: 'unknown',
    line: 'goes_on',
    fault: 'provider',
    operatorReads: 'The message was handed over, but no answer came; whether it was taken is not known.',
  },
}
