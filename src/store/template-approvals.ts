/** What the provider decided about templates: found by the name and language it knows them by. */
import type { Approval } from '../domain/template.ts'
import type { Queryable } from './db.ts'

export type ApprovalWrite = {
  company_id: string
  name: string
  language: string
  approval: Approval
  reason: string | null
}

export type ApprovalChange = {
  id: string
  companyId: string
  name: string
  from: Approval
  to: Approval
  reason: string | null
}

/** Returns those that changed; each is in the audit log. Each name and language once. */
export async function writeApprovals(
  connection: Queryable,
  approvals: readonly ApprovalWrite[],
): Promise<ApprovalChange[]> {
  return await connection.query<ApprovalChange>(
    {
      name: 'template_approvals',
      text: `
with r as materialized (
  select * from json_to_recordset($1::json) as r(company_id uuid, name text, language text, approval text, reason text)
), due as materialized (
  select t.id, t.company_id, t.name, t.approval as was, r.approval, r.reason from template t join r on r.company_id = t.company_id
    and t.channel = 'whatsapp' and t.content->'provider'->>'name' = r.name and t.content->'provider'->>'language' = r.language
  where (t.approval, coalesce(t.approval_reason, '')) <> (r.approval, coalesce(r.reason, '')) order by t.id for update of t
), changed as (
  update template t set approval = due.approval, approval_reason = due.reason from due where t.id = due.id
), told as (
  insert into audit_entry (id, company_id, actor, action, noun, noun_id, detail)
  select gen_random_uuid(), company_id, 'provider', 'approval', 'template', id::text,
    jsonb_build_object('from', was, 'to', approval, 'reason', reason) from due
)
select id, company_id as "companyId", name, was as "from", approval as "to", reason from due`,
    },
    [JSON.stringify(approvals)],
  )
}
