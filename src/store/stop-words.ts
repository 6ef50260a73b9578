/** The words by which people opt out of SMS, where a company has its own. */
import type { Queryable } from './db.ts'

/** Null: the words of domain/stop-words.ts. */
export type OwnStopWords = { stop: string[] | null; start: string[] | null }

export async function readStopWords(db: Queryable, companyId: string): Promise<OwnStopWords | undefined> {
  const rows = await db.query<OwnStopWords>(
    'select sms_stop_words as stop, sms_start_words as start from company where id = $1',
    [companyId],
  )
  return rows[0]
}

export async function saveStopWords(db: Queryable, companyId: string, words: OwnStopWords): Promise<void> {
  await db.query('update company set sms_stop_words = $2, sms_start_words = $3 where id = $1', [
    companyId,
    words.stop,
    words.start,
  ])
}
