/** What every part of `pombo apply` works with: the transaction, what was changed so far, and refusals by path. */
import { isDeepStrictEqual } from 'node:util'
import { nameKey } from '../domain/channel.ts'
import type { Saved } from '../domain/saved.ts'
import { showId, type IdPrefix } from '../lib/ids.ts'
import type { Sealer } from '../lib/secrets.ts'
import { recordAudit } from '../store/audit.ts'
import type { Company } from '../store/companies.ts'
import type { Queryable } from '../store/db.ts'
import { FileRefused, type Path } from './company-file.ts'

export type Noun = 'company' | 'segment' | 'restriction_list' | 'user' | 'line' | 'template' | 'rule'

export type Change = {
  action: 'create' | 'change' | 'disable' | 'remove'
  noun: Noun
  name: string
  /** For people: `ratePerSecond: 50 → 10`. No secrets. */
  fields: string[]
}

export type ApplyContext = {
  transaction: Queryable
  sealer: Sealer
  actor: string
  now: Date
  isPruning: boolean
  company: Company
  changes: Change[]
}

const prefixes: Record<Noun, IdPrefix> = {
  company: 'cmp',
  segment: 'seg',
  restriction_list: 'lst',
  user: 'usr',
  line: 'lin',
  template: 'tpl',
  rule: 'rul',
}

export async function note(context: ApplyContext, change: Change & { id: string }): Promise<void> {
  const { id, ...shown } = change
  context.changes.push(shown)
  await recordAudit(context.transaction, {
    companyId: context.company.id,
    actor: context.actor,
    action: change.action,
    noun: change.noun,
    nounId: showId(prefixes[change.noun], id),
    detail: { name: change.name, by: 'apply', ...(change.fields.length > 0 && { changes: change.fields }) },
  })
}

export const refuse = (path: Path, message: string): FileRefused => new FileRefused([{ path, message }])

/** The saved thing, or a refusal at the field that is wrong. */
export function must<T>(
  result: Saved<T> | undefined,
  path: Path,
  place = (field: string): Path => field.split('.'),
): T {
  if (result === undefined) throw refuse(path, 'was removed a moment ago by somebody else')
  if (result.ok) return result.value
  throw new FileRefused(
    result.problems.map(({ field, message }) => ({ path: [...path, ...place(field)], message })),
  )
}

const longestShown = 60

const show = (value: unknown): string => {
  if (value === undefined || value === null || value === '') return 'none'
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.length > longestShown ? '…' : text
}

export const showChange = (field: string, from: unknown, to: unknown): string => {
  const [before, after] = [show(from), show(to)]
  return before === '…' || after === '…' ? field : `${field}: ${before} → ${after}`
}

/** As it comes back from the database: without what is undefined. */
const stored = (value: unknown): unknown =>
  value === undefined ? undefined : (JSON.parse(JSON.stringify(value)) as unknown)

export const isSame = (a: unknown, b: unknown): boolean => isDeepStrictEqual(stored(a), stored(b))

/** Fields that are given and differ; what is not given is left as it is. */
export function differences<T extends object>(
  current: T,
  wanted: { [K in keyof T]?: unknown },
): (keyof T & string)[] {
  return (Object.keys(wanted) as (keyof T & string)[]).filter(
    (field) => wanted[field] !== undefined && !isSame(current[field], wanted[field]),
  )
}

/** Things of the file by their key; two with the same key are a mistake. */
export function byKey<T>(
  section: string,
  items: readonly T[],
  key: (item: T) => string,
  field?: string,
): Map<string, number> {
  const found = new Map<string, number>()
  for (const [at, item] of items.entries()) {
    const earlier = found.get(key(item))
    if (earlier !== undefined)
      throw refuse(
        [section, at, ...(field === undefined ? [] : [field])],
        `names the same as ${section}[${earlier}]`,
      )
    found.set(key(item), at)
  }
  return found
}

export const named = <T extends { name: string }>(items: readonly T[]): Map<string, T> =>
  new Map(items.map((item) => [nameKey(item.name), item]))
