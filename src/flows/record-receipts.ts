/**
 * What providers report about messages they took. A batch is folded to the highest state of each message and written
 * in one transaction; late, repeated and out-of-order receipts change nothing. A receipt that is here before our own
 * record of the hand-over is kept, and matched by a sweep.
 */
import type { MessageState } from '../domain/message.ts'
import { combineParts, foldPart, foldReceipts, newStates, type ReceiptState } from '../domain/receipt.ts'
import { latencyBucket } from '../domain/latency.ts'
import type { Channel } from '../domain/channel.ts'
import type { Receipt } from '../drivers/driver.ts'
import type { Clock } from '../lib/clock.ts'
import { parseId } from '../lib/ids.ts'
import type { Log } from '../lib/log.ts'
import type { Db, Queryable } from '../store/db.ts'
import { DeltaSum, hourOf } from '../store/report-deltas.ts'
import {
  loadParts,
  lockReceiptContacts,
  lockReceipts,
  takeEarlyReceipts,
  writeReceipts,
  type LockedMessage,
  type Named,
  type PartState,
  type ReceiptProbe,
  type ReceiptWrite,
  type StoredReceipt,
} from '../store/receipts.ts'
import type { OnChanged, StateChange } from './state-change.ts'

export type ReceiptContext = { db: Db; clock: Clock; log: Log; onChanged?: OnChanged }

export type ReceiptEntry = { lineId: string; companyId: string; receipt: Receipt; receivedAt: Date }

export type ReceiptCounts = {
  /** Receipts whose message was found, whether they told something new or not. */
  matched: number
  /** Kept, because their message or its hand-over is not known yet. */
  early: number
  /** Given up: an hour old and of no message of ours, or of one that is no longer stored. */
  dropped: number
}

/** How long a receipt waits for its message: our record of a hand-over is a matter of seconds. */
const unknownIdMs = 3_600_000
/** A message that is known but still in the queue (a part of it was refused) may take its whole life. */
const unsettledMs = 48 * 3_600_000
const tryAgainMs = { min: 1_000, max: 300_000 }

export const recordReceipts = (
  context: ReceiptContext,
  entries: readonly ReceiptEntry[],
): Promise<ReceiptCounts> => context.db.transaction((connection) => recordIn(context, connection, entries))

/** One bounded bite of the sweep; `taken` equal to `limit` means that there may be more. */
export const matchEarlyReceipts = (
  context: ReceiptContext,
  limit = 1_000,
): Promise<ReceiptCounts & { taken: number }> =>
  context.db.transaction(async (connection) => {
    const rows = await takeEarlyReceipts(connection, context.clock.now(), limit)
    const entries = rows.flatMap(({ lineId, companyId, receipt, receivedAt }): ReceiptEntry[] =>
      companyId === null ? [] : [{ lineId, companyId, receivedAt, receipt: thaw(receipt) }],
    )
    const counts = await recordIn(context, connection, entries)
    const dropped = counts.dropped + rows.length - entries.length
    if (dropped > 0) context.log.warn({ dropped }, 'receipts of messages that are not ours were dropped')
    return { ...counts, dropped, taken: rows.length }
  })

const thaw = (stored: StoredReceipt): Receipt => ({ ...stored, at: new Date(stored.at) })

async function recordIn(
  { clock, onChanged }: ReceiptContext,
  connection: Queryable,
  entries: readonly ReceiptEntry[],
): Promise<ReceiptCounts> {
  const counts: ReceiptCounts = { matched: 0, early: 0, dropped: 0 }
  if (entries.length === 0) return counts
  const now = clock.now()
  const probes = entries.map(probeOf)
  const optOuts = probes.filter((_, index) => isAnyOptOut(entries[index]!.receipt))
  if (optOuts.length > 0) await lockReceiptContacts(connection, optOuts)
  const { named, messages, unsettled } = await lockReceipts(connection, probes)

  const batch = new ReceiptBatch(now)
  const byMessage = new Map<string, Told[]>()
  for (const [index, entry] of entries.entries()) {
    const found = named.get(index)
    const message = found && messages.get(found.messageId)
    // Queued again by the policy for unknown outcomes while we waited for the lock: not settled either.
    const isUnsettled = found !== undefined && (unsettled.has(found.messageId) || message?.state === 'queued')
    const patienceMs = isUnsettled ? unsettledMs : found === undefined ? unknownIdMs : 0
    if (found !== undefined && message !== undefined && !isUnsettled) {
      counts.matched++
      const told = byMessage.get(message.id)
      if (told) told.push({ ...entry, named: found })
      else byMessage.set(message.id, [{ ...entry, named: found }])
    } else if (now.getTime() - entry.receivedAt.getTime() < patienceMs) {
      counts.early++
      batch.keep(entry)
    } else counts.dropped++
  }

  const mayHaveParts = [...byMessage].flatMap(([id, told]) => (told.some(isMaybeOfSeveral) ? [id] : []))
  const partRows = mayHaveParts.length > 0 ? await loadParts(connection, mayHaveParts) : []
  const parts = Map.groupBy(partRows, (part) => part.messageId)
  for (const [id, told] of byMessage) batch.apply(messages.get(id)!, told, parts.get(id) ?? [])

  const write = batch.finish()
  if (Object.values(write).every((rows) => rows.length === 0)) return counts
  const moved = await writeReceipts(connection, write)
  // They are locked, so the conditions held when they were read hold still.
  if (moved !== write.moves.length)
    throw new Error(`Of ${write.moves.length} messages ${moved} could be moved.`)
  if (batch.changes.length > 0) await onChanged?.(connection, batch.changes)
  return counts
}

