/** Templates, checked before they are saved. */
import { nameKey, type Channel } from '../domain/channel.ts'
import { notSaved, saved, taken, type FieldProblem, type Saved } from '../domain/saved.ts'
import { checkTemplate, providerCategory, type TemplateDraft } from '../domain/template-check.ts'
import type { Approval, Template } from '../domain/template.ts'
import { newId } from '../lib/ids.ts'
import { isUniqueViolation, type Queryable } from './db.ts'

export type TemplateInput = TemplateDraft & { isEnabled?: boolean; approval?: Approval }

const columns = `id, name, code, channel, kind, is_enabled as "isEnabled", approval, approval_reason as "approvalReason", content`

/** Declared names are kept bare, and the category is the one the provider will insist on. */
export function normalise<T extends TemplateDraft>(draft: T): T {
  const content = {
    ...draft.content,
    variables: draft.content.variables.map((name) => name.trim().replace(/^@/, '')),
  }
  if (content.provider)
    content.provider = { ...content.provider, category: providerCategory(draft.kind, content) }
  return { ...draft, content }
}

/** Which of name and code is taken: asked only after a save was refused. */
async function takenProblems(db: Queryable, companyId: string, input: TemplateDraft) {
  const rows = await db.query<{ name_key: string; code_key: string }>(
    'select name_key, code_key from template where company_id = $1 and (name_key = $2 or code_key = $3)',
    [companyId, nameKey(input.name), nameKey(input.code)],
  )
  const problems: FieldProblem[] = []
  if (rows.some((row) => row.name_key === nameKey(input.name))) problems.push(taken('name', input.name))
  if (rows.some((row) => row.code_key === nameKey(input.code))) problems.push(taken('code', input.code))
  const { provider } = input.content
  if (problems.length === 0 && provider) problems.push(taken('provider.name', provider.name))
  return problems
}

export async function createTemplate(
  db: Queryable,
  companyId: string,
  input: TemplateInput,
): Promise<Saved<Template>> {
  const draft = normalise(input)
  const problems = checkTemplate(draft)
  if (problems.length > 0) return notSaved(...problems)
  const [template] = await db.query<Template>(
    `insert into template (id, company_id, name, name_key, code, code_key, channel, kind, is_enabled, approval, content)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) on conflict do nothing returning ${columns}`,
    [
      newId(),
      companyId,
      draft.name.trim(),
      nameKey(draft.name),
      draft.code.trim(),
      nameKey(draft.code),
      draft.channel,
      draft.kind,
      draft.isEnabled ?? true,
      draft.approval ?? 'approved',
      JSON.stringify(draft.content),
    ],
  )
  return template ? saved(template) : notSaved(...(await takenProblems(db, companyId, draft)))
}

export async function getTemplate(
  db: Queryable,
  companyId: string,
  id: string,
): Promise<Template | undefined> {
  return (
    await db.query<Template>(`select ${columns} from template where company_id = $1 and id = $2`, [
      companyId,
      id,
    ])
  )[0]
}

export async function findTemplateByCode(
  db: Queryable,
  companyId: string,
  code: string,
): Promise<Template | undefined> {
  return (
    await db.query<Template>(`select ${columns} from template where company_id = $1 and code_key = $2`, [
      companyId,
      nameKey(code),
    ])
  )[0]
}

export const listTemplates = (db: Queryable, companyId: string, channel?: Channel): Promise<Template[]> =>
  db.query<Template>(
    `select ${columns} from template where company_id = $1 and ($2::text is null or channel = $2)
      order by id limit 10000`,
    [companyId, channel],
  )

/** Replaces name, code and content; channel and kind of a template never change. */
export async function changeTemplate(
  db: Queryable,
  companyId: string,
  id: string,
  changes: Pick<TemplateDraft, 'name' | 'code' | 'content'>,
): Promise<Saved<Template> | undefined> {
  const current = await getTemplate(db, companyId, id)
  if (!current) return undefined
  const draft = normalise({ ...current, ...changes })
  const problems = checkTemplate(draft)
  if (problems.length > 0) return notSaved(...problems)
  try {
    const [template] = await db.query<Template>(
      `update template set name = $3, name_key = $4, code = $5, code_key = $6, content = $7
        where company_id = $1 and id = $2 returning ${columns}`,
      [
        companyId,
        id,
        draft.name.trim(),
        nameKey(draft.name),
        draft.code.trim(),
        nameKey(draft.code),
        JSON.stringify(draft.content),
      ],
    )
    return template && saved(template)
  } catch (error) {
    // Inside a transaction nothing more can be asked, so it stays open which of the two it is.
    if (isUniqueViolation(error))
      return notSaved({ field: 'name', message: 'or code, or name at the provider, is already taken' })
    throw error
  }
}

/** Switches a template on or off, or records what the provider decided about it. */
export async function setTemplateState(
  db: Queryable,
  companyId: string,
  id: string,
  state: { isEnabled?: boolean; approval?: Approval },
): Promise<Template | undefined> {
  const [template] = await db.query<Template>(
    `update template set is_enabled = coalesce($3, is_enabled), approval = coalesce($4, approval),
        approval_reason = case when $4::text is null then approval_reason end
      where company_id = $1 and id = $2 returning ${columns}`,
    [companyId, id, state.isEnabled, state.approval],
  )
  return template
}
