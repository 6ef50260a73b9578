/** The sandbox inside the console: phone, mailbox, caught callbacks and chaos, for whoever looks after the demo company. */
import { Type } from 'typebox'
import { channels } from '../../domain/channel.ts'
import { showId } from '../../lib/ids.ts'
import { changed, done } from './replies.ts'
import { act, read, type Route } from './route.ts'
import { askSandbox, passOn } from './sandbox-door.ts'
import { channel, flag, idOf, listOf, oneOf, optionalText, text, whole } from './wire.ts'

/** The rest of what there is about a message stands in src/sandbox/types.ts and docs/sandbox.md. */
const MessageOut = Type.Object({
  id: idOf('sbx', 'The message.'),
  sequence: Type.Integer({ description: 'Grows with every message.' }),
  channel: channel(),
  direction: oneOf(['toPerson', 'fromPerson'], 'Who wrote it.'),
})

const acts = ['read', 'reply', 'button', 'reaction', 'bounce', 'unsubscribe'] as const
const maxSequence = Number.MAX_SAFE_INTEGER

const queryOf = (given: Record<string, string | number | undefined>): string => {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(given)) if (value !== undefined) query.set(name, String(value))
  return query.size > 0 ? `?${query.toString()}` : ''
}

const messageRoutes: Route[] = [
  read({
    method: 'GET',
    path: '/sandbox',
    summary: 'Whether a sandbox runs here, and its doors',
    description: 'It runs beside the demo company, and only people of that company see it.',
    answer: Type.Object({
      isRunning: Type.Boolean(),
      url: Type.Optional(Type.String({ description: 'Its own page and API, on its own machine only.' })),
      catcherUrl: Type.Optional(Type.String({ description: 'Callbacks sent here, or below, are caught.' })),
      status: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    }),
    async handle(call) {
      const status = await askSandbox(call, 'GET', '/api/status')
      if (!status.ok) return done({ isRunning: false })
      const url = await call.deps.findSandbox(call.companyId)
      return done({ isRunning: true, url, catcherUrl: `${url}/catch`, status: status.value })
    },
  }),
  read({
    method: 'GET',
    path: '/sandbox/messages',
    summary: 'What the phone and the mailbox hold',
    description: 'Newest first.',
    query: Type.Object({
      channel: Type.Optional(channel('Only of this channel.')),
      person: optionalText('Only with this person: a number or an e-mail address.'),
      search: optionalText('In addresses, subject and text.'),
      before: Type.Optional(whole('`nextBefore` of the page before.', 0, maxSequence)),
      limit: Type.Optional(whole('At most so many.', 1, 1000)),
    }),
    answer: Type.Object({
      messages: Type.Array(MessageOut),
      total: Type.Integer(),
      nextBefore: Type.Optional(Type.Integer()),
    }),
    async handle(call) {
      const found = await askSandbox(call, 'GET', `/api/messages${queryOf(call.query)}`)
      return found.ok ? done(found.value) : found.refused
    },
  }),
  read({
    method: 'GET',
    path: '/sandbox/messages/:id',
    ids: ['sbx'],
    summary: 'Read a message of the sandbox',
    description: 'An e-mail comes with its headers and its plain text.',
    answer: MessageOut,
    async handle({ ids: [id = ''], ...call }) {
      const found = await askSandbox(call, 'GET', `/api/messages/${showId('sbx', id)}`)
      return found.ok ? done(found.value) : found.refused
    },
  }),
  read({
    method: 'GET',
    path: '/sandbox/messages/:id/file',
    ids: ['sbx'],
    summary: 'A file of a message of the sandbox',
    description:
      'Its source, the HTML of an e-mail for a frame without scripts, an attachment, or the media of a message or card.',
    query: Type.Object({
      part: oneOf(['raw', 'html', 'attachment', 'media'], 'Which one.'),
      index: Type.Optional(whole('Of the attachment or card, from 0.', 0, 1000)),
    }),
    async handle({ ids: [id = ''], query: { part, index }, reply, ...call }) {
      const shown = showId('sbx', id)
      const place = index === undefined ? '' : `/${index}`
      switch (part) {
        case 'raw':
          return await passOn(call, `/api/messages/${shown}/raw`, reply)
        case 'html':
          return await passOn(call, `/mail/${shown}`, reply)
        case 'attachment':
          return await passOn(call, `/api/messages/${shown}/attachments/${index ?? 0}`, reply)
        case 'media':
          return await passOn(call, `/api/messages/${shown}/media${place}`, reply)
      }
    },
  }),
  act({
    method: 'POST',
    path: '/sandbox/messages/:id/act',
    ids: ['sbx'],
    noun: 'sandbox',
    action: 'act',
    summary: 'Do with a message what the person would',
    body: Type.Object({
      act: oneOf(acts, 'What the person does.'),
      text: optionalText('Of a reply.', 10_000),
      isQuoting: flag('A reply that quotes the message.'),
      index: Type.Optional(whole('Of the button, from 0.', 0, 100)),
      card: Type.Optional(whole('Of a carousel, from 0.', 0, 100)),
      emoji: optionalText('Of a reaction.', 20),
    }),
    answer: Type.Object({
      note: Type.Optional(Type.String()),
      url: Type.Optional(Type.String({ description: 'What a button would have opened.' })),
      code: Type.Optional(Type.String({ description: 'What a button would have copied.' })),
    }),
    async handle({ ids: [id = ''], body: { act: name, ...body }, ...call }) {
      const shown = showId('sbx', id)
      const acted = await askSandbox(call, 'POST', `/api/messages/${shown}/${name}`, body)
      if (!acted.ok) return acted.refused
      const { note, url, code } = acted.value
      return changed({ note, url, code }, { nounId: shown, detail: { act: name } })
    },
  }),
  act({
    method: 'POST',
    path: '/sandbox/answers',
    noun: 'sandbox',
    action: 'write',
    summary: 'Write as a person',
    description: 'On WhatsApp this opens the window of 24 hours.',
    body: Type.Object({
      channel: oneOf(['sms', 'whatsapp'], 'SMS or WhatsApp.'),
      from: text("The person's number.", 20),
      to: text('The number that is written to.', 20),
      text: text('What they write.', 10_000),
    }),
    answer: Type.Object({ message: Type.Optional(MessageOut) }),
    async handle({ body, ...call }) {
      const written = await askSandbox(call, 'POST', '/api/answers', body)
      return written.ok
        ? changed({ message: written.value['message'] }, { detail: { channel: body.channel } })
        : written.refused
    },
  }),
  act({
    method: 'DELETE',
    path: '/sandbox/messages',
    noun: 'sandbox',
    action: 'clear_messages',
    summary: 'Empty the phone and the mailbox',
    answer: Type.Object({ deleted: Type.Integer() }),
    async handle(call) {
      const cleared = await askSandbox(call, 'DELETE', '/api/messages')
      return cleared.ok ? changed(cleared.value, { detail: cleared.value }) : cleared.refused
    },
  }),
  read({
    method: 'GET',
    path: '/sandbox/events',
    summary: 'Live events of the sandbox',
    description: 'Server-sent events: `message`, `status`, `deleted`, `callback` and `refresh` (load anew).',
    handle: ({ reply, ...call }) => passOn(call, '/api/events', reply, { isEndless: true }),
  }),
]

