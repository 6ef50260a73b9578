/** One batch in one transaction: lock, facts, decide one after another, write, commit. */
import { setTimeout } from 'node:timers/promises'
import type { Contact } from '../domain/contact.ts'
import type { MediaFile } from '../domain/media.ts'
import type { Outcome } from '../domain/outcome.ts'
import type { Recipient } from '../domain/send-request.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { RestrictionHit } from '../rules/facts.ts'
import {
  findStored,
  loadFacts,
  lockContacts,
  writeAccepted,
  type AcceptFacts,
  type ContactProbe,
  type ContactRow,
  type KeyProbe,
  type StoredMessage,
} from '../store/accepting.ts'
import type { Catalogue, CatalogueCache, Catalogues } from '../store/catalogue.ts'
import { isConnectionError, sqlState, type Connection, type Db } from '../store/db.ts'
import { findRestrictionHits } from '../store/restrictions.ts'
import { mediaIdsOf } from './compose-content.ts'
import { decideMessage, type ContactState } from './decide-message.ts'
import { Recorder } from './record-decision.ts'
import type { Submission } from './submission.ts'

export type Entry = {
  submission: Submission
  messageId: string
  /** Used when the contact is new. */
  contactId: string
  impatientAt: number
  tries: number
  /** A COMMIT of it was lost: looked up before it runs again. */
  isDoubtful: boolean
  answer(outcome: Outcome): void
}

export type BatchContext = { db: Db; clock: Clock; log: Log; catalogues: CatalogueCache; random(): number }

export type BatchResult = {
  answers: [Entry, Outcome][]
  /** Not decided: their contact or key is held elsewhere. */
  held: Entry[]
  lineIds: Set<string>
}

export async function runBatch(context: BatchContext, entries: Entry[]): Promise<BatchResult> {
  const { db } = context
  for (;;) {
    const catalogues = await context.catalogues.ensure(
      entries.map((entry) => entry.submission.sender.companyId),
    )
    const connection = await db.connect()
    let isClean = false
    try {
      const done = await inTransaction(context, connection, entries, catalogues)
      isClean = true
      if (done !== 'stale') return done
    } catch (error) {
      if (!(error instanceof LostCommitError) && !isConnectionError(error))
        isClean = await rollback(connection)
      throw error
    } finally {
      connection.release(!isClean)
    }
  }
}

const rollback = (connection: Connection): Promise<boolean> =>
  connection.query('rollback').then(
    () => true,
    () => false,
  )

async function inTransaction(
  context: BatchContext,
  connection: Connection,
  entries: Entry[],
  catalogues: Catalogues,
): Promise<BatchResult | 'stale'> {
  const now = context.clock.now()
  const plan = planBatch(entries)
  await connection.query('begin')
  const locked = await lockContacts(connection, plan.contacts, plan.keys)
  const factsQuery = {
    companyIds: plan.companyIds,
    apiTokenHashes: plan.apiTokenHashes,
    directTokenHashes: plan.directTokenHashes,
    keys: plan.keys,
    contactIds: [...locked.found.values()].map((row) => row.id),
    countedContactIds: plan.contacts.flatMap((probe) =>
      catalogues.get(probe.company_id)?.hasCounters ? (locked.found.get(probe.ref)?.id ?? []) : [],
    ),
    absent: plan.contacts.filter((probe) => locked.absent.has(probe.ref)),
    media: plan.media,
    now,
  }
  // Restrictions change by hand and need no lock: looked up beside the facts, on a connection of their own.
  const [facts, restrictionHits] = await Promise.all([
    loadFacts(connection, factsQuery),
    findHits(context.db, catalogues, entries, now, (index) => locked.found.get(plan.contactRefs[index]!)),
  ])
  if (dropStale(context.catalogues, catalogues, facts)) {
    await rollback(connection)
    return 'stale'
  }

  // By the contact, not by the address: one reached by its number and by its e-mail address is one person.
  const states = new Map<number | string, ContactState>()
  const recorder = new Recorder(now)
  const held: Entry[] = []
  const answers: [Entry, Outcome][] = []
  for (const [index, entry] of entries.entries()) {
    const probe = plan.contactRefs[index]!
    const keyRef = plan.keyRefs[index]
    const isAbsent = locked.absent.has(probe) && !facts.appeared.has(probe)
    if ((keyRef !== undefined && locked.heldKeys.has(keyRef)) || (!isAbsent && !locked.found.has(probe))) {
      held.push(entry)
      continue
    }
    const row = locked.found.get(probe)
    const catalogue = catalogues.get(entry.submission.sender.companyId)
    let state = states.get(row?.id ?? probe)
    if (state === undefined) {
      state = createState(entry, row, facts, catalogue, now)
      states.set(row?.id ?? probe, state)
    }
    const hits = restrictionHits.get(index) ?? []
    answers.push([entry, decideEntry(context, entry, catalogue, state, keyRef, facts, hits, recorder, now)])
  }

  const write = recorder.finish()
  if (write.messages.length > 0) await writeAccepted(connection, write)
  await commit(context, connection, write.messages[0]?.id)
  return { answers, held, lineIds: recorder.lineIds }
}

