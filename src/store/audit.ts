/** The audit log: who changed what. Entries are written beside the change, in its transaction where there is one. */
import { newId } from '../lib/ids.ts'
import type { Queryable } from './db.ts'

export type AuditEntry = {
  id: string
  companyId: string | null
  actor: string
  action: string
  noun: string
  nounId: string | null
  detail: Record<string, unknown> | null
  at: Date
}

export type AuditInput = {
  companyId?: string
  /** A user's name, or `command line (user)`. */
  actor: string
  action: string
  noun: string
  nounId?: string
  /** No secrets. */
  detail?: Record<string, unknown>
}

export async function recordAudit(db: Queryable, entry: AuditInput): Promise<void> {
  await db.query(
    `insert into audit_entry (id, company_id, actor, action, noun, noun_id, detail) values ($1, $2, $3, $4, $5, $6, $7)`,
    [newId(), entry.companyId, entry.actor, entry.action, entry.noun, entry.nounId, entry.detail],
  )
}

/** Newest first; `beforeId` is the last id of the page before. */
export const listAudit = (
  db: Queryable,
  companyId: string,
  page: { beforeId?: string; limit: number },
): Promise<AuditEntry[]> =>
  db.query<AuditEntry>(
    `select id, company_id as "companyId", actor, action, noun, noun_id as "nounId", detail, at from audit_entry
      where company_id = $1 and ($2::uuid is null or id < $2) order by id desc limit $3`,
    [companyId, page.beforeId, page.limit],
  )
