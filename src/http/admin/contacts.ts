/** Contacts: search, data, windows, opt-outs, replies, export and erasing of one person. */
import { Type } from 'typebox'
import { showId } from '../../lib/ids.ts'
import { getOpenAttendance } from '../../store/attendances.ts'
import { listAttendances, touchAttendance } from '../../store/attendances-admin.ts'
import {
  changeContact,
  eraseContact,
  getContactRecord,
  listWindows,
  readContactSearch,
  searchContacts,
  type ContactRecord,
} from '../../store/contacts-admin.ts'
import {
  clearEmailBounced,
  createContact,
  findContactByEmail,
  findContactByPhone,
  setMarketingOptedOut,
} from '../../store/contacts.ts'
import { listConversation } from '../../store/conversations.ts'
import { getLine } from '../../store/lines.ts'
import { readVersion } from '../../store/versions.ts'
import { phoneKey } from '../../domain/address.ts'
import { ConversationItemOut, showItem } from './conversations.ts'
import { changed, conflict, done, invalid, notFound, unlessSaved } from './replies.ts'
import { act, change, read, type Route } from './route.ts'
import { readRecipient, refusalOf, requestOf } from './sending.ts'
import { given } from './users.ts'
import {
  channel,
  checkVersion,
  clearableText,
  decodeCursor,
  flag,
  idOf,
  instant,
  isUuid,
  limitOf,
  listOf,
  maybeUuid,
  nullable,
  optionalText,
  pageOfRows,
  pageOut,
  pageQuery,
  shown,
  uuidOf,
} from './wire.ts'

const jokers = Type.Optional(
  Type.Array(Type.String({ maxLength: 300 }), {
    description: 'Five free texts; the fifth may have 3000 characters.',
    maxItems: 5,
    'x-null-items': true,
    'x-last-item-max-length': 3000,
  }),
)

const ContactOut = Type.Object({
  id: idOf('con', 'The contact.'),
  phone: nullable(Type.String()),
  email: nullable(Type.String()),
  name: nullable(Type.String()),
  taxId: nullable(Type.String()),
  customCode: nullable(Type.String()),
  tag: nullable(Type.String()),
  jokers: Type.Array(nullable(Type.String())),
  segmentId: nullable(Type.String()),
  optedOutChannels: Type.Array(Type.String()),
  marketingOptedOutAt: nullable(instant('The person wants no marketing on WhatsApp.')),
  emailBouncedAt: nullable(instant('A mail server said that there is no such mailbox.')),
  lastInteractionAt: nullable(instant('The last message either way.')),
  createdAt: instant('Since when we know them.'),
})

const ContactPageOut = Type.Object({
  ...ContactOut.properties,
  windows: Type.Array(
    Type.Object({
      lineId: idOf('lin', 'A WhatsApp line that the person wrote to.'),
      receivedAt: instant('When they wrote last.'),
      closesAt: instant('Until when free text may be sent.'),
      isOpen: Type.Boolean(),
    }),
  ),
  attendance: nullable(
    Type.Object({
      id: idOf('att', 'The open attendance.'),
      userId: idOf('usr', 'Who attends.'),
      openedAt: instant('Since when.'),
      activeAt: instant('The last activity.'),
    }),
  ),
})

const show = (contact: ContactRecord) => ({
  id: showId('con', contact.id),
  phone: contact.phone,
  email: contact.email,
  name: contact.name,
  taxId: contact.taxId,
  customCode: contact.customCode,
  tag: contact.tag,
  jokers: contact.jokers,
  segmentId: shown('seg', contact.segmentId),
  optedOutChannels: contact.optedOutChannels,
  marketingOptedOutAt: contact.marketingOptedOutAt,
  emailBouncedAt: contact.emailBouncedAt,
  lastInteractionAt: contact.lastInteractionAt,
  createdAt: contact.createdAt,
})

const windowMs = 24 * 3_600_000

