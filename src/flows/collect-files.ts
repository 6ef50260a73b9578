/** The files of a message that is about to leave: read from the store, or fetched from where the request said. */
import type { FileRef, MessageContent } from '../domain/message.ts'
import type { FileBytes } from '../drivers/driver.ts'
import type { DriverError } from '../drivers/errors.ts'
import { fileKey } from '../drivers/files.ts'
import { OutboundError, type Outbound } from '../lib/outbound/index.ts'
import type { Queryable } from '../store/db.ts'
import { readFile } from '../store/files.ts'
import type { ClaimedMessage } from '../store/outbox.ts'

const maxFileBytes = 100 * 1024 * 1024
const fetchTimeoutMs = 30_000

/**
 * Bytes of files that this process holds for hand-overs under way. Without a bound one company that sends addresses of
 * large files would take the memory of all: a window of 32 with 100 MB each, per line.
 */
export type FileBudget = { readonly limitBytes: number; heldBytes: number }

export const createFileBudget = (limitBytes = 256 * 1024 * 1024): FileBudget => ({ limitBytes, heldBytes: 0 })

/** One message's part of the budget. Nobody waits for room: what finds none comes again, so nothing can lock up. */
export type Room = {
  /** False when the bytes are not to be kept. */
  hold(bytes: number): boolean
  /** Its own files alone are more than there will ever be room for. */
  isHopeless(): boolean
  close(): void
}

export function createRoom(budget: FileBudget): Room {
  let held = 0
  let wanted = 0
  return {
    hold(bytes) {
      wanted = held + bytes
      if (budget.heldBytes + bytes > budget.limitBytes) return false
      held += bytes
      budget.heldBytes += bytes
      return true
    },
    isHopeless: () => wanted > budget.limitBytes,
    close() {
      budget.heldBytes -= held
      held = 0
    },
  }
}

export type Files =
  | { ok: true; bytes: Map<string, FileBytes> }
  | { ok: false; error: DriverError }
  | 'no_room'

export async function collectFiles(
  { db, outbound }: { db: Queryable; outbound: Outbound },
  message: ClaimedMessage,
  room: Room,
): Promise<Files> {
  const bytes = new Map<string, FileBytes>()
  for (const file of filesOf(message.content)) {
    const key = fileKey(file)
    if (bytes.has(key)) continue
    const { name, mimeType, source } = file
    if (source.kind === 'stored') {
      if (!room.hold(source.size)) return noRoom(room)
      const stored = await readFile(db, message.companyId, source.hash)
      if (stored === undefined) return lost(name)
      bytes.set(key, { bytes: stored, name, mimeType })
      continue
    }
    const fetched = await fetchFile(outbound, source.url, name, room)
    if (fetched === 'no_room') return noRoom(room)
    if (!fetched.ok) return fetched
    bytes.set(key, { bytes: fetched.body, name, mimeType })
  }
  return { ok: true, bytes }
}

const noRoom = (room: Room): Files =>
  room.isHopeless()
    ? {
        ok: false,
        error: {
          kind: 'invalid_message',
          code: 'files_too_large',
          message: 'its files are too large together',
        },
      }
    : 'no_room'

const lost = (name: string): Files => ({
  ok: false,
  error: {
    kind: 'invalid_message',
    code: 'file_missing',
    message: `the content of ${name} is no longer stored`,
  },
})

type Fetched = { ok: true; body: Buffer } | { ok: false; error: DriverError } | 'no_room'

/** Server trouble may pass and is tried again; an address that answers "no", or that may not be called, will not. */
async function fetchFile(outbound: Outbound, url: string, name: string, room: Room): Promise<Fetched> {
  let hasRoom = true
  try {
    const response = await outbound.fetch('files', url, {
      method: 'GET',
      timeoutMs: fetchTimeoutMs,
      maxBytes: maxFileBytes,
      redirects: 3,
      hold: (bytes) => (hasRoom &&= room.hold(bytes)),
    })
    if (response.status >= 200 && response.status < 300) return { ok: true, body: response.body }
    return fetchFault(response.status >= 500 || response.status === 429, `HTTP ${response.status}`, name)
  } catch (error) {
    if (!hasRoom) return 'no_room'
    const mayPass = error instanceof OutboundError && /^(unreachable|cut|timed_out)$/.test(error.kind)
    return fetchFault(mayPass, error instanceof Error ? error.message : String(error), name)
  }
}

const fetchFault = (mayPass: boolean, words: string, name: string): Fetched => ({
  ok: false,
  error: {
    // Throttled by the file's host, not by the line: the line goes on.
    kind: mayPass ? 'throttled' : 'invalid_message',
    code: 'file_fetch_failed',
    message: `${name} could not be fetched: ${words}`,
    isRecipientOnly: true,
  },
})

function filesOf(content: MessageContent): FileRef[] {
  if (content.kind === 'text') return content.files
  const header = content.header?.kind === 'media' ? [content.header.file] : []
  return [...header, ...(content.cards ?? []).map((card) => card.file)]
}
