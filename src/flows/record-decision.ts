/** Turns the decisions of a batch into the rows it writes, and into facts for the decisions that follow. */
import { showId, newId } from '../lib/ids.ts'
import type { Contact } from '../domain/contact.ts'
import type { Recipient } from '../domain/send-request.ts'
import type { Verdict } from '../domain/outcome.ts'
import { raised } from '../rules/facts.ts'
import { countersOf } from '../rules/engine.ts'
import type {
  AcceptWrite,
  AttendanceWrite,
  ContactChange,
  CounterWrite,
  KeyWrite,
  MessageGroup,
  MessageRow,
  NewContact,
} from '../store/accept-writes.ts'
import type { KeyRow } from '../store/accepting.ts'
import type { Catalogue } from '../store/catalogue.ts'
import { mergeJokers, type ContactState, type Decision } from './decide-message.ts'
import type { Submission } from './submission.ts'

type Recorded = Extract<Decision, { kind: 'accepted' | 'refused' | 'not_sent' }>
type Passed = Extract<Decision, { kind: 'accepted' | 'not_sent' }>

type RecordedEntry = { submission: Submission; messageId: string }

export class Recorder {
  readonly lineIds = new Set<string>()
  readonly #now: Date
  readonly #groups = new Map<string, { number: number; group: MessageGroup }>()
  readonly #messages: MessageRow[] = []
  readonly #contacts = new Map<ContactState, Submission>()
  readonly #attendances = new Map<ContactState, AttendanceWrite>()
  readonly #counters = new Map<string, CounterWrite>()
  readonly #keys = new Map<number, KeyWrite & KeyRow>()

  constructor(now: Date) {
    this.#now = now
  }

  /** An answer given earlier in this very batch. */
  remembered(keyRef: number): KeyRow | undefined {
    return this.#keys.get(keyRef)
  }

  refuse(entry: RecordedEntry, decision: Extract<Decision, { kind: 'refused' }>, state: ContactState): void {
    this.#message(entry, decision, state.isNew ? null : state.contact.id)
  }

