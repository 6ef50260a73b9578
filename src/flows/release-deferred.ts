/**
 * Messages that the rules deferred are decided about again when their moment has come: with the rules, lists, caps and
 * opt-outs of now, under the locks of their contacts, one after another. Counters rise when a message is released.
 */
import { phoneKey } from '../domain/address.ts'
import type { Verdict } from '../domain/outcome.ts'
import type { Template } from '../domain/template.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { countersOf, firstAllowedAt, runRules } from '../rules/engine.ts'
import { raised, type CounterValue, type RestrictionHit, type RuleFacts } from '../rules/facts.ts'
import { everyNeed, loadFacts, type AcceptFacts } from '../store/accepting.ts'
import type { Catalogue, CatalogueCache, Catalogues } from '../store/catalogue.ts'
import { raiseCounters } from '../store/counters.ts'
import type { Db, Queryable } from '../store/db.ts'
import {
  lockDeferred,
  writeDeferred,
  type DeferredDecision,
  type DeferredMessage,
} from '../store/deferred.ts'
import { DeltaSum, hourOf } from '../store/report-deltas.ts'
import { findRestrictionHits } from '../store/restrictions.ts'
import { dropStale } from './accept-batch.ts'
import { contentKey } from './content-key.ts'
import type { OnChanged, StateChange } from './state-change.ts'

export type ReleaseContext = {
  db: Db
  clock: Clock
  log: Log
  catalogues: CatalogueCache
  onChanged?: OnChanged
}

export type Released = {
  released: number
  waiting: number
  blocked: number
  /** Lines that have new work. */
  lineIds: Set<string>
}

const windowMs = 24 * 3_600_000
/** A suspended company's messages are looked at again after this long. */
const suspendedMs = 15 * 60_000
const maxRounds = 5

/** One bounded bite; when the three counts add up to `limit` there may be more. */
export async function releaseDeferred(context: ReleaseContext, limit = 200): Promise<Released> {
  for (let round = 1; ; round++) {
    const result = await context.db.transaction((connection) => releaseIn(context, connection, limit))
    if (result !== 'stale') return result
    if (round === maxRounds) throw new Error('the catalogue of a company changes faster than it can be read')
  }
}

async function releaseIn(
  context: ReleaseContext,
  connection: Queryable,
  limit: number,
): Promise<Released | 'stale'> {
  const { clock, onChanged } = context
  const now = clock.now()
  const messages = await lockDeferred(connection, now, limit)
  const batch = new ReleaseBatch(now)
  if (messages.length === 0) return batch.result
  const catalogues = await context.catalogues.ensure(messages.map(({ companyId }) => companyId))
  const facts = await loadFacts(connection, {
    companyIds: [...new Set(messages.map(({ companyId }) => companyId))],
    apiTokenHashes: [],
    directTokenHashes: [],
    keys: [],
    contacts: { ids: [...new Set(messages.map(({ contactId }) => contactId))] },
    needs: everyNeed,
    media: [],
    now,
  })
  if (dropStale(context.catalogues, catalogues, facts)) return 'stale'
  const hits = await findHits(connection, catalogues, messages, now)
  for (const [index, message] of messages.entries())
    batch.decide(message, catalogues.get(message.companyId), facts, hits.get(index) ?? [])
  await raiseCounters(connection, batch.raises)
  await writeDeferred(connection, batch.decisions, batch.deltas.rows(), now)
  if (batch.changes.length > 0) await onChanged?.(connection, batch.changes)
  return batch.result
}

function findHits(
  connection: Queryable,
  catalogues: Catalogues,
  messages: readonly DeferredMessage[],
  now: Date,
): Promise<Map<number, RestrictionHit[]>> {
  const probes = messages.flatMap((message, ref) => {
    const lists = catalogues.get(message.companyId)?.lists ?? []
    if (lists.length === 0) return []
    return {
      ref,
      lists,
      [message.channel === 'email' ? 'email' : 'phone']: recipientKeyOf(message),
      document: message.documentNumber ?? undefined,
      contract: message.contractCode ?? undefined,
    }
  })
  return probes.length === 0 ? Promise.resolve(new Map()) : findRestrictionHits(connection, probes, now)
}

/** As domain/address makes it of a recipient that was read once. */
const recipientKeyOf = ({ channel, recipient }: DeferredMessage): string =>
  channel === 'email' ? recipient.toLowerCase() : phoneKey(recipient)

class ReleaseBatch {
  readonly decisions: DeferredDecision[] = []
  readonly changes: StateChange[] = []
  readonly deltas = new DeltaSum()
  readonly raises: { contactId: string; key: string; at: Date }[] = []
  readonly result: Released = { released: 0, waiting: 0, blocked: 0, lineIds: new Set() }
  readonly #now: Date
  readonly #counters = new Map<string, Map<string, CounterValue>>()
  readonly #templates = new Map<Catalogue, Map<string, Template>>()

  constructor(now: Date) {
    this.#now = now
  }

