/**
 * Makes a company what a file says: everything in one transaction, each change with its audit entry. A rehearsal does
 * the same and takes it back, so that the plan that is shown is what would happen, and every mistake is found before.
 */
import { randomBytes } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { nameKey } from '../domain/channel.ts'
import type { Sealer } from '../lib/secrets.ts'
import { changeCompany, createCompany, findCompanyByName, type Company } from '../store/companies.ts'
import type { Db, Queryable } from '../store/db.ts'
import { removeSegment, usersOfSegment } from '../store/removals.ts'
import { removeRestrictionList, rulesOfList } from '../store/restriction-lists-admin.ts'
import { createRestrictionList } from '../store/restriction-lists.ts'
import { listRestrictionLists } from '../store/restrictions.ts'
import { changeSegment, createSegment, listSegments, type Segment } from '../store/segments.ts'
import { changeUser, createUser, disableUser, listUsers } from '../store/users.ts'
import {
  byKey,
  differences,
  must,
  named,
  note,
  refuse,
  showChange,
  type ApplyContext,
  type Change,
} from './apply-context.ts'
import { applyLines } from './apply-lines.ts'
import { applyRules } from './apply-rules.ts'
import { applyTemplates } from './apply-templates.ts'
import type { CompanyFile, Path, UserFile } from './company-file.ts'

export type ApplyOptions = {
  db: Db
  sealer: Sealer
  file: CompanyFile
  /** Removes what the file does not name, in those sections that it has. */
  isPruning: boolean
  actor: string
  now: Date
}

export type Applied = {
  changes: Change[]
  /** Of users that were made without one in the file: shown once. */
  passwords: Record<string, string>
}

/** Somebody changed the company between the plan and its confirmation. */
export class PlanChanged extends Error {}

class TakenBack extends Error {
  readonly applied: Applied
  constructor(applied: Applied) {
    super('taken back')
    this.applied = applied
  }
}

/** What would change; throws `FileRefused`. */
export async function rehearseCompany(options: ApplyOptions): Promise<Change[]> {
  try {
    return await options.db.transaction(async (transaction) => {
      throw new TakenBack(await apply(transaction, options))
    })
  } catch (error) {
    if (error instanceof TakenBack) return error.applied.changes
    throw error
  }
}

/** Makes it so, when it is still what the plan said. */
export const applyCompany = (options: ApplyOptions, plan: readonly Change[]): Promise<Applied> =>
  options.db.transaction(async (transaction) => {
    const applied = await apply(transaction, options)
    if (!isDeepStrictEqual(applied.changes, plan)) throw new PlanChanged('the plan changed')
    return applied
  })

async function apply(transaction: Queryable, options: ApplyOptions): Promise<Applied> {
  const { file } = options
  const passwords: Record<string, string> = {}
  const known = await findCompanyByName(transaction, file.company)
  // One at a time per company; what others change meanwhile shows in the plan.
  if (known) await transaction.query('select from company where id = $1 for update', [known.id])
  const company: Company =
    known ??
    must(
      await createCompany(transaction, options.sealer, { name: file.company, ...file.settings }),
      [],
      companyPlace,
    )
  const context: ApplyContext = { ...options, transaction, company, changes: [] }
  if (known === undefined)
    await note(context, { action: 'create', noun: 'company', name: company.name, fields: [], id: company.id })
  else await applySettings(context, file.settings ?? {})
  if (file.segments) await applySegments(context, file.segments)
  if (file.restrictionLists) await applyLists(context, file.restrictionLists)
  if (file.users) await applyUsers(context, file.users, passwords)
  const segments = named(await listSegments(transaction, company.id))
  const lists = named(await listRestrictionLists(transaction, company.id))
  const segmentIds = (names: readonly string[], path: Path) =>
    names.map((name, at) => idOf(segments, name, [...path, at], 'segment'))
  if (file.lines) await applyLines(context, file.lines, segmentIds)
  if (file.templates) await applyTemplates(context, file.templates)
  const listId = (name: string, path: Path) => idOf(lists, name, path, 'restriction list')
  if (file.rules) await applyRules(context, file.rules, { segmentIds, listId })
  // Last: what lines and rules of the file no longer name is free by now.
  if (options.isPruning) await pruneNames(context, file)
  return { changes: context.changes, passwords }
}

const companyPlace = (field: string): Path => (field === 'name' ? ['company'] : ['settings', field])

function idOf(known: Map<string, { id: string }>, name: string, path: Path, what: string): string {
  const found = known.get(nameKey(name))
  if (found === undefined) throw refuse(path, `names no ${what}: there is no "${name}"`)
  return found.id
}

async function applySettings(
  context: ApplyContext,
  wanted: NonNullable<CompanyFile['settings']>,
): Promise<void> {
  const { transaction, company } = context
  const changed = differences<Company>(company, wanted)
  if (changed.length === 0) return
  must(await changeCompany(transaction, company.id, wanted), [], companyPlace)
  const fields = changed.map((field) =>
    showChange(field, company[field], wanted[field as keyof typeof wanted]),
  )
  await note(context, { action: 'change', noun: 'company', name: company.name, fields, id: company.id })
}