const data = {
  phone: optionalText('Digits with country code.', 30),
  email: optionalText('E-mail address.'),
  name: optionalText('Name.'),
  taxId: optionalText('Tax identifier.'),
  customCode: optionalText('A code of your own.'),
  tag: optionalText('A tag.', 1000),
  jokers,
  segmentId: Type.Optional(idOf('seg', 'The segment.')),
}

const readRoutes: Route[] = [
  read({
    method: 'GET',
    path: '/contacts',
    summary: 'Search contacts',
    description:
      'By the beginning of a phone number, an e-mail address or a name; without `q` the newest first.',
    query: Type.Object({
      ...pageQuery,
      q: optionalText('Beginning of a number, an address or a name.'),
      segmentId: Type.Optional(idOf('seg', 'Only of this segment.')),
    }),
    answer: pageOut(ContactOut),
    async handle({ db, companyId, query }) {
      const limit = limitOf(query)
      const cursor = decodeCursor(query.cursor, 2)
      const rows = await searchContacts(db, companyId, readContactSearch(query.q ?? ''), {
        after: cursor && isUuid(cursor[1]!) ? { sort: cursor[0]!, id: cursor[1]! } : undefined,
        limit: limit + 1,
        segmentId: maybeUuid('seg', query.segmentId),
      })
      return done(pageOfRows(rows, limit, (last) => [last.sort, last.id], show))
    },
  }),
  read({
    method: 'GET',
    path: '/contacts/:id',
    ids: ['con'],
    summary: 'Read a contact with windows and attendance',
    answer: ContactPageOut,
    async handle({ db, companyId, ids: [id = ''], now }) {
      const contact = await getContactRecord(db, companyId, id)
      if (contact === undefined) return notFound
      const [windows, attendance, version] = await Promise.all([
        listWindows(db, companyId, id),
        getOpenAttendance(db, companyId, id, now),
        readVersion(db, 'contact', companyId, id),
      ])
      return done(
        {
          ...show(contact),
          windows: windows.map(({ lineId, receivedAt }) => ({
            lineId: showId('lin', lineId),
            receivedAt,
            closesAt: new Date(receivedAt.getTime() + windowMs),
            isOpen: receivedAt.getTime() + windowMs > now.getTime(),
          })),
          attendance: attendance
            ? {
                id: showId('att', attendance.id),
                userId: showId('usr', attendance.userId),
                openedAt: attendance.openedAt,
                activeAt: attendance.activeAt,
              }
            : null,
        },
        version,
      )
    },
  }),
]

