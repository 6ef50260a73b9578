/** Messages as the accept path and delivery leave them, for tests of what comes after. */
import type { MessageContent } from '../../src/domain/message.ts'
import type { Channel } from '../../src/domain/channel.ts'
import { newId } from '../../src/lib/ids.ts'
import type { Queryable } from '../../src/store/db.ts'
import { makeContact, randomMobile, type TestCompany } from './factories.ts'

export type StoredMessage = { id: string; contactId: string; lineId: string; recipient: string }

export type MessageWish = {
  channel?: Channel
  state?: string
  /** One per part; null for a part whose id is not known. */
  providerIds?: (string | null)[]
  contactId?: string
  recipient?: string
  content?: MessageContent
  acceptedAt?: Date
  templateId?: string
  segmentId?: string
  /** Given: it is in the outbox. */
  outbox?: { dueAt?: Date; isDeferred?: boolean; epoch?: number; expiresAt?: Date }
  /** Given: it waits for a receipt until then. */
  resolveAt?: Date
  expiresAt?: Date
}

/** A message of this company in the given state; `sent` with one part unless told otherwise. */
export async function storeMessage(
  db: Queryable,
  company: TestCompany,
  wish: MessageWish = {},
): Promise<StoredMessage> {
  const { channel = 'sms', state = 'sent', providerIds = [], outbox } = wish
  const id = newId()
  const recipient = wish.recipient ?? randomMobile()
  const contactId = wish.contactId ?? (await makeContact(db, company.id, { phone: recipient })).id
  const lineId = company.lines[channel][0]!.id
  const acceptedAt = wish.acceptedAt ?? new Date()
  const expiresAt = wish.expiresAt ?? outbox?.expiresAt ?? new Date(acceptedAt.getTime() + 86_400_000)
  const isSettled = state !== 'queued'
  await db.query(
    `insert into message (id, company_id, api, channel, state, contact_id, recipient, line_id, template_id, segment_id, request_id,
        content, priority, accepted_at, expires_at, settled_at)
      values ($1, $2, 'unified', $3, $4, $5, $6, $7, $8, $9, 'req_test', $10, 1, $11, $12, $13)`,
    [
      id,
      company.id,
      channel,
      state,
      contactId,
      recipient,
      lineId,
      wish.templateId,
      wish.segmentId,
      JSON.stringify(wish.content ?? { kind: 'text', text: 'Hello', files: [] }),
      acceptedAt,
      expiresAt,
      isSettled ? acceptedAt : null,
    ],
  )
  for (const [index, providerId] of providerIds.entries())
    if (providerId !== null)
      await db.query(
        `insert into provider_reference (line_id, provider_id, message_id, part, parts, created_at)
          values ($1, $2, $3, $4, $5, $6)`,
        [lineId, providerId, id, index + 1, providerIds.length, acceptedAt],
      )
  if (outbox)
    await db.query(
      `insert into outbox (message_id, company_id, line_id, contact_id, priority, due_at, expires_at, is_deferred, handed_over_epoch)
        values ($1, $2, $3, $4, 1, $5, $6, $7, $8)`,
      [
        id,
        company.id,
        lineId,
        contactId,
        outbox.dueAt ?? acceptedAt,
        expiresAt,
        outbox.isDeferred ?? false,
        outbox.epoch,
      ],
    )
  if (wish.resolveAt)
    await db.query(
      `insert into unknown_message (message_id, company_id, line_id, contact_id, priority, expires_at, is_pinned, attempts, resolve_at)
        values ($1, $2, $3, $4, 1, $5, true, 2, $6)`,
      [id, company.id, lineId, contactId, expiresAt, wish.resolveAt],
    )
  return { id, contactId, lineId, recipient }
}

export async function stateOf(db: Queryable, id: string): Promise<string | undefined> {
  return (await db.query<{ state: string }>('select state from message where id = $1', [id]))[0]?.state
}
