/** /api/messages, /api/answers and /mail: what integrators' test suites and the page use. */
import type { ApiContext } from './api-context.ts'
import { attachmentBytes, attachmentName, htmlForFrame, parseEmail } from './email-source.ts'
import { asObject, asText, isObject } from './graph/wire.ts'
import type { JsonObject } from './graph/wire.ts'
import { parseJson, readBody, sendJson } from './http.ts'
import type { Exchange } from './http.ts'
import type { MessageFilter } from './inbox.ts'
import type { Act } from './person.ts'
import { channels } from './types.ts'
import type { SandboxMessage } from './types.ts'

const maxBodyBytes = 1024 * 1024
const maxWaitMs = 60_000
const maxPage = 1_000

/** Pictures, sound and film that a browser may show from here; all else is for saving. */
const shownInline = /^(image\/(png|jpeg|webp|gif)|audio\/(ogg|mpeg|mp4|aac)|video\/mp4)$/

const framePolicy =
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; frame-ancestors 'self'; " +
  'sandbox allow-popups allow-popups-to-escape-sandbox'

const bad = ({ response }: Exchange, field: string, message: string) =>
  sendJson(response, 400, { error: { field, message } })
const missing = ({ response }: Exchange) =>
  sendJson(response, 404, { error: { message: 'There is no such message.' } })

function readNumber(url: URL, name: string): number | undefined | 'bad' {
  const text = url.searchParams.get(name)
  if (text === null) return undefined
  return /^\d{1,15}$/.test(text) ? Number(text) : 'bad'
}

function readFilter(exchange: Exchange, context: ApiContext): MessageFilter | undefined {
  const { url } = exchange
  const text = (name: string) => url.searchParams.get(name) ?? undefined
  const known = [
    'channel',
    'direction',
    'to',
    'person',
    'line',
    'search',
    'after',
    'before',
    'limit',
    'timeoutMs',
  ]
  for (const name of url.searchParams.keys()) {
    if (!known.includes(name)) {
      bad(exchange, name, `is not known; there are ${known.join(', ')}`)
      return undefined
    }
  }
  const channel = channels.find((name) => name === text('channel'))
  if (text('channel') !== undefined && channel === undefined) {
    bad(exchange, 'channel', 'must be email, sms or whatsapp')
    return undefined
  }
  const direction = text('direction')
  if (direction !== undefined && direction !== 'toPerson' && direction !== 'fromPerson') {
    bad(exchange, 'direction', 'must be toPerson or fromPerson')
    return undefined
  }
  const after = text('after') === 'now' ? context.inbox.counts().lastSequence : readNumber(url, 'after')
  const before = readNumber(url, 'before')
  for (const [field, value] of Object.entries({ after, before })) {
    if (value === 'bad') {
      bad(
        exchange,
        field,
        field === 'after' ? 'must be a sequence number or now' : 'must be a sequence number',
      )
      return undefined
    }
  }
  return {
    channel,
    direction,
    person: text('to') ?? text('person'),
    line: text('line'),
    search: text('search'),
    after: after as number | undefined,
    before: before as number | undefined,
  }
}

function listMessages(exchange: Exchange, context: ApiContext): void {
  const filter = readFilter(exchange, context)
  if (!filter) return
  const limit = readNumber(exchange.url, 'limit') ?? 50
  if (limit === 'bad' || limit < 1 || limit > maxPage)
    return bad(exchange, 'limit', `must be 1 to ${maxPage}`)
  const messages = context.inbox.list(filter, limit)
  const oldest = messages.at(-1)?.sequence
  sendJson(exchange.response, 200, {
    messages,
    total: context.inbox.counts().messages,
    lastSequence: context.inbox.counts().lastSequence,
    ...(messages.length === limit && oldest !== undefined ? { nextBefore: oldest } : {}),
  })
}

async function waitForMessage(exchange: Exchange, context: ApiContext): Promise<void> {
  const filter = readFilter(exchange, context)
  if (!filter) return
  const timeoutMs = readNumber(exchange.url, 'timeoutMs') ?? 10_000
  if (timeoutMs === 'bad' || timeoutMs > maxWaitMs)
    return bad(exchange, 'timeoutMs', `must be 0 to ${maxWaitMs}`)
  const gone = new AbortController()
  exchange.response.on('close', () => gone.abort())
  // What the person wrote is not what a test waits for, unless it asks.
  const message = await context.inbox.waitFor(
    { direction: 'toPerson', ...withoutUndefined(filter) },
    timeoutMs,
    gone.signal,
  )
  if (message) sendJson(exchange.response, 200, message)
  else
    sendJson(exchange.response, 404, { error: { message: `No such message came within ${timeoutMs} ms.` } })
}

