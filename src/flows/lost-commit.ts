/** The write of a batch with its COMMIT, and what to do when the answer is lost. */
import { setTimeout } from 'node:timers/promises'
import type { Outcome } from '../domain/outcome.ts'
import { findStored, writeAccepted, type AcceptWrite, type StoredMessage } from '../store/accept-writes.ts'
import { commit, isConnectionError, sqlState, type Connection, type Db } from '../store/db.ts'
import type { BatchContext, Entry } from './accept-entry.ts'

/**
 * A connection lost at COMMIT leaves the outcome open. The transaction is one: its first message is stored, or
 * nothing of it is. Not found is not yet "no", because the server may still be at work on it: its messages run
 * again with the same ids, and are looked up first.
 */
export async function writeAndCommit(
  { db, log }: BatchContext,
  connection: Connection,
  write: AcceptWrite,
): Promise<void> {
  const firstMessageId = write.messages[0]?.id
  try {
    // Sent together: after a write that failed, COMMIT is not run.
    await Promise.all([
      firstMessageId === undefined ? undefined : writeAccepted(connection, write),
      connection.query(commit),
    ])
  } catch (error) {
    // Whatever it is, if the database did not say it, the database may have committed.
    if (sqlState(error) !== undefined && !isConnectionError(error)) throw error
    log.warn({ err: error }, 'connection lost while committing; looking the messages up')
    const stored = firstMessageId === undefined ? [] : await lookUp(db, [firstMessageId])
    if (stored.length === 0)
      throw new LostCommitError('the connection was lost while committing', { cause: error })
  }
}

/** The database may need a moment to take connections again. */
async function lookUp(db: Db, messageIds: string[]): Promise<StoredMessage[]> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await findStored(db, messageIds)
    } catch (error) {
      if (attempt === 3 || !isConnectionError(error))
        throw new LostCommitError('the database is away', { cause: error })
      await setTimeout(attempt * 100)
    }
  }
}

/** The connection went away at COMMIT: the messages may be stored or not. */
export class LostCommitError extends Error {}

/** Answers for messages whose COMMIT was lost, but which are stored after all. */
export async function findLostAnswers(
  { db }: BatchContext,
  entries: readonly Entry[],
): Promise<[Entry, Outcome][]> {
  const stored = new Map(
    (
      await lookUp(
        db,
        entries.map((entry) => entry.messageId),
      )
    ).map((row) => [row.id, row]),
  )
  return entries.flatMap((entry): [Entry, Outcome][] => {
    const row = stored.get(entry.messageId)
    if (row === undefined) return []
    if (row.state === 'blocked') return [[entry, { kind: 'refused', verdicts: row.reasons ?? [] }]]
    const kind = row.state === 'not_sent' ? 'not_sent' : 'accepted'
    const { messageId, submission } = entry
    return [[entry, { kind, messageId, requestId: submission.requestId, isReplay: false, verdicts: [] }]]
  })
}