async function applySegments(
  context: ApplyContext,
  wanted: NonNullable<CompanyFile['segments']>,
): Promise<void> {
  const { transaction, company } = context
  byKey('segments', wanted, ({ name }) => nameKey(name), 'name')
  const existing = named(await listSegments(transaction, company.id))
  for (const [at, segment] of wanted.entries()) {
    const current = existing.get(nameKey(segment.name))
    const path: Path = ['segments', at]
    if (current === undefined) {
      const { id, name } = must(await createSegment(transaction, company.id, segment), path)
      await note(context, { action: 'create', noun: 'segment', name, fields: [], id })
      continue
    }
    const changed = differences<Segment>(current, {
      name: segment.name.trim(),
      clientCode: segment.clientCode?.trim(),
    })
    if (changed.length === 0) continue
    must(await changeSegment(transaction, company.id, current.id, segment), path)
    const fields = changed.map((field) =>
      showChange(field, current[field], segment[field as keyof typeof segment]),
    )
    await note(context, { action: 'change', noun: 'segment', name: segment.name, fields, id: current.id })
  }
}

async function applyLists(context: ApplyContext, wanted: readonly string[]): Promise<void> {
  const { transaction, company } = context
  byKey('restrictionLists', wanted, nameKey)
  const existing = named(await listRestrictionLists(transaction, company.id))
  for (const [at, name] of wanted.entries()) {
    if (existing.has(nameKey(name))) continue
    const { id } = must(
      await createRestrictionList(transaction, company.id, name),
      ['restrictionLists', at],
      () => [],
    )
    await note(context, { action: 'create', noun: 'restriction_list', name, fields: [], id })
  }
}

async function applyUsers(
  context: ApplyContext,
  wanted: readonly UserFile[],
  passwords: Record<string, string>,
): Promise<void> {
  const { transaction, company, now } = context
  const places = byKey('users', wanted, ({ name }) => nameKey(name), 'name')
  const existing = named(await listUsers(transaction, company.id))
  for (const [at, user] of wanted.entries()) {
    const current = existing.get(nameKey(user.name))
    const path: Path = ['users', at]
    if (current === undefined) {
      const password = user.password ?? randomBytes(15).toString('base64url')
      const { id, name } = must(await createUser(transaction, company.id, { ...user, password }), path)
      if (user.password === undefined) passwords[name] = password
      if (user.isEnabled === false) await disableUser(transaction, company.id, id, now)
      await note(context, { action: 'create', noun: 'user', name, fields: [], id })
      continue
    }
    // A password is used when the user is made: afterwards it is the person's own.
    const fields: string[] = []
    if (current.role !== user.role || current.name !== user.name.trim()) {
      must(await changeUser(transaction, company.id, current.id, { name: user.name, role: user.role }), path)
      if (current.role !== user.role) fields.push(showChange('role', current.role, user.role))
      if (current.name !== user.name.trim()) fields.push(showChange('name', current.name, user.name))
    }
    const isEnabled = current.disabledAt === null
    if (user.isEnabled !== undefined && user.isEnabled !== isEnabled) {
      await disableUser(transaction, company.id, current.id, user.isEnabled ? null : now)
      fields.push(showChange('isEnabled', isEnabled, user.isEnabled))
    }
    if (fields.length > 0)
      await note(context, { action: 'change', noun: 'user', name: user.name, fields, id: current.id })
  }
  if (!context.isPruning) return
  for (const [key, user] of existing) {
    if (places.has(key) || user.disabledAt !== null) continue
    await disableUser(transaction, company.id, user.id, now)
    await note(context, { action: 'disable', noun: 'user', name: user.name, fields: [], id: user.id })
  }
}

async function pruneNames(context: ApplyContext, file: CompanyFile): Promise<void> {
  const { transaction, company } = context
  const isNamed = (names: readonly string[]) => {
    const keys = new Set(names.map(nameKey))
    return ({ name }: { name: string }) => keys.has(nameKey(name))
  }
  if (file.restrictionLists) {
    const keep = isNamed(file.restrictionLists)
    for (const list of await listRestrictionLists(transaction, company.id)) {
      if (keep(list)) continue
      const [rule] = await rulesOfList(transaction, company.id, list.id)
      if (rule !== undefined)
        throw refuse(['restrictionLists'], `lacks "${list.name}", which the rule "${rule}" looks at`)
      await removeRestrictionList(transaction, company.id, list.id)
      await note(context, {
        action: 'remove',
        noun: 'restriction_list',
        name: list.name,
        fields: [],
        id: list.id,
      })
    }
  }
  if (file.segments) {
    const keep = isNamed(file.segments.map(({ name }) => name))
    for (const segment of await listSegments(transaction, company.id)) {
      if (keep(segment)) continue
      const [user] = await usersOfSegment(transaction, company.id, segment.id)
      if (user !== undefined) throw refuse(['segments'], `lacks "${segment.name}", which the ${user} names`)
      await removeSegment(transaction, company.id, segment.id)
      await note(context, {
        action: 'remove',
        noun: 'segment',
        name: segment.name,
        fields: [],
        id: segment.id,
      })
    }
  }
}
