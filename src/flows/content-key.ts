/**
 * What makes two messages the same for a duplicate rule: channel, recipient, template and rendered content. Keys of
 * objects are sorted, because a content that comes back from the database has them in another order.
 */
import { createHash } from 'node:crypto'
import type { Channel } from '../domain/channel.ts'
import type { MessageContent } from '../domain/message.ts'

export const contentKey = (
  channel: Channel,
  recipientKey: string,
  templateId: string | null,
  content: MessageContent,
): string =>
  createHash('sha256')
    .update(JSON.stringify([channel, recipientKey, templateId, content], sortKeys))
    .digest('base64url')

const sortKeys = (_name: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
    : value