/** Found by our own id alone, it may be one of several parts whose ids were lost with an answer. */
const isMaybeOfSeveral = ({ named }: Told): boolean => named.parts === null || named.parts > 1

const isAnyOptOut = ({ isOptOut, isMarketingOptOut }: Receipt): boolean =>
  isOptOut === true || isMarketingOptOut === true

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

function probeOf({ lineId, companyId, receipt }: ReceiptEntry, ref: number): ReceiptProbe {
  const { providerId, messageId = '' } = receipt
  return {
    ref,
    line_id: lineId,
    company_id: companyId,
    provider_id: providerId ?? null,
    message_id: parseId('msg', messageId) ?? (uuid.test(messageId) ? messageId : null),
  }
}

type Told = ReceiptEntry & { named: Named }

/** What a batch of receipts writes. */
class ReceiptBatch {
  readonly changes: StateChange[] = []
  readonly #now: Date
  readonly #deltas = new DeltaSum()
  readonly #optOuts = new Map<string, { channels: Set<Channel>; isMarketing: boolean }>()
  readonly #write: Omit<ReceiptWrite, 'deltas' | 'optOuts'> = {
    moves: [],
    events: [],
    parts: [],
    references: [],
    early: [],
  }

  constructor(now: Date) {
    this.#now = now
  }

  /** Comes up again after as long as it has waited so far. */
  keep({ lineId, receipt, receivedAt }: ReceiptEntry): void {
    const ageMs = this.#now.getTime() - receivedAt.getTime()
    const waitMs = Math.min(tryAgainMs.max, Math.max(tryAgainMs.min, ageMs))
    this.#write.early.push({
      line_id: lineId,
      provider_id: receipt.providerId ?? receipt.messageId ?? '',
      receipt,
      received_at: receivedAt,
      try_at: new Date(this.#now.getTime() + waitMs),
    })
  }

  apply(message: LockedMessage, told: readonly Told[], parts: readonly PartState[]): void {
    if (message.contactId !== null)
      for (const { receipt } of told)
        if (isAnyOptOut(receipt)) this.#optOut(message.contactId, message.channel, receipt)
    const path = parts.length > 0 ? this.#applyParts(message, told, parts) : this.#applyWhole(message, told)
    if (path.length > 0) this.#move(message, path, told)
  }

  finish(): ReceiptWrite {
    return {
      ...this.#write,
      deltas: this.#deltas.rows(),
      optOuts: [...this.#optOuts].map(([contactId, { channels, isMarketing }]) => ({
        contact_id: contactId,
        channels: [...channels],
        marketing_at: isMarketing ? this.#now : null,
      })),
    }
  }

  #applyWhole(message: LockedMessage, told: readonly Told[]): ReceiptState[] {
    for (const each of told) if (each.named.part === null) this.#name(message, each, 1, 1)
    const states = told.map(({ receipt }) => receipt.state)
    for (const state of newStates(message.state, states)) this.#tell(message, told, state)
    return foldReceipts(message.state, states)
  }

  /** The parts advance each for itself; the message follows the least advanced. */
  #applyParts(message: LockedMessage, told: readonly Told[], known: readonly PartState[]): ReceiptState[] {
    const total = Math.max(...known.map((part) => part.parts))
    const before = new Map(known.map((part) => [part.part, part.state]))
    const placed = this.#place(message, told, before, total)
    const states = Array.from({ length: total }, (_, index): ReceiptState => {
      const part = index + 1
      const ofPart = placed.filter(({ named }) => named.part === part)
      const state = before.get(part) ?? 'sent'
      const toldStates = ofPart.map(({ receipt }) => receipt.state)
      const next = foldPart(state, toldStates)
      if (next !== state) {
        this.#write.parts.push({ message_id: message.id, part, state: next })
        for (const each of newStates(state, toldStates)) this.#tell(message, ofPart, each)
      }
      return next
    })
    return foldReceipts(message.state, [combineParts(states)])
  }

  /** A provider's id that was lost with its answer is that of a part which has none yet. */
  #place(
    message: LockedMessage,
    told: readonly Told[],
    before: ReadonlyMap<number, unknown>,
    total: number,
  ): Told[] {
    const free = Array.from({ length: total }, (_, index) => index + 1).filter((part) => !before.has(part))
    const places = new Map<string | undefined, number>()
    return told.flatMap((each) => {
      if (each.named.part !== null) return [each]
      const { providerId } = each.receipt
      const part = places.get(providerId) ?? free.shift()
      if (part === undefined) return []
      if (!places.has(providerId)) this.#name(message, each, part, total)
      places.set(providerId, part)
      return [{ ...each, named: { ...each.named, part, parts: total } }]
    })
  }

  #name(message: LockedMessage, { lineId, receipt }: Told, part: number, parts: number): void {
    if (receipt.providerId === undefined) return
    this.#write.references.push({
      line_id: lineId,
      provider_id: receipt.providerId,
      message_id: message.id,
      part,
      parts,
      at: this.#now,
    })
  }

  /** One event for each thing that is new, with the provider's own words. */
  #tell(message: LockedMessage, told: readonly Told[], state: ReceiptState): void {
    const { receipt, receivedAt, named } = told.find((each) => each.receipt.state === state)!
    this.#write.events.push({
      message_id: message.id,
      at: receivedAt,
      detail: {
        state,
        at: receipt.at,
        providerId: receipt.providerId,
        error: receipt.error,
        ...(named.parts !== null && named.parts > 1 && { part: named.part, parts: named.parts }),
      },
    })
  }

  #move(message: LockedMessage, path: ReceiptState[], told: readonly Told[]): void {
    const to = path.at(-1)!
    const hasFailed = to === 'failed' || to === 'expired'
    const error = hasFailed ? told.find(({ receipt }) => receipt.state === to)?.receipt.error : undefined
    this.#write.moves.push({
      id: message.id,
      state: to,
      from_state: message.state,
      error_code: error?.code ?? (hasFailed ? to : null),
      error_message: error?.message ?? null,
      settled_at: hasFailed || message.state === 'unknown' || message.settledAt === null ? this.#now : null,
    })
    let from: MessageState = message.state
    for (const state of path) {
      this.changes.push({
        messageId: message.id,
        companyId: message.companyId,
        from,
        to: state,
        at: this.#now,
        isUnheard: message.isUnheard,
        ...(state === to && error && { error }),
      })
      from = state
    }
    this.#count(message, to, told.find(({ receipt }) => receipt.state === to) ?? told[0]!)
  }

  /**
   * `sent`, `delivered` and `read` count everybody who came that far, so one who read it counts in all three. What was
   * counted as failed, expired or unknown before is taken back, in the hour in which it was counted.
   */
  #count(message: LockedMessage, to: ReceiptState, { receivedAt }: Told): void {
    const hour = hourOf(this.#now)
    const { state: from, settledAt } = message
    const isCorrection = from === 'unknown' || from === 'failed' || from === 'expired'
    if (isCorrection && settledAt !== null) this.#deltas.add(message, from, hourOf(new Date(settledAt)), -1)
    if (to === 'failed' || to === 'expired') {
      this.#deltas.add(message, to, hour, 1)
      return
    }
    if (from === 'unknown') this.#deltas.add(message, 'sent', hour, 1)
    if (to === 'sent') return
    if (from !== 'delivered') {
      const ms = receivedAt.getTime() - new Date(message.acceptedAt).getTime()
      this.#deltas.add(message, 'delivered', hour, 1, latencyBucket(ms))
    }
    if (to === 'read') this.#deltas.add(message, 'read', hour, 1)
  }

  #optOut(contactId: string, channel: Channel, receipt: Receipt): void {
    const optOut = this.#optOuts.get(contactId) ?? { channels: new Set<Channel>(), isMarketing: false }
    if (receipt.isOptOut) optOut.channels.add(channel)
    if (receipt.isMarketingOptOut) optOut.isMarketing = true
    this.#optOuts.set(contactId, optOut)
  }
}
