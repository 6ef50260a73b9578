/** What was said with a contact, both ways, with the files. */
import { Type } from 'typebox'
import { filesOf, states, textOf, type FileRef } from '../../domain/message.ts'
import { showId } from '../../lib/ids.ts'
import { getContactRecord } from '../../store/contacts-admin.ts'
import {
  findReceivedFile,
  listConversation,
  readContent,
  type ConversationItem,
} from '../../store/conversations.ts'
import type { Queryable } from '../../store/db.ts'
import { readFile } from '../../store/files.ts'
import { showMessage } from './messages.ts'
import { done, notFound, type Reply } from './replies.ts'
import { read, type Call, type Route } from './route.ts'
import {
  channel,
  cursorId,
  encodeCursor,
  idOf,
  instant,
  limitOf,
  nullable,
  oneOf,
  PageQuery,
  pageOut,
  whole,
} from './wire.ts'
import type { TObject } from 'typebox'

const FileOut = Type.Object({
  name: nullable(Type.String()),
  mimeType: Type.String(),
  size: nullable(Type.Integer()),
  state: oneOf(['stored', 'pending', 'failed', 'elsewhere'], 'Stored ones are at `…/file?position=`.'),
  url: nullable(Type.String({ description: 'Where one lies that is elsewhere.' })),
})

export const ConversationItemOut = Type.Object({
  direction: oneOf(['out', 'in'], 'To the person, or from them.'),
  id: Type.String({ description: 'Of the message (`msg_…`) or the received message (`inb_…`).' }),
  channel: channel(),
  lineId: nullable(idOf('lin', 'The line.')),
  at: instant('When it was accepted, or when the person wrote it.'),
  text: Type.String({ description: 'What the person reads, or wrote.' }),
  subject: nullable(Type.String()),
  isHtml: Type.Boolean({ description: 'The text is HTML of an e-mail.' }),
  files: Type.Array(FileOut),
  state: nullable(oneOf(states, 'Of one to the person: where it stands.')),
  errorMessage: nullable(Type.String()),
  author: nullable(Type.String({ description: 'Of one to the person: the user or token that sent it.' })),
  kind: nullable(Type.String({ description: 'Of one from the person: text, image, location …' })),
  effect: nullable(oneOf(['opted_out', 'opted_in'], 'What it did to the contact.')),
})

const showFile = ({ name, mimeType, source }: FileRef) =>
  source.kind === 'stored'
    ? { name, mimeType, size: source.size, state: 'stored', url: null }
    : { name, mimeType, size: null, state: 'elsewhere', url: source.url }

export function showItem(item: ConversationItem) {
  if (item.direction === 'out') {
    const { content, author, ...message } = item.message
    return {
      ...showMessage(message),
      direction: item.direction,
      at: message.acceptedAt,
      text: textOf(content),
      subject: (content.kind === 'text' && content.subject) || null,
      isHtml: content.kind === 'text' && content.isHtml === true,
      files: filesOf(content).map(showFile),
      author,
      kind: null,
      effect: null,
    }
  }
  const { received } = item
  return {
    direction: item.direction,
    id: showId('inb', received.id),
    channel: received.channel,
    lineId: showId('lin', received.lineId),
    at: received.at,
    text: received.text,
    subject: null,
    isHtml: false,
    files: received.media.map(({ mimeType, name, state, size }) => ({
      mimeType,
      name,
      state,
      size,
      url: null,
    })),
    state: null,
    errorMessage: null,
    author: null,
    kind: received.kind,
    effect: received.effect,
  }
}

const FileQuery = Type.Object({
  position: Type.Optional(whole('Which of the files; the first is 0, and is meant without it.', 0, 1000)),
})

/** Shown in the browser; all else is for saving, whatever it says it is. */
const shownInline = /^(?:image\/(?:png|jpeg|gif|webp)|audio\/(?:ogg|mpeg|mp4|aac)|video\/mp4)$/

async function sendFile(
  { companyId, reply }: Pick<Call<TObject, TObject>, 'companyId' | 'reply'>,
  db: Queryable,
  file: { name: string | null; mimeType: string; hash: string },
): Promise<Reply> {
  const bytes = await readFile(db, companyId, file.hash)
  if (bytes === undefined) return notFound
  const mimeType = file.mimeType.split(';')[0]!.trim().toLowerCase()
  const isInline = shownInline.test(mimeType)
  // Encoded, so that nothing in a name ends the header: RFC 8187.
  const name = encodeURIComponent((file.name ?? 'file').toWellFormed()).replaceAll(/['()*]/g, encodeMore)
  await reply
    .header('content-type', isInline ? mimeType : 'application/octet-stream')
    .header('content-disposition', `${isInline ? 'inline' : 'attachment'}; filename*=UTF-8''${name}`)
    .header('content-security-policy', "default-src 'none'; sandbox")
    .header('x-content-type-options', 'nosniff')
    .header('cache-control', 'private, max-age=300')
    .send(bytes)
  return { kind: 'sent' }
}

const encodeMore = (character: string): string => `%${character.charCodeAt(0).toString(16).toUpperCase()}`

export const conversationRoutes: Route[] = [
  read({
    method: 'GET',
    path: '/contacts/:id/conversation',
    ids: ['con'],
    summary: 'What was said with a contact',
    description: 'Both ways, newest first.',
    query: PageQuery,
    answer: pageOut(ConversationItemOut),
    async handle({ db, companyId, ids: [id = ''], query }) {
      const contact = await getContactRecord(db, companyId, id)
      if (contact === undefined) return notFound
      const page = await listConversation(db, companyId, contact, {
        beforeId: cursorId(query.cursor),
        limit: limitOf(query),
      })
      return done({
        items: page.items.map(showItem),
        nextCursor: page.nextBeforeId ? encodeCursor([page.nextBeforeId]) : null,
      })
    },
  }),
  read({
    method: 'GET',
    path: '/messages/:id/file',
    ids: ['msg'],
    summary: 'A file of a message',
    query: FileQuery,
    async handle(call) {
      const {
        db,
        companyId,
        ids: [id = ''],
        query,
      } = call
      const content = await readContent(db, companyId, id)
      const file = content && filesOf(content)[query.position ?? 0]
      if (file?.source.kind !== 'stored') return notFound
      return await sendFile(call, db, { ...file, hash: file.source.hash })
    },
  }),
  read({
    method: 'GET',
    path: '/received/:id/file',
    ids: ['inb'],
    summary: 'A file that a person sent',
    query: FileQuery,
    async handle(call) {
      const {
        db,
        companyId,
        ids: [id = ''],
        query,
      } = call
      const file = await findReceivedFile(db, companyId, id, query.position ?? 0)
      return file ? await sendFile(call, db, file) : notFound
    },
  }),
]
