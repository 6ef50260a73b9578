/**
 * Every message that reached the sandbox, newest last, bounded by count and bytes: the oldest leave first. Adding,
 * status changes and waking waiters cost the same whatever the inbox holds; only a search walks through it.
 */
import { randomUUIDv7 } from 'node:crypto'
import { join } from 'node:path'
import type { Clock } from '../lib/clock.ts'
import { openInboxFile, readInboxFile } from './inbox-file.ts'
import type { InboxFile, InboxRecord } from './inbox-file.ts'
import { personKey, personOf } from './types.ts'
import type { Channel, MessageDraft, SandboxLog, SandboxMessage, StatusChange } from './types.ts'

export type MessageFilter = {
  channel?: Channel
  direction?: SandboxMessage['direction']
  /** The person's address; numbers match by digits, e-mail addresses in any case. */
  person?: string
  line?: string
  /** Case-insensitive, in addresses, subject and text. */
  search?: string
  /** Only messages with a greater sequence. */
  after?: number
  before?: number
}

export type InboxEvent =
  | { kind: 'message'; message: SandboxMessage }
  | { kind: 'status'; message: SandboxMessage }
  | { kind: 'deleted'; ids: string[] }

export type Inbox = {
  add(draft: MessageDraft, raw?: Buffer): SandboxMessage
  setStatus(id: string, change: Omit<StatusChange, 'at'>): SandboxMessage | undefined
  get(id: string): SandboxMessage | undefined
  byProviderId(providerId: string): SandboxMessage | undefined
  raw(id: string): Buffer | undefined
  list(filter: MessageFilter, limit: number): SandboxMessage[]
  /** The first message that fits, now or within the time; undefined when none came. */
  waitFor(filter: MessageFilter, timeoutMs: number, signal?: AbortSignal): Promise<SandboxMessage | undefined>
  remove(ids: string[]): number
  all(): Iterable<SandboxMessage>
  counts(): { messages: number; bytes: number; lastSequence: number }
  subscribe(listener: (event: InboxEvent) => void): () => void
  close(): Promise<void>
}

export type InboxOptions = {
  dataDir?: string
  /** 20,000 messages and 64 MiB: a test run of 10,000 fits twice, a laptop does not notice. */
  maxMessages?: number
  maxBytes?: number
  clock: Clock
  log: SandboxLog
}

type Entry = { message: SandboxMessage; raw?: Buffer; bytes: number }
type Waiter = { filter: MessageFilter; settle(message: SandboxMessage | undefined): void }

const rank = { accepted: 0, sent: 1, delivered: 2, read: 3, failed: 4 } as const
const maxWaiters = 1_000
const maxHistory = 20

function fits(message: SandboxMessage, filter: MessageFilter): boolean {
  if (filter.channel && message.channel !== filter.channel) return false
  if (filter.direction && message.direction !== filter.direction) return false
  if (filter.line && message.line !== filter.line) return false
  if (filter.after !== undefined && message.sequence <= filter.after) return false
  if (filter.before !== undefined && message.sequence >= filter.before) return false
  if (filter.person !== undefined) {
    const mine = personKey(message.channel, personOf(message))
    if (mine !== personKey(message.channel, filter.person)) return false
  }
  if (filter.search) {
    const wanted = filter.search.toLowerCase()
    const places = [message.from, message.to, message.subject ?? '', message.text]
    if (!places.some((place) => place.toLowerCase().includes(wanted))) return false
  }
  return true
}

function change(message: SandboxMessage, next: StatusChange): void {
  // The history tells what was said in which order; the status is the furthest of it.
  if (rank[next.status] >= rank[message.status]) message.status = next.status
  message.history.push(next)
  if (message.history.length > maxHistory) message.history.splice(1, 1)
}

