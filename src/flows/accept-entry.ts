/** A request on its way through the accept path, and what the path works with. */
import type { Outcome } from '../domain/outcome.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { CatalogueCache } from '../store/catalogue.ts'
import type { Db } from '../store/db.ts'
import type { Submission } from './submission.ts'

export type Entry = {
  submission: Submission
  messageId: string
  impatientAt: number
  tries: number
  /** A COMMIT of it was lost: looked up before it runs again. */
  isDoubtful: boolean
  answer(outcome: Outcome): void
}

export type BatchContext = { db: Db; clock: Clock; log: Log; catalogues: CatalogueCache; random(): number }