/** A token may have been replaced since the door. */
export const isStillValid = (sender: Submission['sender'], facts: AcceptFacts): boolean =>
  sender.kind === 'console_user' || facts.validTokens.has(sender.tokenHash.toString('hex'))

function decideEntry(
  context: BatchContext,
  entry: Entry,
  catalogue: Catalogue | undefined,
  state: ContactState,
  keyRef: number | undefined,
  facts: AcceptFacts,
  restrictionHits: readonly RestrictionHit[],
  recorder: Recorder,
  now: Date,
): Outcome {
  const { submission } = entry
  const { sender, request, idempotency } = submission
  // A company that is gone has no callers any more.
  if (catalogue === undefined || !isStillValid(sender, facts)) return { kind: 'unauthorized' }
  if (keyRef !== undefined && idempotency) {
    const earlier = recorder.remembered(keyRef) ?? facts.keys.get(keyRef)
    if (earlier) {
      if (earlier.bodyHash !== idempotency.bodyHash.toString('hex')) return { kind: 'key_reused' }
      return {
        kind: earlier.answer.kind,
        messageId: earlier.messageId,
        requestId: earlier.requestId,
        isReplay: true,
        verdicts: [],
      }
    }
  }
  const decision = decideMessage(request, {
    catalogue,
    isSuspended: facts.companies.get(sender.companyId)!.isSuspended,
    state,
    restrictionHits,
    media: ownMedia(facts, sender.companyId),
    now,
    random: context.random,
  })
  switch (decision.kind) {
    case 'suspended':
      return { kind: 'suspended' }
    case 'invalid':
      return { kind: 'invalid', problems: decision.problems, verdicts: decision.verdicts }
    case 'refused':
      recorder.refuse(entry, decision, state)
      return { kind: 'refused', verdicts: decision.verdicts }
    case 'accepted':
    case 'not_sent': {
      recorder.pass(entry, decision, state, catalogue)
      if (keyRef !== undefined && idempotency) recorder.remember(keyRef, entry, decision.kind)
      return {
        kind: decision.kind,
        messageId: entry.messageId,
        requestId: submission.requestId,
        isReplay: false,
        verdicts: decision.verdicts,
      }
    }
  }
}

export const ownMedia = (facts: AcceptFacts, companyId: string): ReadonlyMap<string, MediaFile> => {
  if (facts.media.size === 0) return facts.media
  return new Map(
    [...facts.media].flatMap(([key, item]) => (key.startsWith(companyId) ? [[item.id, item] as const] : [])),
  )
}

/** Each contact, key, token, company and media item of the batch once. */
export function planBatch(entries: readonly Entry[]) {
  const contacts: ContactProbe[] = []
  const keys: KeyProbe[] = []
  const contactRefs: number[] = []
  const keyRefs: (number | undefined)[] = []
  const refByContact = new Map<string, number>()
  const refByKey = new Map<string, number>()
  const companyIds = new Set<string>()
  const apiTokens = new Set<string>()
  const directTokens = new Set<string>()
  const media: { company_id: string; id: string }[] = []
  for (const { submission } of entries) {
    const { sender, request, idempotency } = submission
    companyIds.add(sender.companyId)
    if (sender.kind !== 'console_user')
      (sender.kind === 'api_user' ? apiTokens : directTokens).add(sender.tokenHash.toString('hex'))
    const probe = contactProbe(contacts.length, sender.companyId, request.recipient)
    const contactKey = `${sender.companyId} ${probe.phone_key ?? probe.email_key}`
    const known = refByContact.get(contactKey)
    if (known === undefined) {
      refByContact.set(contactKey, contacts.length)
      contacts.push(probe)
    }
    contactRefs.push(known ?? probe.ref)
    keyRefs.push(idempotency && keyRef(idempotency, sender.companyId))
    for (const id of mediaIdsOf(request)) media.push({ company_id: sender.companyId, id })
  }
  return {
    contacts,
    keys,
    contactRefs,
    keyRefs,
    companyIds: [...companyIds],
    apiTokenHashes: [...apiTokens],
    directTokenHashes: [...directTokens],
    media,
  }

  function keyRef({ route, key }: { route: string; key: string }, companyId: string): number {
    const full = `${companyId} ${route} ${key}`
    const known = refByKey.get(full)
    if (known !== undefined) return known
    const ref = keys.length
    refByKey.set(full, ref)
    keys.push({ ref, company_id: companyId, route, key })
    return ref
  }
}