export async function openInbox(options: InboxOptions): Promise<Inbox> {
  const { clock, log, maxMessages = 20_000, maxBytes = 64 * 1024 * 1024 } = options
  const entries = new Map<string, Entry>()
  const byProvider = new Map<string, string>()
  const byPerson = new Map<string, Set<string>>()
  const waiters = new Set<Waiter>()
  const listeners = new Set<(event: InboxEvent) => void>()
  let bytes = 0
  let lastSequence = 0
  let file: InboxFile | undefined

  const tell = (event: InboxEvent) => {
    for (const listener of listeners) listener(event)
  }

  function keep(message: SandboxMessage, raw: Buffer | undefined): void {
    const entry: Entry = { message, raw, bytes: 600 + message.text.length * 2 + (raw?.length ?? 0) }
    entries.set(message.id, entry)
    bytes += entry.bytes
    lastSequence = Math.max(lastSequence, message.sequence)
    for (const providerId of message.providerIds) byProvider.set(providerId, message.id)
    const key = personKey(message.channel, personOf(message))
    const ids = byPerson.get(key)
    if (ids) ids.add(message.id)
    else byPerson.set(key, new Set([message.id]))
  }

  function forget(id: string): boolean {
    const entry = entries.get(id)
    if (!entry) return false
    entries.delete(id)
    bytes -= entry.bytes
    for (const providerId of entry.message.providerIds) {
      if (byProvider.get(providerId) === id) byProvider.delete(providerId)
    }
    const key = personKey(entry.message.channel, personOf(entry.message))
    const ids = byPerson.get(key)
    ids?.delete(id)
    if (ids?.size === 0) byPerson.delete(key)
    return true
  }

  function makeRoom(): void {
    const gone: string[] = []
    for (const id of entries.keys()) {
      // The newest stays even when it alone is larger than the bound: it is what somebody waits for.
      if (entries.size <= 1 || (entries.size <= maxMessages && bytes <= maxBytes)) break
      forget(id)
      gone.push(id)
    }
    if (gone.length === 0) return
    file?.append({ kind: 'delete', ids: gone })
    tell({ kind: 'deleted', ids: gone })
  }

  function* alive(): Iterable<InboxRecord> {
    for (const { message, raw } of entries.values())
      yield { kind: 'add', message, raw: raw?.toString('base64') }
  }

  if (options.dataDir) {
    const path = join(options.dataDir, 'inbox.jsonl')
    await readInboxFile(
      path,
      (record) => {
        switch (record.kind) {
          case 'add':
            // While the file is written anew, a message can get into it twice: as alive and as appended.
            forget(record.message.id)
            keep(record.message, record.raw === undefined ? undefined : Buffer.from(record.raw, 'base64'))
            break
          case 'status': {
            const entry = entries.get(record.id)
            const last = entry?.message.history.at(-1)
            const isKnown = last?.status === record.change.status && last.at === record.change.at
            if (entry && !isKnown) change(entry.message, record.change)
            break
          }
          case 'delete':
            record.ids.forEach(forget)
            break
        }
      },
      log,
    )
    file = await openInboxFile({ path, maxBytes: maxBytes * 2, alive, log })
    makeRoom()
  }

  function candidates(person: string | undefined): Iterable<string> {
    if (person === undefined) return entries.keys()
    const keys = new Set([personKey('email', person), personKey('sms', person)])
    return [...keys].flatMap((key) => [...(byPerson.get(key) ?? [])])
  }

  return {
    add(draft, raw) {
      const receivedAt = clock.now().toISOString()
      const message: SandboxMessage = {
        ...draft,
        id: `sbx_${randomUUIDv7().replaceAll('-', '')}`,
        sequence: lastSequence + 1,
        receivedAt,
        status: 'accepted',
        history: [{ status: 'accepted', at: receivedAt }],
      }
      keep(message, raw)
      file?.append({ kind: 'add', message, raw: raw?.toString('base64') })
      makeRoom()
      for (const waiter of waiters) if (fits(message, waiter.filter)) waiter.settle(message)
      tell({ kind: 'message', message })
      return message
    },
    setStatus(id, { status, error }) {
      const entry = entries.get(id)
      if (!entry) return undefined
      const next: StatusChange = { status, at: clock.now().toISOString(), ...(error ? { error } : {}) }
      change(entry.message, next)
      file?.append({ kind: 'status', id, change: next })
      tell({ kind: 'status', message: entry.message })
      return entry.message
    },
    get: (id) => entries.get(id)?.message,
    byProviderId: (providerId) => entries.get(byProvider.get(providerId) ?? '')?.message,
    raw: (id) => entries.get(id)?.raw,
    list(filter, limit) {
      const found: SandboxMessage[] = []
      for (const id of [...candidates(filter.person)].toReversed()) {
        const { message } = entries.get(id)!
        if (fits(message, filter)) found.push(message)
        if (found.length >= limit) break
      }
      return found
    },
    waitFor(filter, timeoutMs, signal) {
      for (const id of candidates(filter.person)) {
        const { message } = entries.get(id)!
        if (fits(message, filter)) return Promise.resolve(message)
      }
      if (waiters.size >= maxWaiters)
        return Promise.reject(new Error(`More than ${maxWaiters} callers wait already.`))
      return new Promise((resolve) => {
        const onAbort = () => waiter.settle(undefined)
        const timer = setTimeout(onAbort, timeoutMs)
        const waiter: Waiter = {
          filter,
          settle(message) {
            waiters.delete(waiter)
            clearTimeout(timer)
            signal?.removeEventListener('abort', onAbort)
            resolve(message)
          },
        }
        waiters.add(waiter)
        signal?.addEventListener('abort', onAbort)
      })
    },
    remove(ids) {
      const gone = ids.filter(forget)
      if (gone.length > 0) {
        file?.append({ kind: 'delete', ids: gone })
        tell({ kind: 'deleted', ids: gone })
      }
      return gone.length
    },
    *all() {
      for (const { message } of entries.values()) yield message
    },
    counts: () => ({ messages: entries.size, bytes, lastSequence }),
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    async close() {
      for (const waiter of waiters) waiter.settle(undefined)
      listeners.clear()
      await file?.flush()
    },
  }
}
