/** What was said with a contact, both ways, newest first. */
import type { Contact } from '../domain/contact.ts'
import type { MessageContent } from '../domain/message.ts'
import { firstIdAt } from '../lib/ids.ts'
import { recipientSpellings } from './contacts-admin.ts'
import type { Queryable } from './db.ts'
import { listMessages, type MessageSummary } from './messages.ts'
import { listInbound, type InboundView } from './timeline.ts'

/** What the log of messages leaves out: it would be too much for a long list. */
export type SentContent = {
  content: MessageContent
  /** The user or token that sent it; null when it is gone. */
  author: string | null
}

export type ConversationItem =
  | { direction: 'out'; id: string; message: MessageSummary & SentContent }
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
  const all = [
    ...sent.messages.map((message) => ({ direction: 'out' as const, id: message.id, message })),
    ...received.map((item) => ({ direction: 'in' as const, id: item.id, received: item })),
  ].toSorted((a, b) => (a.id < b.id ? 1 : -1))
  const shown = all.slice(0, page.limit)
  const contents = await readContents(
    db,
    companyId,
    shown.flatMap((item) => (item.direction === 'out' ? [item.id] : [])),
  )
  const items = shown.flatMap((item): ConversationItem[] => {
    if (item.direction === 'in') return [item]
    const rest = contents.get(item.id)
    return rest ? [{ ...item, message: { ...item.message, ...rest } }] : []
  })
  const hasMore = all.length > page.limit || sent.nextBeforeId !== undefined
  return hasMore && items.length > 0 ? { items, nextBeforeId: items.at(-1)!.id } : { items }
}

async function readContents(
  db: Queryable,
  companyId: string,
  ids: readonly string[],
): Promise<Map<string, SentContent>> {
  if (ids.length === 0) return new Map()
  const rows = await db.query<SentContent & { id: string }>(
    `select m.id, m.content, coalesce(u.name, t.name) as author from message m
      left join app_user u on u.id = m.sender_id and u.company_id = m.company_id
      left join direct_token t on t.id = m.sender_id and t.company_id = m.company_id
      where m.company_id = $1 and m.id = any($2::uuid[])`,
    [companyId, ids],
  )
  return new Map(rows.map(({ id, content, author }) => [id, { content, author }]))
}

export type StoredMedia = { name: string | null; mimeType: string; hash: string }

/** A file that somebody sent to us; undefined while it is not here. */
export async function findReceivedFile(
  db: Queryable,
  companyId: string,
  inboundId: string,
  position: number,
): Promise<StoredMedia | undefined> {
  const [file] = await db.query<Omit<StoredMedia, 'hash'> & { hash: string | null }>(
    `select name, mime_type as "mimeType", encode(hash, 'hex') as hash from inbound_media
      where company_id = $1 and inbound_id = $2 order by position offset $3 limit 1`,
    [companyId, inboundId, position],
  )
  return file?.hash ? { ...file, hash: file.hash } : undefined
}

export async function readContent(
  db: Queryable,
  companyId: string,
  messageId: string,
): Promise<MessageContent | undefined> {
  return (await readContents(db, companyId, [messageId])).get(messageId)?.content
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
