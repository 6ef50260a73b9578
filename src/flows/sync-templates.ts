/** Brings the approval of templates in line with what the provider says, as told by a webhook or as asked for. */
import type { LineSession, TemplateReport } from '../drivers/driver.ts'
import type { Log } from '../lib/log.ts'
import type { Queryable } from '../store/db.ts'
import { writeApprovals, type ApprovalChange, type ApprovalWrite } from '../store/template-approvals.ts'

export type TemplateEntry = { companyId: string; report: TemplateReport }

/** The last word on each template counts. A template that we do not have is not ours to judge. */
export async function recordApprovals(
  { db }: { db: Queryable },
  entries: readonly TemplateEntry[],
): Promise<ApprovalChange[]> {
  const byTemplate = new Map<string, ApprovalWrite>()
  for (const { companyId, report } of entries) {
    const { name, language, approval, reason = null } = report
    byTemplate.set(`${companyId} ${language} ${name}`, {
      company_id: companyId,
      name,
      language,
      approval,
      reason,
    })
  }
  return await writeApprovals(db, [...byTemplate.values()])
}

/** Asks the provider of an open line for all its templates. Undefined when its driver knows no such thing. */
export async function syncTemplates(
  context: { db: Queryable; log: Log },
  line: { id: string; companyId: string },
  session: Pick<LineSession, 'listTemplates'>,
): Promise<{ known: number; changes: ApprovalChange[] } | undefined> {
  if (session.listTemplates === undefined) return undefined
  const reports = await session.listTemplates()
  const changes = await recordApprovals(
    context,
    reports.map((report) => ({ companyId: line.companyId, report })),
  )
  if (changes.length > 0)
    context.log.info(
      { lineId: line.id, changes: changes.length },
      'the provider changed approvals of templates',
    )
  return { known: reports.length, changes }
}
