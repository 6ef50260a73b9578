/**
 * What receipts make of a message. They come late, twice and in any order; whatever the order, the end is the same,
 * because each state has a rank and only a higher one changes anything. (`failed` and `expired` are of one rank:
 * of these two the first to come stays, as in the table of moves.)
 */
import { canMove, type MessageState } from './message.ts'

export type ReceiptState = 'sent' | 'delivered' | 'read' | 'failed' | 'expired'

const ranks: Record<ReceiptState, number> = { sent: 0, failed: 1, expired: 1, delivered: 2, read: 3 }

const isFailure = (state: ReceiptState): boolean => state === 'failed' || state === 'expired'

/** Those that tell something new about a message in this state, lowest first, each once. */
export function newStates(from: MessageState, told: Iterable<ReceiptState>): ReceiptState[] {
  const states = [...new Set(told)].filter((state) => canMove(from, state))
  return states.toSorted((a, b) => ranks[a] - ranks[b])
}

/**
 * The states a message goes through, the last of them its new one; empty when nothing changes. A failure that is
 * told together with a delivery is passed over: the delivery knows better.
 */
export function foldReceipts(from: MessageState, told: Iterable<ReceiptState>): ReceiptState[] {
  const states = newStates(from, told)
  const firstFailure = states.find(isFailure)
  const isDelivered = states.some((state) => state === 'delivered' || state === 'read')
  return states.filter((state) => !isFailure(state) || (!isDelivered && state === firstFailure))
}

/** A part of which nothing was told yet has been sent, like the message as a whole. */
export const foldPart = (from: ReceiptState | null, told: Iterable<ReceiptState>): ReceiptState =>
  foldReceipts(from ?? 'sent', told).at(-1) ?? from ?? 'sent'

/** Of several parts the least advanced counts; one that failed makes the whole fail. */
export function combineParts(parts: readonly ReceiptState[]): ReceiptState {
  if (parts.includes('failed')) return 'failed'
  if (parts.includes('expired')) return 'expired'
  return parts.reduce((least, part) => (ranks[part] < ranks[least] ? part : least), 'read' as ReceiptState)
}