const changeRoutes: Route[] = [
  change({
    method: 'POST',
    path: '/contacts',
    noun: 'contact',
    action: 'create',
    summary: 'Create a contact',
    body: Type.Object(data),
    answer: ContactOut,
    status: 201,
    async handle({ db, companyId, body }) {
      const phone = body.phone?.replace(/[\s().+-]/g, '')
      const known =
        (phone && (await findContactByPhone(db, companyId, phoneKey(phone)))) ||
        (body.email && (await findContactByEmail(db, companyId, body.email.trim().toLowerCase())))
      if (known) return conflict('there is a contact with this address', phone ? 'phone' : 'email')
      const { segmentId, ...rest } = body
      const result = await createContact(db, companyId, { ...rest, phone })
      if (!result.ok) return unlessSaved(result)!
      const { id } = result.value
      if (segmentId !== undefined) {
        const moved = await changeContact(db, companyId, id, { segmentId: uuidOf('seg', segmentId) })
        if (!moved?.ok) return unlessSaved(moved)!
      }
      return changed(
        show((await getContactRecord(db, companyId, id))!),
        { nounId: showId('con', id) },
        { version: await readVersion(db, 'contact', companyId, id) },
      )
    },
  }),
  change({
    method: 'PATCH',
    path: '/contacts/:id',
    ids: ['con'],
    noun: 'contact',
    action: 'change',
    summary: 'Change a contact',
    body: Type.Object({
      phone: clearableText('Digits with country code.', 30),
      email: clearableText('E-mail address.'),
      name: clearableText('Name.'),
      taxId: clearableText('Tax identifier.'),
      customCode: clearableText('A code of your own.'),
      tag: clearableText('A tag.', 1000),
      jokers,
      segmentId: Type.Optional(
        Type.String({
          description: 'The segment. Empty: none.',
          'x-empty-is-value': true,
          pattern: '^(seg_[0-9a-f]{32})?$',
          'x-says': 'must be an id like seg_0198…',
        }),
      ),
      optedOutChannels: Type.Optional(listOf(channel(), 'Channels that the person wants nothing on.', 3)),
      isMarketingOptedOut: flag('The person wants no marketing on WhatsApp.'),
    }),
    answer: ContactOut,
    async handle(call) {
      const {
        db,
        companyId,
        ids: [id = ''],
        body,
        now,
      } = call
      const stale = await checkVersion(call, 'contact', id)
      if (stale) return stale
      const { isMarketingOptedOut, ...data } = body
      const result = await changeContact(db, companyId, id, {
        ...data,
        segmentId: body.segmentId ? uuidOf('seg', body.segmentId) : body.segmentId,
      })
      if (!result?.ok) return unlessSaved(result)!
      if (isMarketingOptedOut !== undefined)
        await setMarketingOptedOut(db, companyId, id, isMarketingOptedOut ? now : null)
      return changed(
        show((await getContactRecord(db, companyId, id))!),
        // Which fields, not what is in them: the log outlives the person's data.
        { nounId: showId('con', id), detail: { fields: Object.keys(given(body)) } },
        { version: await readVersion(db, 'contact', companyId, id) },
      )
    },
  }),
  change({
    method: 'POST',
    path: '/contacts/:id/clear-bounce',
    ids: ['con'],
    noun: 'contact',
    action: 'clear_bounce',
    summary: 'Say that the mailbox of a contact exists after all',
    async handle({ db, companyId, ids: [id = ''] }) {
      return (await clearEmailBounced(db, companyId, id))
        ? changed(undefined, { nounId: showId('con', id) })
        : notFound
    },
  }),
  change({
    method: 'POST',
    path: '/contacts/:id/export',
    ids: ['con'],
    noun: 'contact',
    action: 'export',
    summary: 'Everything that is stored about a person',
    description: 'At most 10,000 messages each way. It is in the audit log; that is why it is no GET.',
    answer: Type.Object({ contact: ContactOut, conversation: Type.Array(ConversationItemOut) }),
    async handle({ deps, db, companyId, ids: [id = ''], now }) {
      const contact = await getContactRecord(db, companyId, id)
      if (contact === undefined) return notFound
      const conversation: unknown[] = []
      for (let beforeId: string | undefined; conversation.length < 20_000;) {
        // Pages of their own, outside of the transaction.
        const page = await listConversation(deps.db, companyId, contact, { beforeId, limit: 500 })
        conversation.push(...page.items.map(showItem))
        if (page.nextBeforeId === undefined) break
        beforeId = page.nextBeforeId
      }
      const attendances = [
        ...(await listAttendances(db, companyId, { isOpen: true, contactId: id, limit: 1000, now })),
        ...(await listAttendances(db, companyId, { isOpen: false, contactId: id, limit: 1000, now })),
      ]
      return changed(
        {
          exportedAt: now,
          contact: show(contact),
          windows: (await listWindows(db, companyId, id)).map((window) => ({
            ...window,
            lineId: showId('lin', window.lineId),
          })),
          attendances: attendances.map(({ openedAt, closedAt, userName }) => ({
            openedAt,
            closedAt,
            userName,
          })),
          conversation,
        },
        { nounId: showId('con', id) },
      )
    },
  }),
  change({
    method: 'DELETE',
    path: '/contacts/:id',
    ids: ['con'],
    noun: 'contact',
    action: 'erase',
    summary: 'Erase a person',
    description:
      'The contact, what they wrote, and recipient and content of every message to them. What waits to leave does not leave. Entries on restriction lists stay, so that nobody writes to them again.',
    answer: Type.Object({ messages: Type.Integer({ description: 'How many messages were emptied.' }) }),
    async handle({ db, companyId, ids: [id = ''], now }) {
      const erased = await eraseContact(db, companyId, id, now)
      return erased ? changed(erased, { nounId: showId('con', id), detail: erased }) : notFound
    },
  }),
  act({
    method: 'POST',
    path: '/contacts/:id/messages',
    ids: ['con'],
    noun: 'contact',
    action: 'send',
    summary: 'Write to a contact',
    description:
      'As the attendant who is signed in, over the road of the APIs: window, rules and opt-outs hold. Free text on WhatsApp needs an open window.',
    body: Type.Object({
      channel: channel(),
      text: optionalText('Free text.', 65_536),
      subject: optionalText('Of an e-mail.', 998),
      templateCode: optionalText('A template instead of text.'),
      variables: Type.Optional(Type.Record(Type.String(), Type.String({ maxLength: 4096 }))),
      lineId: Type.Optional(idOf('lin', 'The line; without it one with an open window, else the default.')),
    }),
    answer: Type.Object({ messageId: Type.String() }),
    status: 202,
    async handle({ deps, db, companyId, ids: [id = ''], body, caller, request, now }) {
      const contact = await getContactRecord(db, companyId, id)
      if (contact === undefined) return notFound
      const address = body.channel === 'email' ? contact.email : contact.phone
      if (address === null)
        return invalid({ field: 'channel', message: 'is one the contact has no address for' })
      const reading = readRecipient(body.channel, address)
      if (!reading.ok) return invalid({ field: 'channel', message: reading.reason })
      const lineId = maybeUuid('lin', body.lineId)
      if (lineId !== undefined && (await getLine(db, companyId, lineId))?.channel !== body.channel)
        return invalid({ field: 'lineId', message: 'is no line of this channel' })
      if (body.text === undefined && body.templateCode === undefined)
        return invalid({ field: 'text', message: 'or templateCode must be given' })
      const isAttendant = caller.kind === 'user' && caller.role !== 'viewer'
      const outcome = await deps.accept({
        sender: {
          kind: 'console_user',
          id: caller.kind === 'user' ? caller.userId : caller.keyId,
          companyId,
        },
        requestId: request.id,
        isDryRun: false,
        request: requestOf({
          channel: body.channel,
          recipient: reading.recipient,
          subject: body.subject,
          line: lineId === undefined ? { kind: 'default', mayFailOver: true } : { kind: 'line', id: lineId },
          attendantName: isAttendant ? caller.name : undefined,
          what:
            body.templateCode === undefined
              ? { kind: 'text', text: body.text ?? '', files: [] }
              : {
                  kind: 'template',
                  by: 'code',
                  name: body.templateCode,
                  variables: Object.entries(body.variables ?? {}).map(([name, value]) => ({ name, value })),
                  files: [],
                },
        }),
      })
      const refused = refusalOf(outcome, (at) =>
        at === 'template'
          ? 'templateCode'
          : at === 'line'
            ? 'lineId'
            : at === 'text' || at === 'subject' || at.startsWith('variables')
              ? at
              : 'body',
      )
      if (refused) return refused
      await touchAttendance(db, companyId, id, now)
      const messageId = showId('msg', outcome.kind === 'accepted' ? outcome.messageId! : '')
      return changed(
        { messageId },
        { nounId: showId('con', id), detail: { messageId, channel: body.channel } },
      )
    },
  }),
]

export const contactRoutes: Route[] = [...readRoutes, ...changeRoutes]
