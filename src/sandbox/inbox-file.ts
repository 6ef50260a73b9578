/**
 * The inbox's memory across restarts: one JSON object a line, appended. When the file has grown past its bound it is
 * written anew from what is still alive, so it stays within about twice the inbox's own bound.
 */
import { appendFile, open, readFile, rename, rm, stat } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import type { SandboxLog, SandboxMessage, StatusChange } from './types.ts'

export type InboxRecord =
  | { kind: 'add'; message: SandboxMessage; raw?: string }
  | { kind: 'status'; id: string; change: StatusChange }
  | { kind: 'delete'; ids: string[] }

export type InboxFile = {
  append(record: InboxRecord): void
  flush(): Promise<void>
}

/** Reads what a former run wrote. A line cut short by a crash is skipped: everything before it stands. */
export async function readInboxFile(
  path: string,
  apply: (record: InboxRecord) => void,
  log: SandboxLog,
): Promise<void> {
  if (!existsSync(path)) return
  let unreadable = 0
  const content = await readFile(path)
  let start = 0
  while (start < content.length) {
    const end = content.indexOf(0x0a, start)
    const line = content.subarray(start, end === -1 ? content.length : end)
    start = end === -1 ? content.length : end + 1
    if (line.length === 0) continue
    try {
      apply(JSON.parse(line.toString('utf8')) as InboxRecord)
    } catch {
      unreadable++
    }
  }
  if (unreadable > 0)
    log.warn({ path, unreadable }, 'Some lines of the sandbox inbox file could not be read and were skipped.')
}

export async function openInboxFile(options: {
  path: string
  maxBytes: number
  alive: () => Iterable<InboxRecord>
  log: SandboxLog
}): Promise<InboxFile> {
  const { path, maxBytes, alive, log } = options
  let written = existsSync(path) ? (await stat(path)).size : 0
  let waiting: string[] = []
  let running: Promise<void> | undefined

  async function rewrite(): Promise<void> {
    // Everything that waits is already part of the live inbox, so the new file holds it.
    waiting = []
    const fresh = `${path}.new`
    const handle = await open(fresh, 'w', 0o600)
    let size = 0
    let batch: string[] = []
    let batchSize = 0
    const write = async () => {
      size += (await handle.write(batch.join(''))).bytesWritten
      batch = []
      batchSize = 0
    }
    try {
      for (const record of alive()) {
        const line = `${JSON.stringify(record)}\n`
        batch.push(line)
        batchSize += line.length
        if (batchSize > 1_000_000) await write()
      }
      if (batch.length > 0) await write()
    } finally {
      await handle.close()
    }
    await rename(fresh, path)
    written = size
  }

  async function drain(): Promise<void> {
    while (waiting.length > 0) {
      const lines = waiting.join('')
      waiting = []
      await appendFile(path, lines, { mode: 0o600 })
      written += Buffer.byteLength(lines)
      if (written > maxBytes) await rewrite()
    }
  }

  function start(): void {
    running ??= drain()
      .catch((cause: unknown) =>
        log.error({ path, cause: String(cause) }, 'The sandbox inbox file cannot be written.'),
      )
      .finally(() => {
        running = undefined
        if (waiting.length > 0) start()
      })
  }

  await rm(`${path}.new`, { force: true })
  return {
    append(record) {
      waiting.push(`${JSON.stringify(record)}\n`)
      start()
    },
    async flush() {
      while (running) await running
    },
  }
}
