/** What the unsubscribe page shows, and the trace it leaves in the message's timeline. */
import type { Queryable } from './db.ts'

export async function findCompanyName(db: Queryable, companyId: string): Promise<string | undefined> {
  const [company] = await db.query<{ name: string }>('select name from company where id = $1', [companyId])
  return company?.name
}

/** A message that is no longer stored has no timeline. */
export async function tellUnsubscribed(
  db: Queryable,
  companyId: string,
  messageId: string,
  at: Date,
): Promise<void> {
  await db.query(
    `insert into message_event (message_id, at, kind, detail)
      select id, $3, 'unsubscribed', '{}' from message where id = $2 and company_id = $1`,
    [companyId, messageId, at],
  )
}