const withoutUndefined = (filter: MessageFilter): MessageFilter =>
  Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined))

function deleteMessages(exchange: Exchange, context: ApiContext): void {
  const filter = readFilter(exchange, context)
  if (!filter) return
  const ids = context.inbox.list(filter, Number.MAX_SAFE_INTEGER).map(({ id }) => id)
  sendJson(exchange.response, 200, { deleted: context.inbox.remove(ids) })
}

async function showMessage(
  { response }: Exchange,
  message: SandboxMessage,
  context: ApiContext,
): Promise<void> {
  const raw = context.inbox.raw(message.id)
  if (message.channel !== 'email' || !raw) return sendJson(response, 200, message)
  const email = await parseEmail(raw)
  sendJson(response, 200, {
    ...message,
    content: {
      html: email.html,
      text: email.text,
      headers: email.headers.map(({ originalKey, value }) => ({ name: originalKey, value })),
    },
  })
}

function sendFile(
  { response }: Exchange,
  bytes: Buffer,
  facts: { mimeType: string; filename: string },
  isInline: boolean,
): void {
  const name = encodeURIComponent(facts.filename).replaceAll("'", '%27')
  response.writeHead(200, {
    'content-type': isInline ? facts.mimeType : 'application/octet-stream',
    'content-length': bytes.length,
    'content-disposition': `${isInline ? 'inline' : 'attachment'}; filename*=UTF-8''${name}`,
    'content-security-policy': "default-src 'none'; sandbox",
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
  })
  response.end(bytes)
}

function sendRaw({ response }: Exchange, raw: Buffer): void {
  response.writeHead(200, {
    'content-type': 'text/plain; charset=utf-8',
    'content-length': raw.length,
    'content-security-policy': "default-src 'none'; sandbox",
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
  })
  response.end(raw)
}

async function sendAttachment(exchange: Exchange, raw: Buffer, index: string): Promise<void> {
  const email = await parseEmail(raw)
  const attachment = /^\d+$/.test(index) ? email.attachments[Number(index)] : undefined
  if (!attachment) return missing(exchange)
  const facts = { mimeType: attachment.mimeType, filename: attachmentName(attachment, Number(index)) }
  sendFile(exchange, attachmentBytes(attachment), facts, false)
}

async function sendMedia(
  exchange: Exchange,
  message: SandboxMessage,
  card: string | undefined,
  context: ApiContext,
): Promise<void> {
  const facts = card === undefined ? message.whatsapp?.media : message.whatsapp?.cards[Number(card)]?.media
  const bytes = facts?.id === undefined ? undefined : await context.graph.media.read(facts.id)
  if (!facts || !bytes) return missing(exchange)
  const mimeType = (facts.mimeType ?? '').split(';')[0]!.trim()
  sendFile(exchange, bytes, { mimeType, filename: facts.filename ?? facts.id! }, shownInline.test(mimeType))
}

/** An HTML body in a document of its own: no scripts, nothing from elsewhere, no way into the page around it. */
async function sendMailFrame(exchange: Exchange, parts: string[], context: ApiContext): Promise<void> {
  const [, id = ''] = parts
  const raw = context.inbox.raw(id)
  if (!raw || context.inbox.get(id)?.channel !== 'email') return missing(exchange)
  const email = await parseEmail(raw)
  const bytes = Buffer.from(htmlForFrame(email))
  exchange.response.writeHead(200, {
    'content-type': 'text/html; charset=utf-8',
    'content-length': bytes.length,
    'content-security-policy': framePolicy,
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
  })
  exchange.response.end(bytes)
}

const answerAct = ({ response }: Exchange, act: Act): void =>
  act.ok ? sendJson(response, 200, act) : sendJson(response, 409, { error: { message: act.reason } })

async function readObject(exchange: Exchange): Promise<JsonObject | undefined> {
  const bytes = await readBody(exchange.request, maxBodyBytes)
  if (!bytes) {
    sendJson(exchange.response, 413, { error: { field: 'body', message: 'is larger than 1 MiB' } })
    return undefined
  }
  const body = bytes.length === 0 ? {} : parseJson(bytes)
  if (isObject(body)) return body
  bad(exchange, 'body', 'must be a JSON object')
  return undefined
}