const dials = (of: string) => Type.Optional(Type.Object({}, { description: `Of ${of}; missing ones stay.` }))

const ChaosOut = Type.Object({
  seed: Type.Integer(),
  ...Object.fromEntries(channels.map((name) => [name, Type.Record(Type.String(), Type.Unknown())])),
})

const chaosRoutes: Route[] = [
  read({
    method: 'GET',
    path: '/sandbox/chaos',
    summary: 'How the dials of the sandbox stand',
    answer: ChaosOut,
    async handle(call) {
      const found = await askSandbox(call, 'GET', '/api/chaos')
      return found.ok ? done(found.value) : found.refused
    },
  }),
  act({
    method: 'PUT',
    path: '/sandbox/chaos',
    noun: 'sandbox',
    action: 'set_chaos',
    summary: 'Turn dials of the sandbox',
    description: 'The dials are explained in docs/sandbox.md.',
    body: Type.Object({
      seed: Type.Optional(whole('The same seed gives the same trouble again.', 0, maxSequence)),
      email: dials('e-mail'),
      sms: dials('SMS'),
      whatsapp: dials('WhatsApp'),
    }),
    answer: ChaosOut,
    async handle({ json, ...call }) {
      // The dials as they came: the sandbox has their schema.
      const body = Object.fromEntries(
        ['seed', ...channels].flatMap((key) => (key in json ? [[key, json[key]]] : [])),
      )
      const turned = await askSandbox(call, 'PUT', '/api/chaos', body)
      return turned.ok ? changed(turned.value, { detail: { dials: Object.keys(body) } }) : turned.refused
    },
  }),
  act({
    method: 'DELETE',
    path: '/sandbox/chaos',
    noun: 'sandbox',
    action: 'calm',
    summary: 'Calm everything',
    answer: ChaosOut,
    async handle(call) {
      const calmed = await askSandbox(call, 'DELETE', '/api/chaos')
      return calmed.ok ? changed(calmed.value, {}) : calmed.refused
    },
  }),
]

