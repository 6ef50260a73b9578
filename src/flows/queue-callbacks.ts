/** Puts events into the queue of callbacks, inside the transaction that makes them happen. */
import type { MessageState } from '../domain/message.ts'
import { queueChanges, queueReceivedMessages, type CallbackEvent } from '../store/callbacks.ts'
import type { OnReceived } from './receive-inbound.ts'
import type { OnChanged } from './state-change.ts'

/**
 * What a move tells. Whoever read a message also got it, and what was delivered had been sent: steps that no receipt
 * told are told along, so that receivers see them all, and in order. One that was told before is not told again.
 */
export function eventsOf(from: MessageState, to: MessageState): CallbackEvent[] {
  switch (to) {
    case 'read':
      if (from === 'delivered') return ['read']
      return from === 'sent' ? ['delivered', 'read'] : ['sent', 'delivered', 'read']
    case 'delivered':
      return from === 'sent' ? ['delivered'] : ['sent', 'delivered']
    case 'sent':
    case 'failed':
    case 'expired':
    case 'blocked':
    case 'unknown':
      return [to]
    case 'queued':
    case 'sending':
    case 'not_sent':
      return []
  }
}

export const queueCallbacks: OnChanged = async (connection, changes) => {
  const events = changes.flatMap(({ messageId, from, to, at, error, isUnheard = false }) =>
    (isUnheard ? [] : eventsOf(from, to)).map((state) => ({
      message_id: messageId,
      state,
      at,
      error_code: (state === to && error?.code) || null,
      error_message: (state === to && error?.message) || null,
    })),
  )
  if (events.length === 0) return
  await queueChanges(
    connection,
    events.map((event, position) => ({ ...event, position })),
  )
}

export const queueReceived: OnReceived = async (connection, messages) => {
  await queueReceivedMessages(
    connection,
    messages.map((message) => message.id),
    messages[0]!.received_at,
  )
}
