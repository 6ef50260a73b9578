/** Rules as people handle them: list, read, change, remove. Making one: rules.ts. */
import type { Api, Channel } from '../domain/channel.ts'
import { checkRule } from '../domain/rule-check.ts'
import { checkName, notSaved, saved, type FieldProblem, type Saved } from '../domain/saved.ts'
import type { Queryable } from './db.ts'
import { createRule, type RuleInput, type RuleSettingsInput } from './rules.ts'

export type RuleRecord = {
  id: string
  kind: RuleSettingsInput['kind']
  name: string
  action: 'block' | 'defer'
  isEnabled: boolean
  apis: Api[]
  channels: Channel[]
  segmentIds: string[]
  settings: Record<string, unknown>
  position: number
}

const columns = `id, kind, name, action, is_enabled as "isEnabled", apis, channels, segment_ids as "segmentIds", settings, position`

export const listRules = (db: Queryable, companyId: string): Promise<RuleRecord[]> =>
  db.query<RuleRecord>(
    `select ${columns} from rule where company_id = $1 order by position, id limit 10000`,
    [companyId],
  )

export async function getRule(db: Queryable, companyId: string, id: string): Promise<RuleRecord | undefined> {
  const rows = await db.query<RuleRecord>(`select ${columns} from rule where company_id = $1 and id = $2`, [
    companyId,
    id,
  ])
  return rows[0]
}

/** What a rule names must be the company's own. */
async function checkNames(db: Queryable, companyId: string, input: RuleInput): Promise<FieldProblem[]> {
  const { settings, segmentIds = [] } = input
  const problems: FieldProblem[] = [
    ...checkName('name', input.name),
    ...checkRule(input).map((problem) =>
      ['action', 'segmentIds'].includes(problem.field)
        ? problem
        : { ...problem, field: `settings.${problem.field}` },
    ),
  ]
  if (input.apis?.length === 0) problems.push({ field: 'apis', message: 'must name at least one' })
  if (input.channels?.length === 0) problems.push({ field: 'channels', message: 'must name at least one' })
  const [found] = await db.query<{ segments: number; hasList: boolean }>(
    `select (select count(*) from segment where company_id = $1 and id = any($2::uuid[])) as segments,
      exists (select 1 from restriction_list where company_id = $1 and id = $3) as "hasList"`,
    [companyId, segmentIds, settings.kind === 'restriction_list' ? settings.listId : null],
  )
  if (found!.segments < new Set(segmentIds).size)
    problems.push({ field: 'segmentIds', message: 'names a segment that does not exist' })
  if (settings.kind === 'restriction_list' && !found!.hasList)
    problems.push({ field: 'settings.listId', message: 'is no restriction list of this company' })
  return problems
}

export async function saveNewRule(
  db: Queryable,
  companyId: string,
  input: RuleInput,
): Promise<Saved<RuleRecord>> {
  const problems = await checkNames(db, companyId, input)
  if (problems.length > 0) return notSaved(...problems)
  const id = await createRule(db, companyId, input)
  return saved((await getRule(db, companyId, id))!)
}

/** Replaces all of it but the kind. */
export async function changeRule(
  db: Queryable,
  companyId: string,
  id: string,
  input: RuleInput,
): Promise<Saved<RuleRecord> | undefined> {
  const problems = await checkNames(db, companyId, input)
  if (problems.length > 0) return notSaved(...problems)
  const { kind: _, ...settings } = input.settings
  const [rule] = await db.query<RuleRecord>(
    `update rule set name = $3, action = coalesce($4, action), is_enabled = coalesce($5, is_enabled), apis = coalesce($6::text[], apis),
        channels = coalesce($7::text[], channels), segment_ids = $8, settings = $9, position = coalesce($10, position)
      where company_id = $1 and id = $2 returning ${columns}`,
    [
      companyId,
      id,
      input.name.trim(),
      input.action,
      input.isEnabled,
      input.apis,
      input.channels,
      input.segmentIds ?? [],
      JSON.stringify(settings),
      input.position,
    ],
  )
  return rule && saved(rule)
}

export async function removeRule(db: Queryable, companyId: string, id: string): Promise<boolean> {
  const rows = await db.query('delete from rule where company_id = $1 and id = $2 returning 1', [
    companyId,
    id,
  ])
  return rows.length > 0
}

/** All rules, those named first; undefined when one named is not there or is named twice. Run it in a transaction. */
export async function orderRules(
  transaction: Queryable,
  companyId: string,
  first: readonly string[],
): Promise<string[] | undefined> {
  const rows = await transaction.query<{ id: string }>(
    'select id from rule where company_id = $1 order by position, id limit 10000 for update',
    [companyId],
  )
  const all = new Set(rows.map(({ id }) => id))
  const named = new Set(first)
  if (named.size < first.length || first.some((id) => !all.has(id))) return undefined
  const ids = [...first, ...rows.map(({ id }) => id).filter((id) => !named.has(id))]
  await transaction.query(
    `update rule set position = o.place - 1 from unnest($2::uuid[]) with ordinality as o(id, place)
      where rule.company_id = $1 and rule.id = o.id and rule.position <> o.place - 1`,
    [companyId, ids],
  )
  return ids
}
