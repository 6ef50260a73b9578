/** What was said with a contact, both ways, newest first. */
import type { Contact } from '../domain/contact.ts'
import { firstIdAt } from '../lib/ids.ts'
import { recipientSpellings } from './contacts-admin.ts'
import type { Queryable } from './db.ts'
import { listMessages, type MessageSummary } from './messages.ts'
import { listInbound, type InboundView } from './timeline.ts'

export type ConversationItem =
  | { direction: 'out'; id: string; message: MessageSummary }
  | { direction: 'in'; id: string; received: InboundView }

/** Ids are times, so both kinds share one order and one cursor. */
export async function listConversation(
  db: Queryable,
  companyId: string,
  contact: Contact,
  page: { beforeId?: string; limit: number },
): Promise<{ items: ConversationItem[]; nextBeforeId?: string }> {
  const recipients = recipientSpellings(contact)
  const [sent, received] = await Promise.all([
    listMessages(db, companyId, { recipients }, page),
    listInbound(db, companyId, contact.id, { ...page, limit: page.limit + 1 }),
  ])
  const all: ConversationItem[] = [
    ...sent.messages.map((message) => ({ direction: 'out' as const, id: message.id, message })),
    ...received.map((item) => ({ direction: 'in' as const, id: item.id, received: item })),
  ].toSorted((a, b) => (a.id < b.id ? 1 : -1))
  const items = all.slice(0, page.limit)
  const hasMore = all.length > page.limit || sent.nextBeforeId !== undefined
  return hasMore && items.length > 0 ? { items, nextBeforeId: items.at(-1)!.id } : { items }
}

/** Received messages of the whole company, newest first; of nobody known, too. */
export type ReceivedRow = {
  id: string
  lineId: string
  contactId: string | null
  sender: string | null
  kind: string
  text: string
  effect: string | null
  at: Date
}

export const listReceived = (
  db: Queryable,
  companyId: string,
  page: { beforeId?: string; limit: number; from?: Date },
): Promise<ReceivedRow[]> =>
  db.query<ReceivedRow>(
    `select id, line_id as "lineId", contact_id as "contactId", sender, kind, text, effect, at from inbound_message
      where company_id = $1 and ($2::uuid is null or id < $2) and id >= $4::uuid order by id desc limit $3`,
    [companyId, page.beforeId, page.limit, firstIdAt(page.from ?? new Date(0))],
  )
