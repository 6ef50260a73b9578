/** Everything is checked, and the answer is what a real call would get; nothing is stored, locked or counted. */
import type { Outcome } from '../domain/outcome.ts'
import { newId } from '../lib/ids.ts'
import { everyNeed, loadFacts, seeContact } from '../store/accepting.ts'
import { isConnectionError } from '../store/db.ts'
import { dropStale, ownMedia, standingOf } from './accept-batch.ts'
import type { BatchContext, Entry } from './accept-entry.ts'
import { createState } from './contact-state.ts'
import { decideMessage } from './decide-message.ts'
import { findHits, planBatch } from './plan-batch.ts'
import type { Submission } from './submission.ts'

export async function dryRun(context: BatchContext, submission: Submission): Promise<Outcome> {
  try {
    return await look(context, submission)
  } catch (error) {
    context.log.error({ err: error, requestId: submission.requestId }, 'a dry run failed')
    return isConnectionError(error) ? { kind: 'unavailable', retryAfterSeconds: 2 } : { kind: 'failed' }
  }
}

async function look(context: BatchContext, submission: Submission): Promise<Outcome> {
  const { db, clock } = context
  const { sender, request, requestId } = submission
  // An idempotency record is neither read nor written.
  const entry: Entry = {
    submission: { ...submission, idempotency: undefined },
    messageId: newId(),
    impatientAt: 0,
    tries: 0,
    isDoubtful: false,
    answer: () => {},
  }
  for (;;) {
    const catalogues = await context.catalogues.ensure([sender.companyId])
    const now = clock.now()
    const plan = planBatch([entry])
    const row = await seeContact(db, plan.contacts[0]!)
    const contacts = { ids: row ? [row.id] : [] }
    const [facts, hits] = await Promise.all([
      loadFacts(db, { ...plan, keys: [], contacts, needs: everyNeed, now }),
      findHits(db, catalogues, [entry], now, () => row),
    ])
    if (dropStale(context.catalogues, catalogues, facts)) continue
    const catalogue = catalogues.get(sender.companyId)
    if (catalogue === undefined) return { kind: 'unauthorized' }
    const standing = standingOf(sender, facts)
    if (standing !== 'good') return { kind: standing }
    const decision = decideMessage(request, {
      catalogue,
      isSuspended: facts.companies.get(sender.companyId)!.isSuspended,
      state: createState(entry, row, facts, catalogue, now),
      restrictionHits: hits.get(0) ?? [],
      media: ownMedia(facts, sender.companyId),
      now,
      random: context.random,
    })
    switch (decision.kind) {
      case 'suspended':
        return decision
      case 'invalid':
        return { kind: 'invalid', problems: decision.problems, verdicts: decision.verdicts }
      case 'refused':
        return { kind: 'refused', verdicts: decision.verdicts }
      case 'accepted':
      case 'not_sent':
        return {
          kind: decision.kind,
          messageId: null,
          requestId,
          isReplay: false,
          verdicts: decision.verdicts,
        }
    }
  }
}