async function writeAnswer(exchange: Exchange, context: ApiContext): Promise<void> {
  const body = await readObject(exchange)
  if (!body) return
  const { channel } = body
  if (channel !== 'sms' && channel !== 'whatsapp') return bad(exchange, 'channel', 'must be sms or whatsapp')
  const [from, to, text] = [asText(body.from), asText(body.to), asText(body.text)]
  if (!from) return bad(exchange, 'from', 'must be the person’s number')
  if (!to) return bad(exchange, 'to', 'must be the number or sender that is written to')
  if (!text) return bad(exchange, 'text', 'must not be empty')
  answerAct(
    exchange,
    context.person.write({ channel, from, to, text, line: asText(body.line), about: asText(body.about) }),
  )
}

async function actOn(
  exchange: Exchange,
  message: SandboxMessage,
  verb: string,
  context: ApiContext,
): Promise<void> {
  const body = await readObject(exchange)
  if (!body) return
  const { person } = context
  switch (verb) {
    case 'read':
      return answerAct(exchange, person.read(message.id))
    case 'button': {
      const { index, card } = body
      if (typeof index !== 'number') return bad(exchange, 'index', 'must be the place of the button, from 0')
      return answerAct(
        exchange,
        person.press(message.id, { index, card: typeof card === 'number' ? card : undefined }),
      )
    }
    case 'reaction':
      return answerAct(exchange, person.react(message.id, asText(body.emoji) ?? '👍'))
    case 'reply': {
      const text = asText(body.text)
      if (!text) return bad(exchange, 'text', 'must not be empty')
      if (message.channel === 'email')
        return bad(exchange, 'channel', 'e-mails are not answered here; bounce or unsubscribe')
      const isTheirs = message.direction === 'fromPerson'
      const [from, to] = isTheirs ? [message.from, message.to] : [message.to, message.from]
      const about = asObject(body).isQuoting === true ? message.id : undefined
      return answerAct(
        exchange,
        person.write({ channel: message.channel, from, to, text, line: message.line, about }),
      )
    }
    case 'file': {
      const kind = (['image', 'video', 'audio', 'document'] as const).find((known) => known === body.kind)
      const [mimeType, base64] = [asText(body.mimeType), asText(body.base64)]
      if (!kind || !mimeType || !base64) return bad(exchange, 'kind', 'kind, mimeType and base64 are needed')
      const bytes = Buffer.from(base64, 'base64')
      return answerAct(
        exchange,
        await person.sendFile(message.id, {
          kind,
          mimeType,
          bytes,
          filename: asText(body.filename),
          caption: asText(body.caption),
        }),
      )
    }
    case 'bounce':
      return answerAct(exchange, person.bounce(message.id))
    case 'unsubscribe':
      return answerAct(exchange, await person.unsubscribe(message.id))
    default:
      return sendJson(exchange.response, 404, { error: { field: 'path', message: 'is not known' } })
  }
}

export async function handleMessages(
  exchange: Exchange,
  parts: string[],
  context: ApiContext,
): Promise<void> {
  const { method } = exchange
  if (parts[0] === 'mail') return sendMailFrame(exchange, parts, context)
  if (parts[1] === 'answers' && method === 'POST') return writeAnswer(exchange, context)
  const [, , id, part, which] = parts
  if (id === undefined) {
    if (method === 'GET') return listMessages(exchange, context)
    if (method === 'DELETE') return deleteMessages(exchange, context)
    return sendJson(exchange.response, 405, { error: { field: 'method', message: 'must be GET or DELETE' } })
  }
  if (id === 'wait' && method === 'GET') return waitForMessage(exchange, context)
  const message = context.inbox.get(id)
  if (!message) return missing(exchange)
  if (method === 'POST' && part) return actOn(exchange, message, part, context)
  if (method === 'DELETE' && !part)
    return sendJson(exchange.response, 200, { deleted: context.inbox.remove([id]) })
  if (method !== 'GET')
    return sendJson(exchange.response, 405, { error: { field: 'method', message: 'is not known here' } })
  const raw = context.inbox.raw(id)
  switch (part) {
    case undefined:
      return showMessage(exchange, message, context)
    case 'raw':
      return raw ? sendRaw(exchange, raw) : missing(exchange)
    case 'attachments':
      return raw ? sendAttachment(exchange, raw, which ?? '') : missing(exchange)
    case 'media':
      return sendMedia(exchange, message, which, context)
    default:
      return missing(exchange)
  }
}