export const contactProbe = (ref: number, companyId: string, recipient: Recipient): ContactProbe => ({
  ref,
  company_id: companyId,
  phone_key: recipient.kind === 'phone' ? recipient.phone.key : null,
  email_key: recipient.kind === 'email' ? recipient.email.key : null,
})

/** Asked only of companies that have lists at all. */
export function findHits(
  db: Db,
  catalogues: Catalogues,
  entries: readonly Entry[],
  now: Date,
  contactOf: (index: number) => ContactRow | undefined,
): Promise<Map<number, RestrictionHit[]>> {
  const probes = entries.flatMap(({ submission: { sender, request } }, ref) => {
    const listIds = catalogues.get(sender.companyId)?.listIds ?? []
    if (listIds.length === 0) return []
    const { recipient } = request
    return {
      ref,
      listIds,
      phone: recipient.kind === 'phone' ? recipient.phone.key : undefined,
      email: recipient.kind === 'email' ? recipient.email.key : undefined,
      // The tax identifier is the document number of the other API: given with the call, else as stored.
      document: request.documentNumber ?? request.contact.taxId ?? contactOf(ref)?.tax_id ?? undefined,
      contract: request.contractCode,
    }
  })
  return probes.length === 0 ? Promise.resolve(new Map()) : findRestrictionHits(db, probes, now)
}

/** True when a company changed since its catalogue was loaded: the batch runs again with what is true now. */
export function dropStale(cache: CatalogueCache, used: Catalogues, facts: AcceptFacts): boolean {
  let isStale = false
  for (const [companyId, { version }] of facts.companies) {
    const catalogue = used.get(companyId)
    if (catalogue?.version === version) continue
    cache.drop(companyId, catalogue)
    isStale = true
  }
  return isStale
}

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
      contact: newContact(entry.contactId, request.recipient),
      isNew: true,
      windows: new Map(),
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
      lastInteractionAt: row.last_interaction_at === null ? null : new Date(row.last_interaction_at),
      optedOutChannels: row.opted_out_channels,
      marketingOptedOutAt: row.marketing_opted_out_at === null ? null : new Date(row.marketing_opted_out_at),
      emailBouncedAt: row.email_bounced_at === null ? null : new Date(row.email_bounced_at),
    },
    isNew: false,
    attendance: isIdle ? undefined : attendance,
    idleAttendanceId: isIdle ? attendance.id : undefined,
    windows: facts.windows.get(row.id) ?? new Map(),
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

/**
 * A connection lost at COMMIT leaves the outcome open. The transaction is one: its first message is stored, or
 * nothing of it is. Not found is not yet "no", because the server may still be at work on it: its messages run
 * again with the same ids, and are looked up first.
 */
async function commit(
  { db, log }: BatchContext,
  connection: Connection,
  firstMessageId: string | undefined,
): Promise<void> {
  try {
    await connection.query('commit')
  } catch (error) {
    // Whatever it is, if the database did not say it, the database may have committed.
    if (sqlState(error) !== undefined && !isConnectionError(error)) throw error
    log.warn({ err: error }, 'connection lost while committing; looking the messages up')
    const stored = firstMessageId === undefined ? [] : await lookUp(db, [firstMessageId])
    if (stored.length === 0)
      throw new LostCommitError('the connection was lost while committing', { cause: error })
  }
}

/** The database may need a moment to take connections again. */
async function lookUp(db: Db, messageIds: string[]): Promise<StoredMessage[]> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await findStored(db, messageIds)
    } catch (error) {
      if (attempt === 3 || !isConnectionError(error))
        throw new LostCommitError('the database is away', { cause: error })
      await setTimeout(attempt * 100)
    }
  }
}

/** The connection went away at COMMIT: the messages may be stored or not. */
export class LostCommitError extends Error {}

/** Answers for messages whose COMMIT was lost, but which are stored after all. */
export async function findLostAnswers(
  { db }: BatchContext,
  entries: readonly Entry[],
): Promise<[Entry, Outcome][]> {
  const stored = new Map(
    (
      await lookUp(
        db,
        entries.map((entry) => entry.messageId),
      )
    ).map((row) => [row.id, row]),
  )
  return entries.flatMap((entry): [Entry, Outcome][] => {
    const row = stored.get(entry.messageId)
    if (row === undefined) return []
    if (row.state === 'blocked') return [[entry, { kind: 'refused', verdicts: row.reasons ?? [] }]]
    const kind = row.state === 'not_sent' ? 'not_sent' : 'accepted'
    const { messageId, submission } = entry
    return [[entry, { kind, messageId, requestId: submission.requestId, isReplay: false, verdicts: [] }]]
  })
}