const CaughtOut = Type.Object({
  sequence: Type.Integer(),
  name: Type.String({ description: 'What followed `/catch/`.' }),
  receivedAt: Type.String(),
  method: Type.String(),
  headers: Type.Record(Type.String(), Type.String()),
  body: Type.String(),
  verdict: oneOf(['valid', 'invalid', 'unsigned', 'stale'], 'On the signature.'),
  webhookId: Type.Optional(Type.String()),
  answered: Type.Integer({ description: 'The status it was answered with.' }),
})

const catcherRoutes: Route[] = [
  read({
    method: 'GET',
    path: '/sandbox/callbacks',
    summary: 'Callbacks that the sandbox has caught',
    description: 'Newest first, at most 200.',
    answer: Type.Object({ callbacks: listOf(CaughtOut, 'What was caught.') }),
    async handle(call) {
      const found = await askSandbox(call, 'GET', '/api/callbacks')
      if (!found.ok) return found.refused
      return done({ callbacks: (found.value['callbacks'] as unknown[]).slice(0, 200) })
    },
  }),
  act({
    method: 'PUT',
    path: '/sandbox/callbacks',
    noun: 'sandbox',
    action: 'set_catcher',
    summary: 'What the catcher answers',
    body: Type.Object({
      name: Type.Optional(
        Type.String({
          description: 'Only to callbacks sent to `/catch/` and this name.',
          pattern: '^[A-Za-z0-9_-]*$',
          'x-says': 'must be letters, digits, - and _',
          maxLength: 100,
        }),
      ),
      status: whole('An HTTP status.', 200, 599),
    }),
    answer: Type.Object({ name: Type.String(), status: Type.Integer() }),
    async handle({ body: { name = '', status }, ...call }) {
      const set = await askSandbox(call, 'PUT', `/api/callbacks/${encodeURIComponent(name)}`, { status })
      return set.ok ? changed({ name, status }, { detail: { name, status } }) : set.refused
    },
  }),
  act({
    method: 'DELETE',
    path: '/sandbox/callbacks',
    noun: 'sandbox',
    action: 'clear_callbacks',
    summary: 'Forget the callbacks that were caught',
    async handle(call) {
      const cleared = await askSandbox(call, 'DELETE', '/api/callbacks')
      return cleared.ok ? changed(undefined, {}) : cleared.refused
    },
  }),
]

export const sandboxRoutes: Route[] = [...messageRoutes, ...chaosRoutes, ...catcherRoutes]
