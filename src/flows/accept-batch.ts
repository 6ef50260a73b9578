/** One batch in one transaction: lock, facts, decide one after another, write, commit. */
import type { MediaFile } from '../domain/media.ts'
import type { Outcome } from '../domain/outcome.ts'
import type { RestrictionHit } from '../rules/facts.ts'
import { loadFacts, lockContacts, type AcceptFacts, type ContactRow } from '../store/accepting.ts'
import type { Catalogue, CatalogueCache, Catalogues } from '../store/catalogue.ts'
import { begin, isConnectionError, type Connection } from '../store/db.ts'
import type { ListContents } from '../store/restrictions.ts'
import type { BatchContext, Entry } from './accept-entry.ts'
import { createState } from './contact-state.ts'
import { decideMessage, type ContactState } from './decide-message.ts'
import { LostCommitError, writeAndCommit } from './lost-commit.ts'
import { contactNeeds, findHits, planBatch } from './plan-batch.ts'
import { Recorder } from './record-decision.ts'
import type { Submission } from './submission.ts'

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
  const hitsOf = (contactOf: (index: number) => ContactRow | undefined) =>
    findHits(connection, catalogues, entries, now, contactOf)
  // One round trip: none of these needs another's answer. Each looks when the one before has ended.
  const isDocumentNeeded = plan.companyIds.some((id) => catalogues.get(id)?.lists.some(hasDocuments))
  const [, locked, facts, hits] = await Promise.all([
    connection.query(begin),
    lockContacts(connection, plan.contacts, plan.keys),
    loadFacts(connection, { ...plan, needs: contactNeeds(entries, catalogues), now }),
    isDocumentNeeded ? undefined : hitsOf(() => undefined),
  ])
  const restrictionHits = hits ?? (await hitsOf((index) => locked.found.get(plan.contactRefs[index]!)))
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
    const isHeld = !locked.found.has(probe) && !locked.absent.has(probe)
    if (isHeld || (keyRef !== undefined && locked.heldKeys.has(keyRef))) {
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
  await writeAndCommit(context, connection, write)
  return { answers, held, lineIds: recorder.lineIds }
}

/** The stored document of a contact may be on such a list: its contact has to be known first. */
const hasDocuments = ({ exact, prefixed }: ListContents): boolean =>
  exact.includes('document') || prefixed.includes('document')

/** Is it who it was at the door? A token may have been replaced since, or the door recalled what is no longer so. */
export function standingOf(
  sender: Submission['sender'],
  facts: AcceptFacts,
): 'good' | 'unproven' | 'unauthorized' {
  if (sender.kind === 'console_user') return 'good'
  const { recalledAtVersion } = sender
  const isValid = facts.validTokens.has(sender.tokenHash)
  if (recalledAtVersion === undefined) return isValid ? 'good' : 'unauthorized'
  return isValid && facts.companies.get(sender.companyId)?.version === recalledAtVersion ? 'good' : 'unproven'
}

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
  if (catalogue === undefined) return { kind: 'unauthorized' }
  const standing = standingOf(sender, facts)
  if (standing !== 'good') return { kind: standing }
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
