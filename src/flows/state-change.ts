/** Changes of a message's state, told inside the transaction that makes them: what must not be lost is written there. */
import type { MessageState } from '../domain/message.ts'
import type { Queryable } from '../store/db.ts'

export type StateChange = {
  messageId: string
  companyId: string
  from: MessageState
  to: MessageState
  /** When we learnt of it. */
  at: Date
  error?: { code: string; message: string }
  /** Nobody asked to be told: neither the call that sent it nor, by a webhook, any company. */
  isUnheard?: boolean
}

/** In the order in which they happened: `delivered` before `read`, also when both came at once. */
export type OnChanged = (connection: Queryable, changes: readonly StateChange[]) => Promise<void>
