/** What each verdict means, in words: one entry for every kind that the server knows. */
import type { VerdictKind } from '../../../src/domain/outcome.ts'

type Words = {
  /** What was looked at. */
  name: string
  /** When it had nothing against the message. */
  passed: string
  /** When it had, and the server gave no reason of its own. */
  failed: string
  /** What a person can do about it. */
  advice: string
}

export const verdicts = {
  restriction_list: {
    name: 'Restriction list',
    passed: 'Neither the recipient, the document nor the contract is on the list.',
    failed: 'The recipient, the document or the contract is on a restriction list.',
    advice: 'Remove the entry from the list if it should not be there, or change the rule.',
  },
  opt_out: {
    name: 'Opt-out',
    passed: 'The recipient accepts messages on this channel.',
    failed: 'The recipient has opted out of this channel, or the mailbox does not exist.',
    advice: 'People opt in again themselves; a mailbox that exists after all can be cleared on the contact.',
  },
  allowed_hours: {
    name: 'Allowed hours',
    passed: 'It was within the hours in which messages may leave.',
    failed: 'It was outside the hours in which messages may leave.',
    advice: 'Send within the hours, or let the rule make messages wait instead of refusing them.',
  },
  frequency_cap: {
    name: 'Frequency cap',
    passed: 'The recipient had not reached the limit of the period.',
    failed: 'The recipient has already got as many messages as the rule allows.',
    advice: 'Wait for the next period, or raise the limit of the rule.',
  },
  duplicate: {
    name: 'Duplicate',
    passed: 'The same message was not accepted for this recipient a short while ago.',
    failed: 'The same message was accepted for this recipient a short while ago.',
    advice: 'Usually a repeated call: look at the system that sends. Resend later if it was meant.',
  },
  segment_channel: {
    name: 'Segment and channel',
    passed: 'The segment may be reached on this channel.',
    failed: 'The segment may not be reached on this channel.',
    advice: 'Use another channel or segment, or change the rule.',
  },
  template_state: {
    name: 'Template',
    passed: 'The template is switched on and approved.',
    failed: 'The template is switched off, or its provider has not approved it.',
    advice: 'Switch the template on, or wait for its approval.',
  },
  attendance: {
    name: 'Attendance',
    passed: 'Nobody was talking with the contact.',
    failed: 'The contact is in attendance, and the call asked to discard the message then.',
    advice: 'Close the attendance first, or send without discarding contacts in attendance.',
  },
  recent_contact: {
    name: 'Recent contact',
    passed: 'The contact was not in touch within the hours that the call named.',
    failed: 'The contact was in touch within the hours that the call named.',
    advice: 'Send later, or with fewer hours in the call.',
  },
  window: {
    name: '24-hour window',
    passed: 'The person wrote within the last 24 hours, so free text may be sent on WhatsApp.',
    failed: 'The person has not written within the last 24 hours: WhatsApp takes only templates then.',
    advice: 'Send a template instead; their answer opens the window.',
  },
  company: {
    name: 'Company',
    passed: 'The company exists.',
    failed: 'The company was removed while the message waited.',
    advice: 'Nothing can be sent for a company that is gone.',
  },
} as const satisfies Record<VerdictKind, Words>