  /** Records what passed, and lets the next decision see it. */
  pass(entry: RecordedEntry, decision: Passed, state: ContactState, catalogue: Catalogue): void {
    this.#message(entry, decision, state.contact.id)
    this.#contact(entry.submission, decision, state)
    if (decision.kind === 'not_sent') return
    this.lineIds.add(decision.facts.line!.id)
    this.#attendance(entry.submission, decision, state)
    // A deferred message counts when it is released.
    if (decision.facts.isDeferred) return
    for (const raise of countersOf(catalogue.rules, decision.ruleFacts)) {
      const counter = raised(state.counters.get(raise.key), raise)
      state.counters.set(raise.key, counter)
      this.#counters.set(`${state.contact.id} ${raise.key}`, {
        contact_id: state.contact.id,
        key: raise.key,
        ...counter,
      })
    }
  }

  remember(keyRef: number, { submission, messageId }: RecordedEntry, kind: 'accepted' | 'not_sent'): void {
    const { route, key, bodyHash } = submission.idempotency!
    const hash = bodyHash.toString('hex')
    this.#keys.set(keyRef, {
      ref: keyRef,
      company_id: submission.sender.companyId,
      route,
      key,
      body_hash: hash,
      bodyHash: hash,
      message_id: messageId,
      messageId,
      request_id: submission.requestId,
      requestId: submission.requestId,
      answer: { kind },
      at: this.#now,
    })
  }

  finish(): AcceptWrite {
    const newContacts: NewContact[] = []
    const changedContacts: ContactChange[] = []
    const touchedContactIds: string[] = []
    for (const [state, submission] of this.#contacts)
      if (state.isNew) newContacts.push(newContact(state, submission))
      else if (state.isChanged) changedContacts.push(contactData(state))
      else touchedContactIds.push(state.contact.id)
    return {
      now: this.#now,
      groups: Array.from(this.#groups.values(), ({ group }) => group),
      messages: this.#messages,
      newContacts,
      changedContacts,
      touchedContactIds,
      attendances: [...this.#attendances.values()],
      counters: [...this.#counters.values()],
      keys: [...this.#keys.values()],
    }
  }

  #message({ submission, messageId }: RecordedEntry, decision: Recorded, contactId: string | null): void {
    const { request } = submission
    const { facts, verdicts } = decision
    const failed = verdicts.filter((verdict) => !verdict.passed)
    this.#messages.push({
      group_number: this.#group(submission, decision),
      id: messageId,
      contact_id: contactId,
      recipient: recipientText(request.recipient),
      request_id: submission.requestId,
      call_id: request.callId ?? null,
      contract_code: request.contractCode ?? null,
      document_number: request.documentNumber ?? null,
      content: facts.content,
      callback: request.callback ?? null,
      reasons: failed.length > 0 ? failed : null,
    })
  }

  /** The number of the group that this message is of. */
  #group({ request, sender }: Submission, { kind, facts, verdicts }: Recorded): number {
    const { line, templateId, segmentId, priority, isDeferred, isPinned } = facts
    const [dueMs, expiresMs] = [facts.dueAt.getTime(), facts.expiresAt.getTime()]
    const seen = verdicts.map(compactVerdict)
    const key = `${sender.companyId} ${sender.id} ${kind} ${request.api} ${request.channel} ${line?.id} ${templateId} ${segmentId} ${priority} ${dueMs} ${expiresMs} ${isDeferred} ${isPinned} ${verdictsKey(seen)}`
    const known = this.#groups.get(key)
    if (known) {
      known.group.count++
      return known.number
    }
    const number = this.#groups.size + 1
    const group: MessageGroup = {
      company_id: sender.companyId,
      api: request.api,
      channel: request.channel,
      state: stateOf[kind],
      line_id: line?.id ?? null,
      template_id: templateId ?? null,
      segment_id: segmentId,
      sender_id: sender.id,
      priority,
      expires_at: facts.expiresAt,
      due_at: kind === 'accepted' ? facts.dueAt : null,
      is_deferred: isDeferred,
      is_pinned: isPinned,
      acceptance: { kind: kind === 'refused' ? 'blocked' : kind, verdicts: seen },
      count: 1,
    }
    this.#groups.set(key, { number, group })
    return number
  }

  #contact(submission: Submission, { facts }: Passed, state: ContactState): void {
    const { request } = submission
    const { contact } = state
    const { contact: given } = request
    const mayWrite = state.isNew ? !this.#contacts.has(state) : false
    if (mayWrite || (request.api === 'unified' && given.updateIfExists)) {
      const change = <Field extends keyof Contact>(field: Field, value: Contact[Field] | undefined) => {
        if (value === undefined || value === contact[field]) return
        contact[field] = value
        state.isChanged = true
      }
      change('name', given.name)
      change('taxId', given.taxId ?? (request.api === 'direct' ? request.documentNumber : undefined))
      change('customCode', given.customCode)
      change('tag', given.tag)
      const jokers = mergeJokers(contact.jokers, given.jokers)
      if (jokers.some((joker, index) => joker !== contact.jokers[index])) change('jokers', jokers)
      if (given.walletCode !== undefined) change('segmentId', facts.segmentId)
    }
    contact.lastInteractionAt = this.#now
    this.#contacts.set(state, submission)
  }

  #attendance(
    { sender }: Submission,
    decision: Extract<Decision, { kind: 'accepted' }>,
    state: ContactState,
  ): void {
    const { attendant } = decision
    if (attendant === undefined || state.attendance?.userId === attendant.id) return
    const earlier = this.#attendances.get(state)
    const id = earlier?.id ?? newId()
    this.#attendances.set(state, {
      id,
      company_id: sender.companyId,
      contact_id: state.contact.id,
      user_id: attendant.id,
      at: this.#now,
      replaces: earlier ? earlier.replaces : (state.attendance?.id ?? state.idleAttendanceId ?? null),
      is_idle: earlier ? earlier.is_idle : state.attendance === undefined,
    })
    state.attendance = { id, userId: attendant.id, openedAt: this.#now, activeAt: this.#now }
  }
}

const stateOf = { accepted: 'queued', refused: 'blocked', not_sent: 'not_sent' } as const

const contactData = ({ contact }: ContactState): ContactChange => ({
  id: contact.id,
  name: contact.name,
  tax_id: contact.taxId,
  custom_code: contact.customCode,
  tag: contact.tag,
  jokers: contact.jokers.length > 0 ? contact.jokers : null,
  segment_id: contact.segmentId,
})

const newContact = (state: ContactState, { sender, request: { recipient } }: Submission): NewContact => ({
  ...contactData(state),
  company_id: sender.companyId,
  phone: state.contact.phone,
  phone_key: recipient.kind === 'phone' ? recipient.phone.key : null,
  email: state.contact.email,
  email_key: recipient.kind === 'email' ? recipient.email.key : null,
})

/** As callbacks and the log show it: digits or address. */
const recipientText = (recipient: Recipient): string =>
  recipient.kind === 'phone' ? recipient.phone.digits : recipient.email.address

/** Usually all passed, and are nothing but names. */
const verdictsKey = (verdicts: readonly (string | Verdict)[]): string =>
  verdicts.every((verdict) => typeof verdict === 'string') ? verdicts.join(',') : JSON.stringify(verdicts)

/** In the timeline a verdict that passed is its name alone. */
const compactVerdict = (verdict: Verdict): string | Verdict =>
  verdict.passed ? verdict.rule : { ...verdict, ruleId: verdict.ruleId && showId('rul', verdict.ruleId) }
