/** Messages that people send from the console, over the same road as those of the APIs. */
import { readDigits, readEmail } from '../../domain/address.ts'
import type { Channel } from '../../domain/channel.ts'
import type { LineChoice } from '../../domain/line.ts'
import type { Outcome, Place } from '../../domain/outcome.ts'
import type { Recipient, SendRequest, WhatToSend } from '../../domain/send-request.ts'
import { invalid, type Refused } from './replies.ts'

export type Wish = {
  channel: Channel
  recipient: Recipient
  what: WhatToSend
  subject?: string
  line: LineChoice
  attendantName?: string
  documentNumber?: string
  contractCode?: string
  segmentName?: string
  isFlash?: boolean
}

export const requestOf = (wish: Wish): SendRequest => ({
  api: 'unified',
  channel: wish.channel,
  recipient: wish.recipient,
  what: wish.what,
  subject: wish.subject,
  line: wish.line,
  recentContactLastHours: 0,
  isDiscardedInAttendance: false,
  attendantName: wish.attendantName,
  contact: { updateIfExists: false },
  segmentName: wish.segmentName,
  documentNumber: wish.documentNumber,
  contractCode: wish.contractCode,
  isFlash: wish.isFlash ?? false,
})

export type RecipientReading = { ok: true; recipient: Recipient } | { ok: false; reason: string }

/** An e-mail address, or a number with country code, spaces and signs as people type it. */
export function readRecipient(channel: Channel, text: string): RecipientReading {
  if (channel === 'email') {
    const reading = readEmail(text)
    return reading.ok ? { ok: true, recipient: { kind: 'email', email: reading.email } } : reading
  }
  const reading = readDigits(text.replace(/[\s().-]/g, ''))
  return reading.ok ? { ok: true, recipient: { kind: 'phone', phone: reading.phone } } : reading
}

/** Undefined: it was accepted. `fields` says which of the route's own fields a place is. */
export function refusalOf(outcome: Outcome, fields: (at: Place) => string): Refused | undefined {
  switch (outcome.kind) {
    case 'accepted':
      return undefined
    case 'not_sent':
      return { kind: 'refused', status: 409, message: 'no line serves the channel' }
    case 'refused':
      return {
        kind: 'refused',
        status: 409,
        message: `message not sent: ${outcome.verdicts
          .filter(({ passed }) => !passed)
          .map(({ reason }) => reason)
          .join('; ')}`,
      }
    case 'invalid':
      return invalid(...outcome.problems.map(({ at, message }) => ({ field: fields(at), message })))
    case 'suspended':
      return { kind: 'refused', status: 403, message: 'the company is suspended' }
    case 'unauthorized':
    case 'unproven':
      return { kind: 'refused', status: 401, message: 'sign in again' }
    case 'key_reused':
    case 'unavailable':
    case 'failed':
      return { kind: 'refused', status: 409, message: 'it could not be accepted now; try again' }
  }
}
