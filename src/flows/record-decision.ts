/** Turns the decisions of a batch into the rows it writes, and into facts for the decisions that follow. */
import { showId, newId } from '../lib/ids.ts'
import type { Recipient } from '../domain/send-request.ts'
import type { Verdict } from '../domain/outcome.ts'
import { raised } from '../rules/facts.ts'
import { countersOf } from '../rules/engine.ts'
import type {
  AcceptWrite,
  AttendanceWrite,
  ContactWrite,
  CounterWrite,
  DeltaWrite,
  KeyWrite,
  MessageRow,
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
  readonly #messages: MessageRow[] = []
  readonly #contacts = new Map<ContactState, ContactWrite>()
  readonly #attendances = new Map<ContactState, AttendanceWrite>()
  readonly #counters = new Map<string, CounterWrite>()
  readonly #keys = new Map<number, KeyWrite & KeyRow>()
  readonly #deltas = new Map<string, DeltaWrite>()

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
    if (!catalogue.hasCounters || decision.facts.isDeferred) return
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
    return {
      messages: this.#messages,
      // In the order of their ids, as every path that locks several contacts.
      contacts: [...this.#contacts.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1)),
      attendances: [...this.#attendances.values()],
      counters: [...this.#counters.values()],
      keys: [...this.#keys.values()],
      deltas: [...this.#deltas.values()],
    }
  }

  #message({ submission, messageId }: RecordedEntry, decision: Recorded, contactId: string | null): void {
    const { request, sender } = submission
    const { facts, verdicts } = decision
    const failed = verdicts.filter((verdict) => !verdict.passed)
    const state =
      decision.kind === 'accepted' ? 'queued' : decision.kind === 'refused' ? 'blocked' : 'not_sent'
    const row: MessageRow = {
      id: messageId,
      company_id: sender.companyId,
      api: request.api,
      channel: request.channel,
      state,
      contact_id: contactId,
      recipient: recipientText(request.recipient),
      line_id: facts.line?.id ?? null,
      template_id: facts.templateId ?? null,
      segment_id: facts.segmentId,
      sender_id: sender.id,
      request_id: submission.requestId,
      call_id: request.callId ?? null,
      contract_code: request.contractCode ?? null,
      document_number: request.documentNumber ?? null,
      content: facts.content,
      callback: request.callback ?? null,
      reasons: failed.length > 0 ? failed : null,
      priority: facts.priority,
      accepted_at: this.#now,
      expires_at: facts.expiresAt,
      event: { requestId: submission.requestId, verdicts: verdicts.map(compactVerdict) },
      due_at: decision.kind === 'accepted' ? facts.dueAt : null,
      is_deferred: facts.isDeferred,
      is_pinned: facts.isPinned,
    }
    this.#messages.push(row)
    this.#count(row, state)
  }

  #count(row: MessageRow, outcome: string): void {
    const key = `${row.company_id} ${row.api} ${row.channel} ${row.line_id} ${row.template_id} ${row.segment_id} ${outcome}`
    const delta = this.#deltas.get(key)
    if (delta) delta.count++
    else
      this.#deltas.set(key, {
        company_id: row.company_id,
        hour: new Date(Math.floor(this.#now.getTime() / 3_600_000) * 3_600_000),
        api: row.api,
        channel: row.channel,
        line_id: row.line_id,
        template_id: row.template_id,
        segment_id: row.segment_id,
        outcome,
        count: 1,
      })
  }

  #contact({ request, sender }: Submission, { facts }: Passed, state: ContactState): void {
    const { contact } = state
    const { contact: given, recipient } = request
    const mayWrite = state.isNew ? !this.#contacts.has(state) : false
    if (mayWrite || (request.api === 'unified' && given.updateIfExists)) {
      contact.name = given.name ?? contact.name
      contact.taxId =
        given.taxId ?? (request.api === 'direct' ? request.documentNumber : undefined) ?? contact.taxId
      contact.customCode = given.customCode ?? contact.customCode
      contact.tag = given.tag ?? contact.tag
      contact.jokers = mergeJokers(contact.jokers, given.jokers)
      if (given.walletCode !== undefined) contact.segmentId = facts.segmentId
    }
    contact.lastInteractionAt = this.#now
    this.#contacts.set(state, {
      id: contact.id,
      company_id: sender.companyId,
      is_new: state.isNew,
      phone: contact.phone,
      phone_key: recipient.kind === 'phone' ? recipient.phone.key : null,
      email: contact.email,
      email_key: recipient.kind === 'email' ? recipient.email.key : null,
      name: contact.name,
      tax_id: contact.taxId,
      custom_code: contact.customCode,
      tag: contact.tag,
      jokers: contact.jokers.length > 0 ? contact.jokers : null,
      segment_id: contact.segmentId,
      last_interaction_at: this.#now,
    })
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

/** As callbacks and the log show it: digits or address. */
const recipientText = (recipient: Recipient): string =>
  recipient.kind === 'phone' ? recipient.phone.digits : recipient.email.address

/** In the timeline a verdict that passed is its name alone. */
const compactVerdict = (verdict: Verdict): string | Verdict =>
  verdict.passed ? verdict.rule : { ...verdict, ruleId: verdict.ruleId && showId('rul', verdict.ruleId) }
