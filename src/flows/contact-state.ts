/** A contact as a batch first sees it: what is stored and what the facts say, or a new person. */
import type { Contact } from '../domain/contact.ts'
import type { Recipient } from '../domain/send-request.ts'
import { newId } from '../lib/ids.ts'
import type { AcceptFacts, ContactRow } from '../store/accepting.ts'
import type { Catalogue } from '../store/catalogue.ts'
import type { Entry } from './accept-entry.ts'
import type { ContactState } from './decide-message.ts'

const noWindows: ReadonlyMap<string, Date> = new Map()

export function createState(
  entry: Entry,
  row: ContactRow | undefined,
  facts: AcceptFacts,
  catalogue: Catalogue | undefined,
  now: Date,
): ContactState {
  const { request } = entry.submission
  if (row === undefined)
    return {
      contact: newContact(newId(), request.recipient),
      isNew: true,
      isChanged: false,
      windows: noWindows,
      counters: new Map(),
    }
  const attendance = facts.attendances.get(row.id)
  const idleMs = (catalogue?.attendanceIdleHours ?? 24) * 3_600_000
  const isIdle = attendance !== undefined && now.getTime() - attendance.activeAt.getTime() >= idleMs
  return {
    contact: {
      id: row.id,
      phone: row.phone,
      email: row.email,
      name: row.name,
      taxId: row.tax_id,
      customCode: row.custom_code,
      tag: row.tag,
      jokers: row.jokers ?? [],
      segmentId: row.segment_id,
      lastInteractionAt: row.last_interaction_at,
      optedOutChannels: row.opted_out_channels ?? [],
      marketingOptedOutAt: row.marketing_opted_out_at,
      emailBouncedAt: row.email_bounced_at,
    },
    isNew: false,
    isChanged: false,
    attendance: isIdle ? undefined : attendance,
    idleAttendanceId: isIdle ? attendance.id : undefined,
    windows: facts.windows.get(row.id) ?? noWindows,
    counters: facts.counters.get(row.id) ?? new Map(),
  }
}

const newContact = (id: string, recipient: Recipient): Contact => ({
  id,
  phone: recipient.kind === 'phone' ? recipient.phone.e164 : null,
  email: recipient.kind === 'email' ? recipient.email.address : null,
  name: null,
  taxId: null,
  customCode: null,
  tag: null,
  jokers: [],
  segmentId: null,
  lastInteractionAt: null,
  optedOutChannels: [],
  marketingOptedOutAt: null,
  emailBouncedAt: null,
})