  decide(
    message: DeferredMessage,
    catalogue: Catalogue | undefined,
    facts: AcceptFacts,
    restrictionHits: readonly RestrictionHit[],
  ): void {
    const company = facts.companies.get(message.companyId)
    if (catalogue === undefined || company === undefined) {
      this.#block(message, [{ rule: 'company', passed: false, action: 'block', reason: 'company is gone' }])
      return
    }
    if (company.isSuspended) {
      this.#wait(message, new Date(this.#now.getTime() + suspendedMs), null)
      return
    }
    const counters = this.#countersOf(message.contactId, facts)
    const ruleFacts = this.#ruleFacts(message, catalogue, counters, restrictionHits)
    const verdicts = [
      ...windowVerdicts(message, facts.windows.get(message.contactId)?.get(message.lineId), this.#now),
      ...runRules(catalogue.rules, ruleFacts),
    ]
    const failed = verdicts.filter((verdict) => !verdict.passed)
    if (failed.some((verdict) => verdict.action !== 'defer')) this.#block(message, failed)
    else if (failed.length > 0)
      this.#wait(message, firstAllowedAt(catalogue.rules, ruleFacts) ?? this.#now, failed)
    else this.#release(message, catalogue, ruleFacts, counters)
  }

  #release(
    message: DeferredMessage,
    catalogue: Catalogue,
    ruleFacts: RuleFacts,
    counters: Map<string, CounterValue>,
  ): void {
    this.result.released++
    this.result.lineIds.add(message.lineId)
    for (const raise of countersOf(catalogue.rules, ruleFacts)) {
      counters.set(raise.key, raised(counters.get(raise.key), raise))
      if (message.hasContact) this.raises.push({ contactId: message.contactId, ...raise })
    }
    this.#write(message, 'released', this.#now, message.expiresAt, null, {})
  }

  /** Expiry counts from the first moment it may leave, so it moves along. */
  #wait(message: DeferredMessage, dueAt: Date, reasons: Verdict[] | null): void {
    this.result.waiting++
    const lifeMs = message.expiresAt.getTime() - message.dueAt.getTime()
    const expiresAt = new Date(dueAt.getTime() + lifeMs)
    this.#write(message, 'waits', dueAt, expiresAt, reasons, reasons && { until: dueAt, verdicts: reasons })
  }

  #block(message: DeferredMessage, reasons: Verdict[]): void {
    this.result.blocked++
    this.deltas.add(message, 'blocked', hourOf(this.#now), 1)
    this.changes.push({
      messageId: message.messageId,
      companyId: message.companyId,
      from: 'queued',
      to: 'blocked',
      at: this.#now,
      error: { code: 'blocked', message: reasons.map(({ reason }) => reason).join('; ') },
    })
    this.#write(message, 'blocked', this.#now, message.expiresAt, reasons, { verdicts: reasons })
  }

  #write(
    { messageId }: DeferredMessage,
    kind: DeferredDecision['kind'],
    dueAt: Date,
    expiresAt: Date,
    reasons: Verdict[] | null,
    event: object | null,
  ): void {
    this.decisions.push({ message_id: messageId, kind, due_at: dueAt, expires_at: expiresAt, reasons, event })
  }

  #countersOf(contactId: string, facts: AcceptFacts): Map<string, CounterValue> {
    let counters = this.#counters.get(contactId)
    if (counters === undefined) {
      counters = new Map(facts.counters.get(contactId))
      this.#counters.set(contactId, counters)
    }
    return counters
  }

  #ruleFacts(
    message: DeferredMessage,
    catalogue: Catalogue,
    counters: ReadonlyMap<string, CounterValue>,
    restrictionHits: readonly RestrictionHit[],
  ): RuleFacts {
    const { api, channel, segmentId, optedOutChannels, templateId, content } = message
    let key: string | undefined
    return {
      now: this.#now,
      api,
      channel,
      segmentId,
      timeZone: catalogue.timeZone,
      optedOutChannels,
      isMarketingOptedOut: message.marketingOptedOutAt !== null,
      emailBouncedAt: message.emailBouncedAt,
      template: templateId === null ? undefined : this.#template(catalogue, templateId),
      restrictionHits,
      counter: (name) => counters.get(name),
      contentKey: () => (key ??= contentKey(channel, recipientKeyOf(message), templateId, content)),
    }
  }

  #template(catalogue: Catalogue, id: string): Template | undefined {
    let byId = this.#templates.get(catalogue)
    if (byId === undefined) {
      byId = new Map(
        [...catalogue.templatesByCode.values()].map(({ template }) => [template.id, template] as const),
      )
      this.#templates.set(catalogue, byId)
    }
    return byId.get(id)
  }
}

/** Free text on WhatsApp that waited may find the window closed: the provider would refuse it. */
function windowVerdicts(message: DeferredMessage, receivedAt: Date | undefined, now: Date): Verdict[] {
  if (message.channel !== 'whatsapp' || message.content.kind !== 'text') return []
  const isOpen = receivedAt !== undefined && now.getTime() - receivedAt.getTime() < windowMs
  return isOpen
    ? [{ rule: 'window', passed: true }]
    : [{ rule: 'window', passed: false, action: 'block', reason: '24-hour window closed' }]
}
